//! What can go wrong in the store, with only the distinctions a caller acts on (architecture, section 6).
//! Absence is not among them: that is an `Option`. No text of the database reaches more than the log.

use std::fmt;

use sea_orm::sqlx::error::{DatabaseError, ErrorKind};
use sea_orm::sqlx::{self};
use sea_orm::{ConnAcquireErr, DbErr, RuntimeErr};

/// Why a store operation did not happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// Something unique was taken (the table's name), or what the row refers to is not there (`reference`).
    Conflict(&'static str),
    /// The database did not answer, or cannot write: a passing state that is nobody's fault here.
    Unavailable(String),
    /// A row that cannot be what its table holds.
    Corrupt {
        /// Its table.
        table: &'static str,
        /// Its id.
        id: String,
    },
    /// A queue is full, or the statement lost against another one: try again.
    Busy,
    /// A fault of ours; the text is for the log only.
    Other(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict(table) => write!(f, "conflicts with a row of {table}"),
            Self::Unavailable(why) => write!(f, "the database is not available: {why}"),
            Self::Corrupt { table, id } => write!(f, "row {id} of {table} cannot be read"),
            Self::Busy => f.write_str("the store is busy"),
            Self::Other(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Error {}

/// Tables with something unique in them: a conflict is told by their name.
const TABLES: [&str; 27] = [
    "administrative_power",
    "audit_event",
    "audit_personal",
    "client",
    "client_secret",
    "consent",
    "counter",
    "credential",
    "device",
    "grant_record",
    "identifier",
    "logo",
    "meta",
    "outbox",
    "realm",
    "redemption",
    "resource",
    "revoked_token",
    "role",
    "role_composite",
    "session",
    "setup_link",
    "shortlived",
    "signing_key",
    "user_account",
    "user_device",
    "user_group",
];

impl From<DbErr> for Error {
    fn from(error: DbErr) -> Self {
        match error {
            DbErr::ConnectionAcquire(ConnAcquireErr::Timeout) => no_connection(),
            DbErr::ConnectionAcquire(ConnAcquireErr::ConnectionClosed) => closed(),
            DbErr::Conn(RuntimeErr::SqlxError(error))
            | DbErr::Exec(RuntimeErr::SqlxError(error))
            | DbErr::Query(RuntimeErr::SqlxError(error)) => from_sqlx_ref(&error),
            other => Self::Other(other.to_string()),
        }
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        from_sqlx_ref(&error)
    }
}

/// Reads an error of the driver.
pub(in crate::store) fn from_sqlx(error: sqlx::Error) -> Error {
    Error::from(error)
}

fn no_connection() -> Error {
    Error::Unavailable("no connection became free in time".to_owned())
}

fn closed() -> Error {
    Error::Unavailable("the connections are closed".to_owned())
}

fn from_sqlx_ref(error: &sqlx::Error) -> Error {
    match error {
        sqlx::Error::PoolTimedOut => no_connection(),
        sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed => closed(),
        sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_) => Error::Unavailable(error.to_string()),
        sqlx::Error::Database(error) => from_database(error.as_ref()),
        other => Error::Other(other.to_string()),
    }
}

fn from_database(error: &dyn DatabaseError) -> Error {
    match error.kind() {
        ErrorKind::UniqueViolation => return Error::Conflict(table_of(error)),
        ErrorKind::ForeignKeyViolation => return Error::Conflict("reference"),
        _ => {}
    }
    let code = error.code().unwrap_or_default();
    if error.try_downcast_ref::<sqlx::postgres::PgDatabaseError>().is_some() {
        postgres(&code, error.message())
    } else {
        sqlite(code.parse().unwrap_or(0), error.message())
    }
}

/// Class and code by PostgreSQL's appendix A.
fn postgres(code: &str, message: &str) -> Error {
    match code {
        "53100" => disk_full(),
        "57014" => Error::Unavailable("a statement ran into database.statement_timeout".to_owned()),
        "40001" | "40P01" | "55P03" => Error::Busy,
        // After a failover the old primary is read only.
        "25006" => Error::Unavailable("the server takes no writes (a standby?)".to_owned()),
        _ if code.starts_with("08") || code.starts_with("53") || code.starts_with("57P") => {
            Error::Unavailable(message.to_owned())
        }
        _ => Error::Other(format!("PostgreSQL {code}: {message}")),
    }
}

/// Primary result codes of SQLite; the upper bits only say more.
fn sqlite(code: u32, message: &str) -> Error {
    match code & 0xff {
        13 => disk_full(),
        5 | 6 => Error::Unavailable("another program holds the database file locked".to_owned()),
        8 => Error::Unavailable("the database file may not be written: mind its owner and mode".to_owned()),
        10 | 14 => Error::Unavailable(format!("the database file cannot be used: {message}")),
        _ => Error::Other(format!("SQLite {code}: {message}")),
    }
}

fn disk_full() -> Error {
    Error::Unavailable("the disk is full: free some space where the database lies".to_owned())
}

/// PostgreSQL names the table; SQLite writes `UNIQUE constraint failed: table.column, …`.
fn table_of(error: &dyn DatabaseError) -> &'static str {
    let named = error.table().or_else(|| {
        let columns = error.message().split_once("failed: ")?.1;
        columns.split_once('.').map(|(table, _)| table)
    });
    TABLES.iter().copied().find(|table| named == Some(*table)).unwrap_or("unknown")
}
