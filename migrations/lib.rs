//! The database's history: one change per file, for SQLite and PostgreSQL from one description. What was
//! released is never edited; see README.md. It knows nothing of today's entities.

use sea_orm_migration::prelude::*;

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

/// Applies the history.
#[derive(Debug)]
pub struct Migrator;

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
        ]
    }

    fn migration_table_name() -> DynIden {
        "migration".into_iden()
    }
}
