//! Tables for [`super`]: the sentences are the rules.

use super::*;
use crate::model::ids::{ClientKey, ConsentId, UserId};
use crate::model::session::Ended;
use crate::protocol::sample::{self, API, FILES, ISSUER};

const LIMITS: RefreshLimits = RefreshLimits { grace: Duration::from_secs(10), idle: Duration::from_hours(336) };
const SAME: [u8; 16] = [8; 16];
const OTHER: [u8; 16] = [9; 16];
const REFUSED: Refusal = Refusal::new(OauthCode::InvalidGrant, "by_another_rule", "no");

const fn token(generation: u32) -> PresentedRefresh {
    PresentedRefresh { generation, secret_hash: sample::SECRET, presenter: SAME }
}

fn consent() -> Consent {
    Consent {
        realm: sample::REALM,
        id: ConsentId::from_bytes([1; 16]),
        user: sample::USER,
        client: sample::CLIENT,
        scope: sample::words("openid profile email offline_access read write"),
        resources: vec![API.to_owned(), FILES.to_owned()],
        created_at: sample::ago(600),
        updated_at: sample::ago(600),
    }
}

struct Case {
    grant: Grant,
    client: Client,
    user: User,
    consent: Option<Consent>,
    key: Result<(), Refusal>,
    may_receive: Result<(), Refusal>,
    token: PresentedRefresh,
    clock: Trust,
    scope: Option<&'static str>,
    resource: Vec<&'static str>,
}

impl Case {
    fn decide(&self) -> RefreshOutcome {
        decide_refresh(
            RefreshFacts {
                grant: &self.grant,
                client: &self.client,
                user: Some(&self.user),
                consent: self.consent.as_ref(),
                resources: &sample::resources(),
                issuer: ISSUER,
                key: self.key.clone(),
                may_receive: self.may_receive.clone(),
                now: sample::now(),
                clock: self.clock,
            },
            &self.token,
            LIMITS,
            &RefreshRequest { scope: self.scope, resource: &self.resource },
        )
    }

    fn entitlement(&self) -> Entitlement {
        match self.decide() {
            RefreshOutcome::Rotate(entitlement) => *entitlement,
            other => panic!("{other:?}"),
        }
    }

    fn refusal(&self) -> Refusal {
        match self.decide() {
            RefreshOutcome::Refused(refusal) => refusal,
            other => panic!("{other:?}"),
        }
    }
}

fn with(change: impl FnOnce(&mut Case)) -> Case {
    let mut case = Case {
        grant: sample::grant(),
        client: sample::client(),
        user: sample::user(),
        consent: Some(consent()),
        key: Ok(()),
        may_receive: Ok(()),
        token: token(5),
        clock: Trust::Sure,
        scope: None,
        resource: Vec::new(),
    };
    change(&mut case);
    case
}

fn rotated(secs_ago: u64) -> Grant {
    Grant { rotated_at: sample::ago(secs_ago), last_used_at: sample::ago(secs_ago), ..sample::grant() }
}

#[test]
fn a_token_is_what_its_generation_and_age_make_it() {
    use Presentation::{Ahead, Current, Ended as GrantEnded, Expired, InGrace, Reused, Unsure, WrongSecret};
    let ended = Some(Ended { at: sample::ago(1), reason: EndReason::Logout });
    let wrong = |generation| PresentedRefresh { secret_hash: SecretHash([0; 32]), ..token(generation) };
    let other = |generation| PresentedRefresh { presenter: OTHER, ..token(generation) };
    let future = |secs| Grant { rotated_at: sample::later(secs), ..sample::grant() };
    let past_end = Grant { expires_at: sample::now(), ..rotated(5) };
    let idle = Grant { last_used_at: sample::ago(14 * 86_400 + 1), ..sample::grant() };
    let cases = [
        ("current", rotated(100), token(5), Current),
        ("current just rotated", rotated(0), token(5), Current),
        ("one behind at once", rotated(0), token(4), InGrace { foreign: false }),
        ("one behind at the grace's edge", rotated(10), token(4), InGrace { foreign: false }),
        ("one behind after the grace", rotated(11), token(4), Reused),
        ("one behind, from elsewhere", rotated(5), other(4), InGrace { foreign: true }),
        ("one behind, nobody noted", Grant { presenter: None, ..rotated(5) }, token(4), InGrace { foreign: true }),
        ("two behind, however soon", rotated(0), token(3), Reused),
        ("the first of five", rotated(0), token(0), Reused),
        ("ahead", rotated(5), token(6), Ahead),
        ("far ahead", rotated(5), token(u32::MAX), Ahead),
        ("another node's clock", future(2), token(4), InGrace { foreign: false }),
        ("a clock set back", future(3), token(4), Unsure),
        ("two behind with a clock set back", future(3), token(3), Reused),
        ("current with a clock set back", future(3), token(5), Current),
        ("wrong secret", rotated(5), wrong(5), WrongSecret),
        ("wrong secret, old", rotated(5), wrong(1), WrongSecret),
        ("wrong secret, ended", Grant { ended, ..rotated(5) }, wrong(5), WrongSecret),
        ("no refresh token was given", Grant { refresh_secret_hash: None, ..rotated(5) }, token(5), WrongSecret),
        ("ended", Grant { ended, ..rotated(5) }, token(5), GrantEnded),
        ("ended and old", Grant { ended, ..rotated(5) }, token(1), GrantEnded),
        ("past the absolute end", past_end.clone(), token(5), Expired),
        ("in grace past the absolute end", past_end.clone(), token(4), Expired),
        ("reused past the absolute end", past_end, token(3), Reused),
        ("idle", idle.clone(), token(5), Expired),
        ("idle and old", idle, token(3), Reused),
    ];
    for (name, grant, presented, want) in cases {
        assert_eq!(classify(&grant, &presented, LIMITS, sample::now(), Trust::Sure), want, "{name}");
    }
}

#[test]
fn a_clock_that_jumped_or_was_not_read_for_a_while_ends_no_family() {
    for clock in [Trust::Settling, Trust::Unsure] {
        let see = |grant: &Grant, generation| classify(grant, &token(generation), LIMITS, sample::now(), clock);
        assert_eq!(see(&rotated(3_600), 4), Presentation::Unsure, "{clock:?}: the grace only seems to be over");
        assert_eq!(see(&rotated(5), 4), Presentation::InGrace { foreign: false }, "{clock:?}");
        assert_eq!(see(&rotated(3_600), 5), Presentation::Current, "{clock:?}");
        // Whoever brings what is older still is a thief at any time.
        assert_eq!(see(&rotated(5), 3), Presentation::Reused, "{clock:?}");
        let late = with(|case| (case.clock, case.grant, case.token) = (clock, rotated(3_600), token(4)));
        assert_eq!(late.refusal().code, OauthCode::TemporarilyUnavailable);
    }
}

#[test]
fn the_grace_is_never_longer_than_thirty_seconds() {
    let wide = RefreshLimits { grace: Duration::from_hours(1), ..LIMITS };
    let none = RefreshLimits { grace: Duration::ZERO, ..LIMITS };
    let at = |grant: &Grant, limits| classify(grant, &token(4), limits, sample::now(), Trust::Sure);
    assert_eq!(at(&rotated(30), wide), Presentation::InGrace { foreign: false });
    assert_eq!(at(&rotated(31), wide), Presentation::Reused);
    assert_eq!(at(&rotated(1), none), Presentation::Reused);
}

#[test]
fn a_repeat_does_not_renew_the_window() {
    // The age counts from the rotation, and a repeat writes nothing: asking each second does not help.
    let grant = rotated(0);
    let seen: Vec<bool> = (0..14)
        .map(|secs| {
            let now = sample::later(secs);
            matches!(classify(&grant, &token(4), LIMITS, now, Trust::Sure), Presentation::InGrace { .. })
        })
        .collect();
    assert_eq!(seen.iter().filter(|in_grace| **in_grace).count(), 11);
}

#[test]
fn a_shadow_is_ended_by_its_third_rotation_and_one_repeat_is_not() {
    let streak = |generation, grace_generation, grace_streak| {
        streak_after_foreign_repeat(&Grant { generation, grace_streak, grace_generation, ..sample::grant() })
    };
    assert_eq!(streak(1, 0, 0), 1);
    assert_eq!(streak(1, 1, 1), 1, "one generation counts once");
    assert_eq!(streak(2, 1, 1), 2);
    assert_eq!(streak(3, 2, 2), FOREIGN_STREAK_ENDS);
    assert_eq!(streak(4, 2, 2), 1, "a generation without a foreign repeat starts anew");
}

#[test]
fn reuse_beats_every_other_refusal_and_a_refused_request_never_rotates() {
    type Fault = (&'static str, fn(&mut Case));
    let faults: [Fault; 9] = [
        ("none", |_| {}),
        ("session gone", |case| case.may_receive = Err(REFUSED)),
        ("wrong key", |case| case.key = Err(REFUSED)),
        ("wider scope", |case| case.scope = Some("openid admin")),
        ("broken scope", |case| case.scope = Some("\u{7}")),
        ("foreign resource", |case| case.resource = vec!["https://elsewhere.example"]),
        ("consent withdrawn", |case| case.consent = None),
        ("grant type taken away", |case| case.client.metadata.grant_types = vec![GrantType::AuthorizationCode]),
        ("user gone", |case| case.user.id = UserId::from_bytes([99; 16])),
    ];
    for (name, fault) in faults {
        let at = |generation, rotated_secs_ago| {
            with(|case| {
                case.grant = rotated(rotated_secs_ago);
                case.token = token(generation);
                fault(case);
            })
            .decide()
        };
        assert!(matches!(at(3, 0), RefreshOutcome::End(EndReason::RefreshReused, _)), "{name}");
        assert!(matches!(at(4, 60), RefreshOutcome::End(EndReason::RefreshReused, _)), "{name}");
        assert!(matches!(at(6, 0), RefreshOutcome::End(EndReason::RefreshAhead, _)), "{name}");
        let is_fine = name == "none";
        assert_eq!(matches!(at(5, 60), RefreshOutcome::Rotate(_)), is_fine, "{name}");
        assert_eq!(matches!(at(4, 5), RefreshOutcome::Repeat { foreign: false, .. }), is_fine, "{name}");
        if !is_fine {
            assert!(matches!(at(5, 60), RefreshOutcome::Refused(_)), "{name}");
            assert!(matches!(at(4, 5), RefreshOutcome::Refused(_)), "{name}");
        }
    }
}

#[test]
fn another_clients_token_ends_nothing() {
    for generation in [1, 4, 5, 6] {
        let stranger = with(|case| {
            case.client.key = ClientKey::from_bytes([99; 16]);
            case.token = token(generation);
        });
        assert_eq!(stranger.refusal().reason, "refresh_of_other_client");
        assert_eq!(stranger.refusal().code, OauthCode::InvalidGrant);
    }
}

#[test]
fn a_wrong_secret_raises_the_alarm_and_ends_nothing() {
    let forged = with(|case| case.token.secret_hash = SecretHash([0; 32]));
    assert!(matches!(forged.decide(), RefreshOutcome::Alarm(refusal) if refusal.reason == "refresh_wrong_secret"));
}

#[test]
fn an_unsure_clock_asks_to_try_again() {
    let unsure = with(|case| {
        case.grant.rotated_at = sample::later(60);
        case.token = token(4);
    });
    assert_eq!(unsure.refusal().code, OauthCode::TemporarilyUnavailable);
}

#[test]
fn all_refusals_of_a_token_read_alike() {
    let late = with(|case| case.grant.expires_at = sample::now()).refusal();
    let stranger = with(|case| case.client.key = ClientKey::from_bytes([99; 16])).refusal();
    assert_eq!(late.description, stranger.description);
}

#[test]
fn scope_is_requested_and_granted_and_consented_and_registered() {
    let scope = |change: fn(&mut Case)| with(change).entitlement().scope;
    assert_eq!(scope(|_| {}), sample::words("openid profile read"));
    assert_eq!(scope(|case| case.scope = Some("")), sample::words("openid profile read"));
    assert_eq!(scope(|case| case.scope = Some("read openid")), sample::words("openid read"));
    assert_eq!(scope(|case| case.client.metadata.scope = "openid read".into()), sample::words("openid read"));
    let less = |case: &mut Case| {
        case.consent = Some(Consent { scope: sample::words("openid profile"), ..consent() });
    };
    assert_eq!(scope(less), sample::words("openid profile"));
    let first_party = |case: &mut Case| {
        case.consent = None;
        case.client.metadata.consent = ConsentMode::Skip;
    };
    assert_eq!(scope(first_party), sample::words("openid profile read"));
}

#[test]
fn scope_never_grows() {
    for asked in ["openid email", "write", "openid profile read offline_access"] {
        let wider = with(|case| case.scope = Some(asked)).refusal();
        assert_eq!((wider.code, wider.reason), (OauthCode::InvalidScope, "scope_widened"), "{asked}");
    }
    let nothing = with(|case| {
        case.client.metadata.scope = "openid".to_owned();
        case.scope = Some("read");
    });
    assert_eq!(nothing.refusal().reason, "scope_nothing_left");
}

#[test]
fn a_refreshed_id_token_keeps_auth_time_and_drops_the_nonce() {
    let given = with(|_| {}).entitlement();
    assert_eq!((given.auth_time, given.nonce), (Some(sample::ago(600)), None));
    assert!(given.issue_id_token && given.issue_refresh);
    assert!(!with(|case| case.scope = Some("read")).entitlement().issue_id_token);
}

#[test]
fn an_offline_grant_needs_its_scope_still_allowed() {
    let offline = |change: fn(&mut Case)| {
        with(|case| {
            case.grant.terms.offline = true;
            case.grant.terms.scope = sample::words("openid offline_access read");
            change(case);
        })
    };
    assert!(offline(|_| {}).entitlement().offline);
    let withdrawn = offline(|case| case.consent = Some(Consent { scope: sample::words("openid read"), ..consent() }));
    assert_eq!(withdrawn.refusal().reason, "offline_withdrawn");
    let unregistered = offline(|case| case.client.metadata.scope = "openid read".to_owned());
    assert_eq!(unregistered.refusal().reason, "offline_withdrawn");
}

#[test]
fn resources_never_grow() {
    let granted = |change: fn(&mut Case)| {
        with(|case| {
            case.grant.terms.resources = vec![API.to_owned()];
            change(case);
        })
    };
    assert_eq!(granted(|_| {}).entitlement().audience, [API, ISSUER]);
    assert_eq!(granted(|case| case.resource = vec!["https://api.example.com/"]).entitlement().audience, [API]);
    for wrong in [FILES, "https://api.example.com/v2", "https://api.example.com#f", "api"] {
        let refusal = with(|case| {
            case.grant.terms.resources = vec![API.to_owned()];
            case.resource = vec![wrong];
        })
        .refusal();
        assert_eq!(refusal.code, OauthCode::InvalidTarget, "{wrong}");
    }
    let taken = granted(|case| case.client.metadata.resources.clear());
    assert_eq!(taken.refusal().code, OauthCode::InvalidTarget);
}

proptest::proptest! {
    #[test]
    fn a_token_is_good_only_as_current_or_in_grace(
        generation in 0u32..12, age in 0u64..100, idle_for in 0u64..(20 * 86_400), left in 0u64..10, foreign: bool,
    ) {
        let grant = Grant {
            rotated_at: sample::ago(age),
            last_used_at: sample::ago(idle_for),
            expires_at: sample::later(left),
            ..sample::grant()
        };
        let presented = PresentedRefresh { presenter: if foreign { OTHER } else { SAME }, ..token(generation) };
        let got = classify(&grant, &presented, LIMITS, sample::now(), Trust::Sure);
        let live = left > 0 && idle_for <= 14 * 86_400;
        let want = match (generation, live) {
            (6.., _) => Presentation::Ahead,
            (5, true) => Presentation::Current,
            (4, true) if age <= 10 => Presentation::InGrace { foreign },
            (5, false) => Presentation::Expired,
            (4, false) if age <= 10 => Presentation::Expired,
            _ => Presentation::Reused,
        };
        proptest::prop_assert_eq!(got, want);
    }
}

#[test]
fn a_presumption_keeps_what_is_fixed_and_is_no_excuse_for_a_wrong_secret() {
    let known = Grant { generation: 7, rotated_at: sample::ago(600), grace_streak: 2, ..sample::grant() };
    let presumed = presume_current(&known, &token(9), sample::now());
    assert_eq!(classify(&presumed, &token(9), LIMITS, sample::now(), Trust::Sure), Presentation::Current);
    let restored = Grant {
        generation: known.generation,
        rotated_at: known.rotated_at,
        last_used_at: known.last_used_at,
        ..presumed.clone()
    };
    assert_eq!(restored, known);
    let forged = PresentedRefresh { secret_hash: SecretHash([0; 32]), ..token(9) };
    assert_eq!(classify(&presumed, &forged, LIMITS, sample::now(), Trust::Sure), Presentation::WrongSecret);
    let expired = presume_current(&Grant { expires_at: sample::now(), ..known }, &token(9), sample::now());
    assert_eq!(classify(&expired, &token(9), LIMITS, sample::now(), Trust::Sure), Presentation::Expired);
}
