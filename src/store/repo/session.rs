//! Sessions. They are opened, stepped up and mostly ended in the batch. Whoever ends one touches it first
//! and its grants in a later statement of the same transaction (`security-design` rule 1).

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Condition, Expr};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, UpdateMany};
use uuid::Uuid;

use super::row::{Row, Unique as _};
use super::{backchannel_logout, grant, user};
use crate::domain::model::ids::{DeviceId, RealmId, SessionId, UserId};
use crate::domain::model::secret::SecretHash;
use crate::domain::model::session::{Acr, Ended, Session};
use crate::domain::model::span::Span;
use crate::domain::model::timestamp::Timestamp;
use crate::domain::protocol::backchannel_logout::is_told;
use crate::store::entity::session::{ActiveModel, Column, Entity, Model};
use crate::store::sealed::Connected;
use crate::store::{ChangeKind, Error, Source, Tx};

fn read(model: Model) -> Result<Session, Error> {
    let row = Row { table: "session", id: model.id };
    let idle = row.some(u64::try_from(model.idle_millis).ok())?;
    Ok(Session {
        realm: RealmId::from_uuid(model.realm_id),
        id: SessionId::from_uuid(model.id),
        user: UserId::from_uuid(model.user_id),
        device: DeviceId::from_uuid(model.device_id),
        secret_hash: row.hash(&model.secret_hash)?,
        previous_secret_hash: model.previous_secret_hash.map(|hash| row.hash(&hash)).transpose()?,
        secret_rotated_at: Timestamp::from_micros(model.secret_rotated_at),
        auth_time: Timestamp::from_micros(model.auth_time),
        acr: row.some(Acr::from_name(&model.acr))?,
        amr: row.json(&model.amr)?,
        credential_epoch: model.credential_epoch,
        remembered: model.remembered,
        created_at: Timestamp::from_micros(model.created_at),
        last_seen_at: Timestamp::from_micros(model.last_seen_at),
        idle: Span::millis(idle),
        expires_at: Timestamp::from_micros(model.expires_at),
        ended: row.ended(model.ended_at, model.ended_reason.as_deref())?,
    })
}

/// The session of this id, live or ended.
pub async fn find(source: &impl Source, realm: RealmId, session: SessionId) -> Result<Option<Session>, Error> {
    let found = Entity::find_by_id((realm.as_uuid(), session.as_uuid())).unique(source.connection()).await?;
    found.map(read).transpose()
}

/// Sessions of a person, newest first, those that ended included.
pub async fn list_for_user(
    source: &impl Source,
    realm: RealmId,
    user: UserId,
    limit: u64,
) -> Result<Vec<Session>, Error> {
    let rows = Entity::find()
        .filter(Column::RealmId.eq(realm.as_uuid()))
        .filter(Column::UserId.eq(user.as_uuid()))
        .order_by_desc(Column::Id)
        .limit(limit)
        .all(source.connection())
        .await?;
    rows.into_iter().map(read).collect()
}

/// Where a walk over all sessions stands: they are ordered by their absolute limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The limit of the session looked at last.
    pub expires_at: Timestamp,
    /// That session.
    pub session: SessionId,
}

/// Sessions of every realm beyond a place, those that ended included.
pub async fn list_beyond(source: &impl Source, place: Place, limit: u64) -> Result<Vec<Session>, Error> {
    let at = place.expires_at.as_micros();
    let beyond = Condition::any().add(Column::ExpiresAt.gt(at)).add(Column::Id.gt(place.session.as_uuid()));
    let rows = Entity::find()
        // The first bound is for the index.
        .filter(Column::ExpiresAt.gte(at))
        .filter(beyond)
        .order_by_asc(Column::ExpiresAt)
        .order_by_asc(Column::Id)
        .limit(limit)
        .all(source.connection())
        .await?;
    rows.into_iter().map(read).collect()
}

fn ending(realm: RealmId, ended: Ended) -> UpdateMany<Entity> {
    let row = ActiveModel {
        ended_at: Set(Some(ended.at.as_micros())),
        ended_reason: Set(Some(ended.reason.as_str().to_owned())),
        ..ActiveModel::default()
    };
    Entity::update_many().set(row).filter(Column::RealmId.eq(realm.as_uuid())).filter(Column::EndedAt.is_null())
}

/// Ends a session, then its online grants, and queues what its clients are told. `false`: it had ended before, or never was.
pub async fn end(tx: &mut Tx, realm: RealmId, session: SessionId, ended: Ended) -> Result<bool, Error> {
    let update = ending(realm, ended).filter(Column::Id.eq(session.as_uuid()));
    if update.exec(tx.connection()).await?.rows_affected == 0 {
        return Ok(false);
    }
    tx.changed(realm, ChangeKind::Session, session.as_uuid());
    grant::end_online_of(tx, realm, &[session.as_uuid()], ended.at).await?;
    if is_told(ended.reason) {
        backchannel_logout::queue(tx, realm, session.as_uuid()).await?;
    }
    Ok(true)
}

/// How far an end of all sessions goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// The session that stays.
    pub except: Option<SessionId>,
    /// Whether offline grants end too.
    pub offline: bool,
}

impl Extent {
    /// Everything.
    pub const ALL: Self = Self { except: None, offline: true };
}

/// Ends every session of a person except one, then their grants, and as far as asked the person's offline
/// grants. Gives the sessions that ended. The person's epoch is raised first, so that no sign-in that
/// is under way slips through; the session that stays goes on under the new one.
pub async fn end_all_for_user(
    tx: &mut Tx,
    realm: RealmId,
    user: UserId,
    ended: Ended,
    extent: Extent,
) -> Result<Vec<SessionId>, Error> {
    let epoch = user::raise_epoch(tx, realm, user, ended.at).await?;
    let mut update = ending(realm, ended).filter(Column::UserId.eq(user.as_uuid()));
    if let Some(kept) = extent.except {
        update = update.filter(Column::Id.ne(kept.as_uuid()));
        keep(tx, realm, kept, user, epoch).await?;
    }
    let rows = update.exec_with_returning(tx.connection()).await?;
    let sessions: Vec<Uuid> = rows.iter().map(|row| row.id).collect();
    for session in &sessions {
        tx.changed(realm, ChangeKind::Session, *session);
    }
    grant::end_online_of(tx, realm, &sessions, ended.at).await?;
    for session in sessions.iter().filter(|_| is_told(ended.reason)) {
        backchannel_logout::queue(tx, realm, *session).await?;
    }
    if extent.offline {
        grant::end_offline_for_user(tx, realm, user, ended).await?;
    }
    Ok(sessions.into_iter().map(SessionId::from_uuid).collect())
}

async fn keep(tx: &mut Tx, realm: RealmId, kept: SessionId, user: UserId, epoch: i64) -> Result<(), Error> {
    Entity::update_many()
        .col_expr(Column::CredentialEpoch, Expr::value(epoch))
        .filter(Column::RealmId.eq(realm.as_uuid()))
        .filter(Column::Id.eq(kept.as_uuid()))
        .filter(Column::UserId.eq(user.as_uuid()))
        .filter(Column::EndedAt.is_null())
        .exec(tx.connection())
        .await?;
    tx.changed(realm, ChangeKind::Session, kept.as_uuid());
    Ok(())
}

/// Gives a live session's cookie a new secret; the one before is kept for parallel tabs. `false`: it ended.
pub async fn rotate_secret(
    tx: &mut Tx,
    realm: RealmId,
    session: SessionId,
    new: SecretHash,
    now: Timestamp,
) -> Result<bool, Error> {
    // The right sides see the row as it was.
    let result = Entity::update_many()
        .col_expr(Column::PreviousSecretHash, Expr::col(Column::SecretHash))
        .col_expr(Column::SecretHash, Expr::value(new.0.to_vec()))
        .col_expr(Column::SecretRotatedAt, Expr::value(now.as_micros()))
        .filter(Column::RealmId.eq(realm.as_uuid()))
        .filter(Column::Id.eq(session.as_uuid()))
        .filter(Column::EndedAt.is_null())
        .exec(tx.connection())
        .await?;
    tx.changed(realm, ChangeKind::Session, session.as_uuid());
    Ok(result.rows_affected == 1)
}
