//! Opening the database. SQLite: one connection that writes, four that only read. PostgreSQL: two bounded
//! pools, a small one that writes and a larger one that reads, so that a crowd of readers never keeps the
//! batch writer waiting.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use sea_orm::sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sea_orm::sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sea_orm::sqlx::{self, ConnectOptions, Connection, Pool, SqliteConnection};

use super::error::Error;

/// How to reach the database.
#[derive(Clone)]
pub struct StoreSettings {
    /// `sqlite://path` or `postgres://…`.
    pub url: String,
    /// Connections of this process at most, all pools together (PostgreSQL).
    pub pool_max: u32,
    /// How long an operation waits for a connection.
    pub acquire_timeout: Duration,
    /// How long one statement may run (PostgreSQL).
    pub statement_timeout: Duration,
    /// Whether a commit waits for the disk (SQLite; PostgreSQL has its own setting). Only `false` in tests.
    pub durable: bool,
}

impl std::fmt::Debug for StoreSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The address may hold a password.
        f.debug_struct("StoreSettings").field("pool_max", &self.pool_max).finish_non_exhaustive()
    }
}

/// The pools of one database.
#[derive(Clone, Debug)]
pub(in crate::store) enum Pools {
    /// One writer, whose transactions are immediate, and readers.
    Sqlite {
        /// One connection.
        writer: SqlitePool,
        /// Connections that cannot write.
        reader: SqlitePool,
    },
    /// Two pools to one server.
    Postgres {
        /// Batches and transactions.
        writer: PgPool,
        /// Everything else.
        reader: PgPool,
    },
}

const READERS: u32 = 4;

/// Connections that the batch writers hold beside the pools (PostgreSQL).
const BATCH: u32 = 2;

/// The connection that hears of changes (PostgreSQL).
const LISTENER: u32 = 1;

impl Pools {
    /// Opens what `settings.url` names.
    pub(in crate::store) async fn open(settings: &StoreSettings) -> Result<Self, Error> {
        if settings.url.starts_with("sqlite:") {
            sqlite(settings).await
        } else if settings.url.starts_with("postgres://") || settings.url.starts_with("postgresql://") {
            postgres(settings).await
        } else {
            Err(wrong("must begin with `sqlite://` or `postgres://`"))
        }
    }

    /// Connections in use, idle ones, and how many there may be.
    pub(in crate::store) fn connections(&self) -> (i64, i64, i64) {
        fn count<D: sqlx::Database>(pool: &Pool<D>) -> (i64, i64, i64) {
            let idle = i64::try_from(pool.num_idle()).unwrap_or(i64::MAX);
            ((i64::from(pool.size()) - idle).max(0), idle, i64::from(pool.options().get_max_connections()))
        }
        let (first, second) = match self {
            Self::Sqlite { writer, reader } => (count(writer), count(reader)),
            Self::Postgres { writer, reader } => (count(writer), count(reader)),
        };
        (first.0 + second.0, first.1 + second.1, first.2 + second.2)
    }

    /// Closes every connection; waits for those in use.
    pub(in crate::store) async fn close(&self) {
        match self {
            Self::Sqlite { writer, reader } => {
                reader.close().await;
                writer.close().await;
            }
            Self::Postgres { writer, reader } => {
                reader.close().await;
                writer.close().await;
            }
        }
    }
}

fn wrong(fault: &str) -> Error {
    Error::Unavailable(format!("database.url {fault}"))
}

async fn sqlite(settings: &StoreSettings) -> Result<Pools, Error> {
    if settings.url.contains(":memory:") {
        return Err(wrong("must name a file: each connection to :memory: would see another database"));
    }
    let options = SqliteConnectOptions::from_str(&settings.url)
        .map_err(|_| wrong("must be `sqlite://path/to/file`"))?
        .create_if_missing(false)
        .foreign_keys(true)
        // Only other programs can hold the lock: all writes of this process take the one writer.
        .busy_timeout(Duration::from_secs(5))
        .statement_cache_capacity(200)
        .pragma("temp_store", "memory")
        .pragma("mmap_size", "268435456")
        .disable_statement_logging();
    let path = options.get_filename().to_owned();
    create_file(&path)?;
    let opening = |error| opening_file(&path, error);
    let synchronous = if settings.durable { SqliteSynchronous::Full } else { SqliteSynchronous::Off };
    let writing = options
        .clone()
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(synchronous)
        .pragma("journal_size_limit", "67108864")
        .pragma("cache_size", "-16384")
        .optimize_on_close(true, 400);
    let pool = || {
        SqlitePoolOptions::new()
            .acquire_timeout(settings.acquire_timeout)
            .test_before_acquire(false)
            .before_acquire(|connection, _| Box::pin(is_clean(connection)))
    };
    let forever = |pool: SqlitePoolOptions| pool.idle_timeout(None).max_lifetime(None);
    let writer = forever(pool().max_connections(1).min_connections(1)).connect_with(writing).await.map_err(opening)?;
    let reading = options.read_only(true).pragma("query_only", "on").pragma("cache_size", "-4096");
    let reader =
        forever(pool().max_connections(READERS).min_connections(1)).connect_with(reading).await.map_err(opening)?;
    Ok(Pools::Sqlite { writer, reader })
}

/// Whether the connection may be used again. A full disk makes SQLite roll a transaction back by itself,
/// which the driver does not notice: it would refuse every later one. Such a connection is replaced.
async fn is_clean(connection: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    if !connection.is_in_transaction() {
        return Ok(true);
    }
    // The rollback of a transaction that was dropped may still be under way: this waits behind it.
    connection.ping().await?;
    Ok(!connection.is_in_transaction())
}

/// Makes an empty file that only its owner may read; its `-wal` and `-shm` take over its mode.
fn create_file(path: &Path) -> Result<(), Error> {
    let shown = path.display();
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(Error::Unavailable(format!(
            "the folder of {shown} does not exist: create it, or set database.url or data_dir"
        ))),
        Err(error) => Err(Error::Unavailable(format!("{shown} cannot be created: {error}"))),
    }
}

async fn postgres(settings: &StoreSettings) -> Result<Pools, Error> {
    let limit = settings.statement_timeout.as_millis().to_string();
    let options = PgConnectOptions::from_str(&settings.url)
        .map_err(|_| wrong("must be `postgres://user:password@host[:port]/name`"))?
        .application_name("doorward")
        .statement_cache_capacity(200)
        .options([
            ("statement_timeout", limit.as_str()),
            ("idle_in_transaction_session_timeout", "15000"),
            ("default_transaction_isolation", "read committed"),
        ])
        .disable_statement_logging();
    let writers = (settings.pool_max / 4).clamp(1, 8);
    let readers = settings.pool_max.saturating_sub(writers).max(1);
    let pool = |max: u32| {
        PgPoolOptions::new()
            .max_connections(max)
            .acquire_timeout(settings.acquire_timeout)
            .test_before_acquire(false)
            .idle_timeout(Duration::from_secs(600))
            .max_lifetime(Duration::from_secs(1800))
    };
    reach(&options, settings.acquire_timeout).await?;
    let writer = pool(writers).connect_with(options.clone()).await.map_err(opening)?;
    check_limit(&writer, writers + readers + BATCH + LISTENER).await?;
    let reader = pool(readers).connect_lazy_with(options);
    Ok(Pools::Postgres { writer, reader })
}

/// One connection apart from the pools, which would try again and again and then say only that none became free.
async fn reach(options: &PgConnectOptions, patience: Duration) -> Result<(), Error> {
    let connected = tokio::time::timeout(patience, options.connect()).await;
    let fault = match connected {
        Ok(Ok(connection)) => return connection.close().await.map_err(opening),
        Ok(Err(error)) => match opening(error) {
            Error::Unavailable(text) => text,
            other => other.to_string(),
        },
        Err(_) => "no answer in time".to_owned(),
    };
    let (host, port) = (options.get_host(), options.get_port());
    Err(Error::Unavailable(format!(
        "PostgreSQL at {host}:{port} cannot be used: {fault}. Start it, or mend database.url"
    )))
}

/// Refuses pools that the server could never fill: better now than as refused requests under load.
async fn check_limit(pool: &PgPool, wanted: u32) -> Result<(), Error> {
    let (max, reserved): (i32, i32) = sqlx::query_as(
        "select current_setting('max_connections')::int, current_setting('superuser_reserved_connections')::int",
    )
    .fetch_one(pool)
    .await?;
    let free = max.saturating_sub(reserved);
    if i64::from(wanted) <= i64::from(free) {
        return Ok(());
    }
    Err(Error::Unavailable(format!(
        "with database.pool.max this process may open {wanted} connections, but the server allows {free} (max_connections {max}, \
         {reserved} of them reserved): lower database.pool.max or raise max_connections"
    )))
}

/// As [`opening`], where the file itself may be the fault: it is named, with what helps.
fn opening_file(path: &Path, error: sqlx::Error) -> Error {
    // SQLITE_CORRUPT and SQLITE_NOTADB.
    let code = error.as_database_error().and_then(|fault| fault.code()?.parse::<u32>().ok());
    match code.map(|code| code & 0xff) {
        Some(11 | 26) => Error::Unavailable(format!(
            "{} is damaged, or not a database of SQLite: restore it from a backup, or set database.url or data_dir",
            path.display()
        )),
        _ => opening(error),
    }
}

/// While opening, every fault of the driver means that the database cannot be used as it was configured.
fn opening(error: sqlx::Error) -> Error {
    match Error::from(error) {
        Error::Other(text) => Error::Unavailable(text),
        known => known,
    }
}
