//! The token of a request, in its one place: the `Authorization` header (RFC 6750 section 2.1).

use http::header::AUTHORIZATION;

use super::call::Call;
use crate::domain::protocol::refusal::OauthCode;
use crate::service::Error;

/// The bearer token; `None` without the header.
///
/// # Errors
/// Two headers, or one that holds no bearer token.
pub fn bearer(call: &Call) -> Result<Option<String>, Error> {
    let mut headers = call.headers().get_all(AUTHORIZATION).iter();
    match (headers.next(), headers.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => read(value.to_str().unwrap_or("")).map(Some),
        (Some(_), Some(_)) => {
            Err(Error::refused(OauthCode::InvalidRequest, "token_twice", "send one Authorization header"))
        }
    }
}

fn read(header: &str) -> Result<String, Error> {
    let (scheme, token) = header.trim().split_once(' ').unwrap_or((header, ""));
    if scheme.eq_ignore_ascii_case("bearer") && !token.trim().is_empty() {
        Ok(token.trim().to_owned())
    } else {
        Err(Error::refused(OauthCode::InvalidToken, "token_missing", "send the access token as Bearer"))
    }
}
