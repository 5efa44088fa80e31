//! Secrets of clients that sign with them rest sealed beside their hash.

use sea_orm_migration::prelude::*;

use crate::dialect;

/// The change.
pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "m0016_client_secret_sealed"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        dialect::run(manager, COLUMN).await
    }
}

const COLUMN: &str = "
        alter table client_secret add column sealed {bytes}
";
