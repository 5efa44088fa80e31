//! A database for each test: SQLite a file in memory-backed storage, PostgreSQL a copy of a template
//! that is migrated once per run. Which of the two is one environment variable.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use sea_orm::sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection, SqliteConnection, query_scalar};
use sea_orm::{ConnectionTrait, Database, DbBackend, Statement};
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
    Postgres(Copies),
}

static TEMPLATE: OnceCell<Copies> = OnceCell::const_new();
static PREPARED: OnceCell<Prepared> = OnceCell::const_new();
static COUNT: AtomicU64 = AtomicU64::new(0);

/// Whether this run is on PostgreSQL.
pub fn on_postgres() -> bool {
    kind().is_some_and(|kind| kind == "postgres")
}

/// The one database that this run is for; `None`: tests of the store take each that can be had.
pub fn kind() -> Option<String> {
    std::env::var("DOORWARD_TEST_DATABASE").ok().filter(|kind| !kind.is_empty())
}

/// The maintenance database of the tests' own PostgreSQL.
pub fn postgres_url() -> Option<String> {
    std::env::var("DOORWARD_TEST_POSTGRES").ok().filter(|url| !url.is_empty())
}

fn admin() -> String {
    postgres_url().expect("DOORWARD_TEST_POSTGRES names the tests' own server")
}

fn folder() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("doorward-test").tempdir_in(memory()).expect("a folder")
}

impl TestDb {
    /// A fresh database of this run's kind: migrated on PostgreSQL, not there yet on SQLite.
    pub async fn fresh() -> Self {
        if on_postgres() { Self::postgres().await } else { Self::sqlite() }
    }

    /// A SQLite file that is not there yet.
    pub fn sqlite() -> Self {
        let folder = folder();
        let url = format!("sqlite://{}/doorward.db", folder.path().display());
        Self { url, folder, postgres: None }
    }

    /// A migrated PostgreSQL database.
    pub async fn postgres() -> Self {
        TEMPLATE.get_or_init(|| async { Copies::of(template(admin()).await) }).await.take()
    }

    /// A copy of the database that `prepare` fills once per run and hands over closed.
    pub async fn prepared<F: Future<Output = Self>>(prepare: impl FnOnce() -> F) -> Self {
        match PREPARED.get_or_init(|| async { prepare().await.into_template() }).await {
            Prepared::Sqlite(bytes) => {
                let db = Self::sqlite();
                std::fs::write(db.folder.path().join("doorward.db"), bytes).expect("a database file");
                db
            }
            Prepared::Postgres(copies) => copies.take(),
        }
    }

    fn into_template(mut self) -> Prepared {
        match self.postgres.take() {
            Some((_, name)) => Prepared::Postgres(Copies::of(name)),
            None => Prepared::Sqlite(std::fs::read(self.folder.path().join("doorward.db")).expect("a database file")),
        }
    }

    /// Changes something behind the product's back.
    pub async fn run(&self, sql: &str) {
        let text = AssertSqlSafe(sql.to_owned());
        if self.postgres.is_some() {
            run(&self.url, sql).await;
        } else {
            let mut connection = SqliteConnection::connect(&self.url).await.expect("the database answers");
            connection.execute(text).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
            connection.close().await.expect("a closed connection");
        }
    }

    /// What a query for one number gives.
    pub async fn number(&self, sql: &str) -> i64 {
        let text = AssertSqlSafe(sql.to_owned());
        let number = if self.postgres.is_some() {
            let mut connection = PgConnection::connect(&self.url).await.expect("the database answers");
            query_scalar(text).fetch_one(&mut connection).await
        } else {
            let mut connection = SqliteConnection::connect(&self.url).await.expect("the database answers");
            query_scalar(text).fetch_one(&mut connection).await
        };
        number.unwrap_or_else(|error| panic!("{sql}: {error}"))
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
        if let Some(database) = self.postgres.take() {
            let _ = DROPPED.send(database);
        }
    }
}

/// Copies of a template, made ahead by a thread of their own: a test takes one and waits for nothing.
struct Copies(Mutex<Receiver<String>>);

/// So many are made ahead.
const AHEAD: usize = 3;

impl Copies {
    fn of(template: String) -> Self {
        let (sender, receiver) = sync_channel(AHEAD);
        on_a_thread(async move {
            let mut connection = PgConnection::connect(&admin()).await.expect("the tests' PostgreSQL answers");
            loop {
                let name = format!("doorward_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::SeqCst));
                let text = format!("create database {name} template {template}");
                connection.execute(AssertSqlSafe(text)).await.unwrap_or_else(|error| panic!("{name}: {error}"));
                if sender.send(name).is_err() {
                    return;
                }
            }
        });
        Self(Mutex::new(receiver))
    }

    fn take(&self) -> TestDb {
        let name = self.0.lock().expect("nobody failed here").recv().expect("a copy of the template");
        let admin = admin();
        TestDb { url: with_name(&admin, &name), folder: folder(), postgres: Some((admin, name)) }
    }
}

/// Where databases go that nobody needs any more. They are dropped one after the other and nobody waits for
/// it; what is left when the tests end goes with their server.
static DROPPED: LazyLock<Sender<(String, String)>> = LazyLock::new(|| {
    let (sender, receiver) = channel::<(String, String)>();
    on_a_thread(async move {
        for (admin, name) in receiver {
            run(&admin, &format!("drop database if exists {name} with (force)")).await;
        }
    });
    sender
});

/// On a runtime of its own: a test's runtime ends with the test.
fn on_a_thread(work: impl Future<Output = ()> + Send + 'static) {
    std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(work);
    });
}

/// Memory-backed where there is such a place.
pub fn memory() -> std::path::PathBuf {
    let shm = std::path::PathBuf::from("/dev/shm");
    if shm.is_dir() { shm } else { std::env::temp_dir() }
}

async fn template(admin: String) -> String {
    let name = format!("doorward_template_{}", std::process::id());
    run(&admin, &format!("drop database if exists {name} with (force)")).await;
    run(&admin, &format!("create database {name}")).await;
    let settings = doorward::store::StoreSettings {
        url: with_name(&admin, &name),
        pool_max: 4,
        acquire_timeout: Duration::from_secs(5),
        statement_timeout: Duration::from_secs(30),
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
    let mut connection = PgConnection::connect(url).await.expect("the tests' PostgreSQL answers");
    connection.execute(AssertSqlSafe(sql.to_owned())).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    connection.close().await.expect("a closed connection");
}

/// The same server, another database.
pub fn with_name(url: &str, name: &str) -> String {
    let mut parsed = url::Url::parse(url).expect("a URL");
    parsed.set_path(name);
    parsed.to_string()
}
