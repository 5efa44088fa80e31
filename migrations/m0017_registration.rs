//! Clients that register themselves: who registered a client, the hash of the token by which it looks after its
//! registration, when it was last used; and the tokens by which operators let clients register.

use sea_orm_migration::prelude::*;

use crate::dialect;

/// The change.
pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "m0017_registration"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        dialect::run(manager, CHANGES).await
    }
}

const CHANGES: &str = "
        alter table client add column origin text not null default 'operator';
        alter table client add column registration_token {bytes};
        alter table client add column last_used_at bigint;
        create index client_self_registered on client (realm_id, last_used_at) where origin = 'self_registered';
        create table initial_access_token (
            realm_id {id} not null references realm (id),
            id {id} not null,
            hash {bytes} not null,
            label text not null,
            created_at bigint not null,
            expires_at bigint not null,
            uses_left bigint not null,
            primary key (realm_id, id)
        );
        create unique index initial_access_token_hash on initial_access_token (realm_id, hash);
        create index initial_access_token_expires on initial_access_token (expires_at)
";
