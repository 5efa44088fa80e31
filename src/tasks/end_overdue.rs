//! Ends what time has ended: sessions past their limits, with the grants that hang on them.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::wait;
use crate::domain::model::timestamp::Timestamp;
use crate::service::overdue::{self, Walk};
use crate::service::{App, Error};

const EVERY: Duration = Duration::from_secs(60);

/// One turn; how many sessions ended. None, while the clock is not believed (`security-design` rule 17).
///
/// # Errors
/// When the database does not answer; the next turn goes on.
pub async fn run_once(app: &App, now: Timestamp, walk: &mut Walk) -> Result<usize, Error> {
    if !app.clock.trust().may_act() {
        return Ok(0);
    }
    overdue::end_leftovers(app, now).await?;
    overdue::walk(app, now, walk).await
}

/// Until the end.
pub async fn run(app: Arc<App>, stop: CancellationToken) {
    let mut walk = Walk::default();
    while wait(EVERY, &stop).await {
        match run_once(&app, app.clock.now(), &mut walk).await {
            Ok(sessions) if sessions > 0 => tracing::debug!(sessions, "ended by their limits"),
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "sessions past their limits were not ended; the next turn goes on"),
        }
    }
}
