//! A new proof in a live session of the same user: same `sid`, new secret, later `auth_time`.

use super::attempt::Work;
use super::open_session::{Opened, amr, millis};
use super::sql::{Sql, Value, values};
use crate::domain::model::audit::AuditEvent;
use crate::domain::model::ids::{RealmId, SessionId};
use crate::domain::model::secret::SecretHash;
use crate::domain::model::session::{Acr, Amr};
use crate::domain::model::span::Span;
use crate::domain::model::timestamp::Timestamp;
use crate::store::{Change, ChangeKind, Error};

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
    /// The person wants to stay signed in; otherwise the session keeps the limits it has.
    pub remembered: Option<Remembered>,
    /// The request's moment.
    pub now: Timestamp,
    /// Appended when the step-up holds.
    pub audit: AuditEvent,
}

/// The limits of a session that is kept beyond the browser's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Remembered {
    /// It ends when it was not used for this long.
    pub idle: Span,
    /// However used, it ends here.
    pub expires_at: Timestamp,
}

/// The user's row is locked first (by the round, on PostgreSQL), so a change of credentials that is under way
/// is either seen here or ends this session afterwards.
const STEP_UP: Sql = Sql::same(
    "update session set secret_hash = $3, previous_secret_hash = null, secret_rotated_at = $4, auth_time = $5, \
     acr = $6, amr = $7, credential_epoch = $8, last_seen_at = $4, remembered = (remembered or $9), \
     idle_millis = coalesce($10, idle_millis), expires_at = coalesce($11, expires_at) \
     where realm_id = $1 and id = $2 and ended_at is null and expires_at > $4 \
     and exists (select 1 from user_account where user_account.realm_id = session.realm_id \
     and user_account.id = session.user_id and user_account.enabled and user_account.credential_epoch = $8)",
);

impl StepUp {
    pub(super) async fn run(&self, work: &mut Work<'_, '_>) -> Result<Opened, Error> {
        let row = values![
            self.realm,
            self.session.as_uuid(),
            self.new_secret.0.to_vec(),
            self.now,
            self.auth_time,
            self.acr.as_str(),
            amr(&self.amr)?,
            self.credential_epoch,
            self.remembered.is_some(),
            Value::Int(self.remembered.map(|limits| millis(limits.idle))),
            Value::Int(self.remembered.map(|limits| limits.expires_at.as_micros())),
        ];
        if work.tx.execute(STEP_UP, row).await? == 0 {
            return Ok(Opened::Ended);
        }
        let change = Change { realm: self.realm, kind: ChangeKind::Session, id: self.session.as_uuid() };
        work.changes.push(change);
        work.audit(&self.audit).await?;
        Ok(Opened::Opened)
    }
}
