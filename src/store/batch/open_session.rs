//! The opening of a session on a device (`security-design` rule 1).

use super::attempt::Work;
use super::sql::{Sql, Value, sharing, values};
use crate::domain::model::audit::{AuditEvent, AuditKind};
use crate::domain::model::device::Device;
use crate::domain::model::ids::{EventId, SessionId, UserId};
use crate::domain::model::session::{Amr, EndReason, Ended, Session};
use crate::domain::model::span::Span;
use crate::store::Error;

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

/// A browser is noted only together with a sign-in that holds.
const DEVICE: Sql = sharing!(
    "insert into device (realm_id, id, secret_hash, browser, system, first_seen_at, last_seen_at) \
     select $1, $2, $3, $4, $5, $6, $7 from user_account \
     where realm_id = $1 and id = $8 and enabled and credential_epoch = $9",
    " on conflict (realm_id, id) do update set secret_hash = excluded.secret_hash, browser = excluded.browser, \
     system = excluded.system, last_seen_at = excluded.last_seen_at"
);

const USER_DEVICE: Sql = Sql::same(
    "insert into user_device (realm_id, user_id, device_id, first_seen_at, last_seen_at) values ($1, $2, $3, $4, $4) \
     on conflict (realm_id, user_id, device_id) do update set last_seen_at = excluded.last_seen_at",
);

/// Born only of an enabled user whose credentials are still those of the first factor.
const BIRTH: Sql = sharing!(
    "insert into session (realm_id, id, user_id, device_id, secret_hash, previous_secret_hash, secret_rotated_at, \
     auth_time, acr, amr, credential_epoch, remembered, created_at, last_seen_at, idle_millis, expires_at) \
     select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16 from user_account \
     where realm_id = $1 and id = $3 and enabled and credential_epoch = $17",
    " on conflict (realm_id, id) do nothing"
);

/// One's own session: opened by an attempt whose answer was lost, or by a sign-in that crossed this one in
/// the same browser and drew for both. What has ended since is not opened again.
const OWN: Sql = Sql::same(
    "select 1 from session where realm_id = $1 and id = $2 and user_id = $3 and secret_hash = $4 and ended_at is null",
);

impl OpenSession {
    pub(super) async fn run(&self, work: &mut Work<'_, '_>) -> Result<Opened, Error> {
        let (session, device) = (&self.session, &self.device);
        let (realm, user) = (session.realm, session.user.as_uuid());
        let row = values![
            realm,
            device.id.as_uuid(),
            device.secret_hash.0.to_vec(),
            device.browser.clone(),
            device.system.clone(),
            device.first_seen_at,
            device.last_seen_at,
            user,
            self.user_epoch,
        ];
        if work.tx.execute(DEVICE, row).await? == 0 {
            return Ok(Opened::Ended);
        }
        work.tx.execute(USER_DEVICE, values![realm, user, device.id.as_uuid(), session.created_at]).await?;
        if work.tx.execute(BIRTH, self.birth()?).await? == 0 {
            let own = values![realm, session.id.as_uuid(), user, session.secret_hash.0.to_vec()];
            if work.tx.row(OWN, own).await?.is_none() {
                return Ok(Opened::Ended);
            }
        }
        if let Some(replaced) = self.replaces {
            self.replace(work, replaced).await?;
        }
        work.audit(&self.audit).await?;
        Ok(Opened::Opened)
    }

    async fn replace(&self, work: &mut Work<'_, '_>, replaced: SessionId) -> Result<(), Error> {
        let realm = self.session.realm;
        let ended = Ended { at: self.session.created_at, reason: EndReason::Replaced };
        let Some(user) = work.end_session(realm, replaced, ended).await? else { return Ok(()) };
        let mut event = self.audit.clone();
        event.id = EventId::from_uuid(work.facts.entropy.uuid("audit", ended.at));
        event.kind = AuditKind::SessionEnded;
        event.reason = Some(ended.reason.as_str());
        event.user = Some(UserId::from_uuid(user));
        event.session = Some(replaced);
        event.grant = None;
        work.audit(&event).await
    }

    fn birth(&self) -> Result<Vec<Value>, Error> {
        let session = &self.session;
        Ok(vec![
            Value::from(session.realm),
            Value::from(session.id.as_uuid()),
            Value::from(session.user.as_uuid()),
            Value::from(self.device.id.as_uuid()),
            Value::from(session.secret_hash.0.to_vec()),
            Value::Bytes(session.previous_secret_hash.map(|hash| hash.0.to_vec())),
            Value::from(session.secret_rotated_at),
            Value::from(session.auth_time),
            Value::from(session.acr.as_str()),
            Value::from(amr(&session.amr)?),
            Value::from(session.credential_epoch),
            Value::from(session.remembered),
            Value::from(session.created_at),
            Value::from(session.last_seen_at),
            Value::from(millis(session.idle)),
            Value::from(session.expires_at),
            Value::from(self.user_epoch),
        ])
    }
}

/// The stored form of a span.
pub(super) fn millis(span: Span) -> i64 {
    i64::try_from(span.get().as_millis()).unwrap_or(i64::MAX)
}

/// The stored form of the authentication methods.
pub(super) fn amr(methods: &[Amr]) -> Result<String, Error> {
    serde_json::to_string(methods).map_err(|error| Error::Other(error.to_string()))
}
