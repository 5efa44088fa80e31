//! `doorward migrate`: the schema.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::pick::OnDatabase;
use super::{Failure, say};
use crate::store::Store;

/// Options of `migrate`.
#[derive(Debug, Args)]
#[command(after_help = "An embedded database is migrated by every command; PostgreSQL only by this one, or with
database.auto_migrate = true.

Examples:
  doorward migrate          apply what is pending
  doorward migrate status   list what is applied and pending, change nothing")]
pub struct MigrateArgs {
    #[command(flatten)]
    pub(super) database: OnDatabase,
    /// Print JSON.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Lists migrations.
    Status,
}

impl MigrateArgs {
    /// Whether nothing is to change.
    pub(super) const fn only_looks(&self) -> bool {
        self.command.is_some()
    }
}

/// Migrates, or lists.
///
/// # Errors
/// When the database cannot do it.
pub async fn run(args: MigrateArgs, store: &Store) -> Result<(), Failure> {
    if args.command.is_none() {
        let applied = store.migrate().await?;
        if args.json {
            say::data(&json!({ "applied": applied }).to_string());
            return Ok(());
        }
        for name in &applied {
            say::data(name);
        }
        say::note(&format!("{} migrations applied", applied.len()));
        return Ok(());
    }
    let status = store.migration_status().await?;
    if args.json {
        let rows: Vec<_> = status.iter().map(|(name, applied)| json!({ "name": name, "applied": applied })).collect();
        say::data(&Value::from(rows).to_string());
        return Ok(());
    }
    for (name, applied) in &status {
        say::data(&format!("{}  {name}", if *applied { "applied" } else { "pending" }));
    }
    Ok(())
}
