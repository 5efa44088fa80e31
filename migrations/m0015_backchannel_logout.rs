//! What clients are told of sessions that ended: one row per session and client, so that each is told once.
//! It outlives session, client and person.

use sea_orm_migration::prelude::*;

use crate::dialect;

/// The change.
pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "m0015_backchannel_logout"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        dialect::run(manager, TABLES).await
    }
}

const TABLES: &str = "
        create table backchannel_logout (
            realm_id {id} not null,
            session_id {id} not null,
            client_key {id} not null,
            user_id {id} not null,
            sub text,
            queued_at bigint not null,
            due_at bigint not null,
            attempts bigint not null,
            failure text,
            done_at bigint,
            outcome text,
            primary key (realm_id, session_id, client_key)
        );
        create index backchannel_logout_due on backchannel_logout (due_at) where done_at is null;
        create index backchannel_logout_done on backchannel_logout (done_at) where done_at is not null
";
