//! Tables for [`super`]: the sentences are the rules.

use super::*;
use crate::model::span::Span;
use crate::protocol::sample;

const LONGEST: Duration = Duration::from_mins(5);
const HOUR: u64 = 3_600;
const DAY: u64 = 24 * HOUR;

/// A realm's keys under a plan.
struct Ring {
    keys: Vec<SigningKey>,
    made: u8,
}

impl Ring {
    const fn new() -> Self {
        Self { keys: Vec::new(), made: 0 }
    }

    fn carry_out(&mut self, acts: &[KeyAct], now: Timestamp) {
        for act in acts {
            match *act {
                KeyAct::Announce { alg, active_at } => self.make(alg, now, active_at),
                KeyAct::Activate { id, at } => self.key(id).active_at = at,
                KeyAct::Retire { id, at } => self.key(id).retired_at = Some(at),
                KeyAct::Forget { id, at } => self.key(id).gone_at = Some(at),
                KeyAct::Withdraw { id } => self.keys.retain(|key| key.id != id),
            }
        }
    }

    fn make(&mut self, alg: Algorithm, announced_at: Timestamp, active_at: Timestamp) {
        self.made += 1;
        self.keys.push(SigningKey {
            realm: sample::REALM,
            id: KeyId::from_bytes([self.made; 16]),
            kid: self.made.to_string(),
            alg,
            public_jwk: String::new(),
            sealed_private: Vec::new(),
            announced_at,
            active_at,
            retired_at: None,
            gone_at: None,
        });
    }

    fn key(&mut self, id: KeyId) -> &mut SigningKey {
        self.keys.iter_mut().find(|key| key.id == id).unwrap()
    }

    fn count(&self, alg: Algorithm, phase: KeyPhase, now: Timestamp) -> usize {
        of(&self.keys, alg).filter(|key| key.phase(now) == phase).count()
    }
}

fn settings() -> KeySettings {
    KeySettings { algorithms: vec![Algorithm::RS256, Algorithm::ES256], ..KeySettings::default() }
}

fn only(alg: Algorithm) -> KeySettings {
    KeySettings { algorithms: vec![alg], ..KeySettings::default() }
}

/// A realm with one ES256 key, made now.
fn young() -> Ring {
    let mut ring = Ring::new();
    let acts = plan(&ring.keys, &only(Algorithm::ES256), sample::now(), LONGEST);
    ring.carry_out(&acts, sample::now());
    ring
}

#[test]
fn a_realm_without_keys_gets_them_active_at_once() {
    let now = sample::now();
    let acts = plan(&[], &settings(), now, LONGEST);
    let first = |alg| KeyAct::Announce { alg, active_at: now };
    assert_eq!(acts, [first(Algorithm::RS256), first(Algorithm::ES256)]);
    let mut ring = Ring::new();
    ring.carry_out(&acts, now);
    assert_eq!(plan(&ring.keys, &settings(), now, LONGEST), [], "carried out, nothing is left to do");
}

#[test]
fn a_successor_is_announced_a_day_before_and_takes_over_at_the_end_of_the_span() {
    let ring = young();
    let id = ring.keys[0].id;
    let due = sample::later(90 * DAY);
    let quiet = plan(&ring.keys, &only(Algorithm::ES256), sample::later(89 * DAY - 1), LONGEST);
    assert_eq!(quiet, []);
    let acts = plan(&ring.keys, &only(Algorithm::ES256), sample::later(89 * DAY), LONGEST);
    let announce = KeyAct::Announce { alg: Algorithm::ES256, active_at: due };
    assert_eq!(acts, [announce, KeyAct::Retire { id, at: due }]);
}

#[test]
fn a_plan_that_comes_late_still_announces_first() {
    let ring = young();
    let late = sample::later(200 * DAY);
    let acts = plan(&ring.keys, &only(Algorithm::ES256), late, LONGEST);
    let at = late.plus(Duration::from_secs(DAY));
    let announce = KeyAct::Announce { alg: Algorithm::ES256, active_at: at };
    assert_eq!(acts, [announce, KeyAct::Retire { id: ring.keys[0].id, at }]);
}

#[test]
fn a_half_done_plan_is_mended() {
    let now = sample::now();
    let es = only(Algorithm::ES256);
    let mut ring = young();
    ring.make(Algorithm::ES256, now, sample::later(DAY));
    let retire = KeyAct::Retire { id: ring.keys[0].id, at: sample::later(DAY) };
    assert_eq!(plan(&ring.keys, &es, now, LONGEST), [retire], "announced, predecessor not told");
    let two_active = sample::later(2 * DAY);
    let retire = KeyAct::Retire { id: ring.keys[0].id, at: two_active };
    assert_eq!(plan(&ring.keys, &es, two_active, LONGEST), [retire]);
    assert_eq!(active(&ring.keys, Algorithm::ES256, two_active).unwrap().kid, "2");
    let mut gap = young();
    gap.keys[0].retired_at = Some(now);
    gap.make(Algorithm::ES256, now, sample::later(DAY));
    let activate = KeyAct::Activate { id: gap.keys[1].id, at: now };
    assert_eq!(plan(&gap.keys, &es, now, LONGEST), [activate], "nothing signs");
}

#[test]
fn a_retired_key_stays_until_the_longest_token_has_ended() {
    let mut ring = young();
    ring.keys[0].retired_at = Some(sample::now());
    ring.make(Algorithm::ES256, sample::ago(DAY), sample::now());
    let es = only(Algorithm::ES256);
    assert_eq!(plan(&ring.keys, &es, sample::later(359), LONGEST), []);
    let forget = KeyAct::Forget { id: ring.keys[0].id, at: sample::later(360) };
    assert_eq!(plan(&ring.keys, &es, sample::later(360), LONGEST), [forget]);
}

#[test]
fn an_algorithm_no_longer_wanted_signs_no_longer() {
    let mut ring = young();
    ring.make(Algorithm::ES256, sample::now(), sample::later(DAY));
    let acts = plan(&ring.keys, &only(Algorithm::RS256), sample::later(1), LONGEST);
    let want = [
        KeyAct::Announce { alg: Algorithm::RS256, active_at: sample::later(1) },
        KeyAct::Retire { id: ring.keys[0].id, at: sample::later(1) },
        KeyAct::Forget { id: ring.keys[1].id, at: sample::later(1) },
    ];
    assert_eq!(acts, want);
}

#[test]
fn an_ordered_rotation_takes_over_when_no_copy_of_the_key_set_may_be_older() {
    let mut ring = young();
    let es = Algorithm::ES256;
    let rotate = |ring: &Ring, now| rotate_now(&ring.keys, es, &only(es), now, Rotation::Orderly);
    let acts = rotate(&ring, sample::now());
    let at = sample::later(910);
    assert_eq!(acts, [KeyAct::Announce { alg: es, active_at: at }, KeyAct::Retire { id: ring.keys[0].id, at }]);
    ring.carry_out(&acts, sample::now());
    assert_eq!(active(&ring.keys, es, sample::later(909)).unwrap().kid, "1");
    assert_eq!(active(&ring.keys, es, sample::later(910)).unwrap().kid, "2");
    // Ordered again meanwhile, nothing is hastened; a prepared key is used at once.
    let again = rotate(&ring, sample::later(30));
    assert_eq!(again[0], KeyAct::Activate { id: ring.keys[1].id, at });
    ring.keys[1].active_at = sample::later(DAY);
    let prepared = rotate(&ring, sample::later(HOUR));
    assert_eq!(prepared[0], KeyAct::Activate { id: ring.keys[1].id, at: sample::later(HOUR) });
}

#[test]
fn the_key_set_is_kept_no_longer_than_any_key_is_announced() {
    let seconds = |announce| {
        let settings = KeySettings { announce: Span::secs(announce), ..KeySettings::default() };
        (max_age(&settings).as_secs(), lead(&settings).as_secs())
    };
    assert_eq!(seconds(DAY), (900, 910), "a quarter of an hour is enough for everybody");
    assert_eq!(seconds(90), (80, 90));
    assert_eq!(seconds(60), (50, 60));
    assert_eq!(seconds(0), (50, 60), "the floor between our nodes (rule 14)");
}

#[test]
fn an_emergency_destroys_every_key_of_any_phase() {
    let mut ring = young();
    ring.make(Algorithm::ES256, sample::now(), sample::later(DAY));
    ring.make(Algorithm::RS256, sample::now(), sample::now());
    ring.make(Algorithm::ES256, sample::ago(DAY), sample::ago(DAY));
    ring.key(KeyId::from_bytes([4; 16])).gone_at = Some(sample::ago(1));
    let now = sample::later(10);
    let acts = rotate_now(&ring.keys, Algorithm::ES256, &settings(), now, Rotation::Emergency);
    ring.carry_out(&acts, now);
    let left: Vec<_> = ring.keys.iter().map(|key| (key.alg, key.kid.as_str())).collect();
    assert_eq!(left, [(Algorithm::RS256, "3"), (Algorithm::ES256, "5")]);
    assert_eq!(active(&ring.keys, Algorithm::ES256, now).unwrap().kid, "5");
    assert_eq!(ring.count(Algorithm::RS256, KeyPhase::Active, now), 1, "another algorithm is untouched");
    assert_eq!(plan(&ring.keys, &settings(), now, LONGEST), []);
}

proptest::proptest! {
    #[test]
    fn at_every_moment_one_key_signs_and_it_was_announced_in_time(
        turn_minutes in 1u64..3_000, announce_secs in 0u64..(2 * DAY), active_days in 1u64..40, ordered in 0u64..200,
    ) {
        let es = KeySettings {
            announce: Span::secs(announce_secs),
            active: Span::days(active_days),
            ..only(Algorithm::ES256)
        };
        let mut ring = Ring::new();
        for turn in 0..200u64 {
            let now = sample::later(turn * turn_minutes * 60);
            // Twice: a span no longer than the announcement wants a successor for the first key at once.
            for _ in 0..2 {
                let acts = plan(&ring.keys, &es, now, LONGEST);
                ring.carry_out(&acts, now);
            }
            proptest::prop_assert_eq!(plan(&ring.keys, &es, now, LONGEST), []);
            if turn == ordered {
                let acts = rotate_now(&ring.keys, Algorithm::ES256, &es, now, Rotation::Orderly);
                ring.carry_out(&acts, now);
            }
            for probe in [0, 30, 61, turn_minutes * 30] {
                let at = now.plus(Duration::from_secs(probe));
                proptest::prop_assert_eq!(ring.count(Algorithm::ES256, KeyPhase::Active, at), 1);
            }
            let later = ring.keys.iter().skip(1);
            let in_time = later.clone().all(|key| key.active_at.since(key.announced_at) >= lead(&es));
            proptest::prop_assert!(in_time);
        }
    }
}
