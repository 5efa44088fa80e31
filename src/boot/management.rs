//! The management listener: health and metrics, never on the public one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::listen::bind_unix;
use crate::config::Listen;
use crate::domain::clock::Trust;
use crate::observe::metrics::metrics as metrics_registry;
use crate::service::App;

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
        .with_state(Management { app, stage });
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

/// Ready = started, not draining, database answering, read models whole, the clock believed.
async fn ready(State(management): State<Management>) -> Response {
    let stage = &management.stage;
    if !stage.started.load(Ordering::SeqCst) {
        return verdict(false, "starting");
    }
    if stage.draining.load(Ordering::SeqCst) {
        return verdict(false, "draining");
    }
    if let Err(error) = management.app.store.now().await {
        tracing::warn!(%error, "not ready: the database does not answer");
        return verdict(false, "database");
    }
    if !management.app.store.models().ready() {
        return verdict(false, "read models");
    }
    // The log says by how much it jumped, and what to check.
    verdict(management.app.clock.trust() != Trust::Unsure, "clock")
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
