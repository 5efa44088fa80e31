//! The redemption of a code and the birth of its grant (`security-design` rules 1, 2 and 12).

use uuid::Uuid;

use super::attempt::Work;
use super::sql::{Sql, Value, sharing, values};
use crate::domain::model::audit::AuditEvent;
use crate::domain::model::grant::Grant;
use crate::domain::model::ids::{CodeId, GrantId, RealmId};
use crate::domain::model::timestamp::Timestamp;
use crate::store::Error;

/// A code that would otherwise succeed.
#[derive(Debug, Clone)]
pub struct RedeemCode {
    /// The code's realm.
    pub realm: RealmId,
    /// The code.
    pub code: CodeId,
    /// When the code ends; the redemption is kept longer.
    pub code_expires_at: Timestamp,
    /// The grant to be made, with its own new id.
    pub grant: Grant,
    /// The user's credential epoch that the code was made under.
    pub credential_epoch: i64,
    /// Appended when the grant is made.
    pub audit: AuditEvent,
}

/// What became of a redemption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redeemed {
    /// The code was unspent and the grant is made.
    Redeemed,
    /// The code was spent before; the grant that it made, if it made one.
    Replayed {
        /// The first redemption's grant.
        grant: Option<GrantId>,
    },
    /// The user is disabled or has changed a credential, the session has ended, or the client is disabled or
    /// gone. The code is burnt.
    Ended,
}

/// The single-use gate. The ready-made grant id tells one's own earlier attempt from somebody else's.
const GATE: Sql = Sql::same(
    "insert into redemption (realm_id, code_id, grant_id, redeemed_at, expires_at) values ($1, $2, $3, $4, $5) \
     on conflict (realm_id, code_id) do nothing",
);

/// Read by a later statement: under READ COMMITTED it sees what the winner committed.
const FIRST: Sql = Sql::same(
    "select redemption.grant_id, grant_record.id from redemption left join grant_record \
     on grant_record.realm_id = redemption.realm_id and grant_record.id = redemption.grant_id \
     where redemption.realm_id = $1 and redemption.code_id = $2",
);

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

impl RedeemCode {
    pub(super) async fn run(&self, work: &mut Work<'_, '_>) -> Result<Redeemed, Error> {
        let (realm, code, grant) = (self.realm, self.code.as_uuid(), &self.grant);
        let row = values![realm, code, grant.id.as_uuid(), grant.created_at, self.code_expires_at];
        if work.tx.execute(GATE, row).await? == 0 {
            return self.classify(work).await;
        }
        if work.tx.execute(BIRTH, self.birth()?).await? == 0 {
            return Ok(Redeemed::Ended);
        }
        work.audit(&self.audit).await?;
        Ok(Redeemed::Redeemed)
    }

    async fn classify(&self, work: &mut Work<'_, '_>) -> Result<Redeemed, Error> {
        let found = work.tx.row(FIRST, values![self.realm, self.code.as_uuid()]).await?;
        // The gate was there a moment ago; only the purge of a day-old redemption can have taken it away.
        let Some(row) = found else { return Ok(Redeemed::Replayed { grant: None }) };
        let first: Uuid = row.get(0)?;
        let made: Option<Uuid> = row.get(1)?;
        Ok(match (first == self.grant.id.as_uuid(), made) {
            (true, Some(_)) => Redeemed::Redeemed,
            (true, None) => Redeemed::Ended,
            (false, made) => Redeemed::Replayed { grant: made.map(GrantId::from_uuid) },
        })
    }

    fn birth(&self) -> Result<Vec<Value>, Error> {
        let grant = &self.grant;
        let terms = serde_json::to_string(&grant.terms).map_err(|error| Error::Other(error.to_string()))?;
        Ok(vec![
            Value::from(self.realm),
            Value::from(grant.id.as_uuid()),
            Value::from(grant.client.as_uuid()),
            Value::from(grant.user.as_uuid()),
            Value::from(grant.session.as_uuid()),
            Value::from(self.code.as_uuid()),
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
            Value::from(self.credential_epoch),
        ])
    }
}
