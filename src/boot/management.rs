//! The management listener: health and metrics, never on the public one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::sync::Mutex;

use super::listen::bind_unix;
use crate::config::Listen;
use crate::domain::clock::Trust;
use crate::observe::metrics::metrics as metrics_registry;
use crate::service::App;

/// However often somebody asks, a write is tried no more often than this.
const PROBE_EVERY: Duration = Duration::from_secs(3);
/// How long the database may take to answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// Where the server stands in its life.
#[derive(Debug, Default)]
pub struct Stage {
    started: AtomicBool,
    draining: AtomicBool,
}

impl Stage {
    /// Everything listens.
    pub fn start(&self) {
        self.started.store(true, Ordering::SeqCst);
    }

    /// No new work, please: load balancers look elsewhere.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::SeqCst);
    }
}

#[derive(Clone)]
struct Management {
    app: Arc<App>,
    stage: Arc<Stage>,
    probe: Arc<Mutex<Option<Probe>>>,
}

/// How the last write that was tried went.
#[derive(Debug, Clone, Copy)]
struct Probe {
    /// By the monotonic clock.
    at: Duration,
    good: bool,
}

/// Binds, and serves to the end of the process: who watches it sees the drain too.
///
/// # Errors
/// An address that cannot be bound, with the remedy.
pub async fn start(app: Arc<App>, stage: Arc<Stage>, listen: &Listen) -> Result<String, String> {
    let router = Router::new()
        .route("/health/live", get(|| async { "ok\n" }))
        .route("/health/started", get(started))
        .route("/health/ready", get(ready))
        .route("/metrics", get(metrics))
        .with_state(Management { app, stage, probe: Arc::default() });
    let refused = |error: std::io::Error| {
        format!(
            "management.listen {listen}: {error}. Choose a free address in `management.listen`, or stop what holds it"
        )
    };
    match listen {
        Listen::Tcp(address) => {
            let listener = tokio::net::TcpListener::bind(address).await.map_err(refused)?;
            let actual = listener.local_addr().map_err(refused)?;
            tokio::spawn(async move { axum::serve(listener, router).await });
            Ok(format!("http://{actual}"))
        }
        Listen::Unix(path) => {
            let listener = bind_unix(path).and_then(tokio::net::UnixListener::from_std).map_err(refused)?;
            tokio::spawn(async move { axum::serve(listener, router).await });
            Ok(format!("unix:{}", path.display()))
        }
    }
}

async fn started(State(management): State<Management>) -> Response {
    verdict(management.stage.started.load(Ordering::SeqCst), "starting")
}

/// Ready = started, not draining, database answering and taking writes, read models whole, the clock believed.
async fn ready(State(management): State<Management>) -> Response {
    let stage = &management.stage;
    if !stage.started.load(Ordering::SeqCst) {
        return verdict(false, "starting");
    }
    if stage.draining.load(Ordering::SeqCst) {
        return verdict(false, "draining");
    }
    match tokio::time::timeout(PATIENCE, management.app.store.now()).await {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => {
            tracing::warn!(%error, "not ready: the database does not answer");
            return verdict(false, "database");
        }
        Err(_) => {
            tracing::warn!("not ready: the database does not answer in time");
            return verdict(false, "database");
        }
    }
    if !takes_writes(&management).await {
        return verdict(false, "database takes no writes");
    }
    if !management.app.store.models().ready() {
        return verdict(false, "read models");
    }
    // The log says by how much it jumped, and what to check.
    verdict(management.app.clock.trust() != Trust::Unsure, "clock")
}

/// Tries a write, unless that was done a moment ago. Whoever asks meanwhile waits for the same answer.
async fn takes_writes(management: &Management) -> bool {
    let mut last = management.probe.lock().await;
    let now = management.app.clock.monotonic();
    if let Some(probe) = *last
        && now.saturating_sub(probe.at) < PROBE_EVERY
    {
        return probe.good;
    }
    let good = match tokio::time::timeout(PATIENCE, management.app.store.probe()).await {
        Ok(Ok(())) => true,
        Ok(Err(error)) => {
            tracing::warn!(%error, "not ready: a write failed");
            false
        }
        Err(_) => {
            tracing::warn!("not ready: a write took too long");
            false
        }
    };
    metrics_registry().dependency_up.with_label_values(&["database"]).set(i64::from(good));
    *last = Some(Probe { at: now, good });
    good
}

fn verdict(good: bool, why: &str) -> Response {
    if good {
        (StatusCode::OK, "ok\n").into_response()
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {why}\n")).into_response()
    }
}

async fn metrics(State(management): State<Management>) -> Response {
    management.app.store.measure();
    let text = metrics_registry().render();
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
}
