//! Audit events that are appended in the batch, mostly together with the change they tell of. They are
//! appended unnumbered (`security-design` rule 33); the personal part stands aside with its salt.

use super::attempt::Work;
use super::sql::{Sql, Value, values};
use crate::domain::model::audit::AuditEvent;
use crate::domain::model::ids::{ClientKey, GrantId, SessionId, UserId};
use crate::store::Error;
use crate::store::repo;

/// A conflict can only be with the event itself, written by an attempt whose answer was lost.
const EVENT: Sql = Sql::same(
    "insert into audit_event (realm_id, id, occurred_at, kind, user_id, client_key, session_id, grant_id, reason, \
     actor, request, personal_hash) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) \
     on conflict (realm_id, id) do nothing",
);

const PERSONAL: Sql = Sql::same(
    "insert into audit_personal (realm_id, event_id, salt, address) values ($1, $2, $3, $4) \
     on conflict (realm_id, event_id) do nothing",
);

const EXISTS: Sql = Sql::same("select 1 from audit_event where realm_id = $1 and id = $2");

impl Work<'_, '_> {
    /// Appends the event, once.
    pub(super) async fn audit(&mut self, event: &AuditEvent) -> Result<(), Error> {
        let personal = repo::audit::personal(&*self.facts.entropy, event);
        let row = vec![
            Value::from(event.realm),
            Value::from(event.id.as_uuid()),
            Value::from(event.at),
            Value::from(event.kind.as_str()),
            Value::Id(event.user.map(UserId::as_uuid)),
            Value::Id(event.client.map(ClientKey::as_uuid)),
            Value::Id(event.session.map(SessionId::as_uuid)),
            Value::Id(event.grant.map(GrantId::as_uuid)),
            Value::Text(event.reason.map(Into::into)),
            Value::from(event.actor.as_str()),
            Value::Text(event.request.clone().map(Into::into)),
            Value::Bytes(personal.as_ref().map(|personal| personal.hash.clone())),
        ];
        let appended = self.tx.execute(EVENT, row).await?;
        if let Some(personal) = personal
            && appended > 0
        {
            let row = values![event.realm, event.id.as_uuid(), personal.salt, personal.address];
            self.tx.execute(PERSONAL, row).await?;
        }
        Ok(())
    }

    /// Whether the event was appended before: then the act it tells of was one's own.
    pub(super) async fn is_audited(&mut self, event: &AuditEvent) -> Result<bool, Error> {
        Ok(self.tx.row(EXISTS, values![event.realm, event.id.as_uuid()]).await?.is_some())
    }
}
