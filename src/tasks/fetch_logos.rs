//! Fetches the logos that clients registered and that are not kept yet.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::wait;
use crate::domain::model::timestamp::Timestamp;
use crate::service::{App, Error, logo};
use crate::store::repo;

const EVERY: Duration = Duration::from_secs(30);

/// Fetches some once; how many.
///
/// # Errors
/// When the database does not answer.
pub async fn run_once(app: &App, now: Timestamp) -> Result<usize, Error> {
    let mut fetched = 0;
    for realm in repo::realm::list(&app.store.read()).await? {
        fetched += logo::fetch_missing(app, realm.id, now).await?;
    }
    Ok(fetched)
}

/// Until the end.
pub async fn run(app: Arc<App>, stop: CancellationToken) {
    while wait(EVERY, &stop).await {
        if let Err(error) = run_once(&app, app.clock.now()).await {
            tracing::warn!(%error, "logos could not be fetched");
        }
    }
}
