//! `nonce` (OpenID Connect Core 3.1.2.1): kept unchanged for the ID token; optional in the code flow.

use super::request::AuthorizeRequest;
use super::table::Asked;
use crate::protocol::refusal::{OauthCode, Refusal};

/// Characters of a nonce at most.
const NONCE_MAX: usize = 1024;

pub(super) fn check(asked: &Asked<'_>, request: &mut AuthorizeRequest) -> Result<(), Refusal> {
    let nonce = asked.params.get("nonce");
    if nonce.is_some_and(|nonce| nonce.chars().count() > NONCE_MAX) {
        return Err(Refusal::new(OauthCode::InvalidRequest, "nonce_too_long", "nonce is longer than 1024 characters"));
    }
    request.nonce = nonce.map(str::to_owned);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::example::{refused, request};
    use super::*;

    #[test]
    fn a_nonce_is_kept_unchanged_up_to_its_limit() {
        let long = "+%\u{1f511}x".repeat(NONCE_MAX / 4);
        for nonce in [long.as_str(), "n", " a\tb "] {
            assert_eq!(request(&[("nonce", nonce)]).nonce.as_deref(), Some(nonce));
        }
        assert_eq!(request(&[("nonce", "")]).nonce, None);
        assert_eq!(refused(&[("nonce", &format!("{long}x"))]), (OauthCode::InvalidRequest, "nonce_too_long"));
    }
}
