//! The text of a refresh token (`security-design` rules 8 and 13).
//!
//! `dwr_`, then base64url without padding of version (1), key id (1), grant id (16), generation (4,
//! big-endian), grant secret (16) and tag (16), then the checksum. Fifty-four bytes are seventy-two
//! signs exactly, so each token has one spelling. The tag is computed and checked by the caller, who
//! has the key: over [`RefreshToken::tagged`], which names realm and restore epoch too.

use std::fmt;

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::token_text::{self, TokenKind};
use crate::model::ids::{GrantId, RealmId};
use crate::model::secret::{Secret, SecretHash};

/// The only version there is.
pub const VERSION: u8 = 1;

const BODY_BYTES: usize = 54;
/// How long the text always is.
pub const TEXT_LEN: usize = 4 + 72 + token_text::CHECKSUM_LEN;

/// The grant's 128 bits: the same in each generation, so that a successor is the same text for each retry.
#[derive(Clone, PartialEq, Eq)]
pub struct GrantSecret([u8; 16]);

impl GrantSecret {
    /// Takes random bytes over.
    #[must_use]
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// What rests in the grant's row and is compared there.
    #[must_use]
    pub fn hash(&self) -> SecretHash {
        let mut hash = [0; 32];
        hash.copy_from_slice(digest(&SHA256, &self.0).as_ref());
        SecretHash(hash)
    }
}

impl fmt::Debug for GrantSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

impl Zeroize for GrantSecret {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

impl Drop for GrantSecret {
    fn drop(&mut self) {
        self.zeroize();
    }
}

impl ZeroizeOnDrop for GrantSecret {}

/// A refresh token without its tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefreshToken {
    /// Which key the tag is made with.
    pub key_id: u8,
    /// Its grant.
    pub grant: GrantId,
    /// Its generation.
    pub generation: u32,
    /// The grant's secret.
    pub secret: GrantSecret,
}

impl RefreshToken {
    /// The bytes that the tag covers: everything in the token, the realm and its restore epoch.
    #[must_use]
    pub fn tagged(&self, realm: RealmId, restore_epoch: i64) -> Vec<u8> {
        let mut bytes = self.untagged();
        bytes.extend_from_slice(realm.as_bytes());
        bytes.extend_from_slice(&restore_epoch.to_be_bytes());
        bytes
    }

    /// The same grant's next token.
    #[must_use]
    pub fn successor(&self) -> Self {
        Self { generation: self.generation.saturating_add(1), ..self.clone() }
    }

    /// Writes it with its tag.
    #[must_use]
    pub fn format(&self, tag: &[u8; 16]) -> Secret {
        let mut bytes = self.untagged();
        bytes.extend_from_slice(tag);
        let text = token_text::format(TokenKind::RefreshToken, &URL_SAFE_NO_PAD.encode(&bytes));
        bytes.zeroize();
        Secret::new(text)
    }

    fn untagged(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(BODY_BYTES + 24);
        bytes.extend_from_slice(&[VERSION, self.key_id]);
        bytes.extend_from_slice(self.grant.as_bytes());
        bytes.extend_from_slice(&self.generation.to_be_bytes());
        bytes.extend_from_slice(&self.secret.0);
        bytes
    }
}

/// Reads a text into the token and its tag, which is not checked yet; `None` for any other spelling,
/// length or version.
#[must_use]
pub fn parse(text: &str) -> Option<(RefreshToken, [u8; 16])> {
    if text.len() != TEXT_LEN {
        return None;
    }
    let mut bytes = URL_SAFE_NO_PAD.decode(token_text::body(TokenKind::RefreshToken, text)?).ok()?;
    let parsed = split(&bytes);
    bytes.zeroize();
    parsed
}

fn split(bytes: &[u8]) -> Option<(RefreshToken, [u8; 16])> {
    let (&[version, key_id], rest) = bytes.split_first_chunk::<2>()?;
    let (grant, rest) = rest.split_first_chunk::<16>()?;
    let (generation, rest) = rest.split_first_chunk::<4>()?;
    let (secret, rest) = rest.split_first_chunk::<16>()?;
    let tag = <[u8; 16]>::try_from(rest).ok()?;
    let token = RefreshToken {
        key_id,
        grant: GrantId::from_bytes(*grant),
        generation: u32::from_be_bytes(*generation),
        secret: GrantSecret::new(*secret),
    };
    (version == VERSION).then_some((token, tag))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::sample;
    use super::*;

    fn token() -> RefreshToken {
        RefreshToken { key_id: 3, grant: sample::GRANT, generation: 258, secret: GrantSecret::new([0xee; 16]) }
    }

    #[test]
    fn a_token_is_read_back_as_it_was_written() {
        let text = token().format(&[0xdd; 16]);
        assert_eq!(text.expose().len(), TEXT_LEN);
        assert!(text.expose().starts_with("dwr_AQMFBQUF"));
        assert_eq!(parse(text.expose()), Some((token(), [0xdd; 16])));
    }

    #[test]
    fn a_successor_differs_in_its_generation_alone() {
        let successor = token().successor();
        assert_eq!(successor, RefreshToken { generation: 259, ..token() });
        assert_eq!(successor.secret.hash(), token().secret.hash());
        assert_eq!(RefreshToken { generation: u32::MAX, ..token() }.successor().generation, u32::MAX);
    }

    #[test]
    fn the_tag_covers_everything() {
        let base = token().tagged(sample::REALM, 1);
        let strange = RealmId::from_bytes([99; 16]);
        let others = [
            token().tagged(strange, 1),
            token().tagged(sample::REALM, 2),
            token().successor().tagged(sample::REALM, 1),
            RefreshToken { key_id: 4, ..token() }.tagged(sample::REALM, 1),
            RefreshToken { grant: GrantId::from_bytes([99; 16]), ..token() }.tagged(sample::REALM, 1),
            RefreshToken { secret: GrantSecret::new([1; 16]), ..token() }.tagged(sample::REALM, 1),
        ];
        assert!(others.iter().all(|other| other.len() == base.len() && *other != base));
    }

    #[test]
    fn there_is_one_spelling_and_one_version() {
        let spell = |bytes: &[u8]| token_text::format(TokenKind::RefreshToken, &URL_SAFE_NO_PAD.encode(bytes));
        let mut bytes = [0; BODY_BYTES];
        bytes[0] = VERSION;
        assert!(parse(&spell(&bytes)).is_some());
        bytes[0] = 2;
        assert_eq!(parse(&spell(&bytes)), None);
        bytes[0] = VERSION;
        assert_eq!(parse(&spell(&bytes[..53])), None);
        assert_eq!(parse(&spell(&[&bytes[..], &[0]].concat())), None);
        let text = spell(&bytes);
        for wrong in [format!(" {text}"), format!("{text}\n"), text.replace("dwr_", "dwa_"), text.to_uppercase()] {
            assert_eq!(parse(&wrong), None, "{wrong:?}");
        }
        let other_alphabet = token_text::format(TokenKind::RefreshToken, &"+/".repeat(36));
        assert_eq!(parse(&other_alphabet), None);
    }

    #[test]
    fn a_secret_is_not_shown() {
        assert!(format!("{:?}", token()).contains("[redacted]"));
    }

    proptest! {
        #[test]
        fn any_text_is_no_panic(text in "(dwr_)?[ -~]{0,90}") {
            prop_assert_eq!(parse(&text), None);
        }

        #[test]
        fn what_reads_writes_the_same_text(bytes in proptest::array::uniform32(any::<u8>()), more in proptest::collection::vec(any::<u8>(), 21)) {
            let body = [&[VERSION][..], &bytes, &more].concat();
            let text = token_text::format(TokenKind::RefreshToken, &URL_SAFE_NO_PAD.encode(body));
            let (token, tag) = parse(&text).unwrap();
            let written = token.format(&tag);
            prop_assert_eq!(written.expose(), text.as_str());
        }
    }
}
