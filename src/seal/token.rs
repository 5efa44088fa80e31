//! Written forms. Each value has exactly one spelling (`security-design` rule 13): base64url without
//! padding and without stray bits (RFC 4648 section 5), so that a respelled token is no token. Prefix
//! and checksum of what people handle are `domain::protocol::token_text`'s.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::sealer::{Purpose, Sealer};
use crate::domain::model::ids::RealmId;

/// Writes bytes in their one spelling.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Reads that one spelling; `None` for padding, other alphabets and stray bits.
#[must_use]
pub fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// Reads exactly `N` bytes.
#[must_use]
pub fn decode_exact<const N: usize>(text: &str) -> Option<[u8; N]> {
    // The length is checked first: what is too long is not even decoded.
    (text.len() == (N * 4).div_ceil(3)).then(|| decode(text))??.try_into().ok()
}

impl Sealer {
    /// [`Sealer::seal`] in its one spelling.
    #[must_use]
    pub fn seal_text(&self, realm: RealmId, purpose: Purpose, plaintext: &[u8], context: &[u8]) -> String {
        encode(&self.seal(realm, purpose, plaintext, context))
    }

    /// Opens [`Sealer::seal_text`].
    #[must_use]
    pub fn open_text(&self, realm: RealmId, purpose: Purpose, text: &str, context: &[u8]) -> Option<Vec<u8>> {
        self.open(realm, purpose, &decode(text)?, context)
    }
}
