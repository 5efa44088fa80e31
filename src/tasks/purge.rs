//! Deletes what has served its time: short-lived state, redemptions after a day, changes after an
//! hour, ended sessions and grants after ninety days, deny-list entries after their token's end, events a
//! week after they were sent, browsers after four hundred days.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::wait;
use crate::domain::model::timestamp::Timestamp;
use crate::service::App;
use crate::store::{Error, repo};

const EVERY: Duration = Duration::from_secs(60);
/// Every how many turns browsers are looked through.
const DEVICES_EVERY: u64 = 60;
/// Transactions in one turn: what is beyond waits for the next.
const ROUNDS: usize = 50;

/// Deletes once; the number of rows. Nothing, while the clock is not believed (`security-design` rule 17).
///
/// # Errors
/// When the database does not answer; the next turn goes on.
pub async fn run_once(app: &App, now: Timestamp) -> Result<u64, Error> {
    if !app.clock.trust().may_act() {
        return Ok(0);
    }
    let mut rows = app.store.shortlived().purge(now).await?;
    for _ in 0..ROUNDS {
        let mut tx = app.store.begin().await?;
        let gone = repo::purge::all(&mut tx, now).await?;
        tx.commit().await?;
        rows += gone;
        if gone < repo::purge::MOST {
            break;
        }
    }
    Ok(rows)
}

/// Deletes browsers that nobody comes back with; their number. None, while the clock is not believed.
///
/// # Errors
/// When the database does not answer; the next turn goes on.
pub async fn devices(app: &App, now: Timestamp) -> Result<u64, Error> {
    if !app.clock.trust().may_act() {
        return Ok(0);
    }
    let mut tx = app.store.begin().await?;
    let rows = repo::purge::devices(&mut tx, now).await?;
    tx.commit().await?;
    Ok(rows)
}

async fn turn(app: &App, number: u64) -> Result<u64, Error> {
    let now = app.clock.now();
    let rows = run_once(app, now).await?;
    Ok(rows + if number.is_multiple_of(DEVICES_EVERY) { devices(app, now).await? } else { 0 })
}

/// Until the end.
pub async fn run(app: Arc<App>, stop: CancellationToken) {
    let mut number = 0;
    while wait(EVERY, &stop).await {
        number += 1;
        match turn(&app, number).await {
            Ok(rows) if rows > 0 => tracing::debug!(rows, "purged"),
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "purging failed; the next turn goes on"),
        }
    }
}
