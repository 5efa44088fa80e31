//! Keeps every realm's signing keys on schedule: announced, active, retired, gone.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::wait;
use crate::domain::model::timestamp::Timestamp;
use crate::service::{App, Error, rotate_keys};
use crate::store::repo;

const EVERY: Duration = Duration::from_secs(30);

/// Brings every realm's keys where they should be now; the number of acts. None, while the clock is not
/// believed (`security-design` rule 17).
///
/// # Errors
/// When the database does not answer.
pub async fn run_once(app: &App, now: Timestamp) -> Result<usize, Error> {
    let mut acts = 0;
    if !app.clock.trust().may_act() {
        return Ok(acts);
    }
    for realm in repo::realm::list(&app.store.read()).await? {
        acts += rotate_keys::keep_schedule(app, &realm, now).await?;
    }
    Ok(acts)
}

/// Until the end.
pub async fn run(app: Arc<App>, stop: CancellationToken) {
    loop {
        match run_once(&app, app.clock.now()).await {
            Ok(acts) if acts > 0 => tracing::info!(acts, "signing keys moved on"),
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "signing keys could not be kept on schedule"),
        }
        if !wait(EVERY, &stop).await {
            return;
        }
    }
}
