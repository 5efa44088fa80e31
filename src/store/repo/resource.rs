//! Protected resources (RFC 8707).

use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

use super::row::{Row, json, whole};
use crate::domain::model::ids::{RealmId, ResourceId};
use crate::domain::model::resource::Resource;
use crate::store::entity::resource::{ActiveModel, Column, Entity, Model};
use crate::store::sealed::Connected;
use crate::store::{ChangeKind, Error, Source, Tx};

fn read(model: Model) -> Result<Resource, Error> {
    let row = Row { table: "resource", id: model.id };
    Ok(Resource {
        realm: RealmId::from_uuid(model.realm_id),
        id: ResourceId::from_uuid(model.id),
        scopes: row.json(&model.scopes)?,
        introspection_clients: row.json(&model.introspection_clients)?,
        identifier: model.identifier,
        display_name: model.display_name,
    })
}

/// Every resource of the realm, by identifier.
pub async fn list(source: &impl Source, realm: RealmId) -> Result<Vec<Resource>, Error> {
    let mut rows = Entity::find().filter(Column::RealmId.eq(realm.as_uuid())).all(source.connection()).await?;
    rows.sort_by(|one, other| one.identifier.cmp(&other.identifier));
    rows.into_iter().map(read).collect()
}

/// Makes a resource. The realm's list is cached whole, so its readers are told.
pub async fn insert(tx: &mut Tx, resource: &Resource) -> Result<(), Error> {
    let row: ActiveModel = whole(Model {
        realm_id: resource.realm.as_uuid(),
        id: resource.id.as_uuid(),
        identifier: resource.identifier.clone(),
        display_name: resource.display_name.clone(),
        scopes: json(&resource.scopes)?,
        introspection_clients: json(&resource.introspection_clients)?,
    });
    Entity::insert(row).exec_without_returning(tx.connection()).await?;
    tx.changed(resource.realm, ChangeKind::Resource, resource.id.as_uuid());
    Ok(())
}

/// Changes everything but the id.
pub async fn update(tx: &mut Tx, resource: &Resource) -> Result<(), Error> {
    let row = ActiveModel {
        identifier: Set(resource.identifier.clone()),
        display_name: Set(resource.display_name.clone()),
        scopes: Set(json(&resource.scopes)?),
        introspection_clients: Set(json(&resource.introspection_clients)?),
        ..ActiveModel::default()
    };
    Entity::update_many()
        .set(row)
        .filter(Column::RealmId.eq(resource.realm.as_uuid()))
        .filter(Column::Id.eq(resource.id.as_uuid()))
        .exec(tx.connection())
        .await?;
    tx.changed(resource.realm, ChangeKind::Resource, resource.id.as_uuid());
    Ok(())
}

/// Deletes a resource.
pub async fn delete(tx: &mut Tx, realm: RealmId, resource: ResourceId) -> Result<(), Error> {
    Entity::delete_by_id((realm.as_uuid(), resource.as_uuid())).exec(tx.connection()).await?;
    tx.changed(realm, ChangeKind::Resource, resource.as_uuid());
    Ok(())
}
