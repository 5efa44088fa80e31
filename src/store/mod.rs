//! The database. Nothing above this room sees SQL, sea-orm's types or its errors (architecture, section 7).
//!
//! Plain reads go through [`Store::read`], a use case's writes through one [`Tx`], hot rows through
//! [`Store::batch`], requests that should touch no database through [`Store::models`].

use std::sync::Arc;
use std::time::Duration;

use doorward_migrations as migrations;
use sea_orm::{
    ActiveValue::{NotSet, Set},
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, EntityTrait, SqliteTransactionMode, Statement,
    TransactionOptions, TransactionTrait,
};
use uuid::Uuid;

use crate::clock::Clock;
use crate::domain::model::ids::RealmId;
use crate::domain::model::timestamp::Timestamp;
use crate::entropy::Entropy;
use crate::observe::metrics;

pub mod batch;
mod change;
mod connect;
mod entity;
mod error;
pub mod readmodel;
pub mod repo;
pub mod shortlived;

pub use change::{Change, ChangeKind};
pub use connect::StoreSettings;
pub use error::Error;

use batch::sql::For;
use connect::Pools;

/// The database, opened. Cloning shares it.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    pools: Pools,
    read: Read,
    writer: DatabaseConnection,
    batch: batch::Batch,
    models: readmodel::ReadModels,
    shortlived: Arc<dyn shortlived::ShortLived>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}

impl Store {
    /// Connects. The schema is left as it is: see [`Store::migrate`].
    pub async fn open(
        settings: &StoreSettings,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Result<Self, Error> {
        let pools = Pools::open(settings).await?;
        let mut writer = match &pools {
            Pools::Sqlite { writer, .. } => DatabaseConnection::from(writer.clone()),
            Pools::Postgres { writer, .. } => DatabaseConnection::from(writer.clone()),
        };
        writer.set_metric_callback(|_| For::Write.count());
        let models = readmodel::ReadModels::new(pools.clone(), Arc::clone(&clock));
        let batch = batch::Batch::start(pools.clone(), models.clone(), Arc::clone(&clock), Arc::clone(&entropy));
        let shortlived = Arc::new(shortlived::Database::new(pools.clone()));
        let read = Read::new(pools.clone());
        Ok(Self { inner: Arc::new(Inner { pools, read, writer, batch, models, shortlived, clock, entropy }) })
    }

    /// Applies what is pending of the schema's history, all or nothing, and gives its names.
    pub async fn migrate(&self) -> Result<Vec<String>, Error> {
        let transaction = self.begin_raw().await?;
        if transaction.get_database_backend() == DbBackend::Postgres {
            // A large table may take longer than a request may; and of two nodes one waits for the other.
            transaction.execute_unprepared("set local statement_timeout = 0").await?;
            transaction.execute_unprepared("select pg_advisory_xact_lock(7237970018)").await?;
        }
        let applied = migrations::apply(&transaction).await?;
        transaction.commit().await?;
        Ok(applied)
    }

    /// Each migration that this program knows, and whether it was applied.
    pub async fn migration_status(&self) -> Result<Vec<(String, bool)>, Error> {
        Ok(migrations::status(&self.inner.read.connection).await?)
    }

    /// Reads outside any transaction.
    #[must_use]
    pub fn read(&self) -> Read {
        self.inner.read.clone()
    }

    /// Begins a use case's writes. Dropped without commit, nothing happened. Nothing inside may wait for
    /// the network, for hashing or for the batch writer.
    pub async fn begin(&self) -> Result<Tx, Error> {
        let inner = self.begin_raw().await?;
        Ok(Tx {
            inner,
            changes: Vec::new(),
            now: self.inner.clock.now(),
            models: self.inner.models.clone(),
            entropy: Arc::clone(&self.inner.entropy),
        })
    }

    async fn begin_raw(&self) -> Result<DatabaseTransaction, Error> {
        // SQLite: a deferred transaction that reads first would fail at once when somebody wrote meanwhile.
        let options = TransactionOptions {
            sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
            ..TransactionOptions::default()
        };
        Ok(self.inner.writer.begin_with_options(options).await?)
    }

    /// Writes of hot rows, grouped.
    #[must_use]
    pub fn batch(&self) -> &batch::Batch {
        &self.inner.batch
    }

    /// What this process knows without asking the database.
    #[must_use]
    pub fn models(&self) -> &readmodel::ReadModels {
        &self.inner.models
    }

    /// Pending sign-ins, counters and the like.
    #[must_use]
    pub fn shortlived(&self) -> &dyn shortlived::ShortLived {
        self.inner.shortlived.as_ref()
    }

    /// The database's clock, which decides (`security-design` rule 17). An embedded database has the
    /// machine's.
    pub async fn now(&self) -> Result<Timestamp, Error> {
        let connection = &self.inner.read.connection;
        if connection.get_database_backend() != DbBackend::Postgres {
            return Ok(self.inner.clock.now());
        }
        let text = "select (extract(epoch from clock_timestamp()) * 1000000)::bigint as now";
        let row = connection.query_one_raw(Statement::from_string(DbBackend::Postgres, text)).await?;
        let row = row.ok_or_else(|| Error::Other("the clock gave no row".to_owned()))?;
        Ok(Timestamp::from_micros(row.try_get("", "now")?))
    }

    /// Writes one row, to see whether writes get through: a disk may be full while reads go on.
    pub async fn probe(&self) -> Result<(), Error> {
        let mut tx = self.begin().await?;
        let now = tx.now().as_micros().to_string();
        repo::meta::set(&mut tx, "write_probe", &now).await?;
        tx.commit().await
    }

    /// Tells the clock which moment this database has seen already (`security-design` rule 17). The schema must
    /// be there.
    pub async fn recall_time(&self) -> Result<(), Error> {
        let seen = repo::meta::get(&self.read(), repo::meta::TIME_SEEN).await?;
        if let Some(micros) = seen.and_then(|text| text.parse().ok()) {
            self.inner.clock.recall(Timestamp::from_micros(micros));
        }
        Ok(())
    }

    /// Sets the gauges that are read off rather than counted, for whoever is about to show them.
    pub fn measure(&self) {
        let lag = self.inner.models.lag().unwrap_or(Duration::MAX);
        metrics().feed_lag.set(lag.as_secs_f64());
        let (used, idle, max) = self.inner.pools.connections();
        for (state, count) in [("used", used), ("idle", idle), ("max", max)] {
            metrics().db_connections.with_label_values(&[state]).set(count);
        }
        metrics().clock_sure.set(i64::from(self.inner.clock.trust().may_act()));
    }

    /// Writes what is queued and closes every connection.
    pub async fn close(&self) {
        self.inner.batch.close().await;
        self.inner.pools.close().await;
    }
}

/// A place to read from: [`Read`], or a [`Tx`] that must see its own writes.
pub trait Source: Connected {}

mod sealed {
    use sea_orm::ConnectionTrait;

    /// Gives the connection; known only to the store.
    pub trait Connected: Send + Sync {
        /// Its type.
        type Connection: ConnectionTrait;

        /// The connection.
        fn connection(&self) -> &Self::Connection;
    }
}

use sealed::Connected;

/// Reads outside any transaction. Cloning is cheap.
#[derive(Clone)]
pub struct Read {
    connection: DatabaseConnection,
}

impl std::fmt::Debug for Read {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Read").finish_non_exhaustive()
    }
}

impl Read {
    pub(in crate::store) fn new(pools: Pools) -> Self {
        let mut connection = match pools {
            Pools::Sqlite { reader, .. } => DatabaseConnection::from(reader),
            Pools::Postgres { reader, .. } => DatabaseConnection::from(reader),
        };
        connection.set_metric_callback(|_| For::Read.count());
        Self { connection }
    }
}

impl Connected for Read {
    type Connection = DatabaseConnection;

    fn connection(&self) -> &DatabaseConnection {
        &self.connection
    }
}

impl Source for Read {}

/// One use case's writes: all or nothing, with the changes that read models must hear of.
pub struct Tx {
    inner: DatabaseTransaction,
    changes: Vec<Change>,
    now: Timestamp,
    models: readmodel::ReadModels,
    entropy: Arc<dyn Entropy>,
}

impl std::fmt::Debug for Tx {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tx").field("changes", &self.changes).finish_non_exhaustive()
    }
}

impl Connected for Tx {
    type Connection = DatabaseTransaction;

    fn connection(&self) -> &DatabaseTransaction {
        &self.inner
    }
}

impl Source for Tx {}

impl Tx {
    /// Notes what read models must drop. Repos call it themselves.
    pub fn changed(&mut self, realm: RealmId, kind: ChangeKind, id: Uuid) {
        let change = Change { realm, kind, id };
        if !self.changes.contains(&change) {
            self.changes.push(change);
        }
    }

    /// Writes the changes, commits, and drops what this process knew of them.
    pub async fn commit(self) -> Result<(), Error> {
        let Self { inner, changes, now, models, .. } = self;
        let rows = changes.iter().map(|change| entity::change::ActiveModel {
            seq: NotSet,
            realm_id: Set(change.realm.as_uuid()),
            kind: Set(change.kind.as_str().to_owned()),
            subject_id: Set(change.id),
            created_at: Set(now.as_micros()),
        });
        if !changes.is_empty() {
            entity::change::Entity::insert_many(rows).exec_without_returning(&inner).await?;
            if inner.get_database_backend() == DbBackend::Postgres {
                inner.execute_unprepared(readmodel::PUSH).await?;
            }
        }
        let result = inner.commit().await;
        // An answer that was lost does not tell whether the commit happened: dropping is right either way.
        models.apply(&changes);
        Ok(result?)
    }

    /// The moment the transaction began.
    pub(in crate::store) const fn now(&self) -> Timestamp {
        self.now
    }

    pub(in crate::store) fn entropy(&self) -> &dyn Entropy {
        self.entropy.as_ref()
    }
}
