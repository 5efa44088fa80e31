//! The five requests that are measured, and what each connection carries from one to the next.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{Method, Request, StatusCode, header};
use http_body_util::Full;
use serde_json::Value;

use super::connection::{Answer, Connection};
use super::person::{self, Tokens};
use super::server::{CLIENT_ID, CLIENT_SECRET, Product};

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Discovery,
    ClientCredentials,
    Refresh,
    Userinfo,
    Introspect,
}

impl Kind {
    pub(super) const ALL: [Self; 5] =
        [Self::Discovery, Self::ClientCredentials, Self::Refresh, Self::Userinfo, Self::Introspect];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Discovery => "discovery",
            Self::ClientCredentials => "client_credentials",
            Self::Refresh => "refresh",
            Self::Userinfo => "userinfo",
            Self::Introspect => "introspect",
        }
    }
}

/// One connection's next request.
pub(super) struct State {
    port: u16,
    next: Next,
}

enum Next {
    /// The same request again and again.
    Fixed { method: Method, path: String, authorization: Option<String>, body: Bytes },
    /// Refresh: each answer holds the next request's token.
    Refresh { token: String },
}

impl State {
    /// The bare twin with a body of this size.
    pub(super) fn bare(port: u16, size: usize) -> Self {
        Self::fixed(port, Method::GET, &format!("/bare/{size}"), None, "")
    }

    fn fixed(port: u16, method: Method, path: &str, authorization: Option<String>, body: &str) -> Self {
        let body = Bytes::copy_from_slice(body.as_bytes());
        Self { port, next: Next::Fixed { method, path: path.to_owned(), authorization, body } }
    }

    /// Where it goes.
    pub(super) const fn port(&self) -> u16 {
        self.port
    }

    /// The next request.
    pub(super) fn request(&self) -> Result<Request<Full<Bytes>>, String> {
        match &self.next {
            Next::Fixed { method, path, authorization, body } => {
                build(self.port, method, path, authorization.as_deref(), body.clone())
            }
            Next::Refresh { token } => {
                let form = format!("grant_type=refresh_token&refresh_token={}", escape(token));
                build(self.port, &Method::POST, "/token", Some(&basic()), Bytes::from(form))
            }
        }
    }

    /// Takes an answer in.
    pub(super) fn take(&mut self, answer: &Answer) -> Result<(), String> {
        if answer.status != StatusCode::OK {
            return Err(format!("{}: {}", answer.status, String::from_utf8_lossy(&answer.body)));
        }
        if let Next::Refresh { token } = &mut self.next {
            *token = text(&answer.body, "refresh_token")?;
        }
        Ok(())
    }
}

/// One state for each connection; refresh families, one for each, come from real sign-ins.
pub(super) fn prepare(kind: Kind, product: &Product, connections: u64) -> Result<Vec<State>, String> {
    let port = product.port;
    let tokens = match kind {
        Kind::Discovery | Kind::ClientCredentials => Vec::new(),
        Kind::Refresh => person::tokens(product, connections)?,
        Kind::Userinfo | Kind::Introspect => person::tokens(product, 1)?,
    };
    let first = tokens.first();
    let access = || first.map(|tokens| tokens.access.clone()).ok_or_else(|| "no token".to_owned());
    (0..connections)
        .zip(tokens.iter().map(Some).chain(std::iter::repeat(None)))
        .map(|(_, own)| {
            Ok(match kind {
                Kind::Discovery => State::fixed(port, Method::GET, "/.well-known/openid-configuration", None, ""),
                Kind::ClientCredentials => {
                    State::fixed(port, Method::POST, "/token", Some(basic()), "grant_type=client_credentials")
                }
                Kind::Userinfo => {
                    State::fixed(port, Method::GET, "/userinfo", Some(format!("Bearer {}", access()?)), "")
                }
                Kind::Introspect => State::fixed(
                    port,
                    Method::POST,
                    "/introspect",
                    Some(basic()),
                    &format!("token={}", escape(&access()?)),
                ),
                Kind::Refresh => refresh(port, own)?,
            })
        })
        .collect()
}

fn refresh(port: u16, own: Option<&Tokens>) -> Result<State, String> {
    let token = own.and_then(|tokens| tokens.refresh.clone()).ok_or("no refresh token was issued")?;
    Ok(State { port, next: Next::Refresh { token } })
}

/// Sends the request once and tells how large its answer's body is.
pub(super) fn prepare_size(kind: Kind, product: &Product) -> Result<usize, String> {
    let mut states = prepare(kind, product, 1)?;
    let state = states.first_mut().ok_or("no connection")?;
    product.block_on(async {
        let mut connection = Connection::open(state.port).await?;
        let answer = connection.send(state.request()?).await?;
        state.take(&answer).map_err(|error| format!("{}: {error}", kind.name()))?;
        Ok(answer.body.len())
    })
}

/// A request to this machine as a relying party sends it.
pub(super) fn build(
    port: u16,
    method: &Method,
    path: &str,
    authorization: Option<&str>,
    body: Bytes,
) -> Result<Request<Full<Bytes>>, String> {
    let mut request = Request::builder().method(method).uri(path).header(header::HOST, format!("localhost:{port}"));
    if let Some(authorization) = authorization {
        request = request.header(header::AUTHORIZATION, authorization);
    }
    if *method == Method::POST {
        request = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    }
    request.body(Full::new(body)).map_err(|error| error.to_string())
}

/// The client's Basic header (RFC 6749 section 2.3.1); neither part needs escaping.
pub(super) fn basic() -> String {
    format!("Basic {}", STANDARD.encode(format!("{CLIENT_ID}:{CLIENT_SECRET}")))
}

/// A member of a JSON answer.
pub(super) fn text(body: &[u8], member: &str) -> Result<String, String> {
    let parsed: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    parsed.get(member).and_then(Value::as_str).map(str::to_owned).ok_or_else(|| format!("no {member} in the answer"))
}

/// Form encoding.
pub(super) fn escape(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
