//! A database of its own for each test: a SQLite file in memory-backed storage always, and a copy of a
//! PostgreSQL template, migrated once per run, when `DOORWARD_TEST_POSTGRES` names a maintenance database.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use doorward::clock::ManualClock;
use doorward::domain::model::timestamp::Timestamp;
use doorward::entropy::SystemEntropy;
use doorward::store::{Error, Store, StoreSettings};
use sea_orm::sqlx::{self, AssertSqlSafe, Connection as _, Executor as _};
use tokio::sync::OnceCell;

/// Where manual clocks begin.
pub(crate) const START: Timestamp = Timestamp::from_secs(1_800_000_000);

/// A store on a database of its own.
pub(crate) struct Db {
    pub(crate) store: Store,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) url: String,
    _held: Held,
}

/// What goes with the test.
enum Held {
    Folder(#[expect(dead_code, reason = "held for its drop")] tempfile::TempDir),
    Database { admin: String, name: String },
}

impl Drop for Held {
    fn drop(&mut self) {
        let Self::Database { admin, name } = self else { return };
        let (admin, drop) = (admin.clone(), format!("drop database if exists {name} with (force)"));
        // A drop cannot wait, and the test's own runtime is about to end.
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async { statement(&admin, &drop).await });
        });
        drop_quietly(thread);
    }
}

fn drop_quietly(thread: std::thread::JoinHandle<()>) {
    let _ = thread.join();
}

/// Stores of every kind that can be had here, each empty and migrated.
pub(crate) async fn stores() -> Vec<Db> {
    let mut all = vec![sqlite().await];
    if let Some(admin) = postgres_url() {
        all.push(postgres(&admin).await);
    }
    all
}

pub(crate) fn postgres_url() -> Option<String> {
    std::env::var("DOORWARD_TEST_POSTGRES").ok().filter(|url| !url.is_empty())
}

pub(crate) fn settings(url: &str) -> StoreSettings {
    StoreSettings {
        url: url.to_owned(),
        pool_max: 6,
        acquire_timeout: Duration::from_secs(20),
        statement_timeout: Duration::from_secs(10),
        durable: false,
    }
}

pub(crate) async fn open(settings: &StoreSettings) -> Result<(Store, Arc<ManualClock>), Error> {
    let clock = Arc::new(ManualClock::new(START));
    let store = Store::open(settings, clock.clone(), Arc::new(SystemEntropy)).await?;
    Ok((store, clock))
}

pub(crate) async fn sqlite() -> Db {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let url = format!("sqlite://{}/doorward.db", folder.path().display());
    let (store, clock) = open(&settings(&url)).await.unwrap();
    store.migrate().await.unwrap();
    Db { store, clock, url, _held: Held::Folder(folder) }
}

async fn postgres(admin: &str) -> Db {
    static TEMPLATE: OnceCell<String> = OnceCell::const_new();
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let template = TEMPLATE.get_or_init(|| template(admin)).await;
    let name = format!("{template}_{}", COUNT.fetch_add(1, Ordering::Relaxed));
    statement(admin, &format!("create database {name} template {template}")).await;
    let url = beside(admin, &name);
    let (store, clock) = open(&settings(&url)).await.unwrap();
    Db { store, clock, url, _held: Held::Database { admin: admin.to_owned(), name } }
}

async fn template(admin: &str) -> String {
    let name = format!("doorward_test_{}", std::process::id());
    statement(admin, &format!("drop database if exists {name}")).await;
    statement(admin, &format!("create database {name}")).await;
    let (store, _) = open(&settings(&beside(admin, &name))).await.unwrap();
    store.migrate().await.unwrap();
    store.close().await;
    name
}

/// The address of another database on the same server.
fn beside(admin: &str, name: &str) -> String {
    let mut url = url::Url::parse(admin).unwrap();
    url.set_path(name);
    url.to_string()
}

async fn statement(url: &str, text: &str) {
    let mut connection = sqlx::PgConnection::connect(url).await.unwrap();
    connection.execute(AssertSqlSafe(text.to_owned())).await.unwrap();
}

impl Db {
    /// Runs SQL beside the store.
    pub(crate) async fn run(&self, text: &str) {
        if self.url.starts_with("postgres") {
            statement(&self.url, text).await;
        } else {
            let mut connection = sqlx::SqliteConnection::connect(&self.url).await.unwrap();
            connection.execute(AssertSqlSafe(text.to_owned())).await.unwrap();
        }
    }

    /// Asks for one number beside the store.
    pub(crate) async fn number(&self, text: &str) -> i64 {
        let text = AssertSqlSafe(text.to_owned());
        if self.url.starts_with("postgres") {
            let mut connection = sqlx::PgConnection::connect(&self.url).await.unwrap();
            sqlx::query_scalar(text).fetch_one(&mut connection).await.unwrap()
        } else {
            let mut connection = sqlx::SqliteConnection::connect(&self.url).await.unwrap();
            sqlx::query_scalar(text).fetch_one(&mut connection).await.unwrap()
        }
    }
}
