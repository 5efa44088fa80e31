//! Browsers, who signed in on them, and sessions. Sessions outlive their user's row (they are ended, not
//! deleted), so they have no foreign key; `security-design` rule 1 guards their birth.

use sea_orm_migration::prelude::*;

use crate::dialect;

/// The change.
pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "m0005_session"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        dialect::run(manager, TABLES).await
    }
}

const TABLES: &str = "
        create table device (
            realm_id {id} not null,
            id {id} not null,
            secret_hash {bytes} not null,
            browser text not null,
            system text not null,
            first_seen_at bigint not null,
            last_seen_at bigint not null,
            primary key (realm_id, id)
        ){roomy};
        create table user_device (
            realm_id {id} not null,
            user_id {id} not null,
            device_id {id} not null,
            first_seen_at bigint not null,
            last_seen_at bigint not null,
            trusted_until bigint,
            primary key (realm_id, user_id, device_id),
            foreign key (realm_id, user_id) references user_account (realm_id, id) on delete cascade,
            foreign key (realm_id, device_id) references device (realm_id, id) on delete cascade
        ){roomy};
        create index user_device_device on user_device (realm_id, device_id);
        create table session (
            realm_id {id} not null,
            id {id} not null,
            user_id {id} not null,
            device_id {id} not null,
            secret_hash {bytes} not null,
            previous_secret_hash {bytes},
            secret_rotated_at bigint not null,
            auth_time bigint not null,
            acr text not null,
            amr text not null,
            credential_epoch bigint not null,
            remembered boolean not null,
            created_at bigint not null,
            last_seen_at bigint not null,
            idle_millis bigint not null,
            expires_at bigint not null,
            ended_at bigint,
            ended_reason text,
            primary key (realm_id, id)
        ){roomy};
        create index session_of_user on session (realm_id, user_id, id);
        create index session_expires on session (expires_at);
        create index session_ended on session (ended_at) where ended_at is not null
";
