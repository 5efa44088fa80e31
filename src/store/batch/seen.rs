//! Last-seen marks of sessions: coalesced, the newest per session, never an upsert (`security-design` rule 4).

use crate::domain::model::ids::{RealmId, SessionId};
use crate::domain::model::timestamp::Timestamp;

/// A browser used a session.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    pub(super) realm: RealmId,
    pub(super) session: SessionId,
    pub(super) at: Timestamp,
}
