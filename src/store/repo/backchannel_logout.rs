//! Logout notices: queued by whoever ends a session, in the same transaction; claimed for a while by the node
//! that sends them. The number of attempts tells a node that was too slow that its claim has passed on.

use std::time::Duration;

use sea_orm::sea_query::{Condition, Expr, ExprTrait, LockBehavior, LockType, Query};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Statement, UpdateMany};
use uuid::Uuid;

use super::row::Row;
use crate::domain::model::backchannel_logout::{Done, LogoutNotice, NoticeOutcome};
use crate::domain::model::ids::{ClientKey, RealmId, SessionId, UserId};
use crate::domain::model::timestamp::Timestamp;
use crate::store::entity::backchannel_logout::{Column, Entity, Model};
use crate::store::sealed::Connected;
use crate::store::{Error, Source, Tx};

/// Queues a notice for each client that was given something in a session, be it ended since, and has an
/// address for notices. In the stored metadata a quote inside a value is escaped, so the pattern finds the
/// member itself; delivery looks again. Parameters: realm, session, now.
pub(in crate::store) const QUEUE: &str = "insert into backchannel_logout \
    (realm_id, session_id, client_key, user_id, sub, queued_at, due_at, attempts) \
    select distinct grant_record.realm_id, grant_record.session_id, grant_record.client_key, grant_record.user_id, \
    user_account.sub, cast($3 as bigint), cast($3 as bigint), 0 from grant_record \
    join client on client.realm_id = grant_record.realm_id and client.id = grant_record.client_key \
    join user_account on user_account.realm_id = grant_record.realm_id and user_account.id = grant_record.user_id \
    where grant_record.realm_id = $1 and grant_record.session_id = $2 \
    and client.metadata like '%\"backchannel_logout_uri\":\"%' \
    on conflict (realm_id, session_id, client_key) do nothing";

/// Queues the notices of a session that has just ended.
pub(super) async fn queue(tx: &Tx, realm: RealmId, session: Uuid) -> Result<(), Error> {
    let connection = tx.connection();
    let values = [realm.as_uuid().into(), session.into(), tx.now().as_micros().into()];
    let statement = Statement::from_sql_and_values(connection.get_database_backend(), QUEUE, values);
    connection.execute_raw(statement).await?;
    Ok(())
}

/// What waits, over all realms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Notices that are not over.
    pub pending: u64,
    /// When the oldest of them was queued.
    pub oldest: Option<Timestamp>,
    /// When the next attempt may begin.
    pub due_at: Option<Timestamp>,
}

/// How much waits, and for how long.
pub async fn backlog(source: &impl Source) -> Result<Backlog, Error> {
    let found: Option<(i64, Option<i64>, Option<i64>)> = Entity::find()
        .select_only()
        .expr(Expr::col(Column::ClientKey).count())
        .expr(Expr::col(Column::QueuedAt).min())
        .expr(Expr::col(Column::DueAt).min())
        .filter(Column::DoneAt.is_null())
        .into_tuple()
        .one(source.connection())
        .await?;
    let (pending, oldest, due_at) = found.unwrap_or_default();
    Ok(Backlog {
        pending: u64::try_from(pending).unwrap_or(0),
        oldest: oldest.map(Timestamp::from_micros),
        due_at: due_at.map(Timestamp::from_micros),
    })
}

/// Claims due notices of every realm, oldest first: until then nobody else sends them.
pub async fn claim(tx: &mut Tx, now: Timestamp, lease: Duration, limit: u64) -> Result<Vec<LogoutNotice>, Error> {
    const KEY: [Column; 3] = [Column::RealmId, Column::SessionId, Column::ClientKey];
    let is_due = || Condition::all().add(Column::DoneAt.is_null()).add(Column::DueAt.lte(now.as_micros()));
    let due = Query::select()
        .columns(KEY)
        .from(Entity)
        .cond_where(is_due())
        .order_by(Column::DueAt, sea_orm::Order::Asc)
        .limit(limit)
        // Another node takes others instead of waiting for these.
        .lock_with_behavior(LockType::Update, LockBehavior::SkipLocked)
        .to_owned();
    let rows = Entity::update_many()
        .col_expr(Column::DueAt, Expr::value(now.plus(lease).as_micros()))
        .col_expr(Column::Attempts, Expr::col(Column::Attempts).add(1))
        .filter(is_due())
        .filter(Expr::tuple(KEY.map(Expr::col)).in_subquery(due))
        .exec_with_returning(tx.connection())
        .await?;
    rows.into_iter().map(read).collect()
}

/// What becomes of a claimed notice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled {
    /// It is over.
    Done(Done, Option<String>),
    /// It is tried again then, because of this.
    Again(Timestamp, String),
    /// It was not tried.
    Untried,
}

/// Settles a claimed notice. `false`: the claim had passed on.
pub async fn settle(tx: &mut Tx, notice: &LogoutNotice, settled: Settled) -> Result<bool, Error> {
    let row = claimed(notice);
    let update = match settled {
        Settled::Done(done, failure) => row
            .col_expr(Column::DoneAt, Expr::value(done.at.as_micros()))
            .col_expr(Column::Outcome, Expr::value(done.outcome.as_str()))
            .col_expr(Column::Failure, Expr::value(failure))
            .col_expr(Column::Sub, Expr::value(None::<String>)),
        Settled::Again(at, failure) => {
            row.col_expr(Column::DueAt, Expr::value(at.as_micros())).col_expr(Column::Failure, Expr::value(failure))
        }
        Settled::Untried => row
            .col_expr(Column::DueAt, Expr::value(notice.queued_at.as_micros()))
            .col_expr(Column::Attempts, Expr::col(Column::Attempts).sub(1)),
    };
    Ok(update.exec(tx.connection()).await?.rows_affected == 1)
}

fn claimed(notice: &LogoutNotice) -> UpdateMany<Entity> {
    Entity::update_many()
        .filter(Column::RealmId.eq(notice.realm.as_uuid()))
        .filter(Column::SessionId.eq(notice.session.as_uuid()))
        .filter(Column::ClientKey.eq(notice.client.as_uuid()))
        .filter(Column::Attempts.eq(i64::from(notice.attempts)))
        .filter(Column::DoneAt.is_null())
}

/// Which notices are asked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoticeFilter {
    /// Only this client's.
    pub client: Option<ClientKey>,
    /// Only what is not over.
    pub pending: bool,
}

/// Notices, newest first.
pub async fn list(
    source: &impl Source,
    realm: RealmId,
    filter: NoticeFilter,
    limit: u64,
) -> Result<Vec<LogoutNotice>, Error> {
    let mut query = Entity::find().filter(Column::RealmId.eq(realm.as_uuid()));
    if let Some(client) = filter.client {
        query = query.filter(Column::ClientKey.eq(client.as_uuid()));
    }
    if filter.pending {
        query = query.filter(Column::DoneAt.is_null());
    }
    let newest = query.order_by_desc(Column::QueuedAt).order_by_desc(Column::SessionId).order_by_asc(Column::ClientKey);
    newest.limit(limit).all(source.connection()).await?.into_iter().map(read).collect()
}

fn read(model: Model) -> Result<LogoutNotice, Error> {
    let row = Row { table: "backchannel_logout", id: model.session_id };
    let done = match (model.done_at, model.outcome) {
        (Some(at), Some(outcome)) => {
            Some(Done { at: Timestamp::from_micros(at), outcome: row.some(NoticeOutcome::from_name(&outcome))? })
        }
        (None, None) => None,
        _ => return Err(row.corrupt()),
    };
    Ok(LogoutNotice {
        realm: RealmId::from_uuid(model.realm_id),
        session: SessionId::from_uuid(model.session_id),
        client: ClientKey::from_uuid(model.client_key),
        user: UserId::from_uuid(model.user_id),
        sub: model.sub,
        queued_at: Timestamp::from_micros(model.queued_at),
        due_at: Timestamp::from_micros(model.due_at),
        attempts: row.some(u32::try_from(model.attempts).ok())?,
        failure: model.failure,
        done,
    })
}
