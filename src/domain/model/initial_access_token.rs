//! A token by which clients register themselves (RFC 7591 sections 1.2 and 3). An operator makes it and hands it
//! to developers; what rests of it is its hash.

use super::ids::{InitialAccessTokenId, RealmId};
use super::timestamp::Timestamp;

/// A token as it is looked after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InitialAccessToken {
    /// Its realm.
    pub realm: RealmId,
    /// Its name in lists.
    pub id: InitialAccessTokenId,
    /// What it is for, in the operator's words: 1 to 100 characters.
    pub label: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// From here on it registers nobody.
    pub expires_at: Timestamp,
    /// Registrations that are left.
    pub uses_left: u32,
}

impl InitialAccessToken {
    /// Whether it registers somebody at `now`.
    #[must_use]
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.uses_left > 0 && now < self.expires_at
    }
}
