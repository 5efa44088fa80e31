//! Proof Key for Code Exchange (RFC 7636): S256 only, since `plain` proves nothing to whoever sees the
//! request (RFC 9700 section 2.1.1), and none of the ways to strip it (RFC 9700 section 4.8).

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq as _;

use super::refusal::{OauthCode, Refusal};
use crate::model::client::Client;
use crate::model::realm::Realm;

/// The one transformation that is accepted.
pub const METHOD: &str = "S256";

/// Characters of an S256 challenge: 32 bytes in base64url without padding.
const CHALLENGE_LENGTH: usize = 43;

/// Whether a client has to send a challenge: public ones always, others by their own setting, else by
/// the realm's.
#[must_use]
pub fn is_required(client: &Client, realm: &Realm) -> bool {
    client.is_public() || client.metadata.require_pkce.unwrap_or(realm.settings.clients.require_pkce)
}

/// Whether the text has the form of an S256 challenge (RFC 7636 section 4.2): exactly 43 characters of
/// base64url.
#[must_use]
pub fn is_challenge(text: &str) -> bool {
    text.len() == CHALLENGE_LENGTH && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

/// Whether the text has the form of a verifier (RFC 7636 section 4.1): 43 to 128 unreserved characters.
#[must_use]
pub fn is_verifier(text: &str) -> bool {
    (43..=128).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
}

/// The S256 challenge of a verifier.
#[must_use]
pub fn challenge_of(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()))
}

/// The check at the token endpoint (RFC 7636 section 4.6): the code's challenge against the verifier
/// sent. Each mismatch of presence is `invalid_grant`, so that stripping one side gains nothing.
pub fn check(challenge: Option<&str>, verifier: Option<&str>) -> Result<(), Refusal> {
    let refused = |reason, description| Err(Refusal::new(OauthCode::InvalidGrant, reason, description));
    match (challenge, verifier.filter(|verifier| !verifier.is_empty())) {
        (None, None) => Ok(()),
        (None, Some(_)) => {
            refused("pkce_not_started", "code_verifier was sent, but the authorization request had no code_challenge")
        }
        (Some(_), None) => refused("pkce_verifier_missing", "code_verifier is missing"),
        (Some(_), Some(verifier)) if !is_verifier(verifier) => refused(
            "pkce_verifier_malformed",
            "code_verifier must have 43 to 128 of the characters A-Z a-z 0-9 - . _ ~",
        ),
        (Some(challenge), Some(verifier)) => {
            let own = challenge_of(verifier);
            if bool::from(own.as_bytes().ct_eq(challenge.as_bytes())) {
                Ok(())
            } else {
                refused("pkce_mismatch", "code_verifier does not fit the code_challenge")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // RFC 7636 appendix B.
    const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

    #[test]
    fn the_example_of_the_standard_verifies() {
        assert_eq!(challenge_of(VERIFIER), CHALLENGE);
        assert_eq!(check(Some(CHALLENGE), Some(VERIFIER)), Ok(()));
        assert_eq!(check(None, None), Ok(()));
    }

    #[test]
    fn every_way_to_strip_the_proof_is_invalid_grant() {
        let long = "a".repeat(129);
        for (challenge, verifier, reason) in [
            (None, Some("any"), "pkce_not_started"),
            (None, Some(VERIFIER), "pkce_not_started"),
            (Some(CHALLENGE), None, "pkce_verifier_missing"),
            (Some(CHALLENGE), Some(""), "pkce_verifier_missing"),
            (Some(CHALLENGE), Some("short"), "pkce_verifier_malformed"),
            (Some(CHALLENGE), Some(long.as_str()), "pkce_verifier_malformed"),
            (Some(CHALLENGE), Some(CHALLENGE), "pkce_mismatch"),
            (Some("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"), Some(VERIFIER), "pkce_mismatch"),
        ] {
            let refusal = check(challenge, verifier).unwrap_err();
            assert_eq!((refusal.code, refusal.reason), (OauthCode::InvalidGrant, reason));
        }
    }

    #[test]
    fn a_challenge_has_exactly_43_base64url_characters() {
        assert!(is_challenge(CHALLENGE));
        for text in [
            "",
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-c",
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM=",
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw+cM",
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-c.",
        ] {
            assert!(!is_challenge(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn only_the_verifier_of_a_challenge_fits(verifier in "[A-Za-z0-9._~-]{43,128}", other in any::<String>()) {
            let challenge = challenge_of(&verifier);
            prop_assert!(is_challenge(&challenge) && is_verifier(&verifier));
            prop_assert_eq!(check(Some(&challenge), Some(&verifier)), Ok(()));
            prop_assert_eq!(check(Some(&challenge), Some(&other)).is_ok(), other == verifier);
            let _ = check(Some(&other), Some(&verifier));
        }
    }
}
