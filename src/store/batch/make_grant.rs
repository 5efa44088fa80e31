//! The birth of a grant (`security-design` rule 1), in the one statement that each granting act uses, and the acts
//! that need no gate because nothing is spent in them: what the authorization endpoint itself gives.

use super::attempt::Work;
use super::sql::{Sql, Value, sharing, values};
use crate::domain::model::audit::AuditEvent;
use crate::domain::model::grant::Grant;
use crate::domain::model::ids::CodeId;
use crate::store::Error;

/// A grant to be made of a person's own act in her session.
#[derive(Debug, Clone)]
pub struct MakeGrant {
    /// The grant, with its own new id.
    pub grant: Grant,
    /// The user's credential epoch that the act was begun under.
    pub credential_epoch: i64,
    /// Appended when the grant is made.
    pub audit: AuditEvent,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made {
    /// The grant stands.
    Made,
    /// The user is disabled or has changed a credential, the session has ended, or the client is disabled or
    /// gone.
    Ended,
}

/// Born only under a live session of an enabled user whose credentials are still those of the sign-in, for a
/// client that is enabled. The client's row is not locked, since everybody's grants would queue for it: what is
/// born in the very moment of its end is ended by the next sweep.
const BIRTH: Sql = sharing!(
    "insert into grant_record (realm_id, id, client_key, user_id, session_id, code_id, grant_type, offline, terms, \
     refresh_secret_hash, generation, rotated_at, presenter, grace_streak, grace_generation, created_at, \
     last_used_at, expires_at) \
     select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18 \
     from user_account join session on session.realm_id = user_account.realm_id and session.user_id = user_account.id \
     where user_account.realm_id = $1 and user_account.id = $4 and user_account.enabled \
     and user_account.credential_epoch = $19 and session.id = $5 and session.ended_at is null \
     and exists (select 1 from client where client.realm_id = $1 and client.id = $3 and client.enabled)",
    " on conflict do nothing"
);

/// One's own earlier attempt, whose answer was lost.
const OWN: Sql = Sql::same("select 1 from grant_record where realm_id = $1 and id = $2");

impl MakeGrant {
    pub(super) async fn run(&self, work: &mut Work<'_, '_>) -> Result<Made, Error> {
        let grant = &self.grant;
        if work.bear_grant(grant, self.credential_epoch).await? {
            work.audit(&self.audit).await?;
            return Ok(Made::Made);
        }
        let own = work.tx.row(OWN, values![grant.realm, grant.id.as_uuid()]).await?;
        Ok(if own.is_some() { Made::Made } else { Made::Ended })
    }
}

impl Work<'_, '_> {
    /// Whether the grant was born.
    pub(super) async fn bear_grant(&mut self, grant: &Grant, credential_epoch: i64) -> Result<bool, Error> {
        Ok(self.tx.execute(BIRTH, row(grant, credential_epoch)?).await? != 0)
    }
}

fn row(grant: &Grant, credential_epoch: i64) -> Result<Vec<Value>, Error> {
    let terms = serde_json::to_string(&grant.terms).map_err(|error| Error::Other(error.to_string()))?;
    Ok(vec![
        Value::from(grant.realm),
        Value::from(grant.id.as_uuid()),
        Value::from(grant.client.as_uuid()),
        Value::from(grant.user.as_uuid()),
        Value::from(grant.session.as_uuid()),
        Value::Id(grant.code.map(CodeId::as_uuid)),
        Value::from(grant.grant_type.as_str()),
        Value::from(grant.terms.offline),
        Value::from(terms),
        Value::Bytes(grant.refresh_secret_hash.map(|hash| hash.0.to_vec())),
        Value::from(grant.generation),
        Value::from(grant.rotated_at),
        Value::Bytes(grant.presenter.map(|presenter| presenter.to_vec())),
        Value::from(i64::from(grant.grace_streak)),
        Value::from(grant.grace_generation),
        Value::from(grant.created_at),
        Value::from(grant.last_used_at),
        Value::from(grant.expires_at),
        Value::from(credential_epoch),
    ])
}
