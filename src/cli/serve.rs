//! `doorward serve`: the server.

use clap::Args;

use super::Failure;
use crate::config::Config;

/// Options of `serve`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  doorward serve --dev                         a development realm with demo user and demo app, on loopback
  doorward serve --config /etc/doorward.toml   in production
  DOORWARD_DATABASE__URL=postgres://… DOORWARD_MASTER_KEY_FILE=/run/secrets/master doorward serve")]
pub struct ServeArgs {
    /// Development: loopback only, development realm, demo pages at /demo. Refuses a public_url that is
    /// not a loopback address.
    #[arg(long)]
    pub dev: bool,
}

/// Runs the server until it is told to stop.
///
/// # Errors
/// When it cannot start; the text says what to change.
pub fn run(config: Config) -> Result<(), Failure> {
    crate::boot::run::server(config)
}
