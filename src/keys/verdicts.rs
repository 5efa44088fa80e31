//! Signatures that were found good a moment ago. A verdict is filed under the key and the token's own id,
//! never under the presented text (`security-design` rule 13), so that one token holds one place however it
//! is spelled; and it counts only for the very text that was verified: the same id with other claims, or
//! without its signature, is verified anew. Whether the token still stands is not decided here.

use quick_cache::sync::Cache;

use crate::domain::model::ids::{KeyId, TokenId};
use crate::domain::model::secret::SecretHash;

/// Verdicts kept at hand; losing one costs verifying again.
const KEPT: usize = 16_384;

/// The verdicts of this process.
pub(super) struct Verdicts(Cache<(KeyId, TokenId), SecretHash>);

impl Verdicts {
    pub(super) fn new() -> Self {
        Self(Cache::new(KEPT))
    }

    /// Whether this key was seen to have signed exactly the text with this hash.
    pub(super) fn has(&self, key: KeyId, token: TokenId, text: &SecretHash) -> bool {
        self.0.get(&(key, token)).is_some_and(|known| known == *text)
    }

    /// Remembers that it did.
    pub(super) fn keep(&self, key: KeyId, token: TokenId, text: SecretHash) {
        self.0.insert((key, token), text);
    }
}
