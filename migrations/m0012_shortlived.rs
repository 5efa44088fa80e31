//! Short-lived state and counters, used when there is no Redis.

use sea_orm_migration::prelude::*;

use crate::dialect;

/// The change.
pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "m0012_shortlived"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        dialect::run(manager, TABLES).await
    }
}

const TABLES: &str = "
        create table shortlived (
            realm_id {id} not null,
            kind text not null,
            key {bytes} not null,
            owner {bytes},
            value {bytes} not null,
            version bigint not null,
            created_at bigint not null,
            expires_at bigint not null,
            primary key (realm_id, kind, key)
        ){roomy};
        create index shortlived_owner on shortlived (realm_id, kind, owner, created_at) where owner is not null;
        create index shortlived_expires on shortlived (expires_at);
        create table counter (
            realm_id {id} not null,
            kind text not null,
            key {bytes} not null,
            hits bigint not null,
            expires_at bigint not null,
            primary key (realm_id, kind, key)
        ){roomy};
        create index counter_expires on counter (expires_at)
";
