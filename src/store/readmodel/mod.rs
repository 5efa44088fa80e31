//! Read models (architecture, section 7; `security-design` rules 3 and 19): what nearly every request asks
//! for, held in this process, exact. They are filled on demand, dropped by the change that names them, live
//! at most a minute, and are not used while the change feed is more than a second behind: then each question
//! goes to the database. Absence is not kept. Nothing here holds a generation, a redemption, a counter, a
//! password hash or an administrative power.

use std::fmt;
use std::sync::Arc;

use crate::clock::Clock;
use crate::domain::model::client::Client;
use crate::domain::model::ids::{ClientKey, GrantId, RealmId, SessionId, TokenId, UserId};
use crate::domain::model::key::SigningKey;
use crate::domain::model::realm::Realm;
use crate::domain::model::resource::Resource;
use crate::domain::model::session::Session;
use crate::domain::model::timestamp::Timestamp;
use crate::store::connect::Pools;
use crate::store::{Change, Error};

mod user;

pub use user::UserFacts;

/// The read models. Cheap to clone.
#[derive(Clone)]
pub struct ReadModels {
    inner: Arc<Inner>,
}

struct Inner {
    pools: Pools,
    clock: Arc<dyn Clock>,
}

impl fmt::Debug for ReadModels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadModels").field("ready", &self.ready()).finish_non_exhaustive()
    }
}

impl ReadModels {
    /// Empty, and not yet to be used.
    #[must_use]
    pub(in crate::store) fn new(pools: Pools, clock: Arc<dyn Clock>) -> Self {
        Self { inner: Arc::new(Inner { pools, clock }) }
    }

    /// The realm of this name.
    pub async fn realm_by_name(&self, _name: &str) -> Result<Option<Arc<Realm>>, Error> {
        Err(Error::Busy)
    }

    /// The realm.
    pub async fn realm(&self, _realm: RealmId) -> Result<Option<Arc<Realm>>, Error> {
        Err(Error::Busy)
    }

    /// The client with this `client_id`.
    pub async fn client(&self, _realm: RealmId, _client_id: &str) -> Result<Option<Arc<Client>>, Error> {
        Err(Error::Busy)
    }

    /// The client with this key.
    pub async fn client_by_key(&self, _realm: RealmId, _key: ClientKey) -> Result<Option<Arc<Client>>, Error> {
        Err(Error::Busy)
    }

    /// The realm's resources.
    pub async fn resources(&self, _realm: RealmId) -> Result<Arc<Vec<Resource>>, Error> {
        Err(Error::Busy)
    }

    /// The realm's signing keys, sealed.
    pub async fn keys(&self, _realm: RealmId) -> Result<Arc<Vec<SigningKey>>, Error> {
        Err(Error::Busy)
    }

    /// The session. Its last use may be behind: an idle end is confirmed in the database.
    pub async fn session(&self, _realm: RealmId, _session: SessionId) -> Result<Option<Arc<Session>>, Error> {
        Err(Error::Busy)
    }

    /// The user with what his roles and groups amount to.
    pub async fn user(&self, _realm: RealmId, _user: UserId) -> Result<Option<Arc<UserFacts>>, Error> {
        Err(Error::Busy)
    }

    /// Whether the grant has ended, asked of access tokens that it gave (`security-design` rule 3).
    pub async fn is_grant_ended(&self, _realm: RealmId, _grant: GrantId) -> Result<bool, Error> {
        Err(Error::Busy)
    }

    /// Whether the access token was revoked by itself (`security-design` rule 3).
    pub async fn is_token_revoked(&self, _realm: RealmId, _token: TokenId) -> Result<bool, Error> {
        Err(Error::Busy)
    }

    /// Drops what these changes name; called after the commit and before the caller is answered.
    pub fn apply(&self, _changes: &[Change]) {}

    /// Reads new changes, drops what they name, and leads the clock. Called at least twice a second.
    pub async fn poll(&self, _now: Timestamp) -> Result<(), Error> {
        let _ = (&self.inner.pools, &self.inner.clock);
        Err(Error::Busy)
    }

    /// Drops everything.
    pub fn clear(&self) {}

    /// Whether the feed has caught up and the sets of what ended are whole.
    #[must_use]
    pub fn ready(&self) -> bool {
        false
    }
}
