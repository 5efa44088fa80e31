//! `doorward.toml` and the environment, one file per section (`contract` section 3). Every setting is
//! declared once with its default, allowed form and meaning; the reference is made of the same words.
//! Nothing unknown is ignored, everything wrong is told at once.

mod absent;
mod database;
mod error;
mod key;
mod limits;
mod log;
pub mod network;
mod outbound;
mod password;
mod public_url;
mod reader;
mod server;
mod source;
mod tls;

use std::path::{Path, PathBuf};

pub use database::Database;
pub use error::{ConfigError, Origin, Problem};
pub use key::{Key, Kind, reference};
pub use limits::Limits;
pub use log::{Format, Level, Log};
pub use outbound::Outbound;
pub use password::Password;
pub use public_url::PublicUrl;
pub use server::{Listen, Server};
pub use tls::Tls;

use reader::Reader;
use source::Gathered;

/// Where settings are looked for.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    /// `--config`.
    pub path: Option<PathBuf>,
    /// `--dev`: loopback only, its own data folder (`security-design` rule 29).
    pub dev: bool,
    /// The environment; variables without our prefix are not looked at.
    pub env: Vec<(String, String)>,
    /// Where `doorward.toml` is looked for when none is named.
    pub folder: PathBuf,
}

impl LoadOptions {
    /// With the environment and working folder of this process.
    #[must_use]
    pub fn from_process(path: Option<PathBuf>, dev: bool) -> Self {
        let lossy = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
        let env = std::env::vars_os().map(|(name, value)| (lossy(name), lossy(value))).collect();
        Self { path, dev, env, folder: PathBuf::from(".") }
    }
}

/// Everything that is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Whether `--dev` was given.
    pub dev: bool,
    /// Listeners, public address, data folder, master key.
    pub server: Server,
    /// TLS of the public listeners.
    pub tls: Option<Tls>,
    /// The database.
    pub database: Database,
    /// Password hashing.
    pub password: Password,
    /// Requests that the server makes.
    pub outbound: Outbound,
    /// What one request or peer may take.
    pub limits: Limits,
    /// What is written about the work.
    pub log: Log,
    /// What works, and should not stay so.
    pub remarks: Vec<Problem>,
}

impl Config {
    /// Reads and checks everything. The error holds every problem that was found.
    pub fn load(options: &LoadOptions) -> Result<Self, ConfigError> {
        let mut gathered = Gathered::default();
        if let Some(path) = source::choose(options.path.as_deref(), &options.env, &options.folder) {
            gathered.file(&path);
        }
        gathered.environment(&options.env);
        let remarks = gathered.remarks;
        let mut reader = Reader { values: gathered.values, problems: gathered.problems, dev: options.dev };
        let config = Self::read(&mut reader);
        match config {
            Some(config) if reader.problems.is_empty() => Ok(Self { remarks, ..config }),
            _ => Err(ConfigError { problems: reader.problems }),
        }
    }

    fn read(reader: &mut Reader) -> Option<Self> {
        absent::refuse(reader);
        let server = Server::read(reader);
        let data_dir: Option<&Path> = server.as_ref().map(|server| server.data_dir.as_path());
        let tls = Tls::read(reader, server.as_ref());
        let database = Database::read(reader, data_dir);
        let password = Password::read(reader);
        let outbound = Outbound::read(reader);
        let limits = Limits::read(reader);
        let log = Log::read(reader);
        if let (Some(server), Some(database)) = (&server, &database)
            && !database.is_embedded()
        {
            server.require_master_key(reader);
        }
        Some(Self {
            dev: reader.dev,
            server: server?,
            tls: tls?,
            database: database?,
            password: password?,
            outbound: outbound?,
            limits: limits?,
            log: log?,
            remarks: Vec::new(),
        })
    }
}
