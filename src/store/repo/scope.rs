//! Scopes of a realm's own.

use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

use super::row::{Row, json, whole};
use crate::domain::model::ids::{RealmId, ScopeId};
use crate::domain::model::scope::Scope;
use crate::store::entity::scope::{ActiveModel, Column, Entity, Model};
use crate::store::sealed::Connected;
use crate::store::{ChangeKind, Error, Source, Tx};

fn read(model: Model) -> Result<Scope, Error> {
    let row = Row { table: "scope", id: model.id };
    Ok(Scope {
        realm: RealmId::from_uuid(model.realm_id),
        id: ScopeId::from_uuid(model.id),
        terms: row.json(&model.terms)?,
        name: model.name,
    })
}

/// Every scope of the realm's own, by name.
pub async fn list(source: &impl Source, realm: RealmId) -> Result<Vec<Scope>, Error> {
    let mut rows = Entity::find().filter(Column::RealmId.eq(realm.as_uuid())).all(source.connection()).await?;
    rows.sort_by(|one, other| one.name.cmp(&other.name));
    rows.into_iter().map(read).collect()
}

/// Makes a scope. The realm's list is cached whole, so its readers are told.
pub async fn insert(tx: &mut Tx, scope: &Scope) -> Result<(), Error> {
    let row: ActiveModel = whole(Model {
        realm_id: scope.realm.as_uuid(),
        id: scope.id.as_uuid(),
        name: scope.name.clone(),
        terms: json(&scope.terms)?,
    });
    Entity::insert(row).exec_without_returning(tx.connection()).await?;
    tx.changed(scope.realm, ChangeKind::Scope, scope.id.as_uuid());
    Ok(())
}

/// Changes what is said of a scope.
pub async fn update(tx: &mut Tx, scope: &Scope) -> Result<(), Error> {
    Entity::update_many()
        .set(ActiveModel { terms: Set(json(&scope.terms)?), ..ActiveModel::default() })
        .filter(Column::RealmId.eq(scope.realm.as_uuid()))
        .filter(Column::Id.eq(scope.id.as_uuid()))
        .exec(tx.connection())
        .await?;
    tx.changed(scope.realm, ChangeKind::Scope, scope.id.as_uuid());
    Ok(())
}

/// Deletes a scope.
pub async fn delete(tx: &mut Tx, realm: RealmId, scope: ScopeId) -> Result<(), Error> {
    Entity::delete_by_id((realm.as_uuid(), scope.as_uuid())).exec(tx.connection()).await?;
    tx.changed(realm, ChangeKind::Scope, scope.as_uuid());
    Ok(())
}
