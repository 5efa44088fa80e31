//! Administrative powers (`security-design` rule 27) and the one-time set-up link (rule 30).

use sea_orm_migration::prelude::*;

use crate::dialect;

/// The change.
pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "m0008_power"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        dialect::run(manager, TABLES).await
    }
}

const TABLES: &str = "
        create table administrative_power (
            realm_id {id} not null,
            id {id} not null,
            user_id {id} not null,
            power text not null,
            created_at bigint not null,
            primary key (realm_id, id),
            foreign key (realm_id, user_id) references user_account (realm_id, id) on delete cascade
        );
        create unique index administrative_power_user on administrative_power (realm_id, user_id, power);
        create table setup_link (
            hash {bytes} not null primary key,
            expires_at bigint not null
        )
";
