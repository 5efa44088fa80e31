//! Tables for [`super`]: readings of a database whose clock is right, wrong, late or jumping.

use super::*;

const SECOND: i64 = 1_000_000;
const HOUR: i64 = 3_600 * SECOND;

/// The database's time when monotonic time is zero.
const ZERO: i64 = 1_800_000_000 * SECOND;

fn at(secs: f64) -> Duration {
    Duration::from_secs_f64(secs)
}

/// A reading that was asked for at `sent`, took ten milliseconds, and is off by `skew` microseconds.
fn reading(sent: f64, skew: i64) -> Reading {
    late(sent, 0.01, skew)
}

/// The same with an answer that was `took` seconds on its way; the database answered half way.
fn late(sent: f64, took: f64, skew: i64) -> Reading {
    let shown = Timestamp::from_micros(ZERO + micros(at(sent + took / 2.0)) + skew);
    Reading { sent: at(sent), received: at(sent + took), shown }
}

/// A clock that has followed one reading, on a machine whose own clock is off by `wall`.
fn led(wall: i64) -> LedClock {
    let mut clock = LedClock::new(Timestamp::from_micros(ZERO + wall), Duration::ZERO);
    assert_eq!(clock.trust(Duration::ZERO), Trust::Unsure);
    assert_eq!(clock.follow(&reading(0.0, 0), at(0.01)), Step::Followed);
    clock
}

/// How far the clock is from the database's time as it was before any skew.
fn off(clock: &LedClock, secs: f64) -> i64 {
    clock.now(at(secs)).as_micros() - ZERO - micros(at(secs))
}

#[test]
fn the_machines_own_clock_does_not_matter() {
    for wall in [0, HOUR, -HOUR, 5 * SECOND, -5 * SECOND] {
        let clock = led(wall);
        assert!(off(&clock, 0.01).abs() <= 5_000, "{wall}: {}", off(&clock, 0.01));
        assert_eq!(clock.trust(at(1.0)), Trust::Sure, "{wall}");
    }
}

#[test]
fn small_steps_are_followed_and_time_never_goes_back() {
    let mut clock = led(0);
    let mut before = clock.now(at(0.01));
    for (poll, skew) in [0, 500_000, -900_000, 900_000, -900_000, 0].into_iter().enumerate() {
        let sent = 0.25 + 0.25 * f64::from(u32::try_from(poll).unwrap());
        assert_eq!(clock.follow(&reading(sent, skew), at(sent + 0.01)), Step::Followed, "{skew}");
        for part in 0..20 {
            let now = clock.now(at(sent + 0.01 + 0.01 * f64::from(part)));
            assert!(now >= before, "{skew}: {now} after {before}");
            before = now;
        }
    }
    assert_eq!(clock.trust(at(2.0)), Trust::Sure);
}

#[test]
fn a_jump_is_believed_when_two_polls_agree() {
    for jump in [HOUR, -HOUR, 5 * SECOND, -5 * SECOND] {
        let mut clock = led(0);
        let step = clock.follow(&reading(1.0, jump), at(1.01));
        assert!(matches!(step, Step::Jumped(by) if (by - jump).abs() < SECOND), "{step:?}");
        assert!(off(&clock, 1.01).abs() < SECOND, "not believed yet");
        assert_eq!(clock.trust(at(1.01)), Trust::Unsure);
        let before = clock.now(at(1.26));
        let step = clock.follow(&reading(1.25, jump), at(1.26));
        assert!(matches!(step, Step::Settled(by) if (by - jump).abs() < SECOND), "{step:?}");
        assert!(clock.now(at(1.26)) >= before, "never backwards");
        assert_eq!(clock.trust(at(1.26)), Trust::Settling);
        for second in 2..40 {
            clock.follow(&reading(f64::from(second), jump), at(f64::from(second) + 0.01));
        }
        assert_eq!(clock.trust(at(39.5)), Trust::Sure);
        let wanted = if jump > 0 { jump } else { jump.max(-19 * SECOND) };
        assert!((off(&clock, 39.5) - wanted).abs() < SECOND, "{jump}: {}", off(&clock, 39.5));
    }
}

#[test]
fn one_wrong_poll_moves_nothing() {
    let mut clock = led(0);
    assert!(matches!(clock.follow(&reading(1.0, HOUR), at(1.01)), Step::Jumped(_)));
    assert!(matches!(clock.follow(&reading(1.25, 0), at(1.26)), Step::Wandering(0)));
    assert_eq!(clock.trust(at(1.26)), Trust::Unsure, "the two do not agree");
    assert_eq!(clock.follow(&reading(1.5, 0), at(1.51)), Step::Settled(0));
    assert!(off(&clock, 1.51).abs() < SECOND);
}

#[test]
fn polls_that_keep_wandering_are_never_believed() {
    let mut clock = led(0);
    for poll in 1..20 {
        let sent = f64::from(poll);
        let step = clock.follow(&reading(sent, i64::from(poll) * 10 * SECOND), at(sent + 0.01));
        assert!(matches!(step, Step::Jumped(_) | Step::Wandering(_)), "{step:?}");
        assert_eq!(clock.trust(at(sent + 0.01)), Trust::Unsure);
        assert!(clock.has_jumped() && off(&clock, sent + 0.01).abs() < SECOND);
    }
}

#[test]
fn an_answer_that_was_long_on_its_way_moves_nothing_and_proves_nothing() {
    // A pause of an hour between question and answer.
    let mut clock = led(0);
    assert_eq!(clock.follow(&late(1.0, 3_600.0, 0), at(3_601.0)), Step::Followed);
    assert!(off(&clock, 3_601.0).abs() < SECOND, "{}", off(&clock, 3_601.0));
    assert_eq!(clock.trust(at(3_601.0)), Trust::Unsure, "what it showed is old");
    assert_eq!(clock.follow(&reading(3_601.25, 0), at(3_601.26)), Step::Followed);
    assert_eq!(clock.trust(at(3_601.26)), Trust::Sure);
    // Two of them agree with everything, so they settle no jump.
    assert!(matches!(clock.follow(&late(3_602.0, 10.0, HOUR), at(3_612.0)), Step::Jumped(_)));
    for sent in [3_612.25, 3_622.5] {
        assert!(matches!(clock.follow(&late(sent, 10.0, HOUR), at(sent + 10.0)), Step::Wandering(_)));
    }
    assert!(matches!(clock.follow(&reading(3_633.0, HOUR), at(3_633.01)), Step::Wandering(_)));
    assert!(matches!(clock.follow(&reading(3_633.25, HOUR), at(3_633.26)), Step::Settled(_)));
}

#[test]
fn without_polls_the_clock_runs_on_and_is_not_believed() {
    let clock = led(0);
    assert_eq!(clock.trust(at(10.0)), Trust::Sure);
    assert_eq!(clock.trust(at(10.1)), Trust::Unsure);
    assert!(!clock.has_jumped());
    assert!(off(&clock, 1_000.0).abs() < SECOND);
}

#[test]
fn time_never_runs_backwards_across_a_restart() {
    for wall in [0, -HOUR] {
        let mut clock = LedClock::new(Timestamp::from_micros(ZERO + wall), Duration::ZERO);
        let mark = Timestamp::from_micros(ZERO + 2 * SECOND);
        clock.recall(mark, Duration::ZERO);
        assert!(clock.now(Duration::ZERO) >= mark, "{wall}");
        assert_eq!(clock.follow(&reading(0.0, wall), at(0.01)), Step::Followed);
        let now = clock.now(at(0.01));
        assert!(now >= mark, "{wall}: {now}");
        assert!(clock.now(at(1.01)) > now, "and it does not stand still");
        let ahead = i64::try_from(clock.ahead(at(0.01)).as_micros()).unwrap();
        assert!((ahead + wall - 2 * SECOND).abs() < SECOND / 10, "{wall}: {ahead}");
    }
    let mut clock = LedClock::new(Timestamp::from_micros(ZERO), Duration::ZERO);
    clock.recall(Timestamp::from_micros(ZERO - HOUR), Duration::ZERO);
    clock.follow(&reading(0.0, 0), at(0.01));
    assert_eq!(clock.ahead(at(0.01)), Duration::ZERO, "a mark of the past changes nothing");
}

#[test]
fn what_is_ahead_is_caught_up_with() {
    let mut clock = LedClock::new(Timestamp::from_micros(ZERO), Duration::ZERO);
    clock.recall(Timestamp::from_micros(ZERO + 10 * SECOND), Duration::ZERO);
    clock.follow(&reading(0.0, 0), Duration::ZERO);
    let mut before = clock.now(Duration::ZERO);
    for tenth in 1..=300_u32 {
        let now = clock.now(at(f64::from(tenth) / 10.0));
        assert!(now > before, "{tenth}");
        before = now;
    }
    assert!(off(&clock, 30.0).abs() < SECOND);
}
