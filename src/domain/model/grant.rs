//! A grant: what one redeemed code (or other granting act) gave a client, and the refresh family that
//! hangs on it. Everything but generation, times and the end is fixed at birth and never updated.

use serde::{Deserialize, Serialize};

use super::client::GrantType;
use super::ids::{ClientKey, CodeId, GrantId, RealmId, SessionId, UserId};
use super::secret::SecretHash;
use super::session::{Acr, Amr, Ended};
use super::timestamp::Timestamp;

/// A grant as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Its realm.
    pub realm: RealmId,
    /// Its row.
    pub id: GrantId,
    /// To whom.
    pub client: ClientKey,
    /// On whose behalf.
    pub user: UserId,
    /// In which session it was given.
    pub session: SessionId,
    /// The code that made it, unique.
    pub code: Option<CodeId>,
    /// The granting act.
    pub grant_type: GrantType,
    /// What is fixed in it.
    pub terms: GrantTerms,
    /// SHA-256 of the 128-bit secret inside the refresh token; `None` = no refresh token was given.
    pub refresh_secret_hash: Option<SecretHash>,
    /// The generation that is current; 0 at birth.
    pub generation: i64,
    /// When the current generation took over.
    pub rotated_at: Timestamp,
    /// Keyed hash of who presented the generation before (`security-design` rule 9).
    pub presenter: Option<[u8; 16]>,
    /// Foreign repeats in a row; at 3 the family ends.
    pub grace_streak: i32,
    /// The generation for which a foreign repeat was last counted.
    pub grace_generation: i64,
    /// Born.
    pub created_at: Timestamp,
    /// Last refresh.
    pub last_used_at: Timestamp,
    /// Absolute end of the family.
    pub expires_at: Timestamp,
    /// When and why it ended.
    pub ended: Option<Ended>,
}

/// What is fixed in a grant at birth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantTerms {
    /// Scopes, in the order asked for, each once.
    pub scope: Vec<String>,
    /// `true`: survives logout and session end (`offline_access`); `false`: lives only with its session.
    pub offline: bool,
    /// When the person proved herself.
    pub auth_time: Timestamp,
    /// What the proof amounted to.
    pub acr: Acr,
    /// How it was proved.
    pub amr: Vec<Amr>,
    /// The request's nonce, for the first ID token.
    pub nonce: Option<String>,
    /// The request's `claims` parameter as JSON text, brought down to the names that can be delivered.
    pub claims: Option<String>,
    /// Resources (RFC 8707) in their registered spelling.
    pub resources: Vec<String>,
    /// Confirmation key thumbprint (RFC 9449 `dpop_jkt`, RFC 8705).
    pub cnf: Option<String>,
    /// The acting party (RFC 8693), as JSON text.
    pub actor: Option<String>,
    /// Rich authorization requests (RFC 9396), as JSON text.
    pub authorization_details: Option<String>,
    /// Version of the key the refresh token's tag was made with.
    pub key_version: i32,
}
