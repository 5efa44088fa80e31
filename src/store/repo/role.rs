//! Roles, and what a person's roles and groups amount to.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, Statement};

use super::row::whole;
use crate::domain::model::ids::{ClientKey, RealmId, RoleId, UserId};
use crate::domain::model::role::Role;
use crate::store::entity::role::{ActiveModel, Column, Entity, Model};
use crate::store::entity::{role_composite, user_role};
use crate::store::sealed::Connected;
use crate::store::{ChangeKind, Error, Source, Tx};

/// What a person's roles and groups amount to, composites and groups above included. Sorted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Effective {
    /// Names of realm roles.
    pub roles: Vec<String>,
    /// Names of client roles, by `client_id`.
    pub client_roles: BTreeMap<String, Vec<String>>,
    /// Paths of the groups the person is a member of.
    pub groups: Vec<String>,
}

/// Every role of the realm and of its clients, by name.
pub async fn list(source: &impl Source, realm: RealmId) -> Result<Vec<Role>, Error> {
    let connection = source.connection();
    let mut rows = Entity::find().filter(Column::RealmId.eq(realm.as_uuid())).all(connection).await?;
    rows.sort_by(|one, other| (&one.name, one.id).cmp(&(&other.name, other.id)));
    let parts = role_composite::Entity::find()
        .filter(role_composite::Column::RealmId.eq(realm.as_uuid()))
        .order_by_asc(role_composite::Column::PartId)
        .all(connection)
        .await?;
    let mut composites: HashMap<_, Vec<RoleId>> = HashMap::new();
    for part in parts {
        composites.entry(part.role_id).or_default().push(RoleId::from_uuid(part.part_id));
    }
    let role = |model: Model| Role {
        realm,
        id: RoleId::from_uuid(model.id),
        client: model.client_key.map(ClientKey::from_uuid),
        name: model.name,
        description: model.description,
        composites: composites.remove(&model.id).unwrap_or_default(),
    };
    Ok(rows.into_iter().map(role).collect())
}

/// Makes a role or changes it, with its composites, which may be made later in the same transaction.
pub async fn upsert(tx: &mut Tx, role: &Role) -> Result<(), Error> {
    let (realm, id) = (role.realm.as_uuid(), role.id.as_uuid());
    let row: ActiveModel = whole(Model {
        realm_id: realm,
        id,
        client_key: role.client.map(ClientKey::as_uuid),
        name: role.name.clone(),
        description: role.description.clone(),
    });
    let same = OnConflict::columns([Column::RealmId, Column::Id])
        .update_columns([Column::ClientKey, Column::Name, Column::Description])
        .to_owned();
    Entity::insert(row).on_conflict(same).exec_without_returning(tx.connection()).await?;
    role_composite::Entity::delete_many()
        .filter(role_composite::Column::RealmId.eq(realm))
        .filter(role_composite::Column::RoleId.eq(id))
        .exec(tx.connection())
        .await?;
    let parts: BTreeSet<RoleId> = role.composites.iter().copied().collect();
    let rows: Vec<role_composite::ActiveModel> = parts
        .into_iter()
        .map(|part| whole(role_composite::Model { realm_id: realm, role_id: id, part_id: part.as_uuid() }))
        .collect();
    if !rows.is_empty() {
        role_composite::Entity::insert_many(rows).exec_without_returning(tx.connection()).await?;
    }
    tx.changed(role.realm, ChangeKind::Roles, realm);
    Ok(())
}

/// Deletes a role; everybody loses it.
pub async fn delete(tx: &mut Tx, realm: RealmId, role: RoleId) -> Result<(), Error> {
    Entity::delete_by_id((realm.as_uuid(), role.as_uuid())).exec(tx.connection()).await?;
    tx.changed(realm, ChangeKind::Roles, realm.as_uuid());
    Ok(())
}

/// The roles a person was given directly.
pub async fn list_for_user(source: &impl Source, realm: RealmId, user: UserId) -> Result<Vec<RoleId>, Error> {
    let rows = user_role::Entity::find()
        .filter(user_role::Column::RealmId.eq(realm.as_uuid()))
        .filter(user_role::Column::UserId.eq(user.as_uuid()))
        .order_by_asc(user_role::Column::RoleId)
        .all(source.connection())
        .await?;
    Ok(rows.into_iter().map(|row| RoleId::from_uuid(row.role_id)).collect())
}

/// Gives a person these roles directly, and no others.
pub async fn replace_for_user(tx: &mut Tx, realm: RealmId, user: UserId, roles: &[RoleId]) -> Result<(), Error> {
    user_role::Entity::delete_many()
        .filter(user_role::Column::RealmId.eq(realm.as_uuid()))
        .filter(user_role::Column::UserId.eq(user.as_uuid()))
        .exec(tx.connection())
        .await?;
    let roles: BTreeSet<RoleId> = roles.iter().copied().collect();
    let rows: Vec<user_role::ActiveModel> = roles
        .into_iter()
        .map(|role| {
            whole(user_role::Model { realm_id: realm.as_uuid(), user_id: user.as_uuid(), role_id: role.as_uuid() })
        })
        .collect();
    if !rows.is_empty() {
        user_role::Entity::insert_many(rows).exec_without_returning(tx.connection()).await?;
    }
    tx.changed(realm, ChangeKind::User, user.as_uuid());
    Ok(())
}

/// One walk up the groups, one down the composites. `union` drops what was seen, so that a circle ends.
const ROLES: &str = "\
    with recursive above (id, parent_id) as (\
        select g.id, g.parent_id from user_group_member m \
        join user_group g on g.realm_id = m.realm_id and g.id = m.group_id \
        where m.realm_id = $1 and m.user_id = $2 \
        union \
        select g.id, g.parent_id from user_group g join above on g.id = above.parent_id where g.realm_id = $1\
    ), held (id) as (\
        select given.id from (\
            select role_id as id from user_role where realm_id = $1 and user_id = $2 \
            union \
            select role_id as id from user_group_role where realm_id = $1 and group_id in (select id from above)\
        ) given \
        union \
        select c.part_id from role_composite c join held on c.role_id = held.id where c.realm_id = $1\
    ) \
    select role.name as name, client.client_id as client_id from held \
    join role on role.realm_id = $1 and role.id = held.id \
    left join client on client.realm_id = role.realm_id and client.id = role.client_key";

const GROUPS: &str = "\
    select g.path as path from user_group_member m \
    join user_group g on g.realm_id = m.realm_id and g.id = m.group_id \
    where m.realm_id = $1 and m.user_id = $2";

/// What a person's roles and groups amount to: two queries, however deep the trees.
pub async fn effective(source: &impl Source, realm: RealmId, user: UserId) -> Result<Effective, Error> {
    let connection = source.connection();
    let query = |text: &str| {
        let values = [realm.as_uuid().into(), user.as_uuid().into()];
        Statement::from_sql_and_values(connection.get_database_backend(), text, values)
    };
    let mut effective = Effective::default();
    for row in connection.query_all_raw(query(ROLES)).await? {
        let name: String = row.try_get("", "name")?;
        match row.try_get::<Option<String>>("", "client_id")? {
            None => effective.roles.push(name),
            Some(client) => effective.client_roles.entry(client).or_default().push(name),
        }
    }
    for row in connection.query_all_raw(query(GROUPS)).await? {
        effective.groups.push(row.try_get("", "path")?);
    }
    // Here, not in the database: a token must not depend on how a server orders text.
    effective.roles.sort();
    effective.client_roles.values_mut().for_each(|roles| roles.sort());
    effective.groups.sort();
    Ok(effective)
}
