//! A new proof in a live session of the same user: same `sid`, new secret, later `auth_time`.

use crate::domain::model::audit::AuditEvent;
use crate::domain::model::ids::{RealmId, SessionId};
use crate::domain::model::secret::SecretHash;
use crate::domain::model::session::{Acr, Amr};
use crate::domain::model::timestamp::Timestamp;

/// A sign-in again in the same session.
#[derive(Debug, Clone)]
pub struct StepUp {
    /// The session's realm.
    pub realm: RealmId,
    /// The session.
    pub session: SessionId,
    /// SHA-256 of the cookie's new secret; the old one dies at once.
    pub new_secret: SecretHash,
    /// When the person proved herself.
    pub auth_time: Timestamp,
    /// What the proof amounts to.
    pub acr: Acr,
    /// How it was proved.
    pub amr: Vec<Amr>,
    /// The user's credential epoch when the first factor was checked.
    pub credential_epoch: i64,
    /// The request's moment.
    pub now: Timestamp,
    /// Appended when the step-up holds.
    pub audit: AuditEvent,
}
