//! The conformance suite of short-lived state: each implementation of the trait passes the same questions.

use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use doorward::domain::model::ids::RealmId;
use doorward::domain::model::timestamp::Timestamp;
use doorward::entropy::{Entropy, SystemEntropy};
use doorward::store::shortlived::{Kind, Mark, Marked, Owner, Put, ShortLived, Update, Versioned};

use super::db::START;
use super::node::{Node, on_each};

on_each! { the_database_conforms }

const REALM: RealmId = RealmId::from_bytes([1; 16]);
const OTHER: RealmId = RealmId::from_bytes([2; 16]);
const HOUR: Duration = Duration::from_secs(3600);

async fn the_database_conforms(node: Node) {
    conforms(node.store.shortlived()).await;
}

/// Every question of the suite. The implementation may hold other values.
pub(crate) async fn conforms(kept: &dyn ShortLived) {
    what_is_put_is_found(kept).await;
    a_value_is_taken_once(kept).await;
    what_has_expired_is_not_there(kept).await;
    an_update_needs_the_version_that_was_read(kept).await;
    an_owner_keeps_the_newest(kept).await;
    a_mark_is_new_once_and_its_owner_has_so_many(kept).await;
    a_counter_has_a_window(kept).await;
    nothing_is_seen_from_another_realm_or_kind(kept).await;
    a_purge_takes_only_what_has_expired(kept).await;
}

fn put<'a>(key: &'a [u8], value: &'a [u8], now: Timestamp) -> Put<'a> {
    Put { realm: REALM, kind: Kind::Flow, key, value, owner: None, expires_at: now.plus(HOUR), now }
}

fn key() -> Vec<u8> {
    SystemEntropy.uuid("test", START).as_bytes().to_vec()
}

async fn what_is_put_is_found(kept: &dyn ShortLived) {
    let key = key();
    assert_eq!(kept.get(REALM, Kind::Flow, &key, START).await.unwrap(), None);
    assert!(kept.put(put(&key, b"one", START)).await.unwrap());
    assert!(!kept.put(put(&key, b"two", START)).await.unwrap(), "a key is taken");
    assert_eq!(kept.get(REALM, Kind::Flow, &key, START).await.unwrap().as_deref(), Some(b"one".as_slice()));
    kept.delete(REALM, Kind::Flow, &key).await.unwrap();
    assert_eq!(kept.get(REALM, Kind::Flow, &key, START).await.unwrap(), None);
    let empty = super::shortlived::key();
    assert!(kept.put(put(&empty, b"", START)).await.unwrap());
    assert_eq!(kept.get(REALM, Kind::Flow, &empty, START).await.unwrap().as_deref(), Some(b"".as_slice()));
}

async fn a_value_is_taken_once(kept: &dyn ShortLived) {
    let key = key();
    assert!(kept.put(put(&key, b"once", START)).await.unwrap());
    let taking = (0..50).map(|_| kept.take(REALM, Kind::Flow, &key, START)).collect();
    let taken: Vec<Vec<u8>> = together(taking).await.into_iter().filter_map(Result::unwrap).collect();
    assert_eq!(taken, [b"once".to_vec()]);
}

async fn what_has_expired_is_not_there(kept: &dyn ShortLived) {
    let key = key();
    assert!(kept.put(put(&key, b"old", START)).await.unwrap());
    let late = START.plus(HOUR);
    let version = kept.get_versioned(REALM, Kind::Flow, &key, START).await.unwrap().unwrap().version;
    assert_eq!(kept.get(REALM, Kind::Flow, &key, late).await.unwrap(), None);
    assert_eq!(kept.get_versioned(REALM, Kind::Flow, &key, late).await.unwrap(), None);
    assert_eq!(kept.take(REALM, Kind::Flow, &key, late).await.unwrap(), None);
    let update = Update {
        realm: REALM,
        kind: Kind::Flow,
        key: &key,
        version,
        value: b"revived",
        expires_at: late.plus(HOUR),
        now: late,
    };
    assert!(!kept.update_if(update).await.unwrap(), "an update revives nothing");
    assert!(kept.put(put(&key, b"new", late)).await.unwrap(), "its key is free");
    assert_eq!(kept.take(REALM, Kind::Flow, &key, late).await.unwrap().as_deref(), Some(b"new".as_slice()));
}

async fn an_update_needs_the_version_that_was_read(kept: &dyn ShortLived) {
    let key = key();
    assert!(kept.put(put(&key, b"a", START)).await.unwrap());
    let Versioned { version, value } = kept.get_versioned(REALM, Kind::Flow, &key, START).await.unwrap().unwrap();
    assert_eq!(value, b"a");
    let update = |value, version| Update {
        realm: REALM,
        kind: Kind::Flow,
        key: &key,
        version,
        value,
        expires_at: START.plus(HOUR),
        now: START,
    };
    let updates = (0..20).map(|_| kept.update_if(update(b"b", version))).collect();
    let won = together(updates).await.into_iter().filter(|won| *won.as_ref().unwrap()).count();
    assert_eq!(won, 1, "of those who read the same version one wins");
    let Versioned { version, value } = kept.get_versioned(REALM, Kind::Flow, &key, START).await.unwrap().unwrap();
    assert_eq!(value, b"b");
    assert!(kept.update_if(update(b"c", version)).await.unwrap());
    kept.delete(REALM, Kind::Flow, &key).await.unwrap();
    assert!(!kept.update_if(update(b"d", version + 1)).await.unwrap(), "an update makes nothing");
}

async fn an_owner_keeps_the_newest(kept: &dyn ShortLived) {
    let (owner, stranger) = (key(), key());
    let keys: Vec<Vec<u8>> = (0..6).map(|_| key()).collect();
    let foreign = key();
    let of = |id: &'static str| if id == "owner" { owner.as_slice() } else { stranger.as_slice() };
    assert!(
        kept.put(Put { owner: Some(Owner { id: of("stranger"), cap: 3 }), ..put(&foreign, b"x", START) })
            .await
            .unwrap()
    );
    for (age, key) in keys.iter().enumerate() {
        let now = START.plus(Duration::from_millis(u64::try_from(age).unwrap()));
        assert!(kept.put(Put { owner: Some(Owner { id: of("owner"), cap: 3 }), ..put(key, b"x", now) }).await.unwrap());
    }
    let late = START.plus(Duration::from_secs(1));
    for (age, key) in keys.iter().enumerate() {
        let found = kept.get(REALM, Kind::Flow, key, late).await.unwrap().is_some();
        assert_eq!(found, age >= 3, "value {age}");
    }
    assert!(kept.get(REALM, Kind::Flow, &foreign, late).await.unwrap().is_some(), "another owner loses nothing");
    // Of values of one moment the one that was put last stays.
    let last = [0_u8; 16];
    kept.delete(REALM, Kind::Flow, &last).await.unwrap();
    let now = START.plus(Duration::from_millis(5));
    assert!(kept.put(Put { owner: Some(Owner { id: of("owner"), cap: 1 }), ..put(&last, b"y", now) }).await.unwrap());
    assert!(kept.get(REALM, Kind::Flow, &last, late).await.unwrap().is_some());
    assert!(kept.get(REALM, Kind::Flow, &keys[5], late).await.unwrap().is_none());
}

async fn a_mark_is_new_once_and_its_owner_has_so_many(kept: &dyn ShortLived) {
    let (owner, stranger, first) = (key(), key(), key());
    let mark = |key: &[u8], owner: &[u8], now: Timestamp| {
        let (key, owner) = (key.to_vec(), owner.to_vec());
        async move {
            let (kind, expires_at) = (Kind::Assertion, now.plus(HOUR));
            let mark = Mark { realm: REALM, kind, key: &key, owner: &owner, most: 3, expires_at, now };
            kept.mark(mark).await.unwrap()
        }
    };
    let tries = (0..20).map(|_| mark(&first, &owner, START)).collect();
    let outcomes = together(tries).await;
    assert_eq!(outcomes.iter().filter(|marked| **marked == Marked::New).count(), 1, "{outcomes:?}");
    assert_eq!(outcomes.iter().filter(|marked| **marked == Marked::Known).count(), 19);
    for _ in 0..2 {
        assert_eq!(mark(&key(), &owner, START).await, Marked::New);
    }
    assert_eq!(mark(&key(), &owner, START).await, Marked::Full);
    assert_eq!(mark(&first, &owner, START).await, Marked::Known, "full, and nothing is forgotten");
    assert_eq!(mark(&key(), &stranger, START).await, Marked::New, "each has a memory of its own");
    let late = START.plus(HOUR);
    assert_eq!(mark(&first, &owner, late).await, Marked::New, "what has ended makes room");
    assert_eq!(mark(&first, &owner, late).await, Marked::Known);
}

async fn a_counter_has_a_window(kept: &dyn ShortLived) {
    let key = key();
    let window = Duration::from_secs(60);
    let counts = (0..50).map(|_| kept.bump(REALM, Kind::Counter, &key, window, START)).collect();
    let mut counts: Vec<u64> = together(counts).await.into_iter().map(Result::unwrap).collect();
    counts.sort_unstable();
    assert_eq!(counts, (1..=50).collect::<Vec<u64>>(), "no hit is lost, none counted twice");
    let almost = START.plus(Duration::from_secs(59));
    assert_eq!(kept.bump(REALM, Kind::Counter, &key, window, almost).await.unwrap(), 51);
    let after = START.plus(window);
    assert_eq!(kept.bump(REALM, Kind::Counter, &key, window, after).await.unwrap(), 1, "hits prolong no window");
    assert_eq!(kept.bump(OTHER, Kind::Counter, &key, window, after).await.unwrap(), 1);
    assert_eq!(kept.bump(REALM, Kind::Once, &key, window, after).await.unwrap(), 1);
}

async fn nothing_is_seen_from_another_realm_or_kind(kept: &dyn ShortLived) {
    let key = key();
    assert!(kept.put(put(&key, b"mine", START)).await.unwrap());
    for (realm, kind) in [(OTHER, Kind::Flow), (REALM, Kind::Request), (REALM, Kind::Code)] {
        assert_eq!(kept.get(realm, kind, &key, START).await.unwrap(), None);
        assert_eq!(kept.take(realm, kind, &key, START).await.unwrap(), None);
        kept.delete(realm, kind, &key).await.unwrap();
        assert!(kept.put(Put { realm, kind, ..put(&key, b"theirs", START) }).await.unwrap());
    }
    assert_eq!(kept.take(REALM, Kind::Flow, &key, START).await.unwrap().as_deref(), Some(b"mine".as_slice()));
}

async fn a_purge_takes_only_what_has_expired(kept: &dyn ShortLived) {
    let (old, young) = (key(), key());
    let later = START.plus(HOUR);
    assert!(kept.put(put(&old, b"old", START)).await.unwrap());
    assert!(kept.put(put(&young, b"young", later)).await.unwrap());
    assert!(kept.purge(later).await.unwrap() >= 1);
    assert_eq!(kept.purge(later).await.unwrap(), 0);
    assert_eq!(kept.get(REALM, Kind::Flow, &old, START).await.unwrap(), None, "it is gone for good");
    assert!(kept.get(REALM, Kind::Flow, &young, later).await.unwrap().is_some());
}

/// Runs the futures at the same time and gives their results in their order.
async fn together<'a, T>(futures: Vec<impl Future<Output = T> + Send + 'a>) -> Vec<T> {
    let mut running: Vec<(Pin<Box<dyn Future<Output = T> + Send + 'a>>, Option<T>)> =
        futures.into_iter().map(|future| (Box::pin(future) as Pin<Box<_>>, None)).collect();
    std::future::poll_fn(move |context| {
        let mut waiting = false;
        for (future, result) in &mut running {
            if result.is_none() {
                match future.as_mut().poll(context) {
                    Poll::Ready(done) => *result = Some(done),
                    Poll::Pending => waiting = true,
                }
            }
        }
        if waiting { Poll::Pending } else { Poll::Ready(running.drain(..).filter_map(|(_, result)| result).collect()) }
    })
    .await
}
