//! Clients with their secrets, logos, the resources they ask for and what people consented to.

use sea_orm_migration::prelude::*;

use crate::dialect;

/// The change.
pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "m0003_client"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        dialect::run(manager, TABLES).await
    }
}

const TABLES: &str = "
        create table client (
            realm_id {id} not null references realm (id),
            id {id} not null,
            client_id text not null,
            enabled boolean not null,
            created_at bigint not null,
            metadata text not null,
            primary key (realm_id, id)
        );
        create unique index client_client_id on client (realm_id, client_id);
        create table client_secret (
            realm_id {id} not null,
            id {id} not null,
            client_key {id} not null,
            hash {bytes} not null,
            created_at bigint not null,
            expires_at bigint,
            primary key (realm_id, id),
            foreign key (realm_id, client_key) references client (realm_id, id) on delete cascade
        );
        create index client_secret_client on client_secret (realm_id, client_key);
        create table logo (
            realm_id {id} not null,
            client_key {id} not null,
            uri text not null,
            media_type text not null,
            bytes {bytes} not null,
            fetched_at bigint not null,
            primary key (realm_id, client_key),
            foreign key (realm_id, client_key) references client (realm_id, id) on delete cascade
        );
        create table resource (
            realm_id {id} not null references realm (id),
            id {id} not null,
            identifier text not null,
            display_name text,
            scopes text not null,
            introspection_clients text not null,
            primary key (realm_id, id)
        );
        create unique index resource_identifier on resource (realm_id, identifier);
        create table consent (
            realm_id {id} not null,
            id {id} not null,
            user_id {id} not null,
            client_key {id} not null,
            scope text not null,
            resources text not null,
            created_at bigint not null,
            updated_at bigint not null,
            primary key (realm_id, id),
            foreign key (realm_id, user_id) references user_account (realm_id, id) on delete cascade,
            foreign key (realm_id, client_key) references client (realm_id, id) on delete cascade
        );
        create unique index consent_user_client on consent (realm_id, user_id, client_key);
        create index consent_client on consent (realm_id, client_key)
";
