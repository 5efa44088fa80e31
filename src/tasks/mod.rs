//! Loops in the background: one per file, each with the work (`run_once`, which tests call) apart
//! from the timer (`run`).

use std::time::Duration;

use tokio_util::sync::CancellationToken;

pub mod backchannel_logout;
pub mod end_overdue;
pub mod expire_clients;
pub mod fetch_logos;
pub mod hear_changes;
pub mod purge;
pub mod rotate_keys;
pub mod tail_changes;

/// Waits for `span`, or until the end; `true` = go on.
#[expect(clippy::disallowed_methods, reason = "the one place where background loops wait")]
async fn wait(span: Duration, stop: &CancellationToken) -> bool {
    tokio::select! {
        () = stop.cancelled() => false,
        () = tokio::time::sleep(span) => true,
    }
}
