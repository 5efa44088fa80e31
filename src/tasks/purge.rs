//! Deletes what has served its time: short-lived state, redemptions after a day, changes after an
//! hour, ended sessions and grants after ninety days, deny-list entries after their token's end.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::wait;
use crate::domain::model::timestamp::Timestamp;
use crate::service::App;
use crate::store::{Error, repo};

const EVERY: Duration = Duration::from_secs(60);

/// Deletes once; the number of rows. Nothing, while the clock is not believed (`security-design` rule 17).
///
/// # Errors
/// When the database does not answer; the next turn goes on.
pub async fn run_once(app: &App, now: Timestamp) -> Result<u64, Error> {
    if !app.clock.trust().may_act() {
        return Ok(0);
    }
    let short = app.store.shortlived().purge(now).await?;
    let mut tx = app.store.begin().await?;
    let rows = repo::purge::all(&mut tx, now).await?;
    tx.commit().await?;
    Ok(short + rows)
}

/// Until the end.
pub async fn run(app: Arc<App>, stop: CancellationToken) {
    while wait(EVERY, &stop).await {
        match run_once(&app, app.clock.now()).await {
            Ok(rows) if rows > 0 => tracing::debug!(rows, "purged"),
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "purging failed; the next turn goes on"),
        }
    }
}
