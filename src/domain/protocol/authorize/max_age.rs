//! `max_age` (OpenID Connect Core 3.1.2.1): a number of seconds, else the client's `default_max_age`.
//! Whoever asks for it gets `auth_time` in the ID token, and so does who registered `require_auth_time`.

use super::request::AuthorizeRequest;
use super::table::Asked;
use crate::protocol::refusal::{OauthCode, Refusal};

pub(super) fn check(asked: &Asked<'_>, request: &mut AuthorizeRequest) -> Result<(), Refusal> {
    let metadata = &asked.client.metadata;
    request.max_age = match asked.params.get("max_age") {
        Some(text) => Some(seconds(text).ok_or(Refusal::new(
            OauthCode::InvalidRequest,
            "max_age_malformed",
            "max_age must be a whole number of seconds, 0 or more",
        ))?),
        None => metadata.default_max_age,
    };
    request.require_auth_time = metadata.require_auth_time || request.max_age.is_some();
    Ok(())
}

/// Digits only: the library would take a sign as well.
fn seconds(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}
