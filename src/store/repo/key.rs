//! Signing keys.

use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};

use super::row::{Row, whole};
use crate::domain::model::ids::{KeyId, RealmId};
use crate::domain::model::key::{Algorithm, SigningKey};
use crate::domain::model::timestamp::Timestamp;
use crate::store::entity::signing_key::{ActiveModel, Column, Entity, Model};
use crate::store::sealed::Connected;
use crate::store::{ChangeKind, Error, Source, Tx};

fn read(model: Model) -> Result<SigningKey, Error> {
    let row = Row { table: "signing_key", id: model.id };
    Ok(SigningKey {
        realm: RealmId::from_uuid(model.realm_id),
        id: KeyId::from_uuid(model.id),
        alg: row.some(Algorithm::from_name(&model.alg))?,
        kid: model.kid,
        public_jwk: model.public_jwk,
        sealed_private: model.sealed_private,
        announced_at: Timestamp::from_micros(model.announced_at),
        active_at: Timestamp::from_micros(model.active_at),
        retired_at: model.retired_at.map(Timestamp::from_micros),
        gone_at: model.gone_at.map(Timestamp::from_micros),
    })
}

/// Every key of the realm, oldest first, those that are gone included.
pub async fn list(source: &impl Source, realm: RealmId) -> Result<Vec<SigningKey>, Error> {
    let rows = Entity::find()
        .filter(Column::RealmId.eq(realm.as_uuid()))
        .order_by_asc(Column::ActiveAt)
        .order_by_asc(Column::Id)
        .all(source.connection())
        .await?;
    rows.into_iter().map(read).collect()
}

/// Stores a new key.
pub async fn insert(tx: &mut Tx, key: &SigningKey) -> Result<(), Error> {
    let row: ActiveModel = whole(Model {
        realm_id: key.realm.as_uuid(),
        id: key.id.as_uuid(),
        kid: key.kid.clone(),
        alg: key.alg.as_str().to_owned(),
        public_jwk: key.public_jwk.clone(),
        sealed_private: key.sealed_private.clone(),
        announced_at: key.announced_at.as_micros(),
        active_at: key.active_at.as_micros(),
        retired_at: key.retired_at.map(Timestamp::as_micros),
        gone_at: key.gone_at.map(Timestamp::as_micros),
    });
    Entity::insert(row).exec_without_returning(tx.connection()).await?;
    tx.changed(key.realm, ChangeKind::Key, key.id.as_uuid());
    Ok(())
}

/// Destroys a key that nobody may ever trust again: without its row nothing bears its signature.
pub async fn delete(tx: &mut Tx, realm: RealmId, key: KeyId) -> Result<(), Error> {
    Entity::delete_by_id((realm.as_uuid(), key.as_uuid())).exec(tx.connection()).await?;
    tx.changed(realm, ChangeKind::Key, key.as_uuid());
    Ok(())
}

/// Moves a key's phases.
pub async fn set_phases(tx: &mut Tx, key: &SigningKey) -> Result<(), Error> {
    let row = ActiveModel {
        announced_at: Set(key.announced_at.as_micros()),
        active_at: Set(key.active_at.as_micros()),
        retired_at: Set(key.retired_at.map(Timestamp::as_micros)),
        gone_at: Set(key.gone_at.map(Timestamp::as_micros)),
        ..ActiveModel::default()
    };
    Entity::update_many()
        .set(row)
        .filter(Column::RealmId.eq(key.realm.as_uuid()))
        .filter(Column::Id.eq(key.id.as_uuid()))
        .exec(tx.connection())
        .await?;
    tx.changed(key.realm, ChangeKind::Key, key.id.as_uuid());
    Ok(())
}
