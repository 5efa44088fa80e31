//! The rotation of a refresh token's generation: one guarded update (`security-design` rules 8 to 10).

use std::time::Duration;

use crate::domain::model::ids::{GrantId, RealmId};
use crate::domain::model::secret::SecretHash;
use crate::domain::model::timestamp::Timestamp;

/// A presentation of the current generation.
#[derive(Debug, Clone)]
pub struct RotateGrant {
    /// The grant's realm.
    pub realm: RealmId,
    /// The grant.
    pub grant: GrantId,
    /// The generation that was presented.
    pub generation: i64,
    /// SHA-256 of the secret that was presented.
    pub secret_hash: SecretHash,
    /// Keyed hash of who presented it (`security-design` rule 9).
    pub presenter: [u8; 16],
    /// The request's moment.
    pub now: Timestamp,
    /// A family unused for longer has ended.
    pub idle: Duration,
}

/// What became of a rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rotated {
    /// The grant is one generation further.
    Rotated,
    /// A guard did not hold. The caller reads the row again and classifies.
    Lost,
}
