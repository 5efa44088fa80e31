//! Signing keys: listed, and brought where a realm's settings want them as part of a larger act. What
//! is to be done is decided by `domain/protocol/key_schedule`; the schedule and the command that
//! rotates stand in `service/rotate_keys`.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Scribe;
use crate::domain::model::audit::AuditKind;
use crate::domain::model::ids::{KeyId, RealmId};
use crate::domain::model::key::{Algorithm, SigningKey};
use crate::domain::model::realm::RealmSettings;
use crate::domain::protocol::backchannel_logout;
use crate::domain::protocol::key_schedule::KeyAct;
use crate::keys::{self, NewKey};
use crate::service::{App, Error};
use crate::store::{self, Tx, repo};

/// Keys that were made and are not stored yet, one of each algorithm.
pub type Fresh = BTreeMap<Algorithm, SigningKey>;

/// The longest life of what a realm's keys sign.
#[must_use]
pub fn longest_token(settings: &RealmSettings) -> Duration {
    settings.tokens.access.get().max(settings.tokens.id_token.get()).max(backchannel_logout::LIFETIME)
}

/// A realm's keys.
pub async fn list(app: &App, realm: RealmId) -> Result<Vec<SigningKey>, Error> {
    Ok(repo::key::list(&app.store.read(), realm).await?)
}

/// The algorithms for which the acts need a new key.
#[must_use]
pub fn wanted(acts: &[KeyAct]) -> Vec<Algorithm> {
    acts.iter().filter_map(|act| if let KeyAct::Announce { alg, .. } = act { Some(*alg) } else { None }).collect()
}

/// Makes keys, away from the threads that answer requests: RSA takes a good part of a second.
pub async fn make(app: &App, realm: RealmId, rsa_bits: u16, algorithms: Vec<Algorithm>) -> Result<Fresh, Error> {
    if algorithms.is_empty() {
        return Ok(Fresh::new());
    }
    let now = app.clock.now();
    let (sealer, entropy) = (app.sealer.clone(), app.entropy.clone());
    let work = move || {
        let one = |alg| {
            let id = KeyId::from_uuid(entropy.uuid("signing_key", now));
            let new = NewKey { realm, id, alg, rsa_bits, announced_at: now, active_at: now };
            keys::generate(&sealer, new).map(|key| (alg, key))
        };
        algorithms.into_iter().map(one).collect::<Result<Fresh, _>>()
    };
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| Error::Internal(format!("making keys stopped: {error}")))?
        .map_err(|error| Error::Internal(error.to_string()))
}

/// Carries acts out on the rows as they are. `fresh` must hold what [`wanted`] named.
pub async fn carry_out(
    tx: &mut Tx,
    scribe: &Scribe<'_>,
    mut keys: Vec<SigningKey>,
    acts: &[KeyAct],
    fresh: &mut Fresh,
) -> Result<(), store::Error> {
    for act in acts {
        match act {
            KeyAct::Announce { alg, active_at } => {
                let Some(mut key) = fresh.remove(alg) else {
                    return Err(store::Error::Other(format!("no {} key was made", alg.as_str())));
                };
                key.announced_at = scribe.now;
                key.active_at = *active_at;
                repo::key::insert(tx, &key).await?;
                audit(tx, scribe, "announced").await?;
            }
            KeyAct::Activate { id, at } => {
                change(tx, scribe, (&mut keys, *id), "active", |key| key.active_at = *at).await?;
            }
            KeyAct::Retire { id, at } => {
                change(tx, scribe, (&mut keys, *id), "retired", |key| key.retired_at = Some(*at)).await?;
            }
            KeyAct::Forget { id, at } => {
                change(tx, scribe, (&mut keys, *id), "gone", |key| key.gone_at = Some(*at)).await?;
            }
            KeyAct::Withdraw { id } => {
                repo::key::delete(tx, scribe.realm, *id).await?;
                audit(tx, scribe, "withdrawn").await?;
            }
        }
    }
    Ok(())
}

async fn change(
    tx: &mut Tx,
    scribe: &Scribe<'_>,
    (keys, id): (&mut [SigningKey], KeyId),
    reason: &'static str,
    edit: impl FnOnce(&mut SigningKey),
) -> Result<(), store::Error> {
    let Some(key) = keys.iter_mut().find(|key| key.id == id) else { return Ok(()) };
    edit(key);
    repo::key::set_phases(tx, key).await?;
    audit(tx, scribe, reason).await
}

async fn audit(tx: &mut Tx, scribe: &Scribe<'_>, reason: &'static str) -> Result<(), store::Error> {
    let mut audit = scribe.audit(AuditKind::KeyRotated);
    audit.reason = Some(reason);
    repo::audit::append(tx, &audit).await
}
