//! Administrative powers: a closed list in its own table, never roles, groups or mapped claims
//! (`security-design` rule 27).

use super::ids::{PowerId, RealmId, UserId};
use super::timestamp::Timestamp;

/// A power that a person holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdministrativePower {
    /// The realm whose subject holds it.
    pub realm: RealmId,
    /// Its row.
    pub id: PowerId,
    /// Who.
    pub user: UserId,
    /// What.
    pub power: Power,
    /// When it was given.
    pub created_at: Timestamp,
}

/// What an administrator may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Power {
    /// Everything, in every realm; only for subjects of the main realm.
    Instance,
    /// Everything within the holder's own realm.
    Realm,
}

impl Power {
    /// The stored word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Instance => "instance",
            Self::Realm => "realm",
        }
    }

    /// Reads the stored word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Instance, Self::Realm].into_iter().find(|power| power.as_str() == name)
    }
}
