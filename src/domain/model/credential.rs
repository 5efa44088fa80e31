//! What a person proves herself with.

use super::ids::{CredentialId, RealmId, UserId};
use super::timestamp::Timestamp;

/// A credential as stored.
#[derive(Clone)]
pub struct Credential {
    /// Its realm.
    pub realm: RealmId,
    /// Its row.
    pub id: CredentialId,
    /// Whose it is.
    pub user: UserId,
    /// What it is.
    pub secret: CredentialSecret,
    /// When it was set.
    pub created_at: Timestamp,
}

/// The kinds of credential.
#[derive(Clone)]
pub enum CredentialSecret {
    /// A password's PHC string, `$argon2id$…`.
    Password {
        /// The hash with its parameters and salt.
        phc: String,
    },
}

impl std::fmt::Debug for Credential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credential").field("id", &self.id).field("user", &self.user).finish_non_exhaustive()
    }
}
