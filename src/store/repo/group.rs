//! The group tree and its members.

use std::collections::{BTreeSet, HashMap};

use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};

use super::row::whole;
use crate::domain::model::group::Group;
use crate::domain::model::ids::{GroupId, RealmId, RoleId, UserId};
use crate::store::entity::user_group::{ActiveModel, Column, Entity, Model};
use crate::store::entity::{user_group_member as member, user_group_role as role};
use crate::store::sealed::Connected;
use crate::store::{ChangeKind, Error, Source, Tx};

/// Every group, by path: a group comes after those above it.
pub async fn list(source: &impl Source, realm: RealmId) -> Result<Vec<Group>, Error> {
    let connection = source.connection();
    let mut rows = Entity::find().filter(Column::RealmId.eq(realm.as_uuid())).all(connection).await?;
    rows.sort_by(|one, other| one.path.cmp(&other.path));
    let given = role::Entity::find()
        .filter(role::Column::RealmId.eq(realm.as_uuid()))
        .order_by_asc(role::Column::RoleId)
        .all(connection)
        .await?;
    let mut roles: HashMap<_, Vec<RoleId>> = HashMap::new();
    for row in given {
        roles.entry(row.group_id).or_default().push(RoleId::from_uuid(row.role_id));
    }
    let group = |model: Model| Group {
        realm,
        id: GroupId::from_uuid(model.id),
        parent: model.parent_id.map(GroupId::from_uuid),
        name: model.name,
        path: model.path,
        roles: roles.remove(&model.id).unwrap_or_default(),
    };
    Ok(rows.into_iter().map(group).collect())
}

/// Makes a group or changes it, with its roles. What it names may be made later in the same transaction.
pub async fn upsert(tx: &mut Tx, group: &Group) -> Result<(), Error> {
    let (realm, id) = (group.realm.as_uuid(), group.id.as_uuid());
    let row: ActiveModel = whole(Model {
        realm_id: realm,
        id,
        parent_id: group.parent.map(GroupId::as_uuid),
        name: group.name.clone(),
        path: group.path.clone(),
    });
    let same = OnConflict::columns([Column::RealmId, Column::Id])
        .update_columns([Column::ParentId, Column::Name, Column::Path])
        .to_owned();
    Entity::insert(row).on_conflict(same).exec_without_returning(tx.connection()).await?;
    role::Entity::delete_many()
        .filter(role::Column::RealmId.eq(realm))
        .filter(role::Column::GroupId.eq(id))
        .exec(tx.connection())
        .await?;
    let roles: BTreeSet<RoleId> = group.roles.iter().copied().collect();
    let rows: Vec<role::ActiveModel> = roles
        .into_iter()
        .map(|role| whole(role::Model { realm_id: realm, group_id: id, role_id: role.as_uuid() }))
        .collect();
    if !rows.is_empty() {
        role::Entity::insert_many(rows).exec_without_returning(tx.connection()).await?;
    }
    tx.changed(group.realm, ChangeKind::Roles, realm);
    Ok(())
}

/// Deletes a group with those below it.
pub async fn delete(tx: &mut Tx, realm: RealmId, group: GroupId) -> Result<(), Error> {
    Entity::delete_by_id((realm.as_uuid(), group.as_uuid())).exec(tx.connection()).await?;
    tx.changed(realm, ChangeKind::Roles, realm.as_uuid());
    Ok(())
}

/// The groups a person is a member of.
pub async fn list_for_user(source: &impl Source, realm: RealmId, user: UserId) -> Result<Vec<GroupId>, Error> {
    let rows = member::Entity::find()
        .filter(member::Column::RealmId.eq(realm.as_uuid()))
        .filter(member::Column::UserId.eq(user.as_uuid()))
        .order_by_asc(member::Column::GroupId)
        .all(source.connection())
        .await?;
    Ok(rows.into_iter().map(|row| GroupId::from_uuid(row.group_id)).collect())
}

/// Makes a person a member of these groups, and of no others.
pub async fn replace_for_user(tx: &mut Tx, realm: RealmId, user: UserId, groups: &[GroupId]) -> Result<(), Error> {
    member::Entity::delete_many()
        .filter(member::Column::RealmId.eq(realm.as_uuid()))
        .filter(member::Column::UserId.eq(user.as_uuid()))
        .exec(tx.connection())
        .await?;
    let groups: BTreeSet<GroupId> = groups.iter().copied().collect();
    let rows: Vec<member::ActiveModel> = groups
        .into_iter()
        .map(|group| {
            whole(member::Model { realm_id: realm.as_uuid(), user_id: user.as_uuid(), group_id: group.as_uuid() })
        })
        .collect();
    if !rows.is_empty() {
        member::Entity::insert_many(rows).exec_without_returning(tx.connection()).await?;
    }
    tx.changed(realm, ChangeKind::User, user.as_uuid());
    Ok(())
}
