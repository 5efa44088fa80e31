//! Keys of somebody else, parsed once, and secrets that sign: whether a foreign token's signature is theirs.

use aws_lc_rs::hmac;

use super::PublicKey;
use crate::domain::model::key::Algorithm;
use crate::domain::protocol::foreign_jwks::{ForeignKeySet, SignatureVerdict};
use crate::domain::protocol::foreign_jws::{ForeignAlgorithm, ForeignJws};

/// A key set at work.
#[derive(Debug)]
pub struct ForeignKeys {
    set: ForeignKeySet,
    /// By the place of the key in the set. What the library does not take (a point off the curve) is not here.
    parsed: Vec<Vec<(Algorithm, PublicKey)>>,
}

impl ForeignKeys {
    /// Parses every key.
    #[must_use]
    pub fn new(set: ForeignKeySet) -> Self {
        let parse = |alg: &Algorithm, jwk| PublicKey::from_members(jwk, *alg).map(|key| (*alg, key));
        let parsed =
            set.keys.iter().map(|key| key.algorithms.iter().filter_map(|alg| parse(alg, &key.jwk)).collect()).collect();
        Self { set, parsed }
    }

    /// Whether one of the keys made the signature. A token that is not signed by a key has none.
    #[must_use]
    pub fn verify(&self, jws: &ForeignJws<'_>) -> SignatureVerdict {
        let alg = match jws.alg {
            ForeignAlgorithm::Signed(alg) => alg.key(),
            ForeignAlgorithm::Unsigned => None,
        };
        let Some(alg) = alg else { return SignatureVerdict::NoKey };
        let candidates = self.set.candidates(alg, jws.kid.as_deref());
        let of_alg =
            |place: &usize| self.parsed.get(*place)?.iter().find(|(known, _)| *known == alg).map(|(_, key)| key);
        let mut keys = candidates.iter().filter_map(of_alg).peekable();
        if keys.peek().is_none() {
            return SignatureVerdict::NoKey;
        }
        let is_theirs = keys.any(|key| key.verify(jws.signing_input.as_bytes(), &jws.signature));
        if is_theirs { SignatureVerdict::Good } else { SignatureVerdict::Wrong }
    }

    /// Whether a newer set may hold the key that this token names.
    #[must_use]
    pub fn may_be_outdated(&self, jws: &ForeignJws<'_>) -> bool {
        self.set.may_be_outdated(jws.kid.as_deref())
    }
}

/// Whether `secret` made the signature by HS256 (RFC 7518 section 3.2), in constant time.
#[must_use]
pub fn verify_with_secret(secret: &[u8], jws: &ForeignJws<'_>) -> bool {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
    hmac::verify(&key, jws.signing_input.as_bytes(), &jws.signature).is_ok()
}
