//! The command line: one file per command. Messages for people go to stderr, data to stdout; exit
//! status 0 on success, 1 any other failure, 2 wrong usage, 69 a dependency stayed unavailable,
//! 70 a fault of ours, 78 wrong configuration.

use std::fmt;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::boot::build::{self, Purpose};
use crate::config::{Config, LoadOptions};

pub mod apply;
pub mod bench;
pub mod client;
pub mod doctor;
pub mod examples;
pub mod export;
pub mod hash;
pub mod key;
pub mod migrate;
pub mod pick;
pub mod say;
pub mod serve;
pub mod session;
pub mod user;

/// Doorward, an OpenID Connect identity provider.
#[derive(Debug, Parser)]
#[command(
    name = "doorward",
    version,
    about,
    max_term_width = 100,
    after_help = "Each command has examples in its --help."
)]
pub struct Cli {
    /// Configuration file; else DOORWARD_CONFIG, else ./doorward.toml when it is there.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs the server.
    Serve(serve::ServeArgs),
    /// Applies, or lists, schema migrations.
    Migrate(migrate::MigrateArgs),
    /// Makes the stored realms equal to the declared ones.
    Apply(apply::ApplyArgs),
    /// Writes a realm in the format that `apply` reads.
    Export(export::ExportArgs),
    /// Looks after people's accounts.
    User(user::UserArgs),
    /// Looks after clients.
    Client(client::ClientArgs),
    /// Looks at sessions and ends them.
    Session(session::SessionArgs),
    /// Looks at signing keys and rotates them.
    Key(key::KeyArgs),
    /// Measures password hashing on this machine.
    Hash(hash::HashArgs),
    /// Checks configuration, database, keys, clock and addresses, and says how to mend each.
    Doctor(doctor::DoctorArgs),
    /// Measures the hot paths beside a bare route, in one run.
    Bench(bench::BenchArgs),
}

impl Command {
    /// Whether it works on the development database.
    const fn is_dev(&self) -> bool {
        match self {
            Self::Serve(args) => args.dev,
            Self::Migrate(args) => args.database.dev,
            Self::Apply(args) => args.database.dev,
            Self::Export(args) => args.database.dev,
            Self::User(args) => args.database.dev,
            Self::Client(args) => args.database.dev,
            Self::Session(args) => args.database.dev,
            Self::Key(args) => args.database.dev,
            Self::Doctor(args) => args.database.dev,
            Self::Hash(_) | Self::Bench(_) => false,
        }
    }

    /// Whether it may make the database that it works on; the doctor says by itself that there is none.
    const fn makes_database(&self) -> bool {
        match self {
            Self::Serve(_) | Self::Apply(_) | Self::Doctor(_) | Self::Hash(_) | Self::Bench(_) => true,
            Self::Migrate(args) => !args.only_looks(),
            Self::Export(_) | Self::User(_) | Self::Client(_) | Self::Session(_) | Self::Key(_) => false,
        }
    }
}

/// Why a command did not do it; the text is for the person at the terminal.
#[derive(Debug)]
pub enum Failure {
    /// Wrong usage: 2.
    Usage(String),
    /// Wrong configuration: 78.
    Config(String),
    /// A dependency stayed unavailable: 69.
    Dependency(String),
    /// A fault of ours: 70.
    Internal(String),
    /// Anything else: 1.
    Other(String),
}

impl Failure {
    const fn status(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Config(_) => 78,
            Self::Dependency(_) => 69,
            Self::Internal(_) => 70,
            Self::Other(_) => 1,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Usage(text)
        | Self::Config(text)
        | Self::Dependency(text)
        | Self::Internal(text)
        | Self::Other(text)) = self;
        f.write_str(text)
    }
}

impl From<crate::store::Error> for Failure {
    fn from(error: crate::store::Error) -> Self {
        match error {
            crate::store::Error::Unavailable(text) => Self::Dependency(text),
            other => Self::Internal(other.to_string()),
        }
    }
}

impl From<crate::service::Error> for Failure {
    fn from(error: crate::service::Error) -> Self {
        match error {
            crate::service::Error::Unavailable { .. } => Self::Dependency(error.to_string()),
            crate::service::Error::Internal(text) => Self::Internal(text),
            other => Self::Other(other.to_string()),
        }
    }
}

/// Runs the command line.
#[must_use]
pub fn main() -> ExitCode {
    let matches = examples::handed_down(Cli::command()).try_get_matches();
    let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            say::problem(&failure.to_string());
            ExitCode::from(failure.status())
        }
    }
}

fn run(cli: Cli) -> Result<(), Failure> {
    if let Command::Bench(args) = cli.command {
        return bench::run(&args);
    }
    if let Command::Hash(args) = cli.command {
        return hash::run(&args);
    }
    let config = Config::load(&LoadOptions::from_process(cli.config, cli.command.is_dev()))
        .map_err(|error| Failure::Config(error.to_string()))?;
    if let Command::Serve(_) = cli.command {
        return serve::run(config);
    }
    if !cli.command.makes_database() {
        build::check_exists(&config)?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Failure::Internal(format!("no runtime: {error}")))?;
    let outcome = runtime.block_on(async {
        match cli.command {
            Command::Doctor(args) => doctor::run(args, config).await,
            Command::Migrate(args) => migrate::run(args, &build::open_store(&config).await?).await,
            command => {
                let app = build::app(config, Purpose::Command).await?;
                let outcome = match command {
                    Command::Apply(args) => apply::run(args, &app).await,
                    Command::Export(args) => export::run(args, &app).await,
                    Command::User(args) => user::run(args, &app).await,
                    Command::Client(args) => client::run(args, &app).await,
                    Command::Session(args) => session::run(args, &app).await,
                    Command::Key(args) => key::run(args, &app).await,
                    Command::Serve(_)
                    | Command::Migrate(_)
                    | Command::Hash(_)
                    | Command::Doctor(_)
                    | Command::Bench(_) => Ok(()),
                };
                app.store.close().await;
                outcome
            }
        }
    });
    runtime.shutdown_timeout(std::time::Duration::from_secs(5));
    outcome
}
