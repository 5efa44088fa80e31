//! Listeners: one single-threaded runtime per core, each accepting from its own socket (SO_REUSEPORT),
//! which measured 1.4 to 1.8 times one shared runtime. Unix sockets are one listener cloned to all.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::{Limits, Listen};
use crate::http::extract::address::Peer;
use crate::http::front::Front;
use crate::http::render::plain;

/// Sockets of one worker.
struct Sockets {
    tcp: Vec<std::net::TcpListener>,
    unix: Vec<std::os::unix::net::UnixListener>,
}

/// How long open requests may go on after the stop was asked for.
pub const DRAIN: Duration = Duration::from_secs(20);
const BACKLOG: i32 = 4096;

/// Binds every address and starts `workers` threads that serve `front` until `stop`.
///
/// # Errors
/// An address that cannot be bound, with the reason and what to change.
pub fn start(
    front: &Front,
    addresses: &[Listen],
    workers: usize,
    limits: &Limits,
    stop: &CancellationToken,
) -> Result<Vec<JoinHandle<()>>, String> {
    let mut sets: Vec<Sockets> = (0..workers.max(1)).map(|_| Sockets { tcp: Vec::new(), unix: Vec::new() }).collect();
    for address in addresses {
        match address {
            Listen::Tcp(wanted) => {
                // Once without sharing: a port that somebody else holds must be an error.
                let first = bind(*wanted, false).map_err(|error| refused(&wanted.to_string(), &error))?;
                let actual = first.local_addr().map_err(|error| error.to_string())?;
                drop(first);
                for set in &mut sets {
                    set.tcp.push(bind(actual, true).map_err(|error| refused(&actual.to_string(), &error))?);
                }
            }
            Listen::Unix(path) => {
                let listener = bind_unix(path).map_err(|error| refused(&path.display().to_string(), &error))?;
                for set in &mut sets {
                    set.unix.push(listener.try_clone().map_err(|error| error.to_string())?);
                }
            }
        }
    }
    let places = Arc::new(Semaphore::new(limits.connections));
    let mut threads = Vec::new();
    for (number, sockets) in sets.into_iter().enumerate() {
        let worker = Worker {
            front: front.clone(),
            limits: limits.clone(),
            stop: stop.clone(),
            connections: TaskTracker::new(),
            places: places.clone(),
        };
        let thread = std::thread::Builder::new()
            .name(format!("serve-{number}"))
            .spawn(move || work(&worker, sockets))
            .map_err(|error| format!("a thread could not be started: {error}"))?;
        threads.push(thread);
    }
    Ok(threads)
}

fn refused(address: &str, error: &std::io::Error) -> String {
    let remedy = match error.kind() {
        ErrorKind::NotFound => "Make the folder for the socket, or set `listen` elsewhere",
        ErrorKind::PermissionDenied => "Let this user have it, or set `listen` elsewhere",
        ErrorKind::AddrNotAvailable => "Set `listen` to an address of this machine",
        _ => "Choose a free address in `listen`, or stop what holds it",
    };
    format!("listen {address}: {error}. {remedy}")
}

fn bind(address: SocketAddr, shared: bool) -> std::io::Result<std::net::TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    if shared {
        socket.set_reuse_port(true)?;
    }
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    if shared {
        socket.listen(BACKLOG)?;
    }
    Ok(socket.into())
}

/// Takes the place of a socket that an earlier run left behind, never of a file of another kind.
pub(super) fn bind_unix(path: &Path) -> std::io::Result<std::os::unix::net::UnixListener> {
    if std::fs::symlink_metadata(path).is_ok_and(|meta| meta.file_type().is_socket())
        && std::os::unix::net::UnixStream::connect(path).is_err()
    {
        std::fs::remove_file(path)?;
    }
    let listener = std::os::unix::net::UnixListener::bind(path)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// What one serving thread works with.
#[derive(Clone)]
struct Worker {
    front: Front,
    limits: Limits,
    stop: CancellationToken,
    connections: TaskTracker,
    /// One permit per open connection, shared by all threads: further ones wait in the kernel.
    places: Arc<Semaphore>,
}

impl Worker {
    /// A place for one more connection; `None` = the end.
    async fn place(&self) -> Option<OwnedSemaphorePermit> {
        tokio::select! {
            () = self.stop.cancelled() => None,
            place = self.places.clone().acquire_owned() => place.ok(),
        }
    }
}

fn work(worker: &Worker, sockets: Sockets) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!(%error, "a serving runtime could not be made");
            worker.stop.cancel();
            return;
        }
    };
    runtime.block_on(async {
        for listener in sockets.tcp {
            match tokio::net::TcpListener::from_std(listener) {
                Ok(listener) => drop(tokio::spawn(accept_tcp(listener, worker.clone()))),
                Err(error) => tracing::error!(%error, "a listener could not be taken over"),
            }
        }
        for listener in sockets.unix {
            match tokio::net::UnixListener::from_std(listener) {
                Ok(listener) => drop(tokio::spawn(accept_unix(listener, worker.clone()))),
                Err(error) => tracing::error!(%error, "a listener could not be taken over"),
            }
        }
        worker.stop.cancelled().await;
        worker.connections.close();
        if tokio::time::timeout(DRAIN, worker.connections.wait()).await.is_err() {
            tracing::warn!("requests were still open at the end of the drain");
        }
    });
}

async fn accept_tcp(listener: tokio::net::TcpListener, worker: Worker) {
    loop {
        let Some(place) = worker.place().await else { return };
        let accepted = tokio::select! {
            () = worker.stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                let _ = stream.set_nodelay(true);
                worker.connections.spawn(connection(stream, Peer::Tcp(peer), worker.clone(), place));
            }
            Err(error) => pause(&error).await,
        }
    }
}

async fn accept_unix(listener: tokio::net::UnixListener, worker: Worker) {
    loop {
        let Some(place) = worker.place().await else { return };
        let accepted = tokio::select! {
            () = worker.stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => drop(worker.connections.spawn(connection(stream, Peer::Unix, worker.clone(), place))),
            Err(error) => pause(&error).await,
        }
    }
}

/// Out of file descriptors: a moment's rest lets connections end instead of spinning.
#[expect(clippy::disallowed_methods, reason = "a listener that cannot accept must not spin")]
async fn pause(error: &std::io::Error) {
    tracing::warn!(%error, "a connection could not be accepted");
    tokio::time::sleep(Duration::from_millis(50)).await;
}

async fn connection<S>(stream: S, peer: Peer, worker: Worker, _place: OwnedSemaphorePermit)
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    let (front, deadline) = (worker.front, worker.limits.request_timeout);
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let front = front.clone();
        async move {
            match tokio::time::timeout(deadline, front.serve(peer, request.map(Body::new))).await {
                Ok(answer) => answer,
                Err(_) => Ok(plain(http::StatusCode::SERVICE_UNAVAILABLE, "The request took too long.")),
            }
        }
    });
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(worker.limits.header_timeout)
        .max_headers(100)
        .max_buf_size(worker.limits.header.max(8192));
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        // Broken connections are the other side's business, not a fault of ours.
        _ = connection.as_mut() => {}
        () = worker.stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}
