//! The database.

use std::path::{Path, PathBuf};
use std::time::Duration;

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

use super::key::{Key, Kind};
use super::reader::Reader;
use crate::domain::model::secret::Secret;

const URL: Key = Key {
    name: "database.url",
    kind: Kind::Text,
    default: "sqlite://{data_dir}/doorward.db",
    allowed: "`sqlite://path/to/file` or `postgres://user:password@host[:port]/name[?sslmode=…]`",
    meaning: "Where everything is stored; `{data_dir}` stands for that setting",
    secret: true,
};
const AUTO_MIGRATE: Key = Key {
    name: "database.auto_migrate",
    kind: Kind::Boolean,
    default: "false",
    allowed: "`true` or `false`",
    meaning: "`serve` applies schema migrations on PostgreSQL too; on SQLite it always does",
    secret: false,
};
const POOL_MAX: Key = Key {
    name: "database.pool.max",
    kind: Kind::Integer,
    default: "16",
    allowed: "2 to 500",
    meaning: "Connections of this process at most; the sum over all processes must fit into the server's limit",
    secret: false,
};
const ACQUIRE: Key = Key {
    name: "database.pool.acquire_timeout_ms",
    kind: Kind::Integer,
    default: "2500",
    allowed: "100 to 30000",
    meaning: "How long a request waits for a connection before it is answered 503",
    secret: false,
};
const STATEMENT: Key = Key {
    name: "database.pool.statement_timeout_ms",
    kind: Kind::Integer,
    default: "5000",
    allowed: "100 to 60000",
    meaning: "How long one statement may run (PostgreSQL)",
    secret: false,
};

pub(super) const KEYS: &[&Key] = &[&URL, &AUTO_MIGRATE, &POOL_MAX, &ACQUIRE, &STATEMENT];

/// What would end the path in the address of an embedded database.
const PATH: &AsciiSet = &CONTROLS.add(b'%').add(b'?').add(b'#');

/// The settings of this section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Database {
    /// The address, which may hold a password.
    pub url: Secret,
    /// Whether `serve` migrates PostgreSQL.
    pub auto_migrate: bool,
    /// Connections at most.
    pub pool_max: u32,
    /// How long a request waits for one.
    pub acquire_timeout: Duration,
    /// How long a statement may run.
    pub statement_timeout: Duration,
}

impl Database {
    pub(super) fn read(reader: &mut Reader, data_dir: Option<&Path>) -> Option<Self> {
        let folder = data_dir.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
        let folder = utf8_percent_encode(&folder, PATH).to_string();
        let url = reader.parse(&URL, |text| address(&text.replace("{data_dir}", &folder)));
        let auto_migrate = reader.boolean(&AUTO_MIGRATE);
        let pool_max = reader.integer(&POOL_MAX, 2..=500);
        let acquire_timeout = reader.integer(&ACQUIRE, 100..=30_000);
        let statement_timeout = reader.integer(&STATEMENT, 100..=60_000);
        Some(Self {
            url: url?,
            auto_migrate: auto_migrate?,
            pool_max: pool_max?,
            acquire_timeout: Duration::from_millis(acquire_timeout?),
            statement_timeout: Duration::from_millis(statement_timeout?),
        })
    }

    /// Whether it is the embedded one.
    #[must_use]
    pub fn is_embedded(&self) -> bool {
        self.url.expose().starts_with("sqlite:")
    }

    /// The file of an embedded database.
    #[must_use]
    pub fn file(&self) -> Option<PathBuf> {
        let path = self.url.expose().strip_prefix("sqlite://")?;
        let path = path.split('?').next().unwrap_or(path);
        Some(PathBuf::from(percent_decode_str(path).decode_utf8_lossy().into_owned()))
    }
}

/// Faults here name no part of the value: it may hold a password.
fn address(text: &str) -> Result<Secret, String> {
    if let Some(path) = text.strip_prefix("sqlite://") {
        // A database in memory is one per connection and gone at the end: not a store.
        return if path.is_empty() || path.contains(":memory:") || path.contains("mode=memory") {
            Err("names no file".to_owned())
        } else {
            Ok(Secret::from(text))
        };
    }
    let url = url::Url::parse(text).map_err(|error| format!("is not an address: {error}"))?;
    if !matches!(url.scheme(), "postgres" | "postgresql") {
        return Err("begins neither with sqlite:// nor with postgres://".to_owned());
    }
    let socket = url.query_pairs().any(|(name, _)| name == "host");
    if url.host_str().is_none_or(str::is_empty) && !socket {
        return Err("names no host".to_owned());
    }
    if url.path().trim_matches('/').is_empty() {
        return Err("names no database after the host".to_owned());
    }
    Ok(Secret::from(text))
}
