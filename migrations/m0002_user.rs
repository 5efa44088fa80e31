//! People: accounts, the names they sign in with, what they prove themselves with.

use sea_orm_migration::prelude::*;

use crate::dialect;

/// The change.
pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "m0002_user"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        dialect::run(manager, TABLES).await
    }
}

const TABLES: &str = "
        create table user_account (
            realm_id {id} not null references realm (id),
            id {id} not null,
            sub text not null,
            username text not null,
            enabled boolean not null,
            credential_epoch bigint not null,
            event_seq bigint not null default 0,
            created_at bigint not null,
            updated_at bigint not null,
            claims text not null,
            primary key (realm_id, id)
        ){roomy};
        create unique index user_account_sub on user_account (realm_id, sub);
        create table identifier (
            realm_id {id} not null,
            canonical text not null,
            kind text not null,
            user_id {id} not null,
            primary key (realm_id, canonical),
            foreign key (realm_id, user_id) references user_account (realm_id, id) on delete cascade
        ){clustered};
        create index identifier_user on identifier (realm_id, user_id);
        create table credential (
            realm_id {id} not null,
            id {id} not null,
            user_id {id} not null,
            kind text not null,
            secret text not null,
            created_at bigint not null,
            primary key (realm_id, id),
            foreign key (realm_id, user_id) references user_account (realm_id, id) on delete cascade
        );
        create unique index credential_password on credential (realm_id, user_id) where kind = 'password';
        create index credential_user on credential (realm_id, user_id)
";
