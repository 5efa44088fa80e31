//! Realms.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::LockType;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};

use super::row::{Row, Unique as _, json, whole};
use crate::domain::model::ids::RealmId;
use crate::domain::model::realm::Realm;
use crate::store::entity::realm::{ActiveModel, Column, Entity, Model};
use crate::store::sealed::Connected;
use crate::store::{ChangeKind, Error, Source, Tx};

fn read(model: Model) -> Result<Realm, Error> {
    let row = Row { table: "realm", id: model.id };
    Ok(Realm {
        id: RealmId::from_uuid(model.id),
        settings: row.json(&model.settings)?,
        name: model.name,
        display_name: model.display_name,
        enabled: model.enabled,
        issuer: model.issuer,
        restore_epoch: model.restore_epoch,
        pairwise_key: model.pairwise_key,
    })
}

fn model(realm: &Realm) -> Result<Model, Error> {
    Ok(Model {
        id: realm.id.as_uuid(),
        name: realm.name.clone(),
        display_name: realm.display_name.clone(),
        enabled: realm.enabled,
        issuer: realm.issuer.clone(),
        restore_epoch: realm.restore_epoch,
        pairwise_key: realm.pairwise_key.clone(),
        settings: json(&realm.settings)?,
    })
}

/// The realm of this name.
pub async fn find_by_name(source: &impl Source, name: &str) -> Result<Option<Realm>, Error> {
    let found = Entity::find().filter(Column::Name.eq(name)).unique(source.connection()).await?;
    found.map(read).transpose()
}

/// The realm of this id.
pub async fn find(source: &impl Source, id: RealmId) -> Result<Option<Realm>, Error> {
    let found = Entity::find_by_id(id.as_uuid()).unique(source.connection()).await?;
    found.map(read).transpose()
}

/// Every realm, by name.
pub async fn list(source: &impl Source) -> Result<Vec<Realm>, Error> {
    let mut rows = Entity::find().all(source.connection()).await?;
    // Here, not in the database: servers differ in how they order text.
    rows.sort_by(|one, other| one.name.cmp(&other.name));
    rows.into_iter().map(read).collect()
}

/// Keeps other writers of the realm's own matters out until the transaction ends. On SQLite the one
/// writer is alone anyway.
pub async fn lock(tx: &mut Tx, id: RealmId) -> Result<(), Error> {
    Entity::find_by_id(id.as_uuid()).lock(LockType::NoKeyUpdate).unique(tx.connection()).await?;
    Ok(())
}

/// Makes a realm. The hosts of realms are cached whole, so their readers are told.
pub async fn insert(tx: &mut Tx, realm: &Realm) -> Result<(), Error> {
    let row: ActiveModel = whole(model(realm)?);
    Entity::insert(row).exec_without_returning(tx.connection()).await?;
    tx.changed(realm.id, ChangeKind::Realm, realm.id.as_uuid());
    Ok(())
}

/// Keeps the sealed key of the realm's pairwise subs, unless it has one, and gives the one that counts.
/// `None` = there is no such realm.
pub async fn keep_pairwise_key(tx: &mut Tx, id: RealmId, sealed: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    let kept = Entity::update_many()
        .set(ActiveModel { pairwise_key: Set(Some(sealed.to_vec())), ..ActiveModel::default() })
        .filter(Column::Id.eq(id.as_uuid()))
        .filter(Column::PairwiseKey.is_null())
        .exec(tx.connection())
        .await?;
    if kept.rows_affected > 0 {
        tx.changed(id, ChangeKind::Realm, id.as_uuid());
    }
    Ok(find(&*tx, id).await?.and_then(|realm| realm.pairwise_key))
}

/// Changes everything but the id and the key of pairwise subs, which stays what it is.
pub async fn update(tx: &mut Tx, realm: &Realm) -> Result<(), Error> {
    let new = model(realm)?;
    let row = ActiveModel {
        name: Set(new.name),
        display_name: Set(new.display_name),
        enabled: Set(new.enabled),
        issuer: Set(new.issuer),
        restore_epoch: Set(new.restore_epoch),
        settings: Set(new.settings),
        ..ActiveModel::default()
    };
    Entity::update_many().set(row).filter(Column::Id.eq(new.id)).exec(tx.connection()).await?;
    tx.changed(realm.id, ChangeKind::Realm, new.id);
    Ok(())
}
