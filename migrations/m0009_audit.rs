//! Audit events. The personal part and its salt stand aside and can be deleted; the event keeps only their hash
//! (`security-design` rule 33). An event outlives everything it names, so there is no foreign key.

use sea_orm_migration::prelude::*;

use crate::dialect;

/// The change.
pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "m0009_audit"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        dialect::run(manager, TABLES).await
    }
}

const TABLES: &str = "
        create table audit_event (
            realm_id {id} not null,
            id {id} not null,
            occurred_at bigint not null,
            kind text not null,
            user_id {id},
            client_key {id},
            session_id {id},
            grant_id {id},
            reason text,
            actor text not null,
            request text,
            personal_hash {bytes},
            primary key (realm_id, id)
        );
        create index audit_event_user on audit_event (realm_id, user_id, id) where user_id is not null;
        create table audit_personal (
            realm_id {id} not null,
            event_id {id} not null,
            salt {bytes} not null,
            address text not null,
            primary key (realm_id, event_id)
        )
";
