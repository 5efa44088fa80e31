//! The dialect of protected resources of our own: RFC 6750 section 3.

use axum::body::Body;
use http::header::{HeaderValue, WWW_AUTHENTICATE};
use http::{Response, StatusCode};

use super::oauth;
use crate::context::Ctx;
use crate::domain::protocol::refusal::OauthCode;
use crate::service::Error;

/// Renders an error with its challenge. A request without any token gets a bare challenge (3.1).
#[must_use]
pub fn error(ctx: &Ctx, error: &Error) -> Response<Body> {
    let mut response = oauth::error(ctx, error);
    // What is no fault of the token needs no challenge.
    if let Error::Refused(refusal) = error
        && !response.status().is_server_error()
    {
        let (status, challenge) = match (refusal.code, refusal.reason) {
            // What is wrong with a document is no fault of the token that came with it.
            (OauthCode::InvalidClientMetadata | OauthCode::InvalidRedirectUri, _) => return response,
            (OauthCode::AccessDenied, _) => {
                *response.status_mut() = StatusCode::FORBIDDEN;
                return response;
            }
            (_, "token_missing") => (StatusCode::UNAUTHORIZED, "Bearer".to_owned()),
            (OauthCode::InvalidToken, _) => (StatusCode::UNAUTHORIZED, challenge(refusal.code, &refusal.description)),
            (OauthCode::InsufficientScope, _) => (StatusCode::FORBIDDEN, challenge(refusal.code, &refusal.description)),
            _ => (StatusCode::BAD_REQUEST, challenge(refusal.code, &refusal.description)),
        };
        *response.status_mut() = status;
        if let Ok(value) = HeaderValue::try_from(challenge) {
            response.headers_mut().insert(WWW_AUTHENTICATE, value);
        }
    }
    response
}

fn challenge(code: OauthCode, description: &str) -> String {
    // Descriptions hold neither quote nor backslash (see `refusal::clean`).
    format!("Bearer error=\"{code}\", error_description=\"{description}\"")
}
