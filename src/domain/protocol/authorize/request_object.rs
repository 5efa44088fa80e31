//! `request`, `request_uri` and `registration` (OpenID Connect Core 3.1.2.6, 6 and 7.2.1). An object is read
//! before this table runs, since everything may stand in it: [`crate::protocol::request_object`]. Then nothing of
//! it is left here, so what is left was not read, and it is refused rather than ignored. `registration` is for
//! providers of people's own, which this is not.

use super::request::AuthorizeRequest;
use super::table::Asked;
use crate::protocol::params::Params;
use crate::protocol::refusal::{OauthCode, Refusal};
use crate::protocol::request_object;

pub(super) fn check(asked: &Asked<'_>, _: &mut AuthorizeRequest) -> Result<(), Refusal> {
    let refused = |code, reason, description| Err(Refusal::new(code, reason, description));
    if asked.params.get("request").is_some() {
        return refused(OauthCode::InvalidRequestObject, "object_unread", "the request object was not read");
    }
    if asked.params.get("request_uri").is_some() {
        return refused(OauthCode::InvalidRequestUri, "request_uri_unread", "request_uri was not read");
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

/// The `state` inside a request object that came by value.
pub(super) fn state_inside(params: &Params) -> Option<String> {
    request_object::state_inside(params.get("request")?)
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    use super::super::example::{client, outcome_for, refused};
    use super::super::table::Outcome;
    use super::*;

    #[test]
    fn each_is_refused_with_its_own_code() {
        for (name, code) in [
            ("request", OauthCode::InvalidRequestObject),
            ("request_uri", OauthCode::InvalidRequestUri),
            ("registration", OauthCode::RegistrationNotSupported),
        ] {
            // Before all else: what the object holds may be what seems to be missing.
            assert_eq!(refused(&[(name, "x"), ("response_type", ""), ("scope", "")]).0, code);
        }
    }

    #[test]
    fn a_state_inside_the_object_comes_back_with_the_refusal() {
        let header = URL_SAFE_NO_PAD.encode(r#"{"alg":"none"}"#);
        let object = |payload: &str| format!("{header}.{}.", URL_SAFE_NO_PAD.encode(payload));
        let good = object(r#"{"state":"in side","nonce":"n"}"#);
        for (outer, expected) in [("", Some("in side")), ("outer", Some("outer"))] {
            let changes = [("request", good.as_str()), ("state", outer)];
            let Outcome::Redirect(error) = outcome_for(&client(), &changes) else { panic!("{outer}") };
            assert_eq!(error.state.as_deref(), expected);
        }
        let twice = object(r#"{"state":"a","state":"b"}"#);
        let number = object(r#"{"state":1}"#);
        for garbage in ["", "x", "x.y.z", "e30.e30.", &object("[]"), &twice, &number] {
            assert_eq!(state_inside(&Params::from_pairs([("request", garbage)])), None, "{garbage}");
        }
    }
}
