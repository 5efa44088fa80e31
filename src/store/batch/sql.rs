//! The little that the hot rows need of SQL: one text with `$1` for both databases, values of a closed
//! list, rows by position, one transaction. It speaks to sqlx directly, because an ORM's statement costs
//! several times the work of the row it touches (performance, section 2).

use std::borrow::Cow;

use sea_orm::sqlx::postgres::{PgArguments, PgRow};
use sea_orm::sqlx::query::Query;
use sea_orm::sqlx::sqlite::{SqliteArguments, SqliteRow};
use sea_orm::sqlx::{self, Arguments, Connection as _, Decode, PgConnection, Pool, Postgres, Row as _, Sqlite, Type};
use uuid::Uuid;

use crate::observe::metrics;
use crate::store::Error;
use crate::store::connect::Pools;
use crate::store::error::from_sqlx;

/// A statement. Its text is the same for both databases but for the words that lock a row.
#[derive(Debug, Clone, Copy)]
pub(in crate::store) struct Sql {
    sqlite: &'static str,
    postgres: &'static str,
}

impl Sql {
    /// The same words for both.
    pub(in crate::store) const fn same(text: &'static str) -> Self {
        Self { sqlite: text, postgres: text }
    }

    /// Own words for each.
    pub(in crate::store) const fn each(sqlite: &'static str, postgres: &'static str) -> Self {
        Self { sqlite, postgres }
    }
}

/// A statement that locks what it reads: `FOR SHARE` stands between head and tail on PostgreSQL; on
/// SQLite the one immediate writer gives the same.
macro_rules! sharing {
    ($head:literal, $tail:literal) => {
        $crate::store::batch::sql::Sql::each(concat!($head, $tail), concat!($head, " for share", $tail))
    };
}
pub(in crate::store) use sharing;

/// A value to bind.
#[derive(Debug, Clone)]
pub(in crate::store) enum Value {
    /// `bigint`.
    Int(Option<i64>),
    /// `boolean`.
    Bool(bool),
    /// `text`.
    Text(Option<Cow<'static, str>>),
    /// `bytea` or `blob`.
    Bytes(Option<Vec<u8>>),
    /// `uuid`, or its sixteen bytes.
    Id(Option<Uuid>),
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(Some(value))
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<&'static str> for Value {
    fn from(value: &'static str) -> Self {
        Self::Text(Some(Cow::Borrowed(value)))
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(Some(Cow::Owned(value)))
    }
}

impl From<Vec<u8>> for Value {
    fn from(value: Vec<u8>) -> Self {
        Self::Bytes(Some(value))
    }
}

impl From<&[u8]> for Value {
    fn from(value: &[u8]) -> Self {
        Self::Bytes(Some(value.to_vec()))
    }
}

impl From<Uuid> for Value {
    fn from(value: Uuid) -> Self {
        Self::Id(Some(value))
    }
}

impl From<crate::domain::model::timestamp::Timestamp> for Value {
    fn from(value: crate::domain::model::timestamp::Timestamp) -> Self {
        Self::Int(Some(value.as_micros()))
    }
}

impl From<crate::domain::model::ids::RealmId> for Value {
    fn from(value: crate::domain::model::ids::RealmId) -> Self {
        Self::Id(Some(value.as_uuid()))
    }
}

/// Binds each value in turn; anything that has a [`Value`] form may stand in the list.
macro_rules! values {
    ($($value:expr),* $(,)?) => { vec![$($crate::store::batch::sql::Value::from($value)),*] };
}
pub(in crate::store) use values;

fn arguments<A: Arguments>(values: Vec<Value>) -> Result<A, Error>
where
    Option<i64>: for<'q> sqlx::Encode<'q, A::Database> + Type<A::Database>,
    bool: for<'q> sqlx::Encode<'q, A::Database> + Type<A::Database>,
    Option<String>: for<'q> sqlx::Encode<'q, A::Database> + Type<A::Database>,
    Option<Vec<u8>>: for<'q> sqlx::Encode<'q, A::Database> + Type<A::Database>,
    Option<Uuid>: for<'q> sqlx::Encode<'q, A::Database> + Type<A::Database>,
{
    let mut arguments = A::default();
    arguments.reserve(values.len(), 16 * values.len());
    for value in values {
        match value {
            Value::Int(value) => arguments.add(value),
            Value::Bool(value) => arguments.add(value),
            Value::Text(value) => arguments.add(value.map(Cow::into_owned)),
            Value::Bytes(value) => arguments.add(value),
            Value::Id(value) => arguments.add(value),
        }
        .map_err(|error| Error::Other(error.to_string()))?;
    }
    Ok(arguments)
}

/// What a statement is for, as the metric tells it.
#[derive(Debug, Clone, Copy)]
pub(in crate::store) enum For {
    /// An answer.
    Read,
    /// One change on its own, or one use case's.
    Write,
    /// Part of the batched writer's round.
    Batch,
    /// The look for changes.
    Feed,
}

impl For {
    /// Counts one statement.
    pub(in crate::store) fn count(self) {
        let label = match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Batch => "batch",
            Self::Feed => "feed",
        };
        metrics().store_statements.with_label_values(&[label]).inc();
    }
}

fn sqlite_query(sql: Sql, values: Vec<Value>) -> Result<Query<'static, Sqlite, SqliteArguments>, Error> {
    Ok(sqlx::query_with(sql.sqlite, arguments::<SqliteArguments>(values)?))
}

fn postgres_query(sql: Sql, values: Vec<Value>) -> Result<Query<'static, Postgres, PgArguments>, Error> {
    Ok(sqlx::query_with(sql.postgres, arguments::<PgArguments>(values)?))
}

/// A row, read by position.
pub(in crate::store) enum Row {
    /// Of SQLite.
    Sqlite(SqliteRow),
    /// Of PostgreSQL.
    Postgres(PgRow),
}

impl Row {
    /// The column at `index`.
    pub(in crate::store) fn get<T>(&self, index: usize) -> Result<T, Error>
    where
        T: for<'r> Decode<'r, Sqlite> + Type<Sqlite> + for<'r> Decode<'r, Postgres> + Type<Postgres>,
    {
        match self {
            Self::Sqlite(row) => row.try_get(index),
            Self::Postgres(row) => row.try_get(index),
        }
        .map_err(from_sqlx)
    }
}

/// Losers of a race are told apart by a later statement, which must see what the winner committed.
const BEGIN_POSTGRES: &str = "begin isolation level read committed";

/// One writing transaction of the batch. Dropped = rolled back.
pub(in crate::store) enum Transaction<'c> {
    /// Of SQLite, immediate.
    Sqlite(sqlx::Transaction<'c, Sqlite>),
    /// Of PostgreSQL, read committed.
    Postgres(sqlx::Transaction<'c, Postgres>),
}

impl Transaction<'static> {
    /// Begins. SQLite's is immediate: a deferred one could fail when it first writes.
    pub(in crate::store) async fn begin(pools: &Pools) -> Result<Self, Error> {
        match pools {
            Pools::Sqlite { writer, .. } => writer.begin_with("begin immediate").await.map(Self::Sqlite),
            Pools::Postgres { writer, .. } => writer.begin_with(BEGIN_POSTGRES).await.map(Self::Postgres),
        }
        .map_err(from_sqlx)
    }
}

impl<'c> Transaction<'c> {
    /// Begins on a connection of one's own.
    pub(in crate::store) async fn begin_on(connection: &'c mut PgConnection) -> Result<Self, Error> {
        connection.begin_with(BEGIN_POSTGRES).await.map(Self::Postgres).map_err(from_sqlx)
    }

    /// Runs a statement and tells how many rows it touched.
    pub(in crate::store) async fn execute(&mut self, sql: Sql, values: Vec<Value>) -> Result<u64, Error> {
        For::Batch.count();
        match self {
            Self::Sqlite(tx) => sqlite_query(sql, values)?.execute(&mut **tx).await.map(|done| done.rows_affected()),
            Self::Postgres(tx) => {
                postgres_query(sql, values)?.execute(&mut **tx).await.map(|done| done.rows_affected())
            }
        }
        .map_err(from_sqlx)
    }

    /// Runs a statement and gives its rows.
    pub(in crate::store) async fn rows(&mut self, sql: Sql, values: Vec<Value>) -> Result<Vec<Row>, Error> {
        For::Batch.count();
        match self {
            Self::Sqlite(tx) => sqlite_query(sql, values)?.fetch_all(&mut **tx).await.map(sqlite_rows),
            Self::Postgres(tx) => postgres_query(sql, values)?.fetch_all(&mut **tx).await.map(postgres_rows),
        }
        .map_err(from_sqlx)
    }

    /// Runs a statement and gives its first row, if there is one.
    pub(in crate::store) async fn row(&mut self, sql: Sql, values: Vec<Value>) -> Result<Option<Row>, Error> {
        Ok(self.rows(sql, values).await?.into_iter().next())
    }

    /// Commits.
    pub(in crate::store) async fn commit(self) -> Result<(), Error> {
        match self {
            Self::Sqlite(tx) => tx.commit().await,
            Self::Postgres(tx) => tx.commit().await,
        }
        .map_err(from_sqlx)
    }
}

fn sqlite_rows(rows: Vec<SqliteRow>) -> Vec<Row> {
    rows.into_iter().map(Row::Sqlite).collect()
}

fn postgres_rows(rows: Vec<PgRow>) -> Vec<Row> {
    rows.into_iter().map(Row::Postgres).collect()
}

/// One statement on its own, on a connection of one's own; tells how many rows it touched.
pub(in crate::store) async fn execute_on(
    connection: &mut PgConnection,
    sql: Sql,
    values: Vec<Value>,
) -> Result<u64, Error> {
    For::Batch.count();
    let done = postgres_query(sql, values)?.execute(connection).await.map_err(from_sqlx)?;
    Ok(done.rows_affected())
}

/// One statement on its own, on the writing side.
pub(in crate::store) async fn write(pools: &Pools, sql: Sql, values: Vec<Value>) -> Result<Vec<Row>, Error> {
    For::Write.count();
    match pools {
        Pools::Sqlite { writer, .. } => on_sqlite(writer, sql, values).await,
        Pools::Postgres { writer, .. } => on_postgres(writer, sql, values).await,
    }
}

/// One statement on its own, on the reading side.
pub(in crate::store) async fn read(pools: &Pools, sql: Sql, values: Vec<Value>) -> Result<Vec<Row>, Error> {
    read_for(For::Read, pools, sql, values).await
}

/// As [`read`], for something else than an answer.
pub(in crate::store) async fn read_for(
    purpose: For,
    pools: &Pools,
    sql: Sql,
    values: Vec<Value>,
) -> Result<Vec<Row>, Error> {
    purpose.count();
    match pools {
        Pools::Sqlite { reader, .. } => on_sqlite(reader, sql, values).await,
        Pools::Postgres { reader, .. } => on_postgres(reader, sql, values).await,
    }
}

async fn on_sqlite(pool: &Pool<Sqlite>, sql: Sql, values: Vec<Value>) -> Result<Vec<Row>, Error> {
    sqlite_query(sql, values)?.fetch_all(pool).await.map(sqlite_rows).map_err(from_sqlx)
}

async fn on_postgres(pool: &Pool<Postgres>, sql: Sql, values: Vec<Value>) -> Result<Vec<Row>, Error> {
    postgres_query(sql, values)?.fetch_all(pool).await.map(postgres_rows).map_err(from_sqlx)
}
