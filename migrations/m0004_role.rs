//! Roles with their composites, the group tree, and who has what. What a role or group points to is checked
//! at commit, so that a realm file may be applied in any order.

use sea_orm_migration::prelude::*;

use crate::dialect;

/// The change.
pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "m0004_role"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        dialect::run(manager, TABLES).await
    }
}

const TABLES: &str = "
        create table role (
            realm_id {id} not null references realm (id),
            id {id} not null,
            client_key {id},
            name text not null,
            description text,
            primary key (realm_id, id),
            foreign key (realm_id, client_key) references client (realm_id, id) on delete cascade
        );
        create unique index role_realm_name on role (realm_id, name) where client_key is null;
        create unique index role_client_name on role (realm_id, client_key, name) where client_key is not null;
        create table role_composite (
            realm_id {id} not null,
            role_id {id} not null,
            part_id {id} not null,
            primary key (realm_id, role_id, part_id),
            foreign key (realm_id, role_id) references role (realm_id, id) on delete cascade deferrable initially deferred,
            foreign key (realm_id, part_id) references role (realm_id, id) on delete cascade deferrable initially deferred
        ){clustered};
        create index role_composite_part on role_composite (realm_id, part_id);
        create table user_role (
            realm_id {id} not null,
            user_id {id} not null,
            role_id {id} not null,
            primary key (realm_id, user_id, role_id),
            foreign key (realm_id, user_id) references user_account (realm_id, id) on delete cascade,
            foreign key (realm_id, role_id) references role (realm_id, id) on delete cascade
        ){clustered};
        create index user_role_role on user_role (realm_id, role_id);
        create table user_group (
            realm_id {id} not null references realm (id),
            id {id} not null,
            parent_id {id},
            name text not null,
            path text not null,
            primary key (realm_id, id),
            foreign key (realm_id, parent_id) references user_group (realm_id, id)
                on delete cascade deferrable initially deferred
        );
        create unique index user_group_path on user_group (realm_id, path);
        create index user_group_parent on user_group (realm_id, parent_id);
        create table user_group_role (
            realm_id {id} not null,
            group_id {id} not null,
            role_id {id} not null,
            primary key (realm_id, group_id, role_id),
            foreign key (realm_id, group_id) references user_group (realm_id, id) on delete cascade,
            foreign key (realm_id, role_id) references role (realm_id, id) on delete cascade deferrable initially deferred
        ){clustered};
        create index user_group_role_role on user_group_role (realm_id, role_id);
        create table user_group_member (
            realm_id {id} not null,
            user_id {id} not null,
            group_id {id} not null,
            primary key (realm_id, user_id, group_id),
            foreign key (realm_id, user_id) references user_account (realm_id, id) on delete cascade,
            foreign key (realm_id, group_id) references user_group (realm_id, id) on delete cascade
        ){clustered};
        create index user_group_member_group on user_group_member (realm_id, group_id)
";
