//! Changes: what read models must drop. The table is the truth, written in the transaction of the change
//! itself (architecture, section 7).

use uuid::Uuid;

use crate::domain::model::ids::RealmId;

/// What changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// A realm or its settings.
    Realm,
    /// A client, its secrets included.
    Client,
    /// A resource.
    Resource,
    /// A scope.
    Scope,
    /// A signing key.
    Key,
    /// A person, or what she has.
    User,
    /// A session: ended, or its secret replaced.
    Session,
    /// A grant ended.
    GrantEnded,
    /// A single token was revoked.
    TokenRevoked,
    /// Roles or groups of a realm: clears what is known of its people.
    Roles,
    /// Everything.
    All,
}

impl ChangeKind {
    /// Every kind.
    pub const ALL: [Self; 11] = [
        Self::Realm,
        Self::Client,
        Self::Resource,
        Self::Scope,
        Self::Key,
        Self::User,
        Self::Session,
        Self::GrantEnded,
        Self::TokenRevoked,
        Self::Roles,
        Self::All,
    ];

    /// The stored word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Realm => "realm",
            Self::Client => "client",
            Self::Resource => "resource",
            Self::Scope => "scope",
            Self::Key => "key",
            Self::User => "user",
            Self::Session => "session",
            Self::GrantEnded => "grant_ended",
            Self::TokenRevoked => "token_revoked",
            Self::Roles => "roles",
            Self::All => "all",
        }
    }

    /// Reads the stored word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// One change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// Where.
    pub realm: RealmId,
    /// What kind of thing.
    pub kind: ChangeKind,
    /// Which one; the realm's own id where the whole realm is meant.
    pub id: Uuid,
}
