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

#[cfg(test)]
mod tests {
    use super::super::example::{client, outcome_for, refused};
    use super::super::table::Outcome;
    use super::*;

    #[test]
    fn each_is_refused_with_its_own_code() {
        for (name, code) in [
            ("request", OauthCode::RequestNotSupported),
            ("request_uri", OauthCode::RequestUriNotSupported),
            ("registration", OauthCode::RegistrationNotSupported),
        ] {
            // Before all else: what the object holds may be what seems to be missing.
            assert_eq!(refused(&[(name, "x"), ("response_type", ""), ("scope", "")]).0, code);
        }
    }

    #[test]
    fn a_state_inside_the_object_comes_back_with_the_refusal() {
        let object = format!("e30.{}.", URL_SAFE_NO_PAD.encode(r#"{"state":"in side","nonce":"n"}"#));
        for (outer, expected) in [("", Some("in side")), ("outer", Some("outer"))] {
            let changes = [("request", object.as_str()), ("state", outer)];
            let Outcome::Redirect(error) = outcome_for(&client(), &changes) else { panic!("{outer}") };
            assert_eq!(error.state.as_deref(), expected);
        }
        for garbage in ["", "x", "x.y.z", "e30.e30.", "e30.W10.", "e30.eyJzdGF0ZSI6MX0."] {
            assert_eq!(state_inside(&Params::from_pairs([("request", garbage)])), None, "{garbage}");
        }
    }
}
