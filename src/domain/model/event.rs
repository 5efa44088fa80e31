//! Events for other services (the outbox). Bodies carry ids and field names, never secrets.

use super::ids::{EventId, RealmId, UserId};
use super::timestamp::Timestamp;

/// An event to be appended to the outbox in the transaction of the change it tells of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxEvent {
    /// Unique; consumers drop repeats by it.
    pub id: EventId,
    /// Where.
    pub realm: RealmId,
    /// The person it is about: events of one person keep their order.
    pub user: UserId,
    /// The person's `sub`, the CloudEvents `subject`.
    pub sub: String,
    /// CloudEvents `type` and routing key.
    pub kind: EventKind,
    /// When.
    pub at: Timestamp,
    /// CloudEvents `data`, as JSON text.
    pub data: String,
}

/// The closed list of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// An account was created.
    UserCreated,
    /// Claims of an account changed.
    UserUpdated,
    /// An account was disabled.
    UserDisabled,
    /// An account is gone for good: delete what you hold.
    UserDeleted,
    /// A session was revoked.
    SessionRevoked,
    /// A password changed.
    PasswordChanged,
}

impl EventKind {
    /// Every kind.
    pub const ALL: [Self; 6] = [
        Self::UserCreated,
        Self::UserUpdated,
        Self::UserDisabled,
        Self::UserDeleted,
        Self::SessionRevoked,
        Self::PasswordChanged,
    ];

    /// CloudEvents `type`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UserCreated => "identity.user.created",
            Self::UserUpdated => "identity.user.updated",
            Self::UserDisabled => "identity.user.disabled",
            Self::UserDeleted => "identity.user.deleted",
            Self::SessionRevoked => "identity.session.revoked",
            Self::PasswordChanged => "identity.password.changed",
        }
    }

    /// Reads the CloudEvents `type`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}
