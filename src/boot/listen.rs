//! Listeners: one single-threaded runtime per core, each accepting from its own socket (SO_REUSEPORT),
//! which measured 1.4 to 1.8 times one shared runtime. Unix sockets are one listener cloned to all.

use std::convert::Infallible;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::TlsAcceptor;
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
/// Requests that one HTTP/2 connection may have open.
const STREAMS: u32 = 100;
/// An HTTP/2 connection that is quiet for so long is asked whether somebody is still there.
const QUIET: Duration = Duration::from_secs(30);

/// What a listener leads to.
#[derive(Clone)]
pub struct Door {
    /// Who answers.
    pub front: Front,
    /// What one connection may take.
    pub limits: Limits,
    /// TLS of the TCP addresses; sockets are a local proxy's.
    pub tls: Option<TlsAcceptor>,
}

/// Binds every address and starts `workers` threads that serve `door` until `stop`.
///
/// # Errors
/// An address that cannot be bound, with the reason and what to change.
pub fn start(
    door: &Door,
    addresses: &[Listen],
    workers: usize,
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
    let places = Arc::new(Semaphore::new(door.limits.connections));
    let mut threads = Vec::new();
    for (number, sockets) in sets.into_iter().enumerate() {
        let worker =
            Worker { door: door.clone(), stop: stop.clone(), connections: TaskTracker::new(), places: places.clone() };
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
    door: Door,
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
                let peer = Peer::Tcp(peer);
                match worker.door.tls.clone() {
                    None => worker.connections.spawn(plain_connection(stream, peer, worker.clone(), place)),
                    Some(tls) => worker.connections.spawn(tls_connection(tls, (stream, peer), worker.clone(), place)),
                };
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
            Ok((stream, _)) => {
                drop(worker.connections.spawn(plain_connection(stream, Peer::Unix, worker.clone(), place)));
            }
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

/// HTTP/1.1 without TLS.
async fn plain_connection<S>(stream: S, peer: Peer, worker: Worker, _place: OwnedSemaphorePermit)
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    http1(stream, peer, &worker).await;
}

/// A handshake, then HTTP/2 or 1.1, whichever the client speaks (RFC 7301).
async fn tls_connection(
    tls: TlsAcceptor,
    (stream, peer): (TcpStream, Peer),
    worker: Worker,
    _place: OwnedSemaphorePermit,
) {
    // A handshake that fails or dawdles is the other side's business, as a broken connection is.
    let Ok(Ok(stream)) = tokio::time::timeout(worker.door.limits.header_timeout, tls.accept(stream)).await else {
        return;
    };
    if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
        http2(stream, peer, &worker).await;
    } else {
        http1(stream, peer, &worker).await;
    }
}

/// Answers one request, within its time.
async fn answer(
    door: Door,
    peer: Peer,
    request: hyper::Request<Incoming>,
) -> Result<hyper::Response<Body>, Infallible> {
    match tokio::time::timeout(door.limits.request_timeout, door.front.serve(peer, request.map(Body::new))).await {
        Ok(answer) => answer,
        Err(_) => Ok(plain(http::StatusCode::SERVICE_UNAVAILABLE, "The request took too long.")),
    }
}

async fn http1<S>(stream: S, peer: Peer, worker: &Worker)
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    let (door, limits) = (&worker.door, &worker.door.limits);
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(limits.header_timeout).max_buf_size(limits.header.max(8192));
    let service = service_fn(move |request| answer(door.clone(), peer, request));
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    until_told(connection, http1::Connection::graceful_shutdown, worker).await;
}

async fn http2<S>(stream: S, peer: Peer, worker: &Worker)
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    let (door, limits) = (worker.door.clone(), &worker.door.limits);
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS)
        .max_header_list_size(u32::try_from(limits.header).unwrap_or(u32::MAX))
        .keep_alive_interval(QUIET)
        .keep_alive_timeout(limits.header_timeout);
    let service = service_fn(move |request| answer(door.clone(), peer, request));
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    until_told(connection, http2::Connection::graceful_shutdown, worker).await;
}

/// Serves a connection to its end; told to stop, it answers what it has begun and takes no more.
async fn until_told<C: Future>(connection: C, graceful_shutdown: fn(Pin<&mut C>), worker: &Worker) {
    let mut connection = pin!(connection);
    tokio::select! {
        // Broken connections are the other side's business, not a fault of ours.
        _ = connection.as_mut() => {}
        () = worker.stop.cancelled() => {
            graceful_shutdown(connection.as_mut());
            let _ = connection.await;
        }
    }
}
