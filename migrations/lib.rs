//! The database's history: one change per file, for SQLite and PostgreSQL from one description. What was
//! released is never edited; see README.md. It knows nothing of today's entities.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, Statement};

mod dialect;
mod m0001_realm;
mod m0002_user;
mod m0003_client;
mod m0004_role;
mod m0005_session;
mod m0006_grant;
mod m0007_key;
mod m0008_power;
mod m0009_audit;
mod m0010_outbox;
mod m0011_change;
mod m0012_shortlived;
mod m0013_meta;
mod m0014_outbox_sent;
mod m0015_backchannel_logout;
mod m0016_client_secret_sealed;
mod m0017_registration;
mod m0018_claims;

const TABLE: &str = "migration";

struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(m0001_realm::Migration),
            Box::new(m0002_user::Migration),
            Box::new(m0003_client::Migration),
            Box::new(m0004_role::Migration),
            Box::new(m0005_session::Migration),
            Box::new(m0006_grant::Migration),
            Box::new(m0007_key::Migration),
            Box::new(m0008_power::Migration),
            Box::new(m0009_audit::Migration),
            Box::new(m0010_outbox::Migration),
            Box::new(m0011_change::Migration),
            Box::new(m0012_shortlived::Migration),
            Box::new(m0013_meta::Migration),
            Box::new(m0014_outbox_sent::Migration),
            Box::new(m0015_backchannel_logout::Migration),
            Box::new(m0016_client_secret_sealed::Migration),
            Box::new(m0017_registration::Migration),
            Box::new(m0018_claims::Migration),
        ]
    }

    fn migration_table_name() -> DynIden {
        TABLE.into_iden()
    }
}

/// Each migration that this program knows, in order, and whether it was applied. Creates nothing.
pub async fn status(connection: &impl ConnectionTrait) -> Result<Vec<(String, bool)>, DbErr> {
    let applied = applied(connection).await?;
    let known = Migrator::migrations();
    Ok(known
        .iter()
        .map(|migration| (migration.name().to_owned(), applied.iter().any(|a| a == migration.name())))
        .collect())
}

/// Applies what is pending and gives its names. A database that a newer release has migrated is left as it
/// is: each release also runs on the schema of the next (README.md).
pub async fn apply(transaction: &DatabaseTransaction) -> Result<Vec<String>, DbErr> {
    let pending: Vec<String> =
        status(transaction).await?.into_iter().filter(|(_, applied)| !applied).map(|(name, _)| name).collect();
    if !pending.is_empty() {
        Migrator::up(transaction, None).await?;
    }
    Ok(pending)
}

async fn applied(connection: &impl ConnectionTrait) -> Result<Vec<String>, DbErr> {
    let find_table = if connection.get_database_backend() == DbBackend::Sqlite {
        "select name from sqlite_master where type = 'table' and name = 'migration'"
    } else {
        "select tablename::text as name from pg_tables where schemaname = current_schema() and tablename = 'migration'"
    };
    let backend = connection.get_database_backend();
    if connection.query_one_raw(Statement::from_string(backend, find_table)).await?.is_none() {
        return Ok(Vec::new());
    }
    let rows = connection.query_all_raw(Statement::from_string(backend, "select version from migration")).await?;
    rows.iter().map(|row| row.try_get("", "version")).collect()
}
