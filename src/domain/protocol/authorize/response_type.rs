//! `response_type` (RFC 6749 section 3.1.1, Multiple Response Types): one that this client has registered.
//! Whoever registers none of the legacy types is safe from them (RFC 9700 section 2.1.2); access tokens pass
//! through the browser only where the realm moreover says so.

use super::request::AuthorizeRequest;
use super::table::Asked;
use crate::model::client::GrantType;
use crate::model::response_type::ResponseType;
use crate::protocol::refusal::{OauthCode, Refusal};

pub(super) fn check(asked: &Asked<'_>, request: &mut AuthorizeRequest) -> Result<(), Refusal> {
    let text = asked.params.get("response_type").ok_or(Refusal::new(
        OauthCode::InvalidRequest,
        "response_type_missing",
        "response_type is missing; send one that is registered for this client, such as code",
    ))?;
    let unsupported = |reason, description| Err(Refusal::new(OauthCode::UnsupportedResponseType, reason, description));
    let Some(response_type) = ResponseType::from_words(text) else {
        return unsupported("response_type_unsupported", "this provider does not know this response_type; use code");
    };
    if response_type.has_token() && !asked.facts.realm.settings.clients.front_channel_tokens {
        return unsupported(
            "response_type_token",
            "this realm gives no access tokens through the browser; use code and the token endpoint",
        );
    }
    if let Some(missing) = missing(asked, response_type) {
        return Err(Refusal::with(
            OauthCode::UnauthorizedClient,
            "response_type_not_registered",
            &format!("response_type {} is not for this client: {missing}", response_type.as_str()),
        ));
    }
    request.response_type = response_type;
    Ok(())
}

/// What the registration lacks.
fn missing(asked: &Asked<'_>, response_type: ResponseType) -> Option<&'static str> {
    if !asked.client.metadata.response_types.contains(&response_type) {
        Some("it is not among its response_types")
    } else if response_type.has_code() && !asked.client.has_grant(GrantType::AuthorizationCode) {
        Some("authorization_code is not among its grant_types")
    } else if response_type.is_front_channel() && !asked.client.has_grant(GrantType::Implicit) {
        Some("implicit is not among its grant_types")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::example::{client, legacy_client, outcome_in, realm, refused};
    use super::super::request::ResponseMode;
    use super::super::table::Outcome;
    use super::*;
    use crate::model::client::Client;

    fn answer(client: &Client, tokens: bool, response_type: &str) -> Result<ResponseType, (OauthCode, ResponseMode)> {
        let mut realm = realm();
        realm.settings.clients.front_channel_tokens = tokens;
        match outcome_in(&realm, client, &[("response_type", response_type), ("nonce", "n")]) {
            Outcome::Request(request) => Ok(request.response_type),
            Outcome::Redirect(error) => Err((error.refusal.code, error.response_mode)),
            Outcome::Page(refusal) => panic!("{refusal:?}"),
        }
    }

    #[test]
    fn a_registered_type_is_taken_with_its_words_in_any_order() {
        for (text, expected) in [
            ("code", ResponseType::Code),
            ("id_token", ResponseType::IdToken),
            ("code id_token", ResponseType::CodeIdToken),
            ("id_token code", ResponseType::CodeIdToken),
        ] {
            assert_eq!(answer(&legacy_client(), false, text), Ok(expected), "{text}");
        }
        for text in ["token id_token code", "code token", "token", "token id_token"] {
            assert_eq!(answer(&legacy_client(), true, text), Ok(ResponseType::from_words(text).unwrap()), "{text}");
        }
    }

    #[test]
    fn access_tokens_pass_through_the_browser_only_where_the_realm_says_so() {
        for text in ["token", "id_token token", "code token", "code id_token token"] {
            // Registered by the client or not.
            for client in [legacy_client(), client()] {
                let expected = Err((OauthCode::UnsupportedResponseType, ResponseMode::Fragment));
                assert_eq!(answer(&client, false, text), expected, "{text}");
            }
        }
    }

    #[test]
    fn what_is_not_registered_is_told_by_the_channel_of_the_type() {
        for text in ["id_token", "code id_token", "token"] {
            let expected = Err((OauthCode::UnauthorizedClient, ResponseMode::Fragment));
            assert_eq!(answer(&client(), true, text), expected, "{text}");
        }
        let mut implicit = legacy_client();
        implicit.metadata.response_types = vec![ResponseType::IdToken];
        assert_eq!(answer(&implicit, false, "code"), Err((OauthCode::UnauthorizedClient, ResponseMode::Query)));
    }

    #[test]
    fn a_type_needs_its_grants_too() {
        for (grant, refused) in [
            (GrantType::Implicit, &["id_token", "code id_token", "token", "code token"][..]),
            (GrantType::AuthorizationCode, &["code", "code id_token", "code token"]),
        ] {
            let mut client = legacy_client();
            client.metadata.grant_types.retain(|own| *own != grant);
            for text in ["code", "id_token", "code id_token", "token", "code token"] {
                let expected = if refused.contains(&text) { Some(OauthCode::UnauthorizedClient) } else { None };
                assert_eq!(answer(&client, true, text).err().map(|(code, _)| code), expected, "{grant:?} {text}");
            }
        }
    }

    #[test]
    fn what_is_missing_or_unknown_is_refused() {
        assert_eq!(refused(&[("response_type", "")]), (OauthCode::InvalidRequest, "response_type_missing"));
        for (text, mode) in [
            ("none", ResponseMode::Query),
            ("code code", ResponseMode::Query),
            ("CODE", ResponseMode::Query),
            ("id_token<script>", ResponseMode::Query),
            ("id_token none", ResponseMode::Fragment),
            ("id_token id_token", ResponseMode::Fragment),
        ] {
            assert_eq!(answer(&client(), true, text), Err((OauthCode::UnsupportedResponseType, mode)), "{text}");
        }
    }
}
