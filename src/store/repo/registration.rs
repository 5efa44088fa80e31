//! Clients that registered themselves, as far as this goes beyond a client: their number, the token for the
//! registration, when they were last used.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, LockType};
use sea_orm::{ColumnTrait, Condition, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect};
use uuid::Uuid;

use super::row::{Row, Unique as _};
use crate::domain::model::ids::{ClientKey, RealmId};
use crate::domain::model::secret::SecretHash;
use crate::domain::model::timestamp::Timestamp;
use crate::domain::protocol::registration::Overdue;
use crate::store::entity::client::{ActiveModel, Column, Entity};
use crate::store::entity::realm;
use crate::store::sealed::Connected;
use crate::store::{ChangeKind, Error, Source, Tx};

/// The origin is part of the text, as in the partial index, which is not used for a bound value.
fn self_registered(realm: RealmId) -> Condition {
    Condition::all().add(Column::RealmId.eq(realm.as_uuid())).add(Expr::cust("origin = 'self_registered'"))
}

fn one(realm: RealmId, client: ClientKey) -> Condition {
    self_registered(realm).add(Column::Id.eq(client.as_uuid()))
}

/// How many there are.
pub async fn count(source: &impl Source, realm: RealmId) -> Result<u64, Error> {
    let found = Entity::find().select_only().column(Column::Id).filter(self_registered(realm));
    Ok(found.count(source.connection()).await?)
}

/// How many there are, and nobody else registers until the end of the transaction: of registrations that come at
/// once each sees the one before. What only points at the realm goes on meanwhile.
pub async fn count_alone(tx: &mut Tx, realm: RealmId) -> Result<u64, Error> {
    realm::Entity::find_by_id(realm.as_uuid()).lock(LockType::NoKeyUpdate).unique(tx.connection()).await?;
    count(&*tx, realm).await
}

/// Sets the token by which a client looks after its registration.
pub async fn set_token(tx: &mut Tx, realm: RealmId, client: ClientKey, hash: SecretHash) -> Result<(), Error> {
    Entity::update_many()
        .set(ActiveModel { registration_token: Set(Some(hash.0.to_vec())), ..ActiveModel::default() })
        .filter(one(realm, client))
        .exec(tx.connection())
        .await?;
    Ok(())
}

/// What the token is compared by. `None`: there is no such client, or it is an operator's.
pub async fn find_token(source: &impl Source, realm: RealmId, client: ClientKey) -> Result<Option<SecretHash>, Error> {
    let found: Option<Option<Vec<u8>>> = Entity::find()
        .select_only()
        .column(Column::RegistrationToken)
        .filter(one(realm, client))
        .into_tuple()
        .unique(source.connection())
        .await?;
    let row = Row { table: "client", id: client.as_uuid() };
    found.flatten().map(|bytes| row.hash(&bytes)).transpose()
}

/// Whether the client still registers itself with this token, and nobody else changes it until the end of the
/// transaction.
pub async fn hold(tx: &mut Tx, realm: RealmId, client: ClientKey, hash: SecretHash) -> Result<bool, Error> {
    let found = Entity::find().filter(one(realm, client)).lock(LockType::NoKeyUpdate).unique(tx.connection()).await?;
    let row = Row { table: "client", id: client.as_uuid() };
    let known = found.and_then(|model| model.registration_token).map(|bytes| row.hash(&bytes)).transpose()?;
    Ok(known == Some(hash))
}

/// Writes down that a client was used. An update and never an upsert, and no read model knows of it.
pub async fn note_use(tx: &mut Tx, realm: RealmId, client: ClientKey, at: Timestamp) -> Result<(), Error> {
    let is_older = Condition::any().add(Column::LastUsedAt.is_null()).add(Column::LastUsedAt.lt(at.as_micros()));
    Entity::update_many()
        .set(ActiveModel { last_used_at: Set(Some(at.as_micros())), ..ActiveModel::default() })
        .filter(one(realm, client).add(is_older))
        .exec(tx.connection())
        .await?;
    Ok(())
}

fn is_overdue(overdue: Overdue) -> Condition {
    let unused =
        Condition::all().add(Column::LastUsedAt.is_null()).add(Column::CreatedAt.lt(overdue.unused_before.as_micros()));
    Condition::any().add(unused).add(Column::LastUsedAt.lt(overdue.idle_before.as_micros()))
}

/// Clients that nobody used for too long, oldest first.
pub async fn list_overdue(
    source: &impl Source,
    realm: RealmId,
    overdue: Overdue,
    limit: u64,
) -> Result<Vec<ClientKey>, Error> {
    let found: Vec<Uuid> = Entity::find()
        .select_only()
        .column(Column::Id)
        .filter(self_registered(realm).add(is_overdue(overdue)))
        .order_by_asc(Column::Id)
        .limit(limit)
        .into_tuple()
        .all(source.connection())
        .await?;
    Ok(found.into_iter().map(ClientKey::from_uuid).collect())
}

/// Disables a client if it is still overdue: it may have been used, or become an operator's, since it was looked
/// at. Whoever got `true` deletes it in the same transaction.
pub async fn retire(tx: &mut Tx, realm: RealmId, client: ClientKey, overdue: Overdue) -> Result<bool, Error> {
    let done = Entity::update_many()
        .set(ActiveModel { enabled: Set(false), ..ActiveModel::default() })
        .filter(one(realm, client).add(is_overdue(overdue)))
        .exec(tx.connection())
        .await?;
    tx.changed(realm, ChangeKind::Client, client.as_uuid());
    Ok(done.rows_affected > 0)
}
