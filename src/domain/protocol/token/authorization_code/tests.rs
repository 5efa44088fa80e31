//! Tables for [`super`]: the sentences are the rules.

use super::*;
use crate::model::client::AuthMethod;
use crate::protocol::sample::{self, API, FILES, ISSUER};
use crate::protocol::token::Subject;

const CALLBACK: &str = "https://app.example.com/callback";

fn code() -> CodePayload {
    CodePayload {
        code: sample::CODE,
        client: sample::CLIENT,
        client_id: "web".to_owned(),
        user: sample::USER,
        session: sample::SESSION,
        redirect_uri: CALLBACK.to_owned(),
        code_challenge: Some("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM".to_owned()),
        terms: sample::terms(),
        credential_epoch: 3,
        issued_at: sample::ago(5),
        expires_at: sample::later(55),
    }
}

struct Case {
    code: CodePayload,
    client: Client,
    user: User,
    resources: Vec<Resource>,
    pkce: Result<(), Refusal>,
    may_receive: Result<(), Refusal>,
    redirect_uri: Option<&'static str>,
    resource: Vec<&'static str>,
}

impl Case {
    fn new() -> Self {
        Self {
            code: code(),
            client: sample::client(),
            user: sample::user(),
            resources: sample::resources(),
            pkce: Ok(()),
            may_receive: Ok(()),
            redirect_uri: Some(CALLBACK),
            resource: Vec::new(),
        }
    }

    fn decide(&self) -> CodeOutcome {
        decide_code(
            CodeFacts {
                code: &self.code,
                client: &self.client,
                user: Some(&self.user),
                resources: &self.resources,
                issuer: ISSUER,
                pkce: self.pkce.clone(),
                key: Ok(()),
                may_receive: self.may_receive.clone(),
                now: sample::now(),
            },
            &CodeRequest { redirect_uri: self.redirect_uri, resource: &self.resource },
        )
    }

    fn entitlement(&self) -> Entitlement {
        match self.decide() {
            CodeOutcome::Redeem(entitlement) => *entitlement,
            other => panic!("{other:?}"),
        }
    }
}

fn with(change: impl FnOnce(&mut Case)) -> Case {
    let mut case = Case::new();
    change(&mut case);
    case
}

const REFUSED: Refusal = Refusal::new(OauthCode::InvalidGrant, "by_another_rule", "no");

#[test]
fn a_code_is_read_back_as_it_was_written() {
    let full = CodePayload {
        code_challenge: None,
        terms: GrantTerms {
            offline: true,
            nonce: None,
            claims: Some("{}".to_owned()),
            resources: vec![API.to_owned()],
            cnf: Some("jkt".to_owned()),
            actor: Some("{}".to_owned()),
            authorization_details: Some("[]".to_owned()),
            ..sample::terms()
        },
        ..code()
    };
    for payload in [code(), full] {
        let bytes = payload.to_bytes();
        assert!(bytes.len() < 600, "{} bytes", bytes.len());
        assert_eq!(CodePayload::from_bytes(&bytes), Some(payload));
    }
    for wrong in ["", "{}", "[]", "null", "{\"i\":\"AA\"}"] {
        assert_eq!(CodePayload::from_bytes(wrong.as_bytes()), None, "{wrong}");
    }
}

#[test]
fn a_right_presentation_is_redeemed() {
    let given = Case::new().entitlement();
    assert_eq!(given.subject, Subject::Person { user: sample::USER });
    assert_eq!(given.scope, sample::words("openid profile read"));
    assert_eq!(given.audience, [ISSUER]);
    assert_eq!(given.auth_time, Some(sample::ago(600)));
    assert_eq!(given.nonce.as_deref(), Some("n-1"));
    assert_eq!(given.sid, Some(sample::SESSION));
    assert!(given.issue_id_token && given.issue_refresh && !given.offline);
}

#[test]
fn what_was_not_asked_for_is_not_given() {
    let plain = with(|case| {
        case.client.metadata.grant_types = vec![GrantType::AuthorizationCode];
        case.code.terms.scope = sample::words("read");
    });
    let given = plain.entitlement();
    assert!(!given.issue_id_token && !given.issue_refresh);
}

#[test]
fn a_scope_taken_from_the_client_meanwhile_is_left_out() {
    let narrowed = with(|case| case.client.metadata.scope = "openid".to_owned());
    assert_eq!(narrowed.entitlement().scope, ["openid"]);
}

#[test]
fn only_a_presentation_that_would_succeed_burns_the_code() {
    let misused = [
        ("code_of_other_client", with(|case| case.client.key = ClientKey::from_bytes([99; 16]))),
        ("code_redirect_uri", with(|case| case.redirect_uri = None)),
        ("code_redirect_uri", with(|case| case.redirect_uri = Some("https://app.example.com/callback/"))),
        ("code_redirect_uri", with(|case| case.redirect_uri = Some(""))),
        ("by_another_rule", with(|case| case.pkce = Err(REFUSED))),
    ];
    for (want, case) in misused {
        match case.decide() {
            CodeOutcome::Misused(refusal) => {
                assert_eq!((refusal.code, refusal.reason), (OauthCode::InvalidGrant, want));
            }
            other => panic!("{want}: {other:?}"),
        }
    }
    let refused = [
        ("by_another_rule", with(|case| case.may_receive = Err(REFUSED))),
        ("user_gone", with(|case| case.user.id = UserId::from_bytes([99; 16]))),
        ("resource_not_granted", with(|case| case.resource = vec![API])),
        ("grant_type_not_registered", with(|case| case.client.metadata.grant_types = vec![GrantType::RefreshToken])),
    ];
    for (want, case) in refused {
        match case.decide() {
            CodeOutcome::Refused(refusal) => assert_eq!(refusal.reason, want),
            other => panic!("{want}: {other:?}"),
        }
    }
}

#[test]
fn a_code_lives_until_its_end_and_not_a_moment_longer() {
    let at_end = with(|case| case.code.expires_at = sample::now());
    assert!(matches!(at_end.decide(), CodeOutcome::Late(refusal) if refusal.reason == "code_expired"));
    let before = with(|case| case.code.expires_at = Timestamp::from_micros(sample::now().as_micros() + 1));
    assert!(matches!(before.decide(), CodeOutcome::Redeem(_)));
    // A stranger learns nothing from the age of a code, and a late stranger is still a stranger.
    let stranger = with(|case| {
        case.code.expires_at = sample::now();
        case.pkce = Err(REFUSED);
    });
    assert!(matches!(stranger.decide(), CodeOutcome::Misused(_)));
}

#[test]
fn clocks_of_two_nodes_may_differ_a_little() {
    let ahead = |secs| with(move |case| case.code.issued_at = sample::later(secs)).decide();
    assert!(matches!(ahead(3), CodeOutcome::Redeem(_)));
    assert!(matches!(ahead(11), CodeOutcome::Late(_)));
}

#[test]
fn resources_may_be_narrowed_and_carry_the_registered_spelling() {
    let two = |resource: Vec<&'static str>| {
        with(move |case| {
            case.code.terms.resources = vec![API.to_owned(), FILES.to_owned()];
            case.code.terms.scope = sample::words("openid read list own");
            case.client.metadata.scope = "openid read list own".to_owned();
            case.resource = resource;
        })
        .entitlement()
    };
    let whole = two(vec![]);
    assert_eq!(whole.audience, [API, FILES, ISSUER]);
    assert_eq!(whole.scope, sample::words("openid read list own"));
    let one = two(vec!["https://api.example.com/", "", API]);
    assert_eq!(one.audience, [API]);
    assert_eq!(one.resources, [API]);
    // `list` is a word of the other resource only; `own` is nobody's.
    assert_eq!(one.scope, sample::words("openid read own"));
}

#[test]
fn a_public_client_is_treated_alike() {
    let public = with(|case| case.client.metadata.token_endpoint_auth_method = AuthMethod::None);
    assert!(public.entitlement().issue_refresh);
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_no_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
        let _ = CodePayload::from_bytes(&bytes);
    }
}
