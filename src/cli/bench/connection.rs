//! One HTTP/1.1 connection to this machine that is kept alive.

use std::net::Ipv4Addr;

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// An answer, read to its end.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// An open connection.
pub(super) struct Connection {
    port: u16,
    sender: SendRequest<Full<Bytes>>,
}

impl Connection {
    /// Connects.
    pub(super) async fn open(port: u16) -> Result<Self, String> {
        let stream =
            TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.map_err(|error| format!("port {port}: {error}"))?;
        let _ = stream.set_nodelay(true);
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
        tokio::spawn(connection);
        Ok(Self { port, sender })
    }

    /// Sends and reads; connects again first where the other side has closed.
    pub(super) async fn send(&mut self, request: Request<Full<Bytes>>) -> Result<Answer, String> {
        if self.sender.ready().await.is_err() {
            *self = Self::open(self.port).await?;
        }
        let answer = self.sender.send_request(request).await.map_err(|error| error.to_string())?;
        let (head, body) = answer.into_parts();
        let body = body.collect().await.map_err(|error| error.to_string())?.to_bytes();
        Ok(Answer { status: head.status, headers: head.headers, body })
    }
}
