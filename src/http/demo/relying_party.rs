//! The demo's HTTP client: one request over a connection of its own to the provider's public address,
//! which under `--dev` is on loopback.

use std::time::Duration;

use aws_lc_rs::signature::{self, RsaPublicKeyComponents};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{Method, Request};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

use super::state::Tokens;
use crate::http::extract::call::Call;
use crate::http::page::demo::{Claim, DecodedToken, DemoError};

const DEADLINE: Duration = Duration::from_secs(5);
const MOST: usize = 256 * 1024;

/// Asks the token endpoint.
///
/// # Errors
/// What the provider answered, or that it did not.
pub async fn token(call: &Call, fields: &[(&str, &str)]) -> Result<Tokens, DemoError> {
    let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    let answer = ask(call, Method::POST, "/token", Some(form), None).await?;
    serde_json::from_value(answer).map_err(|error| trouble("token_answer", &error.to_string()))
}

/// Asks userinfo.
///
/// # Errors
/// What the provider answered, or that it did not.
pub async fn userinfo(call: &Call, access_token: &str) -> Result<Vec<Claim>, DemoError> {
    let answer = ask(call, Method::GET, "/userinfo", None, Some(access_token)).await?;
    Ok(claims(&answer))
}

async fn ask(
    call: &Call,
    method: Method,
    path: &str,
    form: Option<String>,
    bearer: Option<&str>,
) -> Result<Value, DemoError> {
    let unreachable = |error: &dyn std::fmt::Display| trouble("unreachable", &error.to_string());
    let authority = call.ctx.site.origin.split_once("://").map_or("", |(_, host)| host);
    let address = if authority.rsplit_once(':').is_some() { authority.to_owned() } else { format!("{authority}:80") };
    let mut request = Request::builder().method(method).uri(call.ctx.site.path(path)).header(HOST, authority);
    if form.is_some() {
        request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
    }
    if let Some(token) = bearer {
        request = request.header(AUTHORIZATION, format!("Bearer {token}"));
    }
    let request =
        request.body(Full::new(Bytes::from(form.unwrap_or_default()))).map_err(|error| unreachable(&error))?;
    let exchange = async {
        let stream = TcpStream::connect(address).await.map_err(|error| unreachable(&error))?;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|error| unreachable(&error))?;
        let driver = tokio::spawn(connection);
        let answer = sender.send_request(request).await.map_err(|error| unreachable(&error))?;
        let body = Limited::new(answer.into_body(), MOST).collect().await.map_err(|error| unreachable(&error))?;
        driver.abort();
        serde_json::from_slice::<Value>(&body.to_bytes()).map_err(|error| unreachable(&error))
    };
    let value = tokio::time::timeout(DEADLINE, exchange).await.map_err(|error| unreachable(&error))??;
    match value.get("error").and_then(Value::as_str) {
        Some(error) => Err(trouble(error, value.get("error_description").and_then(Value::as_str).unwrap_or(""))),
        None => Ok(value),
    }
}

/// An error to show.
#[must_use]
pub fn trouble(error: &str, description: &str) -> DemoError {
    DemoError { error: error.to_owned(), description: description.to_owned() }
}

/// A token taken apart for people; not verified, that is the application's library's work.
#[must_use]
pub fn decode(token: &str) -> DecodedToken {
    let mut parts = token.split('.').map(|part| {
        let bytes = URL_SAFE_NO_PAD.decode(part).ok()?;
        serde_json::from_slice::<Value>(&bytes).ok()
    });
    let header = parts.next().flatten().map(|value| claims(&value)).unwrap_or_default();
    let body = parts.next().flatten().map(|value| claims(&value)).unwrap_or_default();
    DecodedToken { raw: token.to_owned(), header, claims: body }
}

/// The payload of a token, for the demo's own checks.
#[must_use]
pub fn payload(token: &str) -> Value {
    let payload = token.split('.').nth(1).and_then(|part| URL_SAFE_NO_PAD.decode(part).ok());
    payload.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or(Value::Null)
}

fn claims(value: &Value) -> Vec<Claim> {
    let Some(map) = value.as_object() else { return Vec::new() };
    map.iter()
        .map(|(name, value)| match value {
            Value::String(text) => Claim::new(name, text),
            other => Claim::new(name, other.to_string()),
        })
        .collect()
}

/// Whether the ID token's RS256 signature is the provider's: the key is taken from its JWKS by `kid`
/// (OpenID Connect Core 3.1.3.7), over HTTP like everything here.
///
/// # Errors
/// What did not fit.
pub async fn check_signature(call: &Call, id_token: &str) -> Result<(), DemoError> {
    let wrong = |what: &str| trouble("id_token_signature", what);
    let (message, signature) = id_token.rsplit_once('.').ok_or_else(|| wrong("not a JWT"))?;
    let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| wrong("not base64url"))?;
    let header = message.split('.').next().and_then(|part| URL_SAFE_NO_PAD.decode(part).ok());
    let header: Value = header.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or(Value::Null);
    let jwks = ask(call, Method::GET, "/.well-known/jwks.json", None, None).await?;
    let keys = jwks.get("keys").and_then(Value::as_array).cloned().unwrap_or_default();
    let key = keys.iter().find(|key| key.get("kid") == header.get("kid") && key.get("alg") == header.get("alg"));
    let part = |name: &str| {
        let text = key?.get(name)?.as_str()?;
        URL_SAFE_NO_PAD.decode(text).ok()
    };
    let (Some(n), Some(e)) = (part("n"), part("e")) else { return Err(wrong("no RS256 key of this kid is published")) };
    let components = RsaPublicKeyComponents { n, e };
    let parameters = &signature::RSA_PKCS1_2048_8192_SHA256;
    components.verify(parameters, message.as_bytes(), &signature).map_err(|_| wrong("the signature does not fit"))
}
