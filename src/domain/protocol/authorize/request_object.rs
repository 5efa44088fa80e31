//! `request`, `request_uri` and `registration` (OpenID Connect Core 3.1.2.6, 6 and 7.2.1): not built,
//! so each is refused with its own code rather than ignored, since what it holds would be lost.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use super::request::AuthorizeRequest;
use super::table::Asked;
use crate::protocol::params::Params;
use crate::protocol::refusal::{OauthCode, Refusal};

pub(super) fn check(asked: &Asked<'_>, _: &mut AuthorizeRequest) -> Result<(), Refusal> {
    let refused = |code, reason, description| Err(Refusal::new(code, reason, description));
    if asked.params.get("request").is_some() {
        return refused(
            OauthCode::RequestNotSupported,
            "request_not_supported",
            "request objects are not supported; send plain parameters",
        );
    }
    if asked.params.get("request_uri").is_some() {
        return refused(
            OauthCode::RequestUriNotSupported,
            "request_uri_not_supported",
            "request_uri is not supported; send plain parameters",
        );
    }
    if asked.params.get("registration").is_some() {
        return refused(
            OauthCode::RegistrationNotSupported,
            "registration_not_supported",
            "registration is not supported; register the client first",
        );
    }
    Ok(())
}

/// The `state` inside a request object, for the refusal only: a client that put it there has no other
/// way to know its request again. It is an echo to the sender and decides nothing, so it needs no proof.
pub(super) fn state_inside(params: &Params) -> Option<String> {
    let payload = params.get("request")?.split('.').nth(1)?;
    let payload: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()?;
    payload.get("state")?.as_str().map(str::to_owned)
}
