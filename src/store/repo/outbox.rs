//! Events for other services, appended in the transaction of the change they tell of. A number in the
//! person's row keeps the events of one person in order.

use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::row::{Row, whole};
use crate::domain::model::event::{EventKind, OutboxEvent};
use crate::domain::model::ids::{EventId, RealmId, UserId};
use crate::domain::model::timestamp::Timestamp;
use crate::store::entity::outbox::{ActiveModel, Column, Entity, Model};
use crate::store::entity::user_account;
use crate::store::sealed::Connected;
use crate::store::{Error, Source, Tx};

/// Appends an event. That a person is gone is told before the row goes.
pub async fn append(tx: &mut Tx, event: &OutboxEvent) -> Result<(), Error> {
    let event_seq = next(tx, event.realm, event.user).await?;
    let row: ActiveModel = whole(Model {
        realm_id: event.realm.as_uuid(),
        id: event.id.as_uuid(),
        user_id: event.user.as_uuid(),
        event_seq,
        sub: event.sub.clone(),
        kind: event.kind.as_str().to_owned(),
        occurred_at: event.at.as_micros(),
        data: event.data.clone(),
        sent_at: None,
    });
    Entity::insert(row).exec_without_returning(tx.connection()).await?;
    Ok(())
}

async fn next(tx: &Tx, realm: RealmId, user: UserId) -> Result<i64, Error> {
    let raised = user_account::Entity::update_many()
        .col_expr(user_account::Column::EventSeq, Expr::col(user_account::Column::EventSeq).add(1))
        .filter(user_account::Column::RealmId.eq(realm.as_uuid()))
        .filter(user_account::Column::Id.eq(user.as_uuid()))
        .exec_with_returning(tx.connection())
        .await?;
    if let Some(row) = raised.first() {
        return Ok(row.event_seq);
    }
    // The person is gone: what was told last had the highest number.
    let last: Option<i64> = Entity::find()
        .select_only()
        .column(Column::EventSeq)
        .filter(Column::RealmId.eq(realm.as_uuid()))
        .filter(Column::UserId.eq(user.as_uuid()))
        .order_by_desc(Column::EventSeq)
        .into_tuple()
        .one(tx.connection())
        .await?;
    Ok(last.unwrap_or(0) + 1)
}

/// Events that were not sent yet, oldest first; those of one person in their order.
pub async fn list_unsent(source: &impl Source, realm: RealmId, limit: u64) -> Result<Vec<OutboxEvent>, Error> {
    let rows = Entity::find()
        .filter(Column::RealmId.eq(realm.as_uuid()))
        .filter(Column::SentAt.is_null())
        .order_by_asc(Column::OccurredAt)
        .order_by_asc(Column::EventSeq)
        .order_by_asc(Column::Id)
        .limit(limit)
        .all(source.connection())
        .await?;
    rows.into_iter().map(read).collect()
}

fn read(model: Model) -> Result<OutboxEvent, Error> {
    let row = Row { table: "outbox", id: model.id };
    Ok(OutboxEvent {
        id: EventId::from_uuid(model.id),
        realm: RealmId::from_uuid(model.realm_id),
        user: UserId::from_uuid(model.user_id),
        sub: model.sub,
        kind: row.some(EventKind::from_name(&model.kind))?,
        at: Timestamp::from_micros(model.occurred_at),
        data: model.data,
    })
}
