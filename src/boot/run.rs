//! The server's life: open, listen, say where, serve, drain, close.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::management::Stage;
use super::{background, build, first, listen, lock, management, tls};
use crate::cli::{Failure, say};
use crate::config::Config;
use crate::domain::protocol::front_channel;
use crate::http::front::{Front, FrontSettings};
use crate::http::{demo, router};
use crate::observe::log::{self, AccessLog};
use crate::service::{App, setup};
use crate::store::repo;

/// Runs the server until it is told to stop.
///
/// # Errors
/// When it cannot start; the text says what to change.
pub fn server(config: Config) -> Result<(), Failure> {
    log::install(&config.log).map_err(|error| Failure::Internal(error.to_string()))?;
    let access = AccessLog::start(config.log.format, Box::new(std::io::stdout()))
        .map_err(|error| Failure::Internal(format!("the access log could not be started: {error}")))?;
    for remark in &config.remarks {
        tracing::warn!("{remark}");
    }
    let _lock = lock::lock(&config.server.data_dir).map_err(Failure::Config)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("background")
        .enable_all()
        .build()
        .map_err(|error| Failure::Internal(format!("no runtime: {error}")))?;
    let outcome = runtime.block_on(live(config, &access));
    access.flush();
    runtime.shutdown_timeout(LAST_WORK);
    outcome
}

/// The set-up link's file in the data folder.
const LINK_FILE: &str = "setup-link";

/// A clock that is further behind what was seen is worth an alarm.
const CLOCKS_APART: Duration = Duration::from_secs(2);

/// How long background work may take to notice the end.
const LAST_WORK: Duration = Duration::from_secs(5);

async fn live(config: Config, access: &AccessLog) -> Result<(), Failure> {
    let mut signals =
        Signals::listen(config.dev).map_err(|error| Failure::Internal(format!("signals cannot be heard: {error}")))?;
    let app = Arc::new(build::app(config, build::Purpose::Serve).await?);
    // Complete sets of what ended before the first request: revocation never fails open. And the database's
    // time before the first write: keys that seem to be born later sign nothing yet.
    crate::tasks::tail_changes::run_once(&app).await?;
    watch_time(&app);
    first::prepare(&app).await?;
    warn_of_front_channels(&app).await?;
    let stop = CancellationToken::new();
    let stage = Arc::new(Stage::default());
    let tasks = background::start(&app, &stop);
    let outcome = match serve(&app, &stage, access, &stop).await {
        Ok(threads) => {
            let link = set_up_link(&app).await;
            if let Ok(link) = &link {
                // Whoever waits for this finds everything in its place, the set-up link too.
                stage.start();
                announce(&app, link.as_deref());
                tokio::select! {
                    () = signals.next() => {}
                    // A serving thread that gave up.
                    () = stop.cancelled() => {}
                }
            }
            drain(&app, &stage, &stop, threads, &mut signals).await;
            link.map(drop)
        }
        Err(failure) => Err(failure),
    };
    stop.cancel();
    if tokio::time::timeout(LAST_WORK, tasks.wait()).await.is_err() {
        tracing::warn!("background work was still under way at the end");
    }
    if let Err(error) = app.store.batch().flush().await {
        tracing::error!(%error, "the batched writer could not be flushed");
    }
    app.store.close().await;
    outcome
}

/// From here on this database remembers how late it has been, and says so when that was later than now.
fn watch_time(app: &App) {
    let ahead = app.clock.ahead();
    if ahead > CLOCKS_APART {
        tracing::error!(
            ahead_ms = u64::try_from(ahead.as_millis()).unwrap_or(u64::MAX),
            "the clock was set back: this database has seen a later time. Time goes on from there at half speed until \
             the clock has caught up. Check the machine's time service (chrony)"
        );
    }
    app.store.batch().keep_time();
}

/// Realms that give access tokens through browsers are named at each start.
async fn warn_of_front_channels(app: &App) -> Result<(), Failure> {
    for realm in repo::realm::list(&app.store.read()).await? {
        if let Some(warning) = front_channel::warning_of_realm(&realm.settings) {
            tracing::warn!(realm = realm.name, "{} {warning}", front_channel::REALM_FIELD);
        }
    }
    Ok(())
}

/// Says "not ready" first and closes the door after a while, so that load balancers look away before
/// anybody is turned away; then waits for open requests. Told a second time, it ends at once.
async fn drain(
    app: &App,
    stage: &Stage,
    stop: &CancellationToken,
    threads: Vec<JoinHandle<()>>,
    signals: &mut Signals,
) {
    tracing::info!("draining");
    stage.drain();
    let calmly = async {
        tokio::select! {
            () = rest(app.config.limits.drain_delay) => {}
            () = stop.cancelled() => {}
        }
        stop.cancel();
        // Threads join on a thread of their own, which a second signal can leave behind.
        let (done, joined) = oneshot::channel();
        std::thread::spawn(move || {
            for thread in threads {
                let _ = thread.join();
            }
            let _ = done.send(());
        });
        let _ = joined.await;
    };
    tokio::select! {
        () = calmly => tracing::info!("drained"),
        () = signals.next() => tracing::warn!("told to end a second time: open requests are cut"),
    }
}

#[expect(clippy::disallowed_methods, reason = "the end of the process waits for others in real time")]
async fn rest(time: Duration) {
    tokio::time::sleep(time).await;
}

async fn serve(
    app: &Arc<App>,
    stage: &Arc<Stage>,
    access: &AccessLog,
    stop: &CancellationToken,
) -> Result<Vec<JoinHandle<()>>, Failure> {
    let server = &app.config.server;
    let settings = FrontSettings {
        public_url: server.public_url.as_str().to_owned(),
        trusted: server.trusted_proxies.clone(),
        dev: app.config.dev,
    };
    let front = Front::new(app.clone(), router::build(app, app.config.dev), settings, Some(access.clone()));
    management::start(app.clone(), stage.clone(), &server.management).await.map_err(Failure::Config)?;
    let tls = match &app.config.tls {
        None => None,
        Some(settings) => {
            let (acceptor, certificate) = tls::acceptor(settings).map_err(Failure::Config)?;
            tokio::spawn(certificate.follow(stop.clone()));
            Some(acceptor)
        }
    };
    let door = listen::Door { front, limits: app.config.limits.clone(), tls };
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    listen::start(&door, &server.listen, cores, stop).map_err(Failure::Config)
}

/// What asks for the end: SIGTERM, SIGINT. SIGHUP asks daemons to read their files again: the TLS certificate is,
/// settings are not, and it ends nothing. In development it comes from a terminal that was closed,
/// and nobody is left to stop the server.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
    hangup_ends: bool,
}

impl Signals {
    fn listen(hangup_ends: bool) -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
            hangup_ends,
        })
    }

    async fn next(&mut self) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return,
                _ = self.interrupt.recv() => return,
                _ = self.hangup.recv() => {
                    if self.hangup_ends {
                        return;
                    }
                    tracing::info!("SIGHUP: the TLS certificate is read again; settings are read at the start only, restart to change them");
                }
            }
        }
    }
}

/// Makes the link for the first administrator, while there never was one, and keeps it in its file.
async fn set_up_link(app: &App) -> Result<Option<String>, Failure> {
    if app.config.dev {
        return Ok(None);
    }
    let path = app.config.server.data_dir.join(LINK_FILE);
    let Some(secret) = setup::make_link(app, app.clock.now()).await? else {
        // One that is spent, or too late, would only puzzle whoever finds it.
        let _ = std::fs::remove_file(&path);
        return Ok(None);
    };
    let link = format!("{}/setup/{}", app.config.server.public_url.as_str(), secret.expose());
    keep_link(&path, &link).map_err(|error| Failure::Config(format!("{}: {error}", path.display())))?;
    Ok(Some(link))
}

/// Says where everything is.
fn announce(app: &App, link: Option<&str>) {
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
        return;
    }
    say::note(&format!("Doorward is running. Issuer: {issuer}"));
    let Some(link) = link else { return };
    // Never in the log: only to a person's terminal and into a file of this user.
    if say::person_reads() {
        say::note(&format!("Nobody administers this yet. Within 30 minutes, open {link}"));
    } else {
        let path = app.config.server.data_dir.join(LINK_FILE);
        say::note(&format!("Nobody administers this yet. The set-up link is in {}", path.display()));
    }
}

fn keep_link(path: &Path, link: &str) -> std::io::Result<()> {
    let _ = std::fs::remove_file(path);
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(file, "{link}")
}
