//! Written forms. Each value has exactly one spelling (`security-design` rule 13): base64url without
//! padding and without stray bits (RFC 4648 section 5), so that a respelled token is no token. Secrets
//! that people handle carry a prefix and a checksum, so that secret scanners and our own routing know
//! them without a lookup.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::sealer::{Purpose, Sealer};
use crate::domain::model::ids::RealmId;

/// Characters of the checksum: four bytes in base64url.
const CHECK_LEN: usize = 6;

/// What a marked secret is, told by its prefix (`decisions`, Data).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A client secret, `dwc_`.
    ClientSecret,
    /// A personal access token, `dwp_`.
    PersonalToken,
    /// A refresh token, `dwr_`.
    RefreshToken,
    /// An opaque access token, `dwa_`.
    AccessToken,
}

impl Mark {
    /// The prefix.
    #[must_use]
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::ClientSecret => "dwc_",
            Self::PersonalToken => "dwp_",
            Self::RefreshToken => "dwr_",
            Self::AccessToken => "dwa_",
        }
    }
}

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

/// Writes `bytes` with the mark's prefix and a checksum over both.
#[must_use]
pub fn mark(mark: Mark, bytes: &[u8]) -> String {
    let body = encode(bytes);
    let check = checksum(mark, &body);
    [mark.prefix(), &body, &check].concat()
}

/// Reads what [`mark`] wrote under the same mark.
#[must_use]
pub fn unmark(mark: Mark, text: &str) -> Option<Vec<u8>> {
    let rest = text.strip_prefix(mark.prefix())?;
    let (body, check) = rest.split_at_checked(rest.len().checked_sub(CHECK_LEN)?)?;
    (check == checksum(mark, body)).then(|| decode(body))?
}

fn checksum(mark: Mark, body: &str) -> String {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(mark.prefix().as_bytes());
    hasher.update(body.as_bytes());
    encode(&hasher.finalize().to_be_bytes())
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
