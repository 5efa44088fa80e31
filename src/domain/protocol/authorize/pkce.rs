//! `code_challenge` and `code_challenge_method` (RFC 7636 sections 4.3 and 4.4.1): S256 only. No method
//! means `plain` by the RFC, and is refused here, not when the code has been issued. Where no code comes there
//! is nothing to bind.

use super::request::AuthorizeRequest;
use super::table::Asked;
use crate::protocol::pkce::{METHOD, is_challenge, is_required};
use crate::protocol::refusal::{OauthCode, Refusal};

pub(super) fn check(asked: &Asked<'_>, request: &mut AuthorizeRequest) -> Result<(), Refusal> {
    if !request.response_type.has_code() {
        return Ok(());
    }
    let refused = |reason, description| Err(Refusal::new(OauthCode::InvalidRequest, reason, description));
    let method = asked.params.get("code_challenge_method");
    let Some(challenge) = asked.params.get("code_challenge") else {
        if is_required(asked.client, asked.facts.realm) {
            return refused("pkce_required", "code_challenge is missing; this client has to use PKCE with S256");
        }
        if method.is_some() {
            return refused("pkce_challenge_missing", "code_challenge_method was sent without code_challenge");
        }
        return Ok(());
    };
    if method != Some(METHOD) {
        return refused("pkce_method", "transform algorithm not supported; code_challenge_method must be S256");
    }
    if !is_challenge(challenge) {
        return refused("pkce_challenge_malformed", "code_challenge must have exactly 43 characters of base64url");
    }
    request.code_challenge = Some(challenge.to_owned());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::example::{client, legacy_client, outcome_for, refused, request};
    use super::super::table::Outcome;
    use super::*;
    use crate::model::client::AuthMethod;

    #[test]
    fn only_an_s256_challenge_is_taken() {
        let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
        assert_eq!(request(&[]).code_challenge.as_deref(), Some(challenge));
        for (changes, reason) in [
            (&[("code_challenge", "")][..], "pkce_required"),
            (&[("code_challenge", ""), ("code_challenge_method", "")], "pkce_required"),
            (&[("code_challenge_method", "")], "pkce_method"),
            (&[("code_challenge_method", "plain")], "pkce_method"),
            (&[("code_challenge_method", "s256")], "pkce_method"),
            (&[("code_challenge", "short")], "pkce_challenge_malformed"),
            (&[("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM=")], "pkce_challenge_malformed"),
        ] {
            assert_eq!(refused(changes), (OauthCode::InvalidRequest, reason), "{changes:?}");
        }
    }

    #[test]
    fn only_what_brings_a_code_is_bound_by_a_challenge() {
        let without = [("code_challenge", ""), ("code_challenge_method", ""), ("nonce", "n")];
        for (response_type, is_needed) in [("code", true), ("code id_token", true), ("id_token", false)] {
            let changes = [&without[..], &[("response_type", response_type)]].concat();
            let passes = matches!(outcome_for(&legacy_client(), &changes), Outcome::Request(_));
            assert_eq!(passes, !is_needed, "{response_type}");
        }
        let sent = [("response_type", "id_token"), ("nonce", "n"), ("code_challenge", "short")];
        let Outcome::Request(request) = outcome_for(&legacy_client(), &sent) else { panic!("refused") };
        assert_eq!(request.code_challenge, None);
    }

    #[test]
    fn a_public_client_cannot_be_excused_and_a_confidential_one_only_by_setting() {
        let without = [("code_challenge", ""), ("code_challenge_method", "")];
        for (method, required, passes) in [
            (AuthMethod::None, Some(false), false),
            (AuthMethod::ClientSecretBasic, None, false),
            (AuthMethod::ClientSecretBasic, Some(true), false),
            (AuthMethod::ClientSecretBasic, Some(false), true),
        ] {
            let mut client = client();
            client.metadata.token_endpoint_auth_method = method;
            client.metadata.require_pkce = required;
            let outcome = outcome_for(&client, &without);
            assert_eq!(matches!(outcome, Outcome::Request(_)), passes, "{method:?} {required:?}");
            // Sent anyway, a challenge is held to its form and kept.
            let kept =
                matches!(outcome_for(&client, &[]), Outcome::Request(request) if request.code_challenge.is_some());
            assert!(kept && !matches!(outcome_for(&client, &[("code_challenge", "")]), Outcome::Request(_)));
        }
    }
}
