//! What applications learn of people: the sealed key of a realm's pairwise subs, drawn when the first is needed;
//! scopes of a realm's own, with the words in which people are asked for them.

use sea_orm_migration::prelude::*;

use crate::dialect;

/// The change.
pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "m0018_claims"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        dialect::run(manager, TABLES).await
    }
}

const TABLES: &str = "
        alter table realm add column pairwise_key {bytes};
        create table scope (
            realm_id {id} not null references realm (id),
            id {id} not null,
            name text not null,
            terms text not null,
            primary key (realm_id, id)
        );
        create unique index scope_name on scope (realm_id, name)
";
