//! The yardstick: an axum route that answers ready bytes, on as many single-threaded runtimes and
//! listeners as the product has by default.

use std::net::{Ipv4Addr, SocketAddr};

use axum::Router;
use axum::extract::Path;
use axum::routing::get;
use bytes::Bytes;
use http::header;
use socket2::{Domain, Socket, Type};

const LARGEST: usize = 64 * 1024;

/// Serves until it is killed.
pub(super) fn serve(port: u16) -> Result<(), String> {
    let workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads: Vec<_> = (0..workers)
        .map(|_| {
            let listener = listen(port).map_err(|error| format!("port {port}: {error}"))?;
            Ok(std::thread::spawn(move || work(listener)))
        })
        .collect::<Result<_, String>>()?;
    for thread in threads {
        thread.join().map_err(|_| "a worker ended".to_owned())?.map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn listen(port: u16) -> std::io::Result<std::net::TcpListener> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.set_reuse_port(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)).into())?;
    socket.listen(1024)?;
    Ok(socket.into())
}

fn work(listener: std::net::TcpListener) -> std::io::Result<()> {
    static ZEROS: [u8; LARGEST] = [b'0'; LARGEST];
    let answer = |Path(size): Path<usize>| async move {
        let body = ZEROS.get(..size).unwrap_or(&ZEROS);
        ([(header::CONTENT_TYPE, "application/json")], Bytes::from_static(body))
    };
    let app = Router::new().route("/bare/{size}", get(answer).post(answer));
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        use axum::serve::ListenerExt;
        let listener = tokio::net::TcpListener::from_std(listener)?.tap_io(|stream| {
            let _ = stream.set_nodelay(true);
        });
        axum::serve(listener, app).await
    })
}
