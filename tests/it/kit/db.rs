//! A database for each test: SQLite a file in memory-backed storage, PostgreSQL a copy of a template
//! that is migrated once per run. Which of the two is one environment variable.

use std::sync::atomic::{AtomicU64, Ordering};

use sea_orm::{ConnectionTrait, Database, DatabaseConnection};
use tokio::sync::OnceCell;

/// Where a test's data is; removed with it.
pub struct TestDb {
    /// `database.url`.
    pub url: String,
    /// The folder for everything else, and for the SQLite file.
    pub folder: tempfile::TempDir,
    postgres: Option<(String, String)>,
}

static TEMPLATE: OnceCell<String> = OnceCell::const_new();
static COUNT: AtomicU64 = AtomicU64::new(0);

/// Whether this run is on PostgreSQL.
pub fn on_postgres() -> bool {
    std::env::var("DOORWARD_TEST_DATABASE").is_ok_and(|kind| kind == "postgres")
}

/// The maintenance database of the tests' own PostgreSQL.
pub fn postgres_url() -> Option<String> {
    std::env::var("DOORWARD_TEST_POSTGRES").ok()
}

impl TestDb {
    /// A fresh, migrated database of this run's kind.
    pub async fn fresh() -> Self {
        let folder = tempfile::Builder::new().prefix("doorward-test").tempdir_in(memory()).expect("a folder");
        if !on_postgres() {
            let url = format!("sqlite://{}/doorward.db", folder.path().display());
            return Self { url, folder, postgres: None };
        }
        let admin = postgres_url().expect("DOORWARD_TEST_POSTGRES names the tests' own server");
        let template = TEMPLATE.get_or_init(|| template(admin.clone())).await;
        let name = format!("doorward_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::SeqCst));
        run(&admin, &format!("CREATE DATABASE {name} TEMPLATE {template}")).await;
        Self { url: with_name(&admin, &name), folder, postgres: Some((admin, name)) }
    }
}

impl TestDb {
    /// Changes something behind the product's back.
    pub async fn run(&self, sql: &str) {
        run(&self.url, sql).await;
    }
}

impl Drop for TestDb {
    fn drop(&mut self) {
        let Some((admin, name)) = self.postgres.take() else { return };
        // A thread of its own: a runtime cannot be waited for inside another.
        let dropped = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(run(&admin, &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")));
        });
        let _ = dropped.join();
    }
}

/// Memory-backed where there is such a place.
pub fn memory() -> std::path::PathBuf {
    let shm = std::path::PathBuf::from("/dev/shm");
    if shm.is_dir() { shm } else { std::env::temp_dir() }
}

async fn template(admin: String) -> String {
    let name = format!("doorward_template_{}", std::process::id());
    run(&admin, &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await;
    run(&admin, &format!("CREATE DATABASE {name}")).await;
    let settings = doorward::store::StoreSettings {
        url: with_name(&admin, &name),
        pool_max: 4,
        acquire_timeout: std::time::Duration::from_secs(5),
        statement_timeout: std::time::Duration::from_secs(30),
        durable: true,
    };
    let clock = std::sync::Arc::new(doorward::clock::SystemClock::new());
    let entropy = std::sync::Arc::new(doorward::entropy::SystemEntropy);
    let store = doorward::store::Store::open(&settings, clock, entropy).await.expect("the template opens");
    store.migrate().await.expect("the template migrates");
    store.close().await;
    name
}

async fn run(url: &str, sql: &str) {
    let connection: DatabaseConnection = Database::connect(url).await.expect("the tests' PostgreSQL answers");
    connection.execute_unprepared(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    connection.close().await.expect("a closed connection");
}

/// The same server, another database.
pub fn with_name(url: &str, name: &str) -> String {
    let mut parsed = url::Url::parse(url).expect("a URL");
    parsed.set_path(name);
    parsed.to_string()
}
