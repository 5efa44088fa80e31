//! The end of a session and, in a later statement, of its online grants (`security-design` rule 1).

use crate::domain::model::audit::AuditEvent;
use crate::domain::model::event::OutboxEvent;
use crate::domain::model::ids::{RealmId, SessionId};
use crate::domain::model::session::Ended;

/// A session to be ended.
#[derive(Debug, Clone)]
pub struct EndSession {
    /// The session's realm.
    pub realm: RealmId,
    /// The session.
    pub session: SessionId,
    /// When and why.
    pub ended: Ended,
    /// Appended when this ended it.
    pub audit: AuditEvent,
    /// Told to other services when this ended it.
    pub outbox: Option<OutboxEvent>,
}
