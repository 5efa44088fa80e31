//! Answers through the browser: our own redirects, and the response modes of the authorization
//! endpoint (OAuth 2.0 Multiple Response Type Encoding Practices; Form Post Response Mode).

use axum::body::Body;
use http::header::{HeaderValue, LOCATION};
use http::{Response, StatusCode};

/// 303: the next request is a GET, whatever this one was (RFC 9700 section 4.12).
#[must_use]
pub fn see_other(location: &str) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    match HeaderValue::try_from(location) {
        Ok(value) => {
            *response.status_mut() = StatusCode::SEE_OTHER;
            response.headers_mut().insert(LOCATION, value);
        }
        Err(_) => *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR,
    }
    response
}
