//! Server processes side by side on one database, on each kind of database that can be had here.

use std::sync::Arc;
use std::time::Duration;

use doorward::clock::ManualClock;
use doorward::store::Store;

use super::db::{self, Db};

/// One server process' view of a database.
pub(crate) struct Node {
    pub(crate) store: Store,
    pub(crate) clock: Arc<ManualClock>,
    /// Shared, so that the database goes with the last node.
    pub(crate) db: Arc<Db>,
}

/// A first node on an empty database of each kind.
pub(crate) async fn nodes() -> Vec<Node> {
    let node = |db: Db| Node { store: db.store.clone(), clock: Arc::clone(&db.clock), db: Arc::new(db) };
    db::stores().await.into_iter().map(node).collect()
}

impl Node {
    /// Another process on the same database; it has read nothing yet.
    pub(crate) async fn another(&self) -> Self {
        let (store, clock) = db::open(&db::settings(&self.db.url)).await.unwrap();
        Self { store, clock, db: Arc::clone(&self.db) }
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }

    pub(crate) fn is_postgres(&self) -> bool {
        self.db.url.starts_with("postgres")
    }

    /// Ends every connection of the product, as a restart of the server would.
    pub(crate) async fn cut_connections(&self) {
        let cut = "select pg_terminate_backend(pid) from pg_stat_activity \
                   where datname = current_database() and application_name = 'doorward'";
        self.db.run(cut).await;
    }
}

/// Makes a test of each named function, which is run on each kind of database.
macro_rules! on_each {
    ($($name:ident),* $(,)?) => {
        mod on_each {
            $(
                #[tokio::test(flavor = "multi_thread")]
                async fn $name() {
                    for node in crate::store::node::nodes().await {
                        super::$name(node).await;
                    }
                }
            )*
        }
    };
}
pub(crate) use on_each;
