//! Table tests of the next step (behaviour cases B-06 to B-09).

use super::*;
use crate::model::client::AuthMethod;
use crate::model::ids::{ConsentId, RealmId};
use crate::protocol::authorize::{Prompt, example};

/// The request began at 1000 s; the browser has a session of alice, proved 100 s before.
struct Case {
    request: AuthorizeRequest,
    client: Client,
    consent: Option<Consent>,
    session: Option<(&'static str, i64, bool)>,
    now: Timestamp,
    choose: bool,
    fresh: bool,
    given: bool,
    may_receive: Result<(), Refusal>,
}

fn case(changes: &[(&str, &str)]) -> Case {
    let mut client = example::client();
    client.metadata.token_endpoint_auth_method = AuthMethod::ClientSecretBasic;
    let request = example::request(changes);
    let consent = Consent {
        realm: RealmId::from_bytes([1; 16]),
        id: ConsentId::from_bytes([5; 16]),
        user: UserId::from_bytes([6; 16]),
        client: client.key,
        scope: vec!["openid".to_owned(), "email".to_owned()],
        resources: Vec::new(),
        created_at: Timestamp::from_secs(0),
        updated_at: Timestamp::from_secs(0),
    };
    Case {
        request,
        client,
        consent: Some(consent),
        session: Some(("alice", 900, true)),
        now: Timestamp::from_secs(1000),
        choose: false,
        fresh: false,
        given: false,
        may_receive: Ok(()),
    }
}

impl Case {
    fn step(&self) -> Step {
        let session = self.session.map(|(sub, auth_secs, live)| SessionFact {
            user: UserId::from_bytes([6; 16]),
            sub,
            auth_time: Timestamp::from_secs(auth_secs),
            acr: Acr::Aal1,
            live,
        });
        next_step(&StepFacts {
            request: &self.request,
            client: &self.client,
            started_at: Timestamp::from_secs(1000),
            now: self.now,
            choose: self.choose,
            session,
            fresh: self.fresh,
            consent: self.consent.as_ref(),
            consent_given_now: self.given,
            may_receive: self.may_receive.clone(),
        })
    }

    /// The person has just proved herself in this very flow.
    fn proved(mut self, sub: &'static str) -> Self {
        self.session = Some((sub, 1005, true));
        self.now = Timestamp::from_secs(1010);
        self.fresh = true;
        self
    }

    fn word(&self) -> &'static str {
        match self.step() {
            Step::SelectAccount => "select_account",
            Step::Password { .. } => "password",
            Step::Consent { .. } => "consent",
            Step::Issue { .. } => "issue",
            Step::Refuse(refusal) => refusal.reason,
        }
    }
}

#[test]
fn a_live_session_with_consent_is_answered_at_once() {
    for changes in [&[][..], &[("prompt", "none")], &[("max_age", "100")], &[("acr_values", "phrh 1 2")]] {
        let scope = vec!["openid".to_owned(), "email".to_owned()];
        assert_eq!(case(changes).step(), Step::Issue { scope }, "{changes:?}");
    }
}

#[test]
fn without_a_live_session_the_person_is_asked_and_prompt_none_is_refused() {
    for session in [None, Some(("alice", 900, false))] {
        for (changes, expected) in [
            (&[][..], Step::Password { offer: None }),
            (&[("login_hint", "bob")], Step::Password { offer: Some(Offer::Typed("bob".to_owned())) }),
        ] {
            let case = Case { session, ..case(changes) };
            assert_eq!(case.step(), expected, "{changes:?}");
        }
        let case = Case { session, ..case(&[("prompt", "none")]) };
        assert!(matches!(case.step(), Step::Refuse(refusal) if refusal.code == OauthCode::LoginRequired));
    }
}

#[test]
fn a_new_proof_is_demanded_by_login_and_age() {
    let alice = || Some(Offer::Subject("alice".to_owned()));
    for (changes, offer) in [
        (&[("prompt", "login")][..], alice()),
        (&[("prompt", "login consent")], alice()),
        (&[("max_age", "99")], alice()),
        (&[("max_age", "0")], alice()),
    ] {
        assert_eq!(case(changes).step(), Step::Password { offer }, "{changes:?}");
    }
    assert_eq!(case(&[("prompt", "none"), ("max_age", "60")]).word(), "login_required");
}

#[test]
fn an_account_is_chosen_before_anything_is_asked_of_it() {
    for changes in [&[][..], &[("prompt", "login")], &[("prompt", "select_account consent")], &[("max_age", "0")]] {
        let chosen = |choose| Case { choose, ..case(changes) }.step();
        assert_eq!(chosen(true), Step::SelectAccount, "{changes:?}");
        assert_ne!(chosen(false), Step::SelectAccount, "{changes:?}");
    }
    // It cannot come to this, and if it did it were no page.
    let silent = Case { choose: true, ..case(&[("prompt", "none")]) };
    assert_eq!(silent.word(), "account_selection");
}

#[test]
fn max_age_zero_does_not_take_a_proof_of_the_same_second_from_elsewhere() {
    let mut case = case(&[("max_age", "0")]);
    case.session = Some(("alice", 1000, true));
    assert_eq!(case.word(), "password");
}

#[test]
fn ages_are_compared_by_whole_seconds() {
    for (now_micros, expected) in [(901_999_999, "issue"), (902_000_000, "password")] {
        let case = Case { now: Timestamp::from_micros(now_micros), ..case(&[("max_age", "1")]) };
        assert_eq!(case.word(), expected);
    }
    // A proof that lies ahead by what clocks of nodes may differ is young; one of the future proves nothing.
    for (now, expected) in [(899, "issue"), (10, "password")] {
        let case = Case { now: Timestamp::from_secs(now), ..case(&[("max_age", "1")]) };
        assert_eq!(case.word(), expected);
    }
}

#[test]
fn a_proof_of_this_flow_satisfies_login_and_max_age_without_a_loop() {
    for changes in [&[("prompt", "login")][..], &[("max_age", "0")], &[("max_age", "1")]] {
        assert_eq!(case(changes).proved("alice").word(), "issue", "{changes:?}");
        // The same session, but the proof was another flow's, or older than the request.
        let other = Case { fresh: false, ..case(changes).proved("alice") };
        assert_eq!(other.word(), "password", "{changes:?}");
        let old = Case { session: Some(("alice", 999, true)), ..case(changes).proved("alice") };
        assert_eq!(old.word(), "password", "{changes:?}");
    }
}

#[test]
fn a_hint_for_another_person_never_gives_a_code_for_the_present_one() {
    let hinted = |changes: &[(&str, &str)]| {
        let mut case = case(changes);
        case.request.hint_sub = Some("bob".to_owned());
        case
    };
    assert_eq!(hinted(&[("prompt", "none")]).word(), "login_required");
    assert_eq!(hinted(&[]).step(), Step::Password { offer: Some(Offer::Subject("bob".to_owned())) });
    assert_eq!(hinted(&[]).proved("bob").word(), "issue");
    // Whoever signs in as somebody else is not asked for ever.
    assert_eq!(hinted(&[]).proved("alice").word(), "hint_other_user");
    let same = Case { session: Some(("bob", 900, true)), ..hinted(&[("prompt", "none")]) };
    assert_eq!(same.word(), "issue");
}

#[test]
fn consent_is_asked_for_what_is_new() {
    let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let wide = [("scope", "openid offline_access email"), ("resource", "https://orders.example")];
    let expected = Step::Consent {
        ask: texts(&["offline_access"]),
        known: texts(&["openid", "email"]),
        resources: texts(&["https://orders.example/"]),
    };
    assert_eq!(case(&wide).step(), expected);
    let first = Case { consent: None, ..case(&[]) };
    let expected = Step::Consent { ask: texts(&["openid", "email"]), known: vec![], resources: vec![] };
    assert_eq!(first.step(), expected);
    assert_eq!(Case { given: true, ..case(&wide) }.word(), "issue");
    for order in ["openid offline_access email", "offline_access email openid openid unknown:x"] {
        assert_eq!(case(&[("scope", order), ("prompt", "none")]).word(), "consent_required", "{order}");
    }
}

#[test]
fn a_trusted_client_is_not_asked_about_unless_it_asks_for_that() {
    let trusted = |changes: &[(&str, &str)]| {
        let mut case = Case { consent: None, ..case(changes) };
        case.client.metadata.consent = ConsentMode::Skip;
        case
    };
    assert_eq!(trusted(&[("scope", "openid offline_access")]).word(), "issue");
    assert_eq!(trusted(&[("scope", "openid offline_access"), ("prompt", "none")]).word(), "issue");
    assert_eq!(trusted(&[("prompt", "consent")]).word(), "consent");
    assert_eq!(Case { given: true, ..trusted(&[("prompt", "consent")]) }.word(), "issue");
}

#[test]
fn a_client_that_nothing_proves_is_asked_about_each_time() {
    let native = |changes: &[(&str, &str)]| {
        let mut case = case(changes);
        case.client.metadata.token_endpoint_auth_method = AuthMethod::None;
        case
    };
    let loopback = ("redirect_uri", "http://localhost:1234/cb");
    assert_eq!(native(&[]).word(), "issue");
    assert_eq!(native(&[loopback]).word(), "consent");
    assert_eq!(Case { given: true, ..native(&[loopback]) }.word(), "issue");
    assert_eq!(native(&[loopback, ("prompt", "none")]).word(), "consent_required");
    assert_eq!(case(&[loopback]).word(), "issue", "a secret proves the client");
}

#[test]
fn who_may_not_receive_is_refused_before_any_consent() {
    let refusal = Refusal::new(OauthCode::AccessDenied, "user_disabled", "no");
    let case = Case { may_receive: Err(refusal.clone()), consent: None, ..case(&[]) };
    assert_eq!(case.step(), Step::Refuse(refusal.clone()));
    // But a missing session comes first: nobody is there whom it could be about.
    let case = Case { session: None, may_receive: Err(refusal), ..self::case(&[]) };
    assert_eq!(case.word(), "password");
}

#[test]
fn prompt_none_never_gives_a_page() {
    for bits in 0_u32..256 {
        let has = |bit: u32| bits & (1 << bit) != 0;
        let mut case = case(&[("scope", "openid email offline_access")]);
        case.request.prompt = Prompt { none: true, ..Prompt::default() };
        case.request.max_age = has(0).then_some(0);
        case.request.hint_sub = has(1).then(|| "bob".to_owned());
        case.session = has(2).then_some(("alice", 900, has(3)));
        case.fresh = has(4);
        case.consent = case.consent.filter(|_| has(5));
        case.given = has(6);
        case.client.metadata.consent = if has(7) { ConsentMode::Skip } else { ConsentMode::Ask };
        assert!(matches!(case.step(), Step::Issue { .. } | Step::Refuse(_)), "{bits:08b}");
    }
}

#[test]
fn a_single_claim_is_consented_to_like_its_scope() {
    let asks = |case: &Case| match case.step() {
        Step::Consent { ask, .. } => ask.join(" "),
        Step::Issue { scope } => format!("issue {}", scope.join(" ")),
        other => panic!("{other:?}"),
    };
    let wish = ("claims", r#"{"userinfo":{"name":null},"id_token":{"nickname":null,"email":null}}"#);
    let mut new = case(&[wish]);
    assert_eq!(asks(&new), "profile", "email was allowed before");
    new.given = true;
    assert_eq!(asks(&new), "issue openid email", "the scopes of the grant are those asked for");
    let mut remembered = case(&[wish]);
    if let Some(consent) = &mut remembered.consent {
        consent.scope.push("profile".to_owned());
    }
    assert_eq!(asks(&remembered), "issue openid email");
    let mut trusted = case(&[wish]);
    trusted.client.metadata.consent = ConsentMode::Skip;
    assert_eq!(asks(&trusted), "issue openid email");
}

#[test]
fn a_sub_by_value_is_never_answered_with_another_person() {
    let wish = ("claims", r#"{"id_token":{"sub":{"value":"bob"}}}"#);
    assert_eq!(case(&[wish]).word(), "password");
    let refused = |case: &Case| match case.step() {
        Step::Refuse(refusal) => refusal.reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(&case(&[wish, ("prompt", "none")])), "login_required");
    assert_eq!(refused(&case(&[wish]).proved("alice")), "hint_other_user");
    assert_eq!(case(&[wish]).proved("bob").word(), "issue");
}

#[test]
fn an_essential_acr_is_reached_or_refused_and_a_voluntary_one_is_a_wish() {
    let wish = |essential: bool, values: &str| {
        format!(r#"{{"id_token":{{"acr":{{"essential":{essential},"values":[{values}]}}}}}}"#)
    };
    for (essential, values, met) in [
        (true, r#""aal1""#, true),
        (true, r#""phr","aal1""#, true),
        (true, r#""aal2""#, false),
        (true, r#""urn:mace:incommon:iap:silver""#, false),
        (true, "1", false),
        (false, r#""aal2""#, true),
    ] {
        let text = wish(essential, values);
        for changes in [&[("claims", text.as_str())][..], &[("claims", &text), ("prompt", "none")]] {
            let mut case = case(changes);
            if met {
                assert_eq!(case.word(), "issue", "{text}");
                continue;
            }
            // Whether she is signed in or not: no sign-in would help.
            for session in [case.session, None] {
                case.session = session;
                let Step::Refuse(refusal) = case.step() else { panic!("{text}") };
                let expected = (OauthCode::UnmetAuthenticationRequirements, "acr_out_of_reach");
                assert_eq!((refusal.code, refusal.reason), expected, "{text}");
            }
        }
    }
    let demanded = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>();
    for (values, acr, met) in [
        (&["aal2"][..], Acr::Aal1, false),
        (&["aal2"], Acr::Aal2, true),
        (&["aal2"], Acr::Phr, true),
        (&["phrh", "aal2"], Acr::Aal2, true),
        (&["x"], Acr::Phrh, false),
        (&[], Acr::Aal1, true),
    ] {
        assert_eq!(is_met(&demanded(values), Some(acr)), met, "{values:?} {acr:?}");
    }
}
