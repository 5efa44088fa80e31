//! What a person allowed an application.

use super::ids::{ClientKey, ConsentId, RealmId, UserId};
use super::timestamp::Timestamp;

/// A remembered consent, one per person and client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consent {
    /// Its realm.
    pub realm: RealmId,
    /// Its row.
    pub id: ConsentId,
    /// Who.
    pub user: UserId,
    /// To whom.
    pub client: ClientKey,
    /// Scopes allowed so far.
    pub scope: Vec<String>,
    /// Resources allowed so far.
    pub resources: Vec<String>,
    /// First given.
    pub created_at: Timestamp,
    /// Last widened.
    pub updated_at: Timestamp,
}
