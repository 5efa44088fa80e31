//! A device: one browser in one realm. It is known by a secret in its cookie, of which a hash rests here.

use super::ids::{DeviceId, RealmId};
use super::secret::SecretHash;
use super::timestamp::Timestamp;

/// A browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// Its realm.
    pub realm: RealmId,
    /// Its row.
    pub id: DeviceId,
    /// SHA-256 of the secret in the cookie.
    pub secret_hash: SecretHash,
    /// Browser family, for the person's own list: `Firefox`, `Chrome`, …
    pub browser: String,
    /// System family: `Windows`, `Android`, …
    pub system: String,
    /// First sign-in.
    pub first_seen_at: Timestamp,
    /// Last use.
    pub last_seen_at: Timestamp,
}
