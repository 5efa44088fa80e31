//! `code_challenge` and `code_challenge_method` (RFC 7636 sections 4.3 and 4.4.1): S256 only. No method
//! means `plain` by the RFC, and is refused here, not when the code has been issued.

use super::request::AuthorizeRequest;
use super::table::Asked;
use crate::protocol::pkce::{METHOD, is_challenge, is_required};
use crate::protocol::refusal::{OauthCode, Refusal};

pub(super) fn check(asked: &Asked<'_>, request: &mut AuthorizeRequest) -> Result<(), Refusal> {
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
