//! Grants. They are made and rotated in the batch; what is fixed at birth is never written again
//! (`security-design` rule 2). Read models hold only that, and that they ended.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{CaseStatement, Condition, Expr, ExprTrait};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect, Statement, UpdateMany};
use uuid::Uuid;

use super::row::{Row, Unique as _};
use crate::domain::model::client::GrantType;
use crate::domain::model::grant::Grant;
use crate::domain::model::ids::{ClientKey, CodeId, GrantId, RealmId, SessionId, UserId};
use crate::domain::model::session::{EndReason, Ended};
use crate::domain::model::timestamp::Timestamp;
use crate::store::entity::grant_record::{ActiveModel, Column, Entity, Model};
use crate::store::sealed::Connected;
use crate::store::{ChangeKind, Error, Source, Tx};

fn read(model: Model) -> Result<Grant, Error> {
    let row = Row { table: "grant_record", id: model.id };
    let hash = model.refresh_secret_hash.map(|hash| row.hash(&hash)).transpose()?;
    let presenter = model.presenter.map(|bytes| row.some(bytes.try_into().ok())).transpose()?;
    Ok(Grant {
        realm: RealmId::from_uuid(model.realm_id),
        id: GrantId::from_uuid(model.id),
        client: ClientKey::from_uuid(model.client_key),
        user: UserId::from_uuid(model.user_id),
        session: SessionId::from_uuid(model.session_id),
        code: model.code_id.map(CodeId::from_uuid),
        grant_type: row.some(GrantType::from_name(&model.grant_type))?,
        terms: row.json(&model.terms)?,
        refresh_secret_hash: hash,
        generation: model.generation,
        rotated_at: Timestamp::from_micros(model.rotated_at),
        presenter,
        grace_streak: row.some(i32::try_from(model.grace_streak).ok())?,
        grace_generation: model.grace_generation,
        created_at: Timestamp::from_micros(model.created_at),
        last_used_at: Timestamp::from_micros(model.last_used_at),
        expires_at: Timestamp::from_micros(model.expires_at),
        ended: row.ended(model.ended_at, model.ended_reason.as_deref())?,
    })
}

/// The grant of this id, live or ended.
pub async fn find(source: &impl Source, realm: RealmId, grant: GrantId) -> Result<Option<Grant>, Error> {
    let found = Entity::find_by_id((realm.as_uuid(), grant.as_uuid())).unique(source.connection()).await?;
    found.map(read).transpose()
}

/// The grant that this code made.
pub async fn find_by_code(source: &impl Source, realm: RealmId, code: CodeId) -> Result<Option<Grant>, Error> {
    let found = Entity::find()
        .filter(Column::RealmId.eq(realm.as_uuid()))
        .filter(Column::CodeId.eq(code.as_uuid()))
        .unique(source.connection())
        .await?;
    found.map(read).transpose()
}

/// Clients that were given something in a session, be it ended since, and have an address for the signed-out
/// page, the latest first. In the stored metadata a quote inside a value is escaped, so the pattern finds
/// the member itself. Parameters: realm, session, limit.
const FRAMED: &str = "select grant_record.client_key from grant_record \
    join client on client.realm_id = grant_record.realm_id and client.id = grant_record.client_key \
    where grant_record.realm_id = $1 and grant_record.session_id = $2 \
    and client.metadata like '%\"frontchannel_logout_uri\":\"%' \
    group by grant_record.client_key order by max(grant_record.created_at) desc, grant_record.client_key limit $3";

/// The clients that the signed-out page of a session loads (Front-Channel Logout 1.0), the latest first.
pub async fn list_framed_clients(
    source: &impl Source,
    realm: RealmId,
    session: SessionId,
    limit: u64,
) -> Result<Vec<ClientKey>, Error> {
    let connection = source.connection();
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let values = [realm.as_uuid().into(), session.as_uuid().into(), limit.into()];
    let statement = Statement::from_sql_and_values(connection.get_database_backend(), FRAMED, values);
    let rows = connection.query_all_raw(statement).await?;
    rows.iter().map(|row| Ok(ClientKey::from_uuid(row.try_get_by_index(0)?))).collect()
}

/// Ends the live grants that `which` describes.
async fn end_where(tx: &mut Tx, realm: RealmId, which: Condition, ended: Ended) -> Result<u64, Error> {
    let row = ActiveModel {
        ended_at: Set(Some(ended.at.as_micros())),
        ended_reason: Set(Some(ended.reason.as_str().to_owned())),
        ..ActiveModel::default()
    };
    let update: UpdateMany<Entity> = Entity::update_many()
        .set(row)
        .filter(Column::RealmId.eq(realm.as_uuid()))
        .filter(Column::EndedAt.is_null())
        .filter(which);
    let rows = update.exec_with_returning(tx.connection()).await?;
    let mut count = 0;
    for row in rows {
        tx.changed(realm, ChangeKind::GrantEnded, row.id);
        count += 1;
    }
    Ok(count)
}

/// Ends a grant. `false`: it had ended before, or never was.
pub async fn end(tx: &mut Tx, realm: RealmId, grant: GrantId, ended: Ended) -> Result<bool, Error> {
    let which = Condition::all().add(Column::Id.eq(grant.as_uuid()));
    Ok(end_where(tx, realm, which, ended).await? == 1)
}

/// Ends every grant of a person.
pub async fn end_for_user(tx: &mut Tx, realm: RealmId, user: UserId, ended: Ended) -> Result<u64, Error> {
    let which = Condition::all().add(Column::UserId.eq(user.as_uuid()));
    end_where(tx, realm, which, ended).await
}

/// Ends what a person gave one client.
pub async fn end_for_user_and_client(
    tx: &mut Tx,
    realm: RealmId,
    user: UserId,
    client: ClientKey,
    ended: Ended,
) -> Result<u64, Error> {
    let which = Condition::all().add(Column::UserId.eq(user.as_uuid())).add(Column::ClientKey.eq(client.as_uuid()));
    end_where(tx, realm, which, ended).await
}

pub(super) async fn end_for_client(tx: &mut Tx, realm: RealmId, client: ClientKey, ended: Ended) -> Result<u64, Error> {
    let which = Condition::all().add(Column::ClientKey.eq(client.as_uuid()));
    end_where(tx, realm, which, ended).await
}

/// Ends the online grants of sessions that have just ended.
pub(super) async fn end_online_of(tx: &mut Tx, realm: RealmId, sessions: &[Uuid], at: Timestamp) -> Result<u64, Error> {
    if sessions.is_empty() {
        return Ok(0);
    }
    let which = Condition::all().add(Column::SessionId.is_in(sessions.iter().copied())).add(Column::Offline.eq(false));
    end_where(tx, realm, which, Ended { at, reason: EndReason::SessionEnded }).await
}

pub(super) async fn end_offline_for_user(
    tx: &mut Tx,
    realm: RealmId,
    user: UserId,
    ended: Ended,
) -> Result<u64, Error> {
    let which = Condition::all().add(Column::UserId.eq(user.as_uuid())).add(Column::Offline.eq(true));
    end_where(tx, realm, which, ended).await
}

/// Counts a repeat by somebody else within the grace (`security-design` rule 9) and gives how many
/// generations in a row had one. One generation counts once; one without a foreign repeat starts anew.
pub async fn count_foreign_repeat(tx: &mut Tx, realm: RealmId, grant: GrantId, generation: i64) -> Result<i32, Error> {
    let row = Row { table: "grant_record", id: grant.as_uuid() };
    let streak = CaseStatement::new()
        .case(Expr::col(Column::GraceGeneration).eq(generation - 1), Expr::col(Column::GraceStreak).add(1))
        .finally(1);
    let uncounted = Condition::any()
        .add(Column::GraceGeneration.lt(generation))
        // Nothing was ever counted, whatever the row was born with.
        .add(Column::GraceStreak.eq(0));
    let counted = Entity::update_many()
        .col_expr(Column::GraceStreak, streak.into())
        .col_expr(Column::GraceGeneration, Expr::value(generation))
        .filter(Column::RealmId.eq(realm.as_uuid()))
        .filter(Column::Id.eq(grant.as_uuid()))
        .filter(Column::EndedAt.is_null())
        .filter(uncounted)
        .exec_with_returning(tx.connection())
        .await?;
    let streak = match counted.first() {
        Some(counted) => Some(counted.grace_streak),
        None => {
            Entity::find_by_id((realm.as_uuid(), grant.as_uuid()))
                .select_only()
                .column(Column::GraceStreak)
                .into_tuple()
                .unique(tx.connection())
                .await?
        }
    };
    row.some(i32::try_from(streak.unwrap_or(0)).ok())
}
