//! What ended, as two complete sets: grants, and access tokens revoked by themselves (`security-design`
//! rule 3). An entry stays until the last access token concerned has expired, and a minute longer. While a set
//! is not whole, or the feed is behind, the database is asked; so revocation never fails open.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use uuid::Uuid;

use super::ReadModels;
use crate::domain::model::ids::{GrantId, RealmId, TokenId};
use crate::domain::model::timestamp::Timestamp;
use crate::store::Error;
use crate::store::batch::sql::{self, Sql, values};

/// No access token lives longer than an hour; the minute is for clocks.
const KEPT: Duration = Duration::from_mins(61);

/// Entries of one set; beyond it the database is asked.
const MOST: usize = 200_000;

const GRANTS: Sql = Sql::same(
    "select realm_id, id, ended_at from grant_record where ended_at is not null and ended_at > $1 limit 200001",
);

const TOKENS: Sql =
    Sql::same("select realm_id, token_id, expires_at from revoked_token where expires_at > $1 limit 200001");

/// A grant that is not there gives nothing.
const IS_GRANT_LIVE: Sql = Sql::same("select 1 from grant_record where realm_id = $1 and id = $2 and ended_at is null");

const IS_TOKEN_REVOKED: Sql = Sql::same("select 1 from revoked_token where realm_id = $1 and token_id = $2");

/// Both sets.
pub(super) struct EndedSets {
    pub(super) grants: Set<(RealmId, GrantId)>,
    pub(super) tokens: Set<(RealmId, TokenId)>,
}

impl EndedSets {
    pub(super) fn new() -> Self {
        Self { grants: Set::new(), tokens: Set::new() }
    }

    pub(super) fn clear(&self) {
        self.grants.clear();
        self.tokens.clear();
    }

    /// Both have been read from the database, whole or up to their bound.
    pub(super) fn are_loaded(&self) -> bool {
        self.grants.is_loaded() && self.tokens.is_loaded()
    }

    /// Forgets what no live token can ask for.
    pub(super) fn prune(&self, now: Timestamp) {
        self.grants.prune(now);
        self.tokens.prune(now);
    }
}

/// Ids that ended, with the moment from which nobody can ask for them.
pub(super) struct Set<K> {
    state: RwLock<State<K>>,
}

struct State<K> {
    ended: HashMap<K, Timestamp>,
    extent: Extent,
    /// Raised by each clearing, so that a load that began before it is not believed.
    generation: u64,
}

/// How much of what ended a set holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// To be loaded.
    Unknown,
    /// All of it.
    Whole,
    /// More than its bound: the database is asked until it is whole again.
    Over,
}

impl<K: Hash + Eq> Set<K> {
    fn new() -> Self {
        Self { state: RwLock::new(State { ended: HashMap::new(), extent: Extent::Unknown, generation: 0 }) }
    }

    /// Whether the key ended. `None`: only the database knows.
    fn has(&self, key: &K, is_fresh: bool) -> Option<bool> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        if state.ended.contains_key(key) {
            // What ended never revives.
            return Some(true);
        }
        (is_fresh && state.extent == Extent::Whole).then_some(false)
    }

    /// Adds what ended just now.
    pub(super) fn add(&self, key: K, until: Timestamp) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if state.ended.len() >= MOST {
            state.extent = Extent::Over;
            return;
        }
        state.ended.insert(key, until);
    }

    fn clear(&self) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.ended.clear();
        state.extent = Extent::Unknown;
        state.generation = state.generation.wrapping_add(1);
    }

    fn is_loaded(&self) -> bool {
        self.state.read().unwrap_or_else(PoisonError::into_inner).extent != Extent::Unknown
    }

    /// What a load has to show; `None`: there is nothing to load.
    fn ticket(&self) -> Option<u64> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        (state.extent == Extent::Unknown).then_some(state.generation)
    }

    /// Joins what was loaded with what the feed brought meanwhile.
    fn fill(&self, ticket: u64, loaded: Vec<(K, Timestamp)>) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if state.generation != ticket {
            return;
        }
        if loaded.len() + state.ended.len() > MOST {
            state.extent = Extent::Over;
            return;
        }
        state.ended.extend(loaded);
        state.extent = Extent::Whole;
    }

    fn prune(&self, now: Timestamp) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.ended.retain(|_, until| *until > now);
        if state.extent == Extent::Over && state.ended.len() < MOST / 2 {
            state.extent = Extent::Unknown;
        }
    }
}

impl ReadModels {
    /// Whether the grant has ended, asked of access tokens that it gave (`security-design` rule 3). A grant
    /// that ended longer ago than any access token lives is the caller's to find in its row.
    pub async fn is_grant_ended(&self, realm: RealmId, grant: GrantId) -> Result<bool, Error> {
        if let Some(ended) = self.inner.ended.grants.has(&(realm, grant), self.is_fresh()) {
            return Ok(ended);
        }
        let live = sql::read(&self.inner.pools, IS_GRANT_LIVE, values![realm, grant.as_uuid()]).await?;
        Ok(live.is_empty())
    }

    /// Whether the access token was revoked by itself (`security-design` rule 3).
    pub async fn is_token_revoked(&self, realm: RealmId, token: TokenId) -> Result<bool, Error> {
        if let Some(revoked) = self.inner.ended.tokens.has(&(realm, token), self.is_fresh()) {
            return Ok(revoked);
        }
        let revoked = sql::read(&self.inner.pools, IS_TOKEN_REVOKED, values![realm, token.as_uuid()]).await?;
        Ok(!revoked.is_empty())
    }

    /// Loads the sets that are not whole. The feed's position is older than what is loaded here, so nothing
    /// falls between.
    pub(super) async fn load_ended(&self, now: Timestamp) -> Result<(), Error> {
        let sets = &self.inner.ended;
        if let Some(ticket) = sets.grants.ticket() {
            let rows = sql::read(&self.inner.pools, GRANTS, values![now.minus(KEPT)]).await?;
            let entry = |row: &sql::Row| {
                let ended_at = Timestamp::from_micros(row.get(2)?);
                Ok(((realm(row)?, GrantId::from_uuid(row.get(1)?)), ended_at.plus(KEPT)))
            };
            sets.grants.fill(ticket, rows.iter().map(entry).collect::<Result<_, Error>>()?);
        }
        if let Some(ticket) = sets.tokens.ticket() {
            let rows = sql::read(&self.inner.pools, TOKENS, values![now.minus(KEPT)]).await?;
            let entry = |row: &sql::Row| {
                let expires_at = Timestamp::from_micros(row.get(2)?);
                Ok(((realm(row)?, TokenId::from_uuid(row.get(1)?)), expires_at.plus(KEPT)))
            };
            sets.tokens.fill(ticket, rows.iter().map(entry).collect::<Result<_, Error>>()?);
        }
        Ok(())
    }
}

/// From when on nobody asks for what ended at `now`.
pub(super) fn kept_until(now: Timestamp) -> Timestamp {
    now.plus(KEPT)
}

fn realm(row: &sql::Row) -> Result<RealmId, Error> {
    row.get::<Uuid>(0).map(RealmId::from_uuid)
}
