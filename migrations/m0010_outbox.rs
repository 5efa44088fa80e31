//! Events for other services, in the order of each person. They outlive the person they tell of.

use sea_orm_migration::prelude::*;

use crate::dialect;

/// The change.
pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "m0010_outbox"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        dialect::run(manager, TABLES).await
    }
}

const TABLES: &str = "
        create table outbox (
            realm_id {id} not null,
            id {id} not null,
            user_id {id} not null,
            event_seq bigint not null,
            sub text not null,
            kind text not null,
            occurred_at bigint not null,
            data text not null,
            sent_at bigint,
            primary key (realm_id, id)
        );
        create unique index outbox_user_seq on outbox (realm_id, user_id, event_seq);
        create index outbox_unsent on outbox (realm_id, id) where sent_at is null
";
