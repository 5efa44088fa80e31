//! Changes: what read models of every node must drop. PostgreSQL commits numbers out of order, so there each row
//! carries its transaction id (architecture, section 7).

use sea_orm_migration::prelude::*;

use crate::dialect;

/// The change.
pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "m0011_change"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        dialect::run(manager, TABLES).await
    }
}

const TABLES: &str = "
        create table change (
            seq {seq},
            realm_id {id} not null,
            kind text not null,
            subject_id {id} not null,
            created_at bigint not null{xact}
        );
        create index change_created on change (created_at){xact_index}
";
