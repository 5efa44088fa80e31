//! Ends clients that registered themselves and are not used.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::wait;
use crate::domain::model::timestamp::Timestamp;
use crate::service::register::expire;
use crate::service::{App, Error};
use crate::store::repo;

const EVERY: Duration = Duration::from_secs(300);

/// One turn over every realm; how many clients went. None, while the clock is not believed (`security-design`
/// rule 17).
///
/// # Errors
/// When the database does not answer; the next turn goes on.
pub async fn run_once(app: &App, now: Timestamp) -> Result<usize, Error> {
    let mut count = 0;
    if !app.clock.trust().may_act() {
        return Ok(count);
    }
    for realm in repo::realm::list(&app.store.read()).await? {
        count += expire::overdue(app, &realm, now).await?;
    }
    Ok(count)
}

/// Until the end.
pub async fn run(app: Arc<App>, stop: CancellationToken) {
    while wait(EVERY, &stop).await {
        match run_once(&app, app.clock.now()).await {
            Ok(clients) if clients > 0 => tracing::info!(clients, "clients that registered themselves went unused"),
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "unused clients were not deleted; the next turn goes on"),
        }
    }
}
