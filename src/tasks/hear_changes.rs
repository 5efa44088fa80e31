//! Hears of other nodes' changes, so that this node reads them at once instead of at its next poll.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::wait;
use crate::service::App;

/// How long a lost connection rests before the next one.
const AGAIN: Duration = Duration::from_secs(1);

/// Until the end.
pub async fn run(app: Arc<App>, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            heard = app.store.models().hear() => match heard {
                Ok(()) => tracing::info!("the connection that hears of changes was lost and is made anew"),
                // Debug: while the database is away, the feed has said so already.
                Err(error) => tracing::debug!(%error, "changes are not heard; polling goes on"),
            },
        }
        if !wait(AGAIN, &stop).await {
            return;
        }
    }
}
