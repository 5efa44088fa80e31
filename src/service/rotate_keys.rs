//! Signing keys: the schedule and the command. Plans are pure rules; here they become rows. Two nodes
//! that plan the same at once are told apart by the store: the second finds it done.

use crate::domain::model::audit::{Actor, AuditEvent, AuditKind};
use crate::domain::model::ids::{EventId, KeyId};
use crate::domain::model::key::{Algorithm, SigningKey};
use crate::domain::model::realm::Realm;
use crate::domain::model::timestamp::Timestamp;
use crate::domain::protocol::key_schedule::{self, KeyAct, Rotation};
use crate::keys::{self, NewKey};
use crate::service::{App, Error};
use crate::store::repo;

/// Brings a realm's keys where they should be at `now`; the number of acts.
///
/// # Errors
/// When the store cannot do it, or a key cannot be made.
pub async fn keep_schedule(app: &App, realm: &Realm, now: Timestamp) -> Result<usize, Error> {
    let stored = repo::key::list(&app.store.read(), realm.id).await?;
    let tokens = realm.settings.tokens;
    let longest = tokens.access.get().max(tokens.id_token.get());
    let acts = key_schedule::plan(&stored, &realm.settings.keys, now, longest);
    carry_out(app, realm, (&stored, &acts), now, Actor::System).await
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
    let stored = repo::key::list(&app.store.read(), realm.id).await?;
    let acts: Vec<KeyAct> =
        algorithms.iter().flat_map(|alg| key_schedule::rotate_now(&stored, *alg, now, rotation)).collect();
    carry_out(app, realm, (&stored, &acts), now, Actor::Operator).await
}

/// Does what was planned for the keys that were `known` then.
async fn carry_out(
    app: &App,
    realm: &Realm,
    (known, acts): (&[SigningKey], &[KeyAct]),
    now: Timestamp,
    actor: Actor,
) -> Result<usize, Error> {
    if acts.is_empty() {
        return Ok(0);
    }
    // Keys are made before the transaction: nothing inside it waits for a prime number.
    let mut fresh = Vec::new();
    for act in acts {
        if let KeyAct::Announce { alg, active_at } = act {
            fresh.push(make(app, realm, *alg, now, *active_at).await?);
        }
    }
    let mut tx = app.store.begin().await?;
    let mut stored = repo::key::list(&tx, realm.id).await?;
    for key in fresh {
        // Another node may have announced meanwhile, by the same schedule. What a person orders is done.
        let is_new = |other: &SigningKey| known.iter().all(|one| one.id != other.id);
        let has_twin = stored.iter().any(|other| other.alg == key.alg && is_new(other));
        if actor == Actor::Operator || !has_twin {
            repo::key::insert(&mut tx, &key).await?;
        }
    }
    for act in acts {
        let (id, change): (KeyId, fn(&mut SigningKey, Timestamp)) = match act {
            KeyAct::Announce { .. } => continue,
            KeyAct::Activate { id, .. } => (*id, |key, at| key.active_at = at),
            KeyAct::Retire { id, .. } => (*id, |key, at| key.retired_at = Some(at)),
            KeyAct::Forget { id, .. } => (*id, |key, at| key.gone_at = Some(at)),
        };
        let (KeyAct::Announce { active_at: at, .. }
        | KeyAct::Activate { at, .. }
        | KeyAct::Retire { at, .. }
        | KeyAct::Forget { at, .. }) = act;
        if let Some(key) = stored.iter_mut().find(|key| key.id == id) {
            change(key, *at);
            repo::key::set_phases(&mut tx, key).await?;
        }
    }
    repo::audit::append(&mut tx, &rotated(app, realm, now, actor)).await?;
    tx.commit().await?;
    Ok(acts.len())
}

fn rotated(app: &App, realm: &Realm, now: Timestamp, actor: Actor) -> AuditEvent {
    AuditEvent {
        id: EventId::from_uuid(app.entropy.uuid("event", now)),
        realm: realm.id,
        at: now,
        kind: AuditKind::KeyRotated,
        user: None,
        client: None,
        session: None,
        grant: None,
        reason: None,
        actor,
        address: None,
        request: None,
    }
}

/// Makes a key off the async threads: an RSA key takes a tenth of a second and more.
async fn make(
    app: &App,
    realm: &Realm,
    alg: Algorithm,
    now: Timestamp,
    active_at: Timestamp,
) -> Result<SigningKey, Error> {
    let new = NewKey {
        realm: realm.id,
        id: KeyId::from_uuid(app.entropy.uuid("key", now)),
        alg,
        rsa_bits: realm.settings.keys.rsa_bits,
        announced_at: now,
        active_at,
    };
    let sealer = app.sealer.clone();
    let made = tokio::task::spawn_blocking(move || keys::generate(&sealer, new)).await;
    Ok(made.map_err(|error| Error::Internal(error.to_string()))??)
}
