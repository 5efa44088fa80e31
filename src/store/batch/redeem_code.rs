//! The redemption of a code and the birth of its grant (`security-design` rules 1, 2 and 12).

use crate::domain::model::audit::AuditEvent;
use crate::domain::model::grant::Grant;
use crate::domain::model::ids::{CodeId, GrantId, RealmId};
use crate::domain::model::timestamp::Timestamp;

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
    /// The user is disabled or has changed a credential, or the session has ended. The code is burnt.
    Ended,
}
