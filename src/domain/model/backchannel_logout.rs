//! A logout notice: one client is told that one session has ended (Back-Channel Logout 1.0).

use super::ids::{ClientKey, RealmId, SessionId, UserId};
use super::timestamp::Timestamp;

/// A notice as queued in the transaction that ended the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogoutNotice {
    /// Where.
    pub realm: RealmId,
    /// The session that ended.
    pub session: SessionId,
    /// Who is told.
    pub client: ClientKey,
    /// Whose session it was.
    pub user: UserId,
    /// That person's `sub`; forgotten once nobody has to be told any more.
    pub sub: Option<String>,
    /// When the session ended.
    pub queued_at: Timestamp,
    /// When the next attempt may begin; while one is under way, when it counts as lost.
    pub due_at: Timestamp,
    /// Attempts begun; also tells whoever makes one whether it is still his.
    pub attempts: u32,
    /// What went wrong last, in a few words.
    pub failure: Option<String>,
    /// When and how it was over.
    pub done: Option<Done>,
}

/// The end of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// When.
    pub at: Timestamp,
    /// How.
    pub outcome: NoticeOutcome,
}

/// How a notice can be over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeOutcome {
    /// The client has taken it.
    Delivered,
    /// The client has refused it.
    Refused,
    /// A day has passed, or there is nobody to tell any more.
    GivenUp,
}

impl NoticeOutcome {
    /// Every outcome.
    pub const ALL: [Self; 3] = [Self::Delivered, Self::Refused, Self::GivenUp];

    /// The stored word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Refused => "refused",
            Self::GivenUp => "given_up",
        }
    }

    /// Reads the stored word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == name)
    }
}
