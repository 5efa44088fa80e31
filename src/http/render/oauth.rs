//! The dialect of token, introspection and revocation: RFC 6749 section 5.2.

use axum::body::Body;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue, PRAGMA, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Response, StatusCode};
use serde::Serialize;

use super::note::Note;
use crate::context::Ctx;
use crate::domain::protocol::refusal::{OauthCode, Refusal};
use crate::service::Error;

/// An error body.
#[derive(Serialize)]
struct ErrorBody<'a> {
    error: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    error_description: &'a str,
}

/// A JSON answer that nobody may store.
#[must_use]
pub fn json(status: StatusCode, body: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.reserve(super::HEADERS);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(PRAGMA, HeaderValue::from_static("no-cache"));
    response
}

/// Renders an error.
#[must_use]
pub fn error(ctx: &Ctx, error: &Error) -> Response<Body> {
    let mut response = match error {
        Error::Refused(refusal) => refused(refusal),
        Error::Invalid(_) => body(StatusCode::BAD_REQUEST, OauthCode::InvalidRequest, "a parameter cannot be taken"),
        Error::TooLarge { limit } => {
            let text = format!("the body is larger than {} KiB", limit / 1024);
            body(StatusCode::PAYLOAD_TOO_LARGE, OauthCode::InvalidRequest, &text)
        }
        Error::NotFound => body(StatusCode::NOT_FOUND, OauthCode::InvalidRequest, "there is nothing at this address"),
        Error::Busy { retry_after } => later(*retry_after, "past capacity, nothing was checked"),
        Error::Throttled { retry_after, limit } => throttled(*retry_after, *limit),
        Error::Unavailable { .. } => later(2, "a part this needs does not answer"),
        Error::Internal(_) => {
            body(StatusCode::INTERNAL_SERVER_ERROR, OauthCode::ServerError, "a fault of this provider")
        }
    };
    super::log_fault(ctx, error);
    response.extensions_mut().insert(Note { client: None, reason: Some(error.reason()) });
    response
}

fn refused(refusal: &Refusal) -> Response<Body> {
    match refusal.code {
        OauthCode::InvalidClient => {
            let mut response = body(StatusCode::UNAUTHORIZED, refusal.code, &refusal.description);
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge(refusal));
            response
        }
        OauthCode::TemporarilyUnavailable => later(2, &refusal.description),
        OauthCode::ServerError => body(StatusCode::INTERNAL_SERVER_ERROR, refusal.code, &refusal.description),
        OauthCode::InvalidToken => body(StatusCode::UNAUTHORIZED, refusal.code, &refusal.description),
        _ => body(StatusCode::BAD_REQUEST, refusal.code, &refusal.description),
    }
}

/// Libraries that stop at a challenge and never read the body show it to their developer: so it too says what was wrong.
fn challenge(refusal: &Refusal) -> HeaderValue {
    const BARE: &str = "Basic realm=\"token\", charset=\"UTF-8\"";
    // Descriptions hold neither quote nor backslash (see `refusal::clean`).
    let text = format!("{BARE}, error=\"{}\", error_description=\"{}\"", refusal.code, refusal.description);
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(BARE))
}

fn body(status: StatusCode, code: OauthCode, description: &str) -> Response<Body> {
    let text = ErrorBody { error: code.as_str(), error_description: description };
    json(status, serde_json::to_vec(&text).unwrap_or_default())
}

fn later(seconds: u32, description: &str) -> Response<Body> {
    let mut response = body(StatusCode::SERVICE_UNAVAILABLE, OauthCode::TemporarilyUnavailable, description);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// Over its rate: `RateLimit-*` say when that ends.
fn throttled(retry_after: u32, limit: u32) -> Response<Body> {
    let text = "too many requests from this address; try again later";
    let mut response = body(StatusCode::TOO_MANY_REQUESTS, OauthCode::TemporarilyUnavailable, text);
    let headers = response.headers_mut();
    headers.insert(RETRY_AFTER, HeaderValue::from(retry_after));
    headers.insert("ratelimit-limit", HeaderValue::from(limit));
    headers.insert("ratelimit-remaining", HeaderValue::from(0));
    headers.insert("ratelimit-reset", HeaderValue::from(retry_after));
    response
}

/// A method that the address does not take (RFC 9110 section 15.5.6).
#[must_use]
pub fn method_not_allowed(allow: &str) -> Response<Body> {
    let mut response =
        body(StatusCode::METHOD_NOT_ALLOWED, OauthCode::InvalidRequest, "this address does not take this method");
    response.headers_mut().insert(ALLOW, HeaderValue::try_from(allow).unwrap_or(HeaderValue::from_static("POST")));
    response
}
