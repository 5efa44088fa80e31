//! Signing keys; the private part is sealed.

use sea_orm_migration::prelude::*;

use crate::dialect;

/// The change.
pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "m0007_key"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        dialect::run(manager, TABLES).await
    }
}

const TABLES: &str = "
        create table signing_key (
            realm_id {id} not null references realm (id),
            id {id} not null,
            kid text not null,
            alg text not null,
            public_jwk text not null,
            sealed_private {bytes} not null,
            announced_at bigint not null,
            active_at bigint not null,
            retired_at bigint,
            gone_at bigint,
            primary key (realm_id, id)
        );
        create unique index signing_key_kid on signing_key (realm_id, kid)
";
