//! Names to sign in with, in their canonical form (RFC 8265 section 3.3, UTS 39). One table holds user
//! names and verified e-mail addresses, unique together, so that no name ever means two people.

use super::ids::{RealmId, UserId};

/// A name to sign in with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identifier {
    /// Its realm.
    pub realm: RealmId,
    /// The form that is compared.
    pub canonical: Canonical,
    /// What it is.
    pub kind: IdentifierKind,
    /// Whose.
    pub user: UserId,
}

/// The two kinds of name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdentifierKind {
    /// The user name.
    Username,
    /// A verified e-mail address.
    Email,
}

/// A name in canonical form: made only by [`crate::signin::identifier`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Canonical(pub(crate) String);

impl Canonical {
    /// The form that is compared and stored.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Reads the stored form back.
    #[must_use]
    pub const fn from_stored(text: String) -> Self {
        Self(text)
    }
}
