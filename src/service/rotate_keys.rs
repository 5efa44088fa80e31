//! Signing keys: the schedule and the command. Plans are pure rules; here they become rows. The plan is
//! made again inside the transaction that carries it out, from the rows as they then are, so that two
//! nodes, or two orders in one moment, never make two successors or leave a gap.

use super::admin::{Scribe, key};
use crate::domain::model::audit::Actor;
use crate::domain::model::key::{Algorithm, SigningKey};
use crate::domain::model::realm::Realm;
use crate::domain::model::timestamp::Timestamp;
use crate::domain::protocol::key_schedule::{self, KeyAct, Rotation};
use crate::service::{App, Error};
use crate::store::repo;

/// How often keys are made anew because the rows changed meanwhile.
const ATTEMPTS: usize = 3;

/// Brings a realm's keys where they should be at `now`; the number of acts.
///
/// # Errors
/// When the store cannot do it, or a key cannot be made.
pub async fn keep_schedule(app: &App, realm: &Realm, now: Timestamp) -> Result<usize, Error> {
    let longest = key::longest_token(&realm.settings);
    let plan = |stored: &[SigningKey]| key_schedule::plan(stored, &realm.settings.keys, now, longest);
    carry_out(app, realm, (now, Actor::System), plan).await
}

/// Rotates now: by announcement, or at once when keys may be known to somebody.
///
/// # Errors
/// When the store cannot do it, or a key cannot be made.
pub async fn rotate(
    app: &App,
    realm: &Realm,
    algorithms: &[Algorithm],
    rotation: Rotation,
    now: Timestamp,
) -> Result<usize, Error> {
    let plan = |stored: &[SigningKey]| {
        let settings = &realm.settings.keys;
        algorithms.iter().flat_map(|alg| key_schedule::rotate_now(stored, *alg, settings, now, rotation)).collect()
    };
    carry_out(app, realm, (now, Actor::Operator), plan).await
}

async fn carry_out<P>(app: &App, realm: &Realm, (now, actor): (Timestamp, Actor), plan: P) -> Result<usize, Error>
where
    P: Fn(&[SigningKey]) -> Vec<KeyAct> + Send + Sync,
{
    let mut acts = plan(&repo::key::list(&app.store.read(), realm.id).await?);
    for _ in 0..ATTEMPTS {
        if acts.is_empty() {
            return Ok(0);
        }
        // Keys are made before the transaction: nothing inside it waits for a prime number.
        let mut fresh = key::make(app, realm.id, realm.settings.keys.rsa_bits, key::wanted(&acts)).await?;
        let mut tx = app.store.begin().await?;
        repo::realm::lock(&mut tx, realm.id).await?;
        let stored = repo::key::list(&tx, realm.id).await?;
        acts = plan(&stored);
        if !key::wanted(&acts).iter().all(|alg| fresh.contains_key(alg)) {
            continue;
        }
        let mut scribe = Scribe::operator(app, realm.id, now);
        scribe.actor = actor;
        key::carry_out(&mut tx, &scribe, stored, &acts, &mut fresh).await?;
        tx.commit().await?;
        return Ok(acts.len());
    }
    Err(Error::Internal(format!("the keys of realm {} kept changing while they were rotated", realm.name)))
}
