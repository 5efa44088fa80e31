//! One request over a connection of its own: nothing is pooled, so nothing outlives its check. Requests are
//! rare: logos, key sets, metadata, whose answers are cached by whoever asked, and logout notices.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, USER_AGENT,
};
use http::{Request, Response, StatusCode, request};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use url::{Host, Url};

use super::address::{Class, classify};
use super::error::{Error, StartError};
use super::names::{Names, SystemNames};
use super::tls;
use crate::config;
use crate::config::network::Network;
use crate::domain::model::client::ClientOrigin;

/// Bytes of an answer where nothing else is said.
pub const DEFAULT_MAX: usize = 64 * 1024;
/// Name look-up and connection.
const CONNECT: Duration = Duration::from_secs(2);
/// The whole request.
pub const TIME_LIMIT: Duration = Duration::from_secs(5);
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

impl From<ClientOrigin> for Trust {
    /// The one place that says how far the addresses of a client's registration are trusted (`security-design`
    /// rule 25).
    fn from(origin: ClientOrigin) -> Self {
        match origin {
            ClientOrigin::Operator => Self::Operator,
            ClientOrigin::SelfRegistered => Self::Stranger,
        }
    }
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
    names: Arc<dyn Names>,
}

impl std::fmt::Debug for Outbound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outbound").field("allow", &self.allow).finish_non_exhaustive()
    }
}

impl Outbound {
    /// Reads `outbound.ca_file`, once.
    pub fn new(settings: &config::Outbound) -> Result<Self, StartError> {
        let tls = tls::connector(settings.ca_file.as_deref())?;
        Ok(Self { tls, allow: settings.allow_networks.clone(), names: Arc::new(SystemNames) })
    }

    /// The same, with names looked up elsewhere.
    #[must_use]
    pub fn with_names(self, names: Arc<dyn Names>) -> Self {
        Self { names, ..self }
    }

    /// Fetches `url`, whose answer must be 200, of one of the media types in `accept` and at most `max`
    /// bytes long.
    pub async fn get(&self, url: &Url, trust: Trust, accept: &[&str], max: usize) -> Result<Fetched, Error> {
        in_time(url, self.fetch(url, trust, accept, max)).await
    }

    /// Posts a form to `url` and tells the answer's status; its body is not read, a redirect not followed.
    pub async fn post_form(&self, url: &Url, trust: Trust, form: String) -> Result<u16, Error> {
        let request = Request::post(target(url)).header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        let answered = async { Ok(self.ask(url, trust, request, form.into()).await?.0.status().as_u16()) };
        in_time(url, answered).await
    }

    async fn fetch(&self, url: &Url, trust: Trust, accept: &[&str], max: usize) -> Result<Fetched, Error> {
        let request = Request::get(target(url)).header(ACCEPT, accept.join(", "));
        let (response, _running) = self.ask(url, trust, request, Bytes::new()).await?;
        if response.status() != StatusCode::OK {
            return Err(Error::Status(response.status().as_u16()));
        }
        let media_type = check_head(response.headers(), accept, max)?;
        let bytes = read(response.into_body(), max).await?;
        Ok(Fetched { media_type, bytes })
    }

    /// Sends a request. The connection ends with the second value, whatever the peer does.
    async fn ask(
        &self,
        url: &Url,
        trust: Trust,
        request: request::Builder,
        body: Bytes,
    ) -> Result<(Response<Incoming>, JoinSet<hyper::Result<()>>), Error> {
        let host = check_url(url, trust)?;
        let request = dress(url, request).body(Full::new(body)).map_err(|_| Error::Address)?;
        let stream = timeout(CONNECT, self.connect(&host, url, trust)).await.unwrap_or(Err(Error::Timeout))?;
        let mut builder = http1::Builder::new();
        builder.max_buf_size(HEAD_MAX);
        let (mut sender, connection) =
            builder.handshake::<_, Full<Bytes>>(TokioIo::new(stream)).await.map_err(|error| protocol(&error))?;
        let mut running = JoinSet::new();
        running.spawn(connection);
        let response = sender.send_request(request).await.map_err(|error| protocol(&error))?;
        Ok((response, running))
    }

    async fn connect(&self, host: &Host<&str>, url: &Url, trust: Trust) -> Result<Box<dyn Stream>, Error> {
        let port = url.port_or_known_default().ok_or(Error::Address)?;
        let found: Vec<SocketAddr> = match host {
            Host::Ipv4(address) => vec![(*address, port).into()],
            Host::Ipv6(address) => vec![(*address, port).into()],
            Host::Domain(name) => self.names.look_up(name, port).await.map_err(|_| Error::Unknown)?,
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
                Ok(()) if is_plain(url) && !address.ip().is_loopback() => last = Error::Address,
                Ok(()) => match TcpStream::connect(address).await {
                    Ok(stream) if is_plain(url) => return Ok(Box::new(stream)),
                    Ok(stream) => {
                        let connected = self.tls.connect(name, stream).await;
                        return match connected {
                            Ok(stream) => Ok(Box::new(stream)),
                            Err(error) => Err(Error::Unreachable(error.to_string())),
                        };
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

/// What a request goes over.
trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// Without TLS: allowed on this machine alone, where an operator has allowed to go there at all.
fn is_plain(url: &Url) -> bool {
    url.scheme() == "http"
}

/// Gives up after [`TIME_LIMIT`], and notes every failure for the log.
async fn in_time<T>(url: &Url, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let done = timeout(TIME_LIMIT, work).await.unwrap_or(Err(Error::Timeout));
    if let Err(error) = &done {
        // The host alone: the rest of an address may carry a secret.
        tracing::info!(host = url.host_str(), reason = ?error, "outbound request failed");
    }
    done
}

fn check_url(url: &Url, trust: Trust) -> Result<Host<&str>, Error> {
    let port = url.port_or_known_default();
    let fits = (url.scheme() == "https" || (is_plain(url) && trust == Trust::Operator))
        && url.username().is_empty()
        && url.password().is_none()
        && (port == Some(443) || trust == Trust::Operator);
    url.host().filter(|_| fits).ok_or(Error::Address)
}

fn target(url: &Url) -> String {
    url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()))
}

fn dress(url: &Url, request: request::Builder) -> request::Builder {
    let host = url.host_str().unwrap_or_default();
    let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    request
        .header(HOST, host)
        // The cap counts what is read: nothing may unfold later.
        .header(ACCEPT_ENCODING, "identity")
        .header(USER_AGENT, "Doorward")
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
