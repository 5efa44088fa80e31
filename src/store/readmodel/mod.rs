//! Read models (architecture, section 7; `security-design` rules 3 and 19): what nearly every request asks
//! for, held in this process, exact. They are filled on demand, dropped by the change that names them, live
//! at most a minute, and are not used while the change feed is more than a second behind: then each question
//! goes to the database. Absence is not kept. Nothing here holds a generation, a redemption, a counter, a
//! password hash or an administrative power.

use std::fmt;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use quick_cache::Equivalent;

use crate::clock::Clock;
use crate::domain::model::ids::{ClientKey, GrantId, SessionId, TokenId, UserId};
use crate::store::connect::Pools;
use crate::store::{Change, ChangeKind, Error, Read};

mod client;
mod ended;
mod feed;
mod grant;
mod guard;
mod keys;
mod model;
mod origins;
mod push;
mod realm;
mod resources;
mod scopes;
mod service_roles;
mod session;
mod user;

use model::Model;
pub(in crate::store) use push::PUSH;
pub use user::UserFacts;

/// Without a poll for so long the node is not ready.
const READY: Duration = Duration::from_secs(10);

/// The read models. Cheap to clone.
#[derive(Clone)]
pub struct ReadModels {
    inner: Arc<Inner>,
}

struct Inner {
    pools: Pools,
    read: Read,
    clock: Arc<dyn Clock>,
    guard: guard::Guard,
    /// Polls are taken in turn.
    position: tokio::sync::Mutex<feed::Position>,
    /// Somebody pushed.
    woken: tokio::sync::Notify,
    realms: realm::Realms,
    clients: client::Clients,
    origins: origins::Origins,
    resources: resources::Resources,
    scopes: scopes::Scopes,
    keys: keys::Keys,
    service_roles: service_roles::ServiceRoles,
    sessions: session::Sessions,
    users: user::Users,
    grants: grant::Grants,
    ended: ended::EndedSets,
}

impl fmt::Debug for ReadModels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadModels").field("ready", &self.ready()).finish_non_exhaustive()
    }
}

impl ReadModels {
    /// Empty, and not used before the feed's first poll.
    #[must_use]
    pub(in crate::store) fn new(pools: Pools, clock: Arc<dyn Clock>) -> Self {
        let inner = Inner {
            read: Read::new(pools.clone()),
            pools,
            clock,
            guard: guard::Guard::new(),
            position: tokio::sync::Mutex::default(),
            woken: tokio::sync::Notify::new(),
            realms: realm::Realms::new(),
            clients: client::Clients::new(),
            origins: origins::new(),
            resources: resources::new(),
            scopes: scopes::new(),
            keys: keys::new(),
            service_roles: service_roles::new(),
            sessions: session::new(),
            users: user::new(),
            grants: grant::new(),
            ended: ended::EndedSets::new(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Drops what these changes name. Own changes are applied after the commit and before the caller is
    /// answered; those of others when the feed brings them.
    pub fn apply(&self, changes: &[Change]) {
        for change in changes {
            self.apply_one(*change);
        }
    }

    fn apply_one(&self, change: Change) {
        let inner = &self.inner;
        let realm = change.realm;
        match change.kind {
            ChangeKind::Realm => {
                inner.realms.clear();
                inner.users.drop_where(|key| key.0 == realm);
            }
            ChangeKind::Client => {
                inner.clients.by_key.drop_one(&(realm, ClientKey::from_uuid(change.id)));
                inner.service_roles.drop_one(&(realm, ClientKey::from_uuid(change.id)));
                inner.origins.drop_one(&realm);
                // Client roles are named by the client's public name.
                inner.users.drop_where(|key| key.0 == realm);
            }
            ChangeKind::Resource => inner.resources.drop_one(&realm),
            ChangeKind::Scope => inner.scopes.drop_one(&realm),
            ChangeKind::Key => inner.keys.drop_one(&realm),
            ChangeKind::User => inner.users.drop_one(&(realm, UserId::from_uuid(change.id))),
            ChangeKind::Session => inner.sessions.drop_one(&(realm, SessionId::from_uuid(change.id))),
            ChangeKind::GrantEnded => {
                let key = (realm, GrantId::from_uuid(change.id));
                inner.ended.grants.add(key, ended::kept_until(inner.clock.now()));
                inner.grants.remove(&key);
            }
            ChangeKind::TokenRevoked => {
                inner.ended.tokens.add((realm, TokenId::from_uuid(change.id)), ended::kept_until(inner.clock.now()));
            }
            ChangeKind::Roles => {
                inner.users.drop_where(|key| key.0 == realm);
                inner.service_roles.drop_where(|key| key.0 == realm);
            }
            ChangeKind::All => self.clear(),
        }
    }

    /// Drops everything. The sets of what ended are loaded again by the next poll.
    pub fn clear(&self) {
        let inner = &self.inner;
        inner.realms.clear();
        inner.clients.clear();
        inner.origins.clear();
        inner.resources.clear();
        inner.scopes.clear();
        inner.keys.clear();
        inner.service_roles.clear();
        inner.sessions.clear();
        inner.users.clear();
        inner.grants.clear();
        inner.ended.clear();
    }

    /// Whether the feed runs and what ended has been loaded.
    #[must_use]
    pub fn ready(&self) -> bool {
        self.inner.guard.is_within(self.monotonic(), READY) && self.inner.ended.are_loaded()
    }

    /// How far the feed is behind; `None` before its first poll.
    pub(in crate::store) fn lag(&self) -> Option<Duration> {
        self.inner.guard.age(self.monotonic())
    }

    fn monotonic(&self) -> Duration {
        self.inner.clock.monotonic()
    }

    fn is_fresh(&self) -> bool {
        self.inner.guard.is_fresh(self.monotonic())
    }

    /// What is kept under the key, if it may be used.
    fn kept<K, V, Q>(&self, model: &Model<K, V>, key: &Q) -> Option<Arc<V>>
    where
        K: Hash + Eq + Clone,
        Q: Hash + Equivalent<K> + ?Sized,
    {
        let now = self.monotonic();
        if self.inner.guard.is_fresh(now) { model.get(key, now) } else { None }
    }

    /// Loads from the database and keeps what is found.
    async fn load<K, V>(
        &self,
        model: &Model<K, V>,
        key: K,
        load: impl Future<Output = Result<Option<V>, Error>>,
    ) -> Result<Option<Arc<V>>, Error>
    where
        K: Hash + Eq + Clone,
    {
        // The ticket comes before the first statement: the load is not polled before this.
        let ticket = model.ticket(&key, self.monotonic());
        let Some(value) = load.await? else { return Ok(None) };
        let value = Arc::new(value);
        model.keep(key, ticket, &value);
        Ok(Some(value))
    }
}
