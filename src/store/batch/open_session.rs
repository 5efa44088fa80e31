//! The opening of a session on a device (`security-design` rule 1).

use crate::domain::model::audit::AuditEvent;
use crate::domain::model::device::Device;
use crate::domain::model::ids::SessionId;
use crate::domain::model::session::Session;

/// A sign-in that has passed all its steps.
#[derive(Debug, Clone)]
pub struct OpenSession {
    /// The session to be opened, with its own new id.
    pub session: Session,
    /// The browser; inserted when unknown, otherwise its last use moves.
    pub device: Device,
    /// The user's credential epoch when the first factor was checked.
    pub user_epoch: i64,
    /// The session that this one takes the place of; ended as replaced in the same step.
    pub replaces: Option<SessionId>,
    /// Appended when the session is opened.
    pub audit: AuditEvent,
}

/// What became of an opening or a step-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opened {
    /// It is open.
    Opened,
    /// The user is disabled or has changed a credential, or the session to step up has ended.
    Ended,
}
