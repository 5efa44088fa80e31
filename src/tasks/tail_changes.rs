//! Follows the change table, so that this node drops what others changed (architecture, section 7).

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::wait;
use crate::service::App;
use crate::store::Error;

/// At least twice a second; the guard allows one.
pub const EVERY: Duration = Duration::from_millis(250);

/// What is pushed in one burst is read in one go.
const BURST: Duration = Duration::from_millis(20);

/// Reads new changes once.
///
/// # Errors
/// When the database does not answer: read models go stale and are not used.
pub async fn run_once(app: &App) -> Result<(), Error> {
    app.store.models().poll(app.clock.now()).await
}

/// Reads after each push, and after `every` without one, until the end.
pub async fn run(app: Arc<App>, every: Duration, stop: CancellationToken) {
    let mut failing = false;
    loop {
        match run_once(&app).await {
            Ok(()) if failing => {
                tracing::info!("the change feed is back");
                failing = false;
            }
            Ok(()) => {}
            Err(error) if !failing => {
                tracing::warn!(%error, "the change feed does not answer; reads go to the database");
                failing = true;
            }
            Err(_) => {}
        }
        let goes_on = tokio::select! {
            goes_on = wait(every, &stop) => goes_on,
            () = app.store.models().pushed() => wait(BURST, &stop).await,
        };
        if !goes_on {
            return;
        }
    }
}
