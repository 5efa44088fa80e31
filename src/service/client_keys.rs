//! Clients' own keys, registered with them or fetched from their `jwks_uri`: whatever a client signs is
//! verified here. What was parsed is kept; when a set may be fetched again is decided in
//! [`crate::domain::protocol::key_set_age`].
//!
//! A host that is slow, or that a stranger makes us ask, costs nobody but its own client: one fetch at a time
//! for each, nobody waits for it who has keys that fit, and no thread is held.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use quick_cache::sync::Cache;
use serde_json::Value;
use tokio::sync::{Mutex, OwnedMutexGuard};
use url::Url;

use crate::domain::model::client::{Client, ClientMetadata};
use crate::domain::model::ids::{ClientKey, RealmId};
use crate::domain::model::timestamp::Timestamp;
use crate::domain::protocol::foreign_jwks::{self, SignatureVerdict};
use crate::domain::protocol::foreign_jws::ForeignJws;
use crate::domain::protocol::key_set_age::KeySetAge;
use crate::keys::ForeignKeys;
use crate::outbound::{Outbound, Trust};

/// Clients whose keys are kept at hand.
const KEPT: usize = 4096;

/// The keys of every client, as far as they were needed. Cheap to clone.
#[derive(Clone)]
pub struct ClientKeys(Arc<Cache<(RealmId, ClientKey), Arc<Kept>>>);

impl fmt::Debug for ClientKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientKeys")
    }
}

/// Where keys come from.
#[derive(PartialEq, Eq)]
enum Origin {
    /// They stand in the registration.
    Registered(Value),
    /// They are fetched.
    Fetched(Url),
}

impl Origin {
    fn of(metadata: &ClientMetadata) -> Option<Self> {
        match (&metadata.jwks, &metadata.jwks_uri) {
            (Some(jwks), _) => Some(Self::Registered(jwks.clone())),
            (None, Some(uri)) => Url::parse(uri).ok().map(Self::Fetched),
            (None, None) => None,
        }
    }
}

/// One client's keys.
struct Kept {
    origin: Origin,
    known: RwLock<Known>,
    /// Held during a fetch.
    fetching: Arc<Mutex<()>>,
}

#[derive(Clone, Default)]
struct Known {
    keys: Option<Arc<ForeignKeys>>,
    age: KeySetAge,
}

impl Known {
    fn usable(self, now: Timestamp) -> Option<Arc<ForeignKeys>> {
        self.keys.filter(|_| self.age.is_usable(now))
    }
}

impl Kept {
    fn look(&self) -> Known {
        self.known.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, change: impl FnOnce(&mut Known)) {
        change(&mut self.known.write().unwrap_or_else(PoisonError::into_inner));
    }
}

/// A fetch as it is asked for.
struct Asked<'a> {
    outbound: &'a Arc<Outbound>,
    kept: &'a Arc<Kept>,
    url: &'a Url,
    trust: Trust,
    now: Timestamp,
}

impl Default for ClientKeys {
    fn default() -> Self {
        Self::new()
    }
}

impl ClientKeys {
    /// Knows nobody's keys yet.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(Cache::new(KEPT)))
    }

    /// Whether a key of the client made the signature of what it sent.
    pub async fn verify(
        &self,
        outbound: &Arc<Outbound>,
        client: &Client,
        jws: &ForeignJws<'_>,
        now: Timestamp,
    ) -> SignatureVerdict {
        let Some(kept) = self.kept(client) else { return SignatureVerdict::NoKey };
        let Origin::Fetched(url) = &kept.origin else {
            return kept.look().keys.map_or(SignatureVerdict::NoKey, |keys| keys.verify(jws));
        };
        let asked = Asked { outbound, kept: &kept, url, trust: client.origin.into(), now };
        let held = kept.look().keys;
        let Some(keys) = asked.current().await else { return SignatureVerdict::NoKey };
        let verdict = keys.verify(jws);
        // What was fetched for this very token is as new as can be.
        let was_held = held.is_some_and(|held| Arc::ptr_eq(&held, &keys));
        if verdict == SignatureVerdict::Good || !was_held || !keys.may_be_outdated(jws) {
            return verdict;
        }
        match asked.newer_than(&keys).await {
            Some(newer) => newer.verify(jws),
            None => verdict,
        }
    }

    /// What is kept for a client; begun anew when its registration says something else.
    fn kept(&self, client: &Client) -> Option<Arc<Kept>> {
        let place = (client.realm, client.key);
        let origin = Origin::of(&client.metadata)?;
        if let Some(kept) = self.0.get(&place).filter(|kept| kept.origin == origin) {
            return Some(kept);
        }
        let keys = match &origin {
            Origin::Registered(jwks) => foreign_jwks::read(jwks).ok().map(|set| Arc::new(ForeignKeys::new(set))),
            Origin::Fetched(_) => None,
        };
        let known = RwLock::new(Known { keys, age: KeySetAge::default() });
        let kept = Arc::new(Kept { origin, known, fetching: Arc::default() });
        self.0.insert(place, Arc::clone(&kept));
        Some(kept)
    }
}

impl Asked<'_> {
    /// The keys as they are to be believed now.
    async fn current(&self) -> Option<Arc<ForeignKeys>> {
        let known = self.kept.look();
        if known.age.is_fresh(self.now) {
            return known.keys;
        }
        let fetching = Arc::clone(&self.kept.fetching);
        let guard = if known.age.is_usable(self.now) {
            match fetching.try_lock_owned() {
                Ok(guard) => guard,
                // Somebody is at it.
                Err(_) => return known.keys,
            }
        } else {
            fetching.lock_owned().await
        };
        let known = self.kept.look();
        if !known.age.is_fresh(self.now) && known.age.may_fetch(self.now) {
            self.fetch(guard).await;
        }
        self.kept.look().usable(self.now)
    }

    /// A set that is newer than the one that was looked at, if one may be fetched or somebody just did.
    async fn newer_than(&self, seen: &Arc<ForeignKeys>) -> Option<Arc<ForeignKeys>> {
        let is_newer = |keys: &Arc<ForeignKeys>| !Arc::ptr_eq(keys, seen);
        let guard = Arc::clone(&self.kept.fetching).lock_owned().await;
        let known = self.kept.look();
        if known.keys.as_ref().is_some_and(is_newer) {
            return known.keys;
        }
        if !known.age.may_renew(self.now) {
            return None;
        }
        self.kept.note(|known| known.age.renewed_at = Some(self.now));
        self.fetch(guard).await;
        self.kept.look().keys.filter(is_newer)
    }

    /// Fetches once. Whoever caused it may hang up: it goes on without him, so that nobody can waste the one
    /// attempt of a minute.
    async fn fetch(&self, guard: OwnedMutexGuard<()>) {
        let (outbound, kept) = (Arc::clone(self.outbound), Arc::clone(self.kept));
        let (url, trust, now) = (self.url.clone(), self.trust, self.now);
        let running = tokio::spawn(async move {
            let bytes = outbound.key_set(&url, trust).await.ok();
            match bytes.and_then(|bytes| foreign_jwks::parse(&bytes).ok()) {
                Some(set) => kept.note(|known| {
                    known.keys = Some(Arc::new(ForeignKeys::new(set)));
                    known.age.fetched(now);
                }),
                None => kept.note(|known| known.age.failed_at = Some(now)),
            }
            drop(guard);
        });
        // A task that was cut off at the end of the process has nothing to tell.
        let _ = running.await;
    }
}
