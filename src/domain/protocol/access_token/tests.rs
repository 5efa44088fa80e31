//! Tables for [`super`]: the sentences are the rules.

use serde_json::{Value, json};

use super::super::opaque_token::{OpaquePayload, sealed_bytes, to_text};
use super::super::sample::{self, ISSUER};
use super::super::token::Subject;
use super::super::token_text::{Shape, route};
use super::*;

fn entitlement() -> Entitlement {
    Entitlement {
        subject: Subject::Person { user: sample::USER },
        client: sample::CLIENT,
        client_id: "web".to_owned(),
        scope: sample::words("openid read"),
        audience: vec![ISSUER.to_owned()],
        resources: Vec::new(),
        auth_time: Some(sample::ago(600)),
        acr: Some(crate::model::session::Acr::Aal1),
        amr: vec![crate::model::session::Amr::Pwd],
        nonce: Some("n-1".to_owned()),
        sid: Some(sample::SESSION),
        claims: None,
        cnf: None,
        offline: false,
        issue_refresh: true,
        issue_id_token: true,
    }
}

fn facts(entitlement: &Entitlement) -> AccessTokenFacts<'_> {
    AccessTokenFacts {
        issuer: ISSUER,
        entitlement,
        sub: "sub-alice",
        jti: TokenId::from_bytes([7; 16]),
        grant: Some(sample::GRANT),
        client: sample::CLIENT,
        now: sample::now(),
        lifetime: Duration::from_mins(5),
        roles: None,
        groups: None,
    }
}

fn reason(result: Result<(), Refusal>) -> &'static str {
    result.err().map_or("ok", |refusal| refusal.reason)
}

#[test]
fn a_jwt_has_the_claims_of_rfc_9068() {
    let given = entitlement();
    let written: Value = serde_json::from_slice(&AccessTokenClaims::new(&facts(&given)).to_bytes()).unwrap();
    assert_eq!(
        written,
        json!({
            "iss": ISSUER, "sub": "sub-alice", "aud": ISSUER, "client_id": "web",
            "exp": 1_800_000_300, "iat": 1_800_000_000, "jti": "tok_07070707070707070707070707070707",
            "scope": "openid read", "auth_time": 1_799_999_400, "acr": "aal1", "amr": ["pwd"],
            "sid": "ses_04040404040404040404040404040404", "gid": "grt_05050505050505050505050505050505",
        })
    );
}

#[test]
fn several_audiences_a_key_and_roles_have_their_own_form() {
    let mut given = entitlement();
    given.audience = vec![sample::API.to_owned(), ISSUER.to_owned()];
    given.cnf = Some("thumb".to_owned());
    let roles = sample::words("editor admin");
    let facts = AccessTokenFacts { roles: Some(&roles), groups: Some(&[]), ..facts(&given) };
    let written: Value = serde_json::from_slice(&AccessTokenClaims::new(&facts).to_bytes()).unwrap();
    assert_eq!(written["aud"], json!([sample::API, ISSUER]));
    assert_eq!(written["cnf"], json!({"jkt": "thumb"}));
    assert_eq!(written["roles"], json!(["editor", "admin"]));
    assert_eq!(written["groups"], json!([]));
}

#[test]
fn a_clients_own_token_says_nothing_of_a_person() {
    let given = Entitlement {
        subject: Subject::Client,
        scope: Vec::new(),
        auth_time: None,
        acr: None,
        amr: Vec::new(),
        sid: None,
        ..entitlement()
    };
    let facts = AccessTokenFacts { sub: "web", grant: None, ..facts(&given) };
    let written: Value = serde_json::from_slice(&AccessTokenClaims::new(&facts).to_bytes()).unwrap();
    let mut members: Vec<&str> = written.as_object().unwrap().keys().map(String::as_str).collect();
    members.sort_unstable();
    assert_eq!(members, ["aud", "cid", "client_id", "exp", "iat", "iss", "jti", "sub"]);
    let read = parse_access_token(Some(TYP), &AccessTokenClaims::new(&facts).to_bytes()).unwrap();
    assert!(!read.has_person());
    let opaque = OpaquePayload::from_bytes(&OpaquePayload::new(&facts).to_bytes()).unwrap().into_access_token(ISSUER);
    for token in [&read, &opaque] {
        assert!(token.is_of(sample::CLIENT));
        assert!(!token.is_of(ClientKey::from_bytes([99; 16])), "of the same name, and another");
    }
    assert!(!AccessToken { cid: None, ..read.clone() }.is_of(sample::CLIENT), "bound to nothing");
    assert_eq!(reason(check_for_userinfo(&read, ISSUER)), "token_without_openid");
}

#[test]
fn both_forms_read_back_alike() {
    let given = entitlement();
    let facts = facts(&given);
    let jwt = parse_access_token(Some(TYP), &AccessTokenClaims::new(&facts).to_bytes()).unwrap();
    let payload = OpaquePayload::from_bytes(&OpaquePayload::new(&facts).to_bytes()).unwrap();
    let opaque = payload.into_access_token(ISSUER);
    assert_eq!(opaque.user, Some(sample::USER));
    assert_eq!(jwt, AccessToken { user: None, ..opaque });
    assert_eq!((jwt.gid, jwt.cid), (Some(sample::GRANT), None), "its grant binds it");
    assert_eq!(jwt.scope, sample::words("openid read"));
}

#[test]
fn an_opaque_token_is_routed_to_its_sealed_bytes() {
    let text = to_text(&[1, 2, 3, 250]);
    let Shape::OpaqueAccess(body) = route(&text) else { panic!("{text}") };
    assert_eq!(sealed_bytes(body), Some(vec![1, 2, 3, 250]));
    assert_eq!(sealed_bytes("AQID-g=="), None);
}

#[test]
fn an_id_token_or_logout_token_is_no_access_token() {
    let given = entitlement();
    let bytes = AccessTokenClaims::new(&facts(&given)).to_bytes();
    for typ in [None, Some("JWT"), Some("logout+jwt"), Some("AT+JWT"), Some("application/at+jwt"), Some("")] {
        assert_eq!(parse_access_token(typ, &bytes).unwrap_err().reason, "token_wrong_type", "{typ:?}");
    }
}

#[test]
fn a_payload_that_is_not_ours_is_refused() {
    let good = json!({"iss": ISSUER, "sub": "s", "aud": "a", "client_id": "c", "exp": 1, "iat": 1,
        "jti": "tok_07070707070707070707070707070707"});
    assert!(parse_access_token(Some(TYP), good.to_string().as_bytes()).is_ok());
    for member in ["iss", "sub", "aud", "client_id", "exp", "iat", "jti"] {
        let mut bad = good.clone();
        bad.as_object_mut().unwrap().remove(member);
        assert!(parse_access_token(Some(TYP), bad.to_string().as_bytes()).is_err(), "without {member}");
    }
    for (member, value) in [
        ("aud", json!([])),
        ("aud", json!([1])),
        ("exp", json!("1")),
        ("exp", json!(1.5)),
        ("jti", json!("x")),
        ("sid", json!("grt_05050505050505050505050505050505")),
        ("gid", json!(5)),
    ] {
        let mut bad = good.clone();
        bad[member] = value.clone();
        assert!(parse_access_token(Some(TYP), bad.to_string().as_bytes()).is_err(), "{member} = {value}");
    }
    let twice = good.to_string().replacen('{', "{\"sub\":\"other\",", 1);
    assert!(parse_access_token(Some(TYP), twice.as_bytes()).is_err());
}

#[test]
fn issuer_and_times_are_checked() {
    let given = entitlement();
    let token = parse_access_token(Some(TYP), &AccessTokenClaims::new(&facts(&given)).to_bytes()).unwrap();
    let leeway = Duration::from_secs(10);
    let cases = [
        (ISSUER, sample::now(), "ok"),
        (ISSUER, sample::later(299), "ok"),
        (ISSUER, sample::later(300), "token_expired"),
        (ISSUER, sample::ago(10), "ok"),
        (ISSUER, sample::ago(11), "token_from_future"),
        ("https://login.example.com/realms/other", sample::now(), "token_of_other_issuer"),
        ("https://login.example.com/", sample::now(), "token_of_other_issuer"),
    ];
    for (issuer, now, want) in cases {
        assert_eq!(reason(check_access_token(&token, issuer, now, leeway)), want, "{issuer} {now}");
    }
}

#[test]
fn userinfo_wants_openid_and_the_issuer_as_audience() {
    let given = entitlement();
    let token = parse_access_token(Some(TYP), &AccessTokenClaims::new(&facts(&given)).to_bytes()).unwrap();
    assert_eq!(reason(check_for_userinfo(&token, ISSUER)), "ok");
    let elsewhere = AccessToken { aud: vec![sample::API.to_owned()], ..token.clone() };
    assert_eq!(reason(check_for_userinfo(&elsewhere, ISSUER)), "token_for_other_audience");
    let narrow = AccessToken { scope: sample::words("read"), ..token };
    assert_eq!(reason(check_for_userinfo(&narrow, ISSUER)), "token_without_openid");
}
