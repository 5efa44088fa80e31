//! Events that were sent are purged by the time they were sent at.

use sea_orm_migration::prelude::*;

use crate::dialect;

/// The change.
pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "m0014_outbox_sent"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        dialect::run(manager, INDEXES).await
    }
}

const INDEXES: &str = "
        create index outbox_sent on outbox (sent_at) where sent_at is not null
";
