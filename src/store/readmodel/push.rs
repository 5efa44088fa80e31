//! The push: a node that commits a change wakes the feeds of the others early (architecture, section 7). It
//! only wakes: what changed is read from the change table, and whoever hears nothing polls as before.
//!
//! PostgreSQL tells with the commit, `NOTIFY`, and only in transactions that append changes, since it makes
//! them commit one after the other. An embedded database has one server, which has dropped what it changed
//! before it answers; a command beside it is found by polling.

use sea_orm::sqlx::postgres::{PgListener, PgPoolOptions};

use super::ReadModels;
use crate::store::Error;
use crate::store::connect::Pools;

/// Wakes the others, once the transaction has committed.
pub(in crate::store) const PUSH: &str = "notify doorward_change";

const CHANNEL: &str = "doorward_change";

impl ReadModels {
    /// Hears what other nodes push, on a connection of its own, until that is lost. What was pushed before is
    /// not heard any more, so that a connection that was just made wakes the feed, too.
    pub async fn hear(&self) -> Result<(), Error> {
        let Pools::Postgres { writer, .. } = &self.inner.pools else { return std::future::pending().await };
        let one = PgPoolOptions::new().max_connections(1).idle_timeout(None).max_lifetime(None);
        let one = one.connect_lazy_with((*writer.connect_options()).clone());
        let mut listener = PgListener::connect_with(&one).await?;
        listener.eager_reconnect(false);
        listener.listen(CHANNEL).await?;
        loop {
            self.inner.woken.notify_one();
            if listener.try_recv().await?.is_none() {
                return Ok(());
            }
        }
    }

    /// Waits until somebody pushed.
    pub async fn pushed(&self) {
        self.inner.woken.notified().await;
    }
}
