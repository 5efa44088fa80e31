//! Background work: one task per loop, each `run_once` on a timer, all ended by one token.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::service::App;
use crate::tasks;

/// Starts every loop.
#[must_use]
pub fn start(app: &Arc<App>, stop: &CancellationToken) -> TaskTracker {
    let tracker = TaskTracker::new();
    tracker.spawn(tasks::tail_changes::run(app.clone(), tasks::tail_changes::EVERY, stop.clone()));
    tracker.spawn(tasks::hear_changes::run(app.clone(), stop.clone()));
    tracker.spawn(tasks::end_overdue::run(app.clone(), stop.clone()));
    tracker.spawn(tasks::expire_clients::run(app.clone(), stop.clone()));
    tracker.spawn(tasks::purge::run(app.clone(), stop.clone()));
    tracker.spawn(tasks::rotate_keys::run(app.clone(), stop.clone()));
    tracker.spawn(tasks::backchannel_logout::run(app.clone(), stop.clone()));
    tracker.spawn(tasks::fetch_logos::run(app.clone(), stop.clone()));
    tracker.close();
    tracker
}
