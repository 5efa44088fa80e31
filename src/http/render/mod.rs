//! Answers and error dialects: every family of endpoints has one.

pub mod bearer;
pub mod note;
pub mod oauth;
pub mod page;
pub mod ready;
pub mod redirect;
pub mod target;

use axum::body::Body;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};

use crate::context::Ctx;
use crate::service::Error;

/// Room for the headers of an answer, those that every answer gets included: made once instead of grown to.
const HEADERS: usize = 16;

/// A short text, for answers before a realm is known.
#[must_use]
pub fn plain(status: StatusCode, text: &str) -> Response<Body> {
    let mut response = Response::new(Body::from(format!("{text}\n")));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(http::header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(http::header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Logs what only we may know, once, where it is rendered.
pub fn log_fault(ctx: &Ctx, error: &Error) {
    match error {
        Error::Internal(source) => tracing::error!(request_id = &*ctx.request_id, source = %source, "internal fault"),
        Error::Unavailable { dependency, source } => {
            tracing::warn!(request_id = &*ctx.request_id, dependency, source = %source, "a dependency does not answer");
        }
        Error::Refused(_)
        | Error::Invalid(_)
        | Error::TooLarge { .. }
        | Error::NotFound
        | Error::Busy { .. }
        | Error::Throttled { .. } => {}
    }
}
