//! A database for each test: SQLite a file in memory-backed storage, PostgreSQL a copy of a template
//! that is migrated once per run. Which of the two is one environment variable.

use std::sync::atomic::{AtomicU64, Ordering};

use sea_orm::{ConnectionTrait, Database, DatabaseConnection, DbBackend, Statement};
use tokio::sync::OnceCell;

/// Where a test's data is; removed with it.
pub struct TestDb {
    /// `database.url`.
    pub url: String,
    /// The folder for everything else, and for the SQLite file.
    pub folder: tempfile::TempDir,
    postgres: Option<(String, String)>,
}

/// What a filled database is copied from.
enum Prepared {
    Sqlite(Vec<u8>),
    Postgres(String),
}

static TEMPLATE: OnceCell<String> = OnceCell::const_new();
static PREPARED: OnceCell<Prepared> = OnceCell::const_new();
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
        Self::copied(folder, admin, template).await
    }

    /// A copy of the database that `prepare` fills once per run and hands over closed.
    pub async fn prepared<F: Future<Output = Self>>(prepare: impl FnOnce() -> F) -> Self {
        match PREPARED.get_or_init(|| async { prepare().await.into_template() }).await {
            Prepared::Sqlite(bytes) => {
                let folder = tempfile::Builder::new().prefix("doorward-test").tempdir_in(memory()).expect("a folder");
                let path = folder.path().join("doorward.db");
                std::fs::write(&path, bytes).expect("a database file");
                Self { url: format!("sqlite://{}", path.display()), folder, postgres: None }
            }
            Prepared::Postgres(template) => {
                let admin = postgres_url().expect("DOORWARD_TEST_POSTGRES names the tests' own server");
                let folder = tempfile::Builder::new().prefix("doorward-test").tempdir_in(memory()).expect("a folder");
                Self::copied(folder, admin, template).await
            }
        }
    }

    async fn copied(folder: tempfile::TempDir, admin: String, template: &str) -> Self {
        let name = format!("doorward_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::SeqCst));
        run(&admin, &format!("CREATE DATABASE {name} TEMPLATE {template}")).await;
        Self { url: with_name(&admin, &name), folder, postgres: Some((admin, name)) }
    }

    fn into_template(mut self) -> Prepared {
        match self.postgres.take() {
            Some((_, name)) => Prepared::Postgres(name),
            None => Prepared::Sqlite(std::fs::read(self.folder.path().join("doorward.db")).expect("a database file")),
        }
    }
}

impl TestDb {
    /// Changes something behind the product's back.
    pub async fn run(&self, sql: &str) {
        run(&self.url, sql).await;
    }

    /// What a query for one number gives.
    pub async fn number(&self, sql: &str) -> i64 {
        let connection = Database::connect(&self.url).await.expect("the database answers");
        let statement = Statement::from_string(connection.get_database_backend(), sql);
        let row = connection.query_one_raw(statement).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
        let number = row.expect("a row").try_get_by_index(0).expect("a number");
        connection.close().await.expect("a closed connection");
        number
    }

    /// Whether a text stands anywhere in the data, in any case and any column.
    pub async fn holds(&self, text: &str) -> bool {
        if self.postgres.is_none() {
            let needle = text.to_ascii_lowercase().into_bytes();
            let files =
                std::fs::read_dir(self.folder.path()).expect("the folder").map(|entry| entry.expect("a file").path());
            let contents = files.filter(|path| path.is_file()).map(|path| std::fs::read(path).expect("readable"));
            return contents
                .map(|bytes| bytes.to_ascii_lowercase())
                .any(|bytes| bytes.windows(needle.len()).any(|window| window == needle));
        }
        let connection = Database::connect(&self.url).await.expect("the database answers");
        let query = "select tablename::text from pg_tables where schemaname = current_schema()";
        let rows = connection.query_all_raw(Statement::from_string(DbBackend::Postgres, query)).await.expect("tables");
        let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
        let mut found = false;
        for row in rows {
            let table: String = row.try_get_by_index(0).expect("a name");
            let query =
                format!("select count(*) from \"{table}\" t where t::text ilike '%{text}%' or t::text ilike '%{hex}%'");
            found |= self.number(&query).await > 0;
        }
        connection.close().await.expect("a closed connection");
        found
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
