//! When signing keys are announced, take over, retire and go: OpenID Connect Core 10.1.1, behaviour
//! case B-25, `security-design` rule 14.
//!
//! Phases are times in the rows, so all nodes switch at the same moment without a word. A plan is made
//! of the rows as they are; carried out twice, or half, it does no harm: the next plan mends it.

use std::time::Duration;

use crate::model::ids::KeyId;
use crate::model::key::{Algorithm, KeyPhase, SigningKey};
use crate::model::realm::KeySettings;
use crate::model::timestamp::Timestamp;

/// A key is known this long before it signs, at the least (rule 14).
pub const ANNOUNCE_MIN: Duration = Duration::from_mins(1);
/// Relying parties may keep the key set for this long at the most.
const KEPT_MAX: Duration = Duration::from_mins(15);
/// An answer that was given just before a key was announced may be this late: a node hears of a new key
/// within a second, and the answer travels.
const ON_THE_WAY: Duration = Duration::from_secs(10);
/// A retired key stays this much longer than the longest token it signed.
const RETIRED_MARGIN: Duration = Duration::from_mins(1);

/// One thing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyAct {
    /// Make a key, published now, that signs from `active_at` on.
    Announce {
        /// Its algorithm.
        alg: Algorithm,
        /// When it takes over; now for the first of its kind.
        active_at: Timestamp,
    },
    /// Let an announced key sign from `at` on.
    Activate {
        /// Which.
        id: KeyId,
        /// From when.
        at: Timestamp,
    },
    /// Let a key sign no longer from `at` on; it stays published.
    Retire {
        /// Which.
        id: KeyId,
        /// From when.
        at: Timestamp,
    },
    /// Publish a key no longer from `at` on.
    Forget {
        /// Which.
        id: KeyId,
        /// From when.
        at: Timestamp,
    },
    /// Destroy a key that is known to somebody: nothing that bears its signature is ours any more, not
    /// even a hint of who somebody was.
    Withdraw {
        /// Which.
        id: KeyId,
    },
}

/// How an ordered rotation goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rotation {
    /// The successor is announced now and takes over when no relying party may still keep a key set
    /// without it: after [`lead`].
    Orderly,
    /// The keys are known to somebody: a new one signs at once, all others are destroyed, and what they
    /// signed is worth nothing.
    Emergency,
}

/// How long relying parties may keep the key set (its `max-age`): shorter than any key is announced
/// before it signs, so that who keeps to it knows each key in time (B-25).
#[must_use]
pub fn max_age(settings: &KeySettings) -> Duration {
    settings.announce.get().max(ANNOUNCE_MIN).saturating_sub(ON_THE_WAY).min(KEPT_MAX)
}

/// How long before it signs a key must be announced, so that everybody who keeps to [`max_age`] has it.
#[must_use]
pub fn lead(settings: &KeySettings) -> Duration {
    max_age(settings).saturating_add(ON_THE_WAY).max(ANNOUNCE_MIN)
}

/// The key that signs. Of two that are active, which only a half-done plan leaves, the later one.
#[must_use]
pub fn active(keys: &[SigningKey], alg: Algorithm, now: Timestamp) -> Option<&SigningKey> {
    of(keys, alg).filter(|key| key.phase(now) == KeyPhase::Active).max_by_key(|key| (key.active_at, key.id))
}

/// The announced key that takes over next.
#[must_use]
pub fn next(keys: &[SigningKey], alg: Algorithm, now: Timestamp) -> Option<&SigningKey> {
    of(keys, alg).filter(|key| key.phase(now) == KeyPhase::Announced).min_by_key(|key| (key.active_at, key.id))
}

fn of(keys: &[SigningKey], alg: Algorithm) -> impl Iterator<Item = &SigningKey> {
    keys.iter().filter(move |key| key.alg == alg)
}

/// What is to be done now so that each configured algorithm has exactly one active key, a successor in
/// time, and no key longer than it is needed. `longest_token` is the longest life of what keys sign.
#[must_use]
pub fn plan(keys: &[SigningKey], settings: &KeySettings, now: Timestamp, longest_token: Duration) -> Vec<KeyAct> {
    let mut acts = Vec::new();
    for alg in Algorithm::ALL {
        if settings.algorithms.contains(&alg) {
            plan_configured(keys, alg, settings, now, &mut acts);
        } else {
            plan_dropped(keys, alg, now, &mut acts);
        }
    }
    for key in keys {
        let is_over = |at: Timestamp| now >= at.plus(longest_token).plus(RETIRED_MARGIN);
        if key.phase(now) == KeyPhase::Retired && key.gone_at.is_none() && key.retired_at.is_some_and(is_over) {
            acts.push(KeyAct::Forget { id: key.id, at: now });
        }
    }
    acts
}

fn plan_configured(
    keys: &[SigningKey],
    alg: Algorithm,
    settings: &KeySettings,
    now: Timestamp,
    acts: &mut Vec<KeyAct>,
) {
    let announce = settings.announce.get().max(ANNOUNCE_MIN);
    let Some(current) = active(keys, alg, now) else {
        // Nothing signs: the first key of a realm, or a mishap. Waiting would refuse everybody.
        acts.push(match next(keys, alg, now) {
            Some(waiting) => KeyAct::Activate { id: waiting.id, at: now },
            None => KeyAct::Announce { alg, active_at: now },
        });
        return;
    };
    for other in of(keys, alg).filter(|key| key.phase(now) == KeyPhase::Active && key.id != current.id) {
        acts.push(KeyAct::Retire { id: other.id, at: now });
    }
    if let Some(successor) = next(keys, alg, now) {
        if current.retired_at != Some(successor.active_at) {
            acts.push(KeyAct::Retire { id: current.id, at: successor.active_at });
        }
        return;
    }
    // A retirement without a successor counts as the end of the span, so that no gap opens.
    let due = current.active_at.plus(settings.active.get());
    let due = current.retired_at.map_or(due, |at| at.min(due));
    if now.plus(announce) >= due {
        let active_at = due.max(now.plus(announce));
        acts.push(KeyAct::Announce { alg, active_at });
        acts.push(KeyAct::Retire { id: current.id, at: active_at });
    }
}

/// An algorithm that the realm no longer wants: nothing of it signs on.
fn plan_dropped(keys: &[SigningKey], alg: Algorithm, now: Timestamp, acts: &mut Vec<KeyAct>) {
    for key in of(keys, alg) {
        match key.phase(now) {
            KeyPhase::Active => acts.push(KeyAct::Retire { id: key.id, at: now }),
            KeyPhase::Announced => acts.push(KeyAct::Forget { id: key.id, at: now }),
            KeyPhase::Retired | KeyPhase::Gone => {}
        }
    }
}

/// What an ordered rotation of one algorithm does now.
#[must_use]
pub fn rotate_now(
    keys: &[SigningKey],
    alg: Algorithm,
    settings: &KeySettings,
    now: Timestamp,
    rotation: Rotation,
) -> Vec<KeyAct> {
    match rotation {
        Rotation::Orderly => rotate_orderly(keys, alg, now, lead(settings)),
        Rotation::Emergency => rotate_emergency(keys, alg, now),
    }
}

fn rotate_orderly(keys: &[SigningKey], alg: Algorithm, now: Timestamp, lead: Duration) -> Vec<KeyAct> {
    let mut acts = Vec::new();
    let takes_over = if let Some(waiting) = next(keys, alg, now) {
        // Already published: it may sign as soon as everybody can know it.
        let at = now.max(waiting.announced_at.plus(lead)).min(waiting.active_at);
        acts.push(KeyAct::Activate { id: waiting.id, at });
        at
    } else {
        let active_at = now.plus(lead);
        acts.push(KeyAct::Announce { alg, active_at });
        active_at
    };
    if let Some(current) = active(keys, alg, now) {
        acts.push(KeyAct::Retire { id: current.id, at: takes_over });
    }
    acts
}

fn rotate_emergency(keys: &[SigningKey], alg: Algorithm, now: Timestamp) -> Vec<KeyAct> {
    let mut acts = vec![KeyAct::Announce { alg, active_at: now }];
    // Those that are gone too: whoever knows the one that signs may know the one before.
    acts.extend(of(keys, alg).map(|key| KeyAct::Withdraw { id: key.id }));
    acts
}

#[cfg(test)]
mod tests;
