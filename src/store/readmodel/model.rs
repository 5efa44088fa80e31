//! One read model: a bounded map of shared values. A value is kept only if nothing invalidated its part of
//! the map while it was being loaded, so that a load that began before a change never outlives it.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use prometheus::IntCounter;
use quick_cache::Equivalent;
use quick_cache::sync::Cache;

use crate::observe::metrics;

/// No entry is used longer.
const LIFE: Duration = Duration::from_mins(1);

/// Parts of the map that are invalidated apart.
const PARTS: u64 = 64;

/// A bounded map.
pub(super) struct Model<K, V> {
    kept: Cache<K, Kept<V>>,
    /// Raised by each invalidation in that part.
    generations: Box<[Mutex<u64>]>,
    hasher: RandomState,
    hits: IntCounter,
    misses: IntCounter,
}

struct Kept<V> {
    value: Arc<V>,
    /// Monotonic time before it was loaded.
    since: Duration,
}

impl<V> Clone for Kept<V> {
    fn clone(&self) -> Self {
        Self { value: Arc::clone(&self.value), since: self.since }
    }
}

/// What a load has to show when it wants its value kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ticket {
    generation: u64,
    since: Duration,
}

impl<K: Hash + Eq + Clone, V> Model<K, V> {
    /// With room for so many; `kind` is what metrics call it.
    pub(super) fn new(kind: &str, capacity: usize) -> Self {
        let generations = (0..PARTS).map(|_| Mutex::new(0)).collect();
        // Looked up once: a hit is one addition.
        let hits = metrics().cache_requests.with_label_values(&[kind, "hit"]);
        let misses = metrics().cache_requests.with_label_values(&[kind, "miss"]);
        Self { kept: Cache::new(capacity), generations, hasher: RandomState::new(), hits, misses }
    }

    /// The value, if it is kept and young.
    pub(super) fn get<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q, now: Duration) -> Option<Arc<V>> {
        let kept = self.kept.get(key)?;
        let value = (now.saturating_sub(kept.since) <= LIFE).then_some(kept.value);
        if value.is_some() {
            self.hits.inc();
        }
        value
    }

    /// To be taken before the value is loaded.
    pub(super) fn ticket<Q: Hash + ?Sized>(&self, key: &Q, now: Duration) -> Ticket {
        self.misses.inc();
        let generation = self.part(key).map_or(0, |part| *part.lock().unwrap_or_else(PoisonError::into_inner));
        Ticket { generation, since: now }
    }

    /// Keeps the value, unless its part was invalidated since the ticket was taken.
    pub(super) fn keep(&self, key: K, ticket: Ticket, value: &Arc<V>) {
        let Some(part) = self.part(&key) else { return };
        // Held while the value goes in: an invalidation comes either before and is seen, or after and removes it.
        let generation = part.lock().unwrap_or_else(PoisonError::into_inner);
        if *generation == ticket.generation {
            self.kept.insert(key, Kept { value: Arc::clone(value), since: ticket.since });
        }
    }

    /// Drops one entry.
    pub(super) fn drop_one<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) {
        let Some(part) = self.part(key) else { return };
        let mut generation = part.lock().unwrap_or_else(PoisonError::into_inner);
        *generation = generation.wrapping_add(1);
        self.kept.remove(key);
    }

    /// Drops every entry of which `is_concerned` says so.
    pub(super) fn drop_where(&self, is_concerned: impl Fn(&K) -> bool) {
        self.raise_all();
        self.kept.retain(|key, _| !is_concerned(key));
    }

    /// Drops everything.
    pub(super) fn clear(&self) {
        self.raise_all();
        self.kept.clear();
    }

    /// First the generations, then the entries: a load that is kept in between began after this.
    fn raise_all(&self) {
        for part in &self.generations {
            let mut generation = part.lock().unwrap_or_else(PoisonError::into_inner);
            *generation = generation.wrapping_add(1);
        }
    }

    fn part<Q: Hash + ?Sized>(&self, key: &Q) -> Option<&Mutex<u64>> {
        let place = usize::try_from(self.hasher.hash_one(key) % PARTS).ok()?;
        self.generations.get(place)
    }
}
