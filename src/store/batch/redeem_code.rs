//! The redemption of a code and the birth of its grant (`security-design` rules 1, 2 and 12).

use uuid::Uuid;

use super::attempt::Work;
use super::sql::{Sql, values};
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

impl RedeemCode {
    pub(super) async fn run(&self, work: &mut Work<'_, '_>) -> Result<Redeemed, Error> {
        let (realm, code, grant) = (self.realm, self.code.as_uuid(), &self.grant);
        let row = values![realm, code, grant.id.as_uuid(), grant.created_at, self.code_expires_at];
        if work.tx.execute(GATE, row).await? == 0 {
            return self.classify(work).await;
        }
        if !work.bear_grant(grant, self.credential_epoch).await? {
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
}
