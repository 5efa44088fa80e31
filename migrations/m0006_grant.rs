//! Redemptions, grants and single revoked tokens. A redemption is the single-use gate of a code: it hangs on
//! nothing, so that deleting a client or a user never lets a code be used twice (`security-design` rule 12).
//! Generation, rotation, last use and expiry of a grant stand in no index: on PostgreSQL a rotation is a HOT update.

use sea_orm_migration::prelude::*;

use crate::dialect;

/// The change.
pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "m0006_grant"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        dialect::run(manager, TABLES).await
    }
}

const TABLES: &str = "
        create table redemption (
            realm_id {id} not null,
            code_id {id} not null,
            grant_id {id} not null,
            redeemed_at bigint not null,
            expires_at bigint not null,
            primary key (realm_id, code_id)
        ){clustered};
        create index redemption_expires on redemption (expires_at);
        create table grant_record (
            realm_id {id} not null,
            id {id} not null,
            client_key {id} not null,
            user_id {id} not null,
            session_id {id} not null,
            code_id {id},
            grant_type text not null,
            offline boolean not null,
            terms text not null,
            refresh_secret_hash {bytes},
            generation bigint not null,
            rotated_at bigint not null,
            presenter {bytes},
            grace_streak bigint not null,
            grace_generation bigint not null,
            created_at bigint not null,
            last_used_at bigint not null,
            expires_at bigint not null,
            ended_at bigint,
            ended_reason text,
            primary key (realm_id, id)
        ){roomy};
        create unique index grant_record_code on grant_record (realm_id, code_id) where code_id is not null;
        create index grant_record_session on grant_record (realm_id, session_id, client_key);
        create index grant_record_user on grant_record (realm_id, user_id);
        create index grant_record_client on grant_record (realm_id, client_key) where ended_at is null;
        create index grant_record_ended on grant_record (ended_at) where ended_at is not null;
        create table revoked_token (
            realm_id {id} not null,
            token_id {id} not null,
            expires_at bigint not null,
            primary key (realm_id, token_id)
        ){clustered};
        create index revoked_token_expires on revoked_token (expires_at)
";
