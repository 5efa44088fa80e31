//! The server's life: open, listen, say where, serve, drain, close.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::management::Stage;
use super::{background, build, first, listen, lock, management};
use crate::cli::{Failure, say};
use crate::config::Config;
use crate::http::front::{Front, FrontSettings};
use crate::http::{demo, router};
use crate::observe::log::{self, AccessLog};
use crate::service::{App, setup};

/// Runs the server until it is told to stop.
///
/// # Errors
/// When it cannot start; the text says what to change.
pub fn server(config: Config) -> Result<(), Failure> {
    log::install(&config.log).map_err(|error| Failure::Internal(error.to_string()))?;
    let access = AccessLog::start(config.log.format, Box::new(std::io::stdout()))
        .map_err(|error| Failure::Internal(format!("the access log could not be started: {error}")))?;
    let _lock = lock::lock(&config.server.data_dir).map_err(Failure::Config)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("background")
        .enable_all()
        .build()
        .map_err(|error| Failure::Internal(format!("no runtime: {error}")))?;
    let outcome = runtime.block_on(live(config, &access));
    access.flush();
    runtime.shutdown_timeout(std::time::Duration::from_secs(5));
    outcome
}

async fn live(config: Config, access: &AccessLog) -> Result<(), Failure> {
    let app = Arc::new(build::app(config, build::Purpose::Serve).await?);
    first::prepare(&app).await?;
    // Complete sets of what ended before the first request: revocation never fails open.
    crate::tasks::tail_changes::run_once(&app).await?;
    let stop = CancellationToken::new();
    let stage = Arc::new(Stage::default());
    let tasks = background::start(&app, &stop);
    let serving = serve(&app, &stage, access, &stop).await;
    let outcome = match serving {
        Ok(threads) => {
            stage.start();
            announce(&app).await?;
            wait_for_end(&stop).await;
            tracing::info!("draining");
            stage.drain();
            stop.cancel();
            // Threads join on a blocking thread: this runtime's tasks go on meanwhile.
            let joined =
                tokio::task::spawn_blocking(move || threads.into_iter().for_each(|thread| drop(thread.join())));
            let _ = joined.await;
            Ok(())
        }
        Err(failure) => {
            stop.cancel();
            Err(failure)
        }
    };
    tasks.wait().await;
    if let Err(error) = app.store.batch().flush().await {
        tracing::error!(%error, "the batched writer could not be flushed");
    }
    app.store.close().await;
    outcome
}

async fn serve(
    app: &Arc<App>,
    stage: &Arc<Stage>,
    access: &AccessLog,
    stop: &CancellationToken,
) -> Result<Vec<std::thread::JoinHandle<()>>, Failure> {
    let server = &app.config.server;
    let settings = FrontSettings {
        public_url: server.public_url.as_str().to_owned(),
        trusted: server.trusted_proxies.clone(),
        dev: app.config.dev,
    };
    let front = Front::new(app.clone(), router::build(app, app.config.dev), settings, Some(access.clone()));
    management::start(app.clone(), stage.clone(), &server.management, stop.clone()).await.map_err(Failure::Config)?;
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    listen::start(&front, &server.listen, cores, &app.config.limits, stop).map_err(Failure::Config)
}

/// SIGTERM or SIGINT, or a serving thread that gave up.
async fn wait_for_end(stop: &CancellationToken) {
    let (Ok(mut terminate), Ok(mut interrupt)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        stop.cancelled().await;
        return;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
        () = stop.cancelled() => {}
    }
}

/// Says where everything is.
async fn announce(app: &App) -> Result<(), Failure> {
    let issuer = app.config.server.public_url.as_str();
    tracing::info!(issuer, "ready");
    if app.config.dev {
        say::note(&format!(
            "\n  Doorward is running for development.\n\n  \
             Issuer        {issuer}\n  \
             Demo app      {issuer}/demo\n  \
             Sign in as    {} / {}\n  \
             Discovery     {issuer}/.well-known/openid-configuration\n  \
             Health        http://{}/health/ready\n",
            demo::USERNAME,
            demo::PASSWORD,
            app.config.server.management,
        ));
        return Ok(());
    }
    say::note(&format!("Doorward is running. Issuer: {issuer}"));
    let Some(secret) = setup::make_link(app, app.clock.now()).await? else { return Ok(()) };
    let link = format!("{issuer}/setup/{}", secret.expose());
    let path = app.config.server.data_dir.join("setup-link");
    keep_link(&path, &link).map_err(|error| Failure::Config(format!("{}: {error}", path.display())))?;
    // Never in the log: only to a person's terminal and into a file of this user.
    if say::person_reads() {
        say::note(&format!("Nobody administers this yet. Within 30 minutes, open {link}"));
    } else {
        say::note(&format!("Nobody administers this yet. The set-up link is in {}", path.display()));
    }
    Ok(())
}

fn keep_link(path: &Path, link: &str) -> std::io::Result<()> {
    let _ = std::fs::remove_file(path);
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(file, "{link}")
}
