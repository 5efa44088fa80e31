//! What is fixed in a grant at its birth and never updated (`security-design` rule 2): client, person, session,
//! terms. It cannot grow stale, so nothing but its end and want of room drops it. Whether the grant still lives and which
//! generation is current only the guarded update tells; no answer of this room says so.

use std::sync::Arc;

use quick_cache::sync::Cache;

use super::ReadModels;
use crate::domain::model::grant::Grant;
use crate::domain::model::ids::{GrantId, RealmId};

const MOST: usize = 16_384;

pub(super) type Grants = Cache<(RealmId, GrantId), Arc<Grant>>;

pub(super) fn new() -> Grants {
    Cache::new(MOST)
}

impl ReadModels {
    /// The grant as it was when somebody read it. Believe only what is fixed.
    #[must_use]
    pub fn grant_as_read(&self, realm: RealmId, grant: GrantId) -> Option<Arc<Grant>> {
        self.inner.grants.get(&(realm, grant))
    }

    /// Remembers a live grant that was read.
    pub fn remember_grant(&self, grant: &Grant) {
        if grant.ended.is_none() {
            self.inner.grants.insert((grant.realm, grant.id), Arc::new(grant.clone()));
        }
    }
}
