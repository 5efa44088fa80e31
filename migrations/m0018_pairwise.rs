//! The key of a realm's pairwise subs, sealed; drawn when the first is needed.

use sea_orm_migration::prelude::*;

use crate::dialect;

/// The change.
pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "m0018_pairwise"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        dialect::run(manager, COLUMN).await
    }
}

const COLUMN: &str = "
        alter table realm add column pairwise_key {bytes}
";
