//! Realms: the key of every row that belongs to one.

use sea_orm_migration::prelude::*;

use crate::dialect;

/// The change.
pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "m0001_realm"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        dialect::run(manager, TABLES).await
    }
}

const TABLES: &str = "
        create table realm (
            id {id} not null primary key,
            name text not null,
            display_name text,
            enabled boolean not null,
            issuer text,
            restore_epoch bigint not null,
            settings text not null
        );
        create unique index realm_name on realm (name);
        create unique index realm_issuer on realm (issuer) where issuer is not null
";
