//! `nonce` (OpenID Connect Core 3.1.2.1, 3.2.2.1 and 3.3.2.11): kept unchanged for the ID token. Optional for a
//! code, demanded wherever an ID token comes from the authorization endpoint: nothing else ties that one to the
//! request.

use super::request::AuthorizeRequest;
use super::table::Asked;
use crate::protocol::refusal::{OauthCode, Refusal};

/// Characters of a nonce at most.
const NONCE_MAX: usize = 1024;

pub(super) fn check(asked: &Asked<'_>, request: &mut AuthorizeRequest) -> Result<(), Refusal> {
    let nonce = asked.params.get("nonce");
    if nonce.is_none() && request.response_type.has_id_token() {
        return Err(Refusal::new(
            OauthCode::InvalidRequest,
            "nonce_missing",
            "nonce is missing; it is required where response_type has id_token",
        ));
    }
    if nonce.is_some_and(|nonce| nonce.chars().count() > NONCE_MAX) {
        return Err(Refusal::new(OauthCode::InvalidRequest, "nonce_too_long", "nonce is longer than 1024 characters"));
    }
    request.nonce = nonce.map(str::to_owned);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::example::{legacy_client, outcome_in, realm, refused, request};
    use super::super::request::ResponseMode;
    use super::super::table::Outcome;
    use super::*;
    use crate::model::response_type::ResponseType;

    #[test]
    fn a_nonce_is_kept_unchanged_up_to_its_limit() {
        let long = "+%\u{1f511}x".repeat(NONCE_MAX / 4);
        for nonce in [long.as_str(), "n", " a\tb "] {
            assert_eq!(request(&[("nonce", nonce)]).nonce.as_deref(), Some(nonce));
        }
        assert_eq!(request(&[("nonce", "")]).nonce, None);
        assert_eq!(refused(&[("nonce", &format!("{long}x"))]), (OauthCode::InvalidRequest, "nonce_too_long"));
    }

    #[test]
    fn an_id_token_from_the_authorization_endpoint_needs_a_nonce() {
        let mut realm = realm();
        realm.settings.clients.front_channel_tokens = true;
        for response_type in ResponseType::ALL {
            let changes = [("response_type", response_type.as_str()), ("nonce", "")];
            match outcome_in(&realm, &legacy_client(), &changes) {
                Outcome::Request(request) => {
                    assert!(!response_type.has_id_token() && request.nonce.is_none(), "{response_type:?}");
                }
                Outcome::Redirect(error) => {
                    assert!(response_type.has_id_token(), "{response_type:?}");
                    assert_eq!((error.refusal.reason, error.response_mode), ("nonce_missing", ResponseMode::Fragment));
                }
                Outcome::Page(refusal) => panic!("{refusal:?}"),
            }
        }
    }
}
