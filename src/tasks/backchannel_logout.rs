//! Sends what clients are told of sessions that ended. A notice is claimed for a while, so that of several
//! nodes one sends it; a client that does not answer keeps neither other clients nor a thread waiting.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::wait;
use crate::domain::model::backchannel_logout::LogoutNotice;
use crate::domain::model::timestamp::Timestamp;
use crate::observe::metrics::metrics;
use crate::outbound::TIME_LIMIT;
use crate::service::backchannel_logout::{self, Attempted};
use crate::service::{App, Error};
use crate::store::repo;

const EVERY: Duration = Duration::from_secs(1);
/// Notices claimed at once.
const CLAIM: u64 = 128;
/// How long they are nobody else's.
const LEASE: Duration = Duration::from_secs(60);
/// Requests under way at once, to all clients and to each.
const AT_ONCE: usize = 32;
const AT_ONCE_EACH: usize = 4;

/// Sends what is due; how many attempts were made. None, while the clock is not believed (`security-design`
/// rule 17): what a day without success ends must not end by a jump.
///
/// # Errors
/// When the database does not answer; the next turn goes on.
pub async fn run_once(app: &Arc<App>, now: Timestamp) -> Result<usize, Error> {
    turn(app, now, &CancellationToken::new()).await
}

async fn turn(app: &Arc<App>, now: Timestamp, stop: &CancellationToken) -> Result<usize, Error> {
    let mut attempts = 0;
    if !app.clock.trust().may_act() {
        return Ok(attempts);
    }
    let mut now = now;
    loop {
        let backlog = repo::backchannel_logout::backlog(&app.store.read()).await?;
        metrics().outbox_pending.with_label_values(&["logout"]).set(i64::try_from(backlog.pending).unwrap_or(i64::MAX));
        let waited = backlog.oldest.map_or(0, |oldest| now.since(oldest).as_secs());
        metrics().outbox_oldest.with_label_values(&["logout"]).set(i64::try_from(waited).unwrap_or(i64::MAX));
        if stop.is_cancelled() || backlog.due_at.is_none_or(|due| due > now) {
            return Ok(attempts);
        }
        let mut tx = app.store.begin().await?;
        let claimed = repo::backchannel_logout::claim(&mut tx, now, LEASE, CLAIM).await?;
        tx.commit().await?;
        if claimed.is_empty() {
            // Other nodes have them.
            return Ok(attempts);
        }
        attempts += send_all(app, claimed, stop).await;
        now = app.clock.now();
    }
}

/// The way to one client.
struct Lane {
    free: Semaphore,
    /// It did not answer: what else it would be told now waits as well.
    is_silent: AtomicBool,
}

async fn send_all(app: &Arc<App>, claimed: Vec<LogoutNotice>, stop: &CancellationToken) -> usize {
    let free = Arc::new(Semaphore::new(AT_ONCE));
    let mut lanes = HashMap::new();
    let mut running = JoinSet::new();
    for notice in claimed {
        let lane = lanes.entry((notice.realm, notice.client)).or_insert_with(|| {
            Arc::new(Lane { free: Semaphore::new(AT_ONCE_EACH), is_silent: AtomicBool::new(false) })
        });
        let (app, lane, free, stop) = (app.clone(), lane.clone(), free.clone(), stop.clone());
        running.spawn(async move {
            let _turns = (lane.free.acquire().await, free.acquire().await);
            // Whoever cannot be sure to be done before the claim runs out does not begin.
            let is_late = app.clock.now().plus(TIME_LIMIT) > notice.due_at;
            let result = if is_late || stop.is_cancelled() {
                backchannel_logout::release(&app, &notice).await.map(|()| false)
            } else {
                send(&app, &notice, &lane).await.map(|()| true)
            };
            result.unwrap_or_else(|error| {
                tracing::warn!(%error, "a logout notice could not be sent; it is tried again");
                true
            })
        });
    }
    running.join_all().await.into_iter().filter(|tried| *tried).count()
}

async fn send(app: &App, notice: &LogoutNotice, lane: &Lane) -> Result<(), Error> {
    if lane.is_silent.load(Ordering::Relaxed) {
        backchannel_logout::postpone(app, notice, "the client did not answer another notice").await?;
    } else if backchannel_logout::deliver(app, notice).await? == Attempted::Silent {
        lane.is_silent.store(true, Ordering::Relaxed);
    }
    Ok(())
}

/// Until the end. What is under way then is finished.
pub async fn run(app: Arc<App>, stop: CancellationToken) {
    while wait(EVERY, &stop).await {
        match turn(&app, app.clock.now(), &stop).await {
            Ok(attempts) if attempts > 0 => tracing::debug!(attempts, "clients told of logouts"),
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "clients were not told of logouts; the next turn goes on"),
        }
    }
}
