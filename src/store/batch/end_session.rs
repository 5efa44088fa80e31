//! The end of a session and, in a later statement, of its online grants (`security-design` rule 1).

use uuid::Uuid;

use super::attempt::Work;
use super::sql::{Sql, values};
use crate::domain::model::audit::AuditEvent;
use crate::domain::model::event::OutboxEvent;
use crate::domain::model::ids::{RealmId, SessionId};
use crate::domain::model::session::{EndReason, Ended};
use crate::domain::protocol::backchannel_logout::is_told;
use crate::store::repo::backchannel_logout;
use crate::store::{Change, ChangeKind, Error};

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

/// Who says that a limit was reached is believed only as far as the row agrees: it may have been used since.
const END: Sql = Sql::same(
    "update session set ended_at = $3, ended_reason = $4 where realm_id = $1 and id = $2 and ended_at is null \
     and ($4 <> 'idle' or last_seen_at + idle_millis * 1000 <= $3) and ($4 <> 'expired' or expires_at <= $3) \
     returning user_id",
);

/// A later statement than the one that ended the parent: it sees every grant that was born before.
const END_GRANTS: Sql = Sql::same(
    "update grant_record set ended_at = $3, ended_reason = $4 \
     where realm_id = $1 and session_id = $2 and not offline and ended_at is null returning id",
);

/// Later still: a client whose grant was born before is told too.
const QUEUE_NOTICES: Sql = Sql::same(backchannel_logout::QUEUE);

impl EndSession {
    pub(super) async fn run(&self, work: &mut Work<'_, '_>) -> Result<bool, Error> {
        if work.end_session(self.realm, self.session, self.ended).await?.is_none() {
            // It had ended before; by this very operation, if its event is there.
            return work.is_audited(&self.audit).await;
        }
        work.audit(&self.audit).await?;
        if let Some(event) = &self.outbox {
            work.tell(event).await?;
        }
        Ok(true)
    }
}

impl Work<'_, '_> {
    /// Ends the session and its online grants, queues what its clients are told, and tells whose session it was; `None`: it had ended before.
    pub(super) async fn end_session(
        &mut self,
        realm: RealmId,
        session: SessionId,
        ended: Ended,
    ) -> Result<Option<Uuid>, Error> {
        let row = values![realm, session.as_uuid(), ended.at, ended.reason.as_str()];
        let Some(row) = self.tx.row(END, row).await? else { return Ok(None) };
        let user = row.get(0)?;
        self.changes.push(Change { realm, kind: ChangeKind::Session, id: session.as_uuid() });
        let row = values![realm, session.as_uuid(), ended.at, EndReason::SessionEnded.as_str()];
        for row in self.tx.rows(END_GRANTS, row).await? {
            self.changes.push(Change { realm, kind: ChangeKind::GrantEnded, id: row.get(0)? });
        }
        if is_told(ended.reason) {
            let now = self.facts.clock.now();
            self.tx.execute(QUEUE_NOTICES, values![realm, session.as_uuid(), now]).await?;
        }
        Ok(Some(user))
    }
}
