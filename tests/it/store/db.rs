//! A store on a database of its own, on each kind that this run is for (`kit/db.rs`).

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use doorward::clock::ManualClock;
use doorward::domain::model::timestamp::Timestamp;
use doorward::entropy::SystemEntropy;
use doorward::store::{Error, Store, StoreSettings};

pub(crate) use crate::kit::db::postgres_url;
use crate::kit::db::{TestDb, kind};

/// Where manual clocks begin.
pub(crate) const START: Timestamp = Timestamp::from_secs(1_800_000_000);

/// A store on a database of its own.
pub(crate) struct Db {
    pub(crate) store: Store,
    pub(crate) clock: Arc<ManualClock>,
    data: TestDb,
}

impl Deref for Db {
    type Target = TestDb;

    fn deref(&self) -> &TestDb {
        &self.data
    }
}

/// Stores of every kind that can be had here, each empty and migrated: of both unless the run is for one.
pub(crate) async fn stores() -> Vec<Db> {
    let kind = kind();
    let wants = |name: &str| kind.as_deref().is_none_or(|kind| kind == name);
    let mut all = Vec::new();
    if wants("sqlite") {
        all.push(sqlite().await);
    }
    if wants("postgres") && postgres_url().is_some() {
        all.push(Db::on(TestDb::postgres().await).await);
    }
    all
}

pub(crate) fn settings(url: &str) -> StoreSettings {
    StoreSettings {
        url: url.to_owned(),
        pool_max: 6,
        acquire_timeout: Duration::from_secs(20),
        statement_timeout: Duration::from_secs(30),
        durable: false,
    }
}

pub(crate) async fn open(settings: &StoreSettings) -> Result<(Store, Arc<ManualClock>), Error> {
    let clock = Arc::new(ManualClock::new(START));
    let store = Store::open(settings, clock.clone(), Arc::new(SystemEntropy)).await?;
    Ok((store, clock))
}

pub(crate) async fn sqlite() -> Db {
    let db = Db::on(TestDb::sqlite()).await;
    db.store.migrate().await.unwrap();
    db
}

impl Db {
    async fn on(data: TestDb) -> Self {
        let (store, clock) = open(&settings(&data.url)).await.unwrap();
        Self { store, clock, data }
    }
}
