//! One GET over a connection of its own: nothing is pooled, so nothing outlives its check. Requests are
//! rare (logos, key sets, metadata), and their answers are cached by whoever asked.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, USER_AGENT,
};
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::net::{TcpStream, lookup_host};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use url::{Host, Url};

use super::address::{Class, classify};
use super::error::{Error, StartError};
use super::tls;
use crate::config;
use crate::config::network::Network;

/// Bytes of an answer where nothing else is said.
pub const DEFAULT_MAX: usize = 64 * 1024;
/// Name look-up and connection.
const CONNECT: Duration = Duration::from_secs(2);
/// The whole request.
const TOTAL: Duration = Duration::from_secs(5);
/// Addresses of one host that are tried.
const TRIES: usize = 3;
/// Bytes of an answer's head.
const HEAD_MAX: usize = 32 * 1024;

/// Who named the address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// An operator or administrator: any port, and the networks of `outbound.allow_networks`.
    Operator,
    /// Anybody, through registration or metadata: port 443 of the public internet.
    Stranger,
}

/// What was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// Without parameters, in lower case.
    pub media_type: String,
    /// The whole body.
    pub bytes: Bytes,
}

/// The client. Cheap to clone.
#[derive(Clone)]
pub struct Outbound {
    tls: TlsConnector,
    allow: Vec<Network>,
}

impl std::fmt::Debug for Outbound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outbound").field("allow", &self.allow).finish_non_exhaustive()
    }
}

impl Outbound {
    /// Reads `outbound.ca_file`, once.
    pub fn new(settings: &config::Outbound) -> Result<Self, StartError> {
        Ok(Self { tls: tls::connector(settings.ca_file.as_deref())?, allow: settings.allow_networks.clone() })
    }

    /// Fetches `url`, whose answer must be 200, of one of the media types in `accept` and at most `max`
    /// bytes long.
    pub async fn get(&self, url: &Url, trust: Trust, accept: &[&str], max: usize) -> Result<Fetched, Error> {
        let done = timeout(TOTAL, self.fetch(url, trust, accept, max)).await.unwrap_or(Err(Error::Timeout));
        if let Err(error) = &done {
            // The host alone: the rest of an address may carry a secret.
            tracing::info!(host = url.host_str(), reason = ?error, "outbound request failed");
        }
        done
    }

    async fn fetch(&self, url: &Url, trust: Trust, accept: &[&str], max: usize) -> Result<Fetched, Error> {
        let host = check_url(url, trust)?;
        let stream = timeout(CONNECT, self.connect(&host, url, trust)).await.unwrap_or(Err(Error::Timeout))?;
        let mut builder = http1::Builder::new();
        builder.max_buf_size(HEAD_MAX);
        let (mut sender, connection) =
            builder.handshake::<_, Empty<Bytes>>(TokioIo::new(stream)).await.map_err(|error| protocol(&error))?;
        // Ends with this function, whatever the peer does.
        let mut running = JoinSet::new();
        running.spawn(connection);
        let response = sender.send_request(request(url, accept)?).await.map_err(|error| protocol(&error))?;
        if response.status() != StatusCode::OK {
            return Err(Error::Status(response.status().as_u16()));
        }
        let media_type = check_head(response.headers(), accept, max)?;
        let bytes = read(response.into_body(), max).await?;
        Ok(Fetched { media_type, bytes })
    }

    async fn connect(&self, host: &Host<&str>, url: &Url, trust: Trust) -> Result<TlsStream<TcpStream>, Error> {
        let port = url.port_or_known_default().ok_or(Error::Address)?;
        let found: Vec<SocketAddr> = match host {
            Host::Ipv4(address) => vec![(*address, port).into()],
            Host::Ipv6(address) => vec![(*address, port).into()],
            Host::Domain(name) => lookup_host((*name, port)).await.map_err(|_| Error::Unknown)?.collect(),
        };
        let name = match host {
            Host::Domain(name) => ServerName::try_from((*name).to_owned()).map_err(|_| Error::Address)?,
            Host::Ipv4(address) => IpAddr::from(*address).into(),
            Host::Ipv6(address) => IpAddr::from(*address).into(),
        };
        let mut last = Error::Unknown;
        // The very address that is connected to is the one checked: no second look-up can differ.
        for address in found.into_iter().take(TRIES) {
            match self.check_address(address.ip(), trust) {
                Err(class) => last = Error::Forbidden(class),
                Ok(()) => match TcpStream::connect(address).await {
                    Ok(stream) => {
                        let connected = self.tls.connect(name, stream).await;
                        return connected.map_err(|error| Error::Unreachable(error.to_string()));
                    }
                    Err(error) => last = Error::Unreachable(error.to_string()),
                },
            }
        }
        Err(last)
    }

    fn check_address(&self, address: IpAddr, trust: Trust) -> Result<(), Class> {
        match classify(address) {
            Class::Global => Ok(()),
            _ if trust == Trust::Operator && self.allow.iter().any(|network| network.contains(address)) => Ok(()),
            class => Err(class),
        }
    }
}

fn check_url(url: &Url, trust: Trust) -> Result<Host<&str>, Error> {
    let port = url.port_or_known_default();
    let fits = url.scheme() == "https"
        && url.username().is_empty()
        && url.password().is_none()
        && (port == Some(443) || trust == Trust::Operator);
    url.host().filter(|_| fits).ok_or(Error::Address)
}

fn request(url: &Url, accept: &[&str]) -> Result<Request<Empty<Bytes>>, Error> {
    let target = url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()));
    let host = url.host_str().unwrap_or_default();
    let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    Request::get(target)
        .header(HOST, host)
        .header(ACCEPT, accept.join(", "))
        // The cap counts what is read: nothing may unfold later.
        .header(ACCEPT_ENCODING, "identity")
        .header(USER_AGENT, "Doorward")
        .body(Empty::new())
        .map_err(|_| Error::Address)
}

fn check_head(headers: &HeaderMap, accept: &[&str], max: usize) -> Result<String, Error> {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    if text(CONTENT_ENCODING).is_some_and(|encoding| !encoding.eq_ignore_ascii_case("identity")) {
        return Err(Error::MediaType);
    }
    if text(CONTENT_LENGTH).and_then(|length| length.parse::<usize>().ok()).is_some_and(|length| length > max) {
        return Err(Error::TooLarge);
    }
    let media_type = text(CONTENT_TYPE).and_then(|value| value.split(';').next()).unwrap_or_default();
    let media_type = media_type.trim().to_ascii_lowercase();
    if accept.contains(&media_type.as_str()) { Ok(media_type) } else { Err(Error::MediaType) }
}

async fn read(mut body: Incoming, max: usize) -> Result<Bytes, Error> {
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| protocol(&error))?;
        if let Some(data) = frame.data_ref() {
            if bytes.len() + data.len() > max {
                return Err(Error::TooLarge);
            }
            bytes.extend_from_slice(data);
        }
    }
    Ok(bytes.freeze())
}

fn protocol(error: &hyper::Error) -> Error {
    Error::Protocol(error.to_string())
}
