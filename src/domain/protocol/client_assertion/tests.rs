//! Tables for [`super`]: the sentences are the rules.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use proptest::prelude::*;
use serde_json::json;

use super::super::sample::{self, ISSUER};
use super::*;

const TOKEN: &str = "https://login.example.com/token";
const AUDIENCE: Audience<'static> =
    Audience { issuer: ISSUER, token_endpoint: TOKEN, called: "https://login.example.com/introspect" };

fn now() -> i64 {
    sample::now().as_secs()
}

fn claims() -> Value {
    json!({ "iss": "web", "sub": "web", "aud": ISSUER, "exp": now() + 60, "iat": now(), "jti": "j-1" })
}

/// The claims with these in their place; `null` takes one away.
fn but(changes: Value) -> Value {
    let mut claims = claims();
    for (name, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => claims.as_object_mut().unwrap().remove(name),
            value => claims.as_object_mut().unwrap().insert(name.clone(), value.clone()),
        };
    }
    claims
}

fn token_of(header: &str, payload: impl AsRef<[u8]>) -> String {
    format!("{}.{}.c2ln", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(payload))
}

fn token(claims: &Value) -> String {
    token_of(r#"{"alg":"ES256"}"#, claims.to_string())
}

fn outcome(text: &str) -> &'static str {
    match parse(text).and_then(|assertion| assertion.check(&AUDIENCE, sample::now())) {
        Ok(()) => "ok",
        Err(refusal) => {
            assert_eq!(refusal.code, OauthCode::InvalidClient);
            assert_eq!(refusal.description, super::super::refusal::clean(&refusal.description));
            refusal.reason
        }
    }
}

#[test]
fn one_string_is_the_audience_and_nothing_that_resembles_it() {
    for (aud, want) in [
        (json!(ISSUER), "ok"),
        (json!(TOKEN), "ok"),
        (json!(AUDIENCE.called), "ok"),
        (json!([ISSUER]), "assertion_audience_list"),
        (json!(["https://other-as.example", ISSUER]), "assertion_audience_list"),
        (json!([]), "assertion_audience_list"),
        (json!({ "a": ISSUER }), "assertion_audience_list"),
        (json!(7), "assertion_audience_list"),
        (json!(format!("{ISSUER}/")), "assertion_audience"),
        (json!(format!("{TOKEN}/")), "assertion_audience"),
        (json!("https://LOGIN.example.com"), "assertion_audience"),
        (json!("https://login.example.com:443"), "assertion_audience"),
        (json!("https://login.example.com/authorize"), "assertion_audience"),
        (json!("https://other-as.example"), "assertion_audience"),
        (json!(""), "assertion_audience"),
    ] {
        assert_eq!(outcome(&token(&but(json!({ "aud": aud })))), want, "{aud}");
    }
}

#[test]
fn it_lives_five_minutes_at_most_and_its_clock_may_be_a_minute_ahead() {
    for (changes, want) in [
        (json!({ "exp": now() + 300 }), "ok"),
        (json!({ "exp": now() + 301 }), "assertion_too_long"),
        (json!({ "exp": now() + 3_600 }), "assertion_too_long"),
        (json!({ "exp": now() + 1 }), "ok"),
        (json!({ "exp": now() }), "assertion_expired"),
        (json!({ "exp": now() - 300 }), "assertion_expired"),
        (json!({ "iat": now() + 20 }), "ok"),
        (json!({ "iat": now() + 60, "exp": now() + 120 }), "ok"),
        (json!({ "iat": now() + 61, "exp": now() + 120 }), "assertion_early"),
        (json!({ "nbf": now() + 8 }), "ok"),
        (json!({ "nbf": now() + 61 }), "assertion_early"),
        (json!({ "nbf": now() - 500 }), "ok"),
        (json!({ "iat": null }), "ok"),
    ] {
        assert_eq!(outcome(&token(&but(changes.clone()))), want, "{changes}");
    }
}

#[test]
fn every_claim_that_is_needed_must_be_there_and_of_its_kind() {
    for name in ["iss", "sub", "aud", "exp", "jti"] {
        assert_eq!(outcome(&token(&but(json!({ name: null })))), "assertion_claims", "{name}");
    }
    for (changes, want) in [
        (json!({ "iss": "other" }), "assertion_iss_sub"),
        (json!({ "sub": "other" }), "assertion_iss_sub"),
        (json!({ "iss": "", "sub": "" }), "client_unknown"),
        (json!({ "iss": "a b", "sub": "a b" }), "client_unknown"),
        (json!({ "iss": ["web"] }), "assertion_claims"),
        (json!({ "exp": "1800000060" }), "assertion_claims"),
        (json!({ "iat": "now" }), "assertion_claims"),
        (json!({ "jti": 7 }), "assertion_claims"),
        (json!({ "jti": "" }), "assertion_jti"),
        (json!({ "jti": "j".repeat(255) }), "ok"),
        (json!({ "jti": "j".repeat(256) }), "assertion_jti"),
        (json!({ "more": { "a": 1 } }), "ok"),
    ] {
        assert_eq!(outcome(&token(&but(changes.clone()))), want, "{changes}");
    }
    for payload in ["[]", "null", "{", r#"["web","web"]"#, r#"{"iat":null}"#] {
        assert_eq!(outcome(&token_of(r#"{"alg":"ES256"}"#, payload)), "assertion_claims", "{payload}");
    }
    let twice = claims().to_string().replacen('{', r#"{"aud":"https://other-as.example","#, 1);
    assert_eq!(outcome(&token_of(r#"{"alg":"ES256"}"#, twice)), "assertion_claims");
}

#[test]
fn only_a_signed_token_that_is_meant_for_this_is_read() {
    for (header, want) in [
        (r#"{"alg":"ES256","typ":"JWT"}"#, "ok"),
        (r#"{"alg":"HS256","typ":"jwt"}"#, "ok"),
        (r#"{"alg":"RS256","typ":"client-authentication+jwt","kid":"k"}"#, "ok"),
        (r#"{"alg":"RS256","typ":"application/JWT"}"#, "ok"),
        (r#"{"alg":"ES256","typ":"dpop+jwt"}"#, "assertion_typ"),
        (r#"{"alg":"ES256","typ":"oauth-authz-req+jwt"}"#, "assertion_typ"),
        (r#"{"alg":"none"}"#, "assertion_unreadable"),
        (r#"{"alg":"RS512"}"#, "assertion_unreadable"),
        (r#"{"alg":"ES256","jku":"https://evil.example"}"#, "assertion_unreadable"),
    ] {
        assert_eq!(outcome(&token_of(header, claims().to_string())), want, "{header}");
    }
    let bare = token_of(r#"{"alg":"none"}"#, claims().to_string()).replace("c2ln", "");
    assert_eq!(outcome(&bare), "assertion_unsigned");
    assert_eq!(outcome("x"), "assertion_unreadable");
}

#[test]
fn the_algorithm_tells_the_method() {
    for alg in ClientAlgorithm::ALL {
        let text = token_of(&format!(r#"{{"alg":"{}"}}"#, alg.as_str()), claims().to_string());
        let want = if alg == ClientAlgorithm::HS256 { AuthMethod::ClientSecretJwt } else { AuthMethod::PrivateKeyJwt };
        assert_eq!(parse(&text).unwrap().method(), want);
    }
}

#[test]
fn what_hangs_on_the_client_has_one_sentence_for_strangers() {
    let text = token(&claims());
    let assertion = parse(&text).unwrap();
    let mut client = sample::client();
    client.metadata.token_endpoint_auth_signing_alg = Some(ClientAlgorithm::PS256);
    let strangers = [SignatureVerdict::Wrong, SignatureVerdict::NoKey];
    for verdict in strangers {
        let refusal = assertion.check_client(&client, verdict).unwrap_err();
        assert_eq!(refusal.description, unproven("client_unknown").description, "{verdict:?}");
    }
    let told = assertion.check_client(&client, SignatureVerdict::Good).unwrap_err();
    assert_eq!(
        (told.reason, &*told.description),
        ("assertion_algorithm", "client_assertion is signed by ES256, registered is PS256")
    );
    client.metadata.token_endpoint_auth_signing_alg = Some(ClientAlgorithm::ES256);
    assert_eq!(assertion.check_client(&client, SignatureVerdict::Good), Ok(()));
    client.metadata.token_endpoint_auth_signing_alg = None;
    assert_eq!(assertion.check_client(&client, SignatureVerdict::Good), Ok(()));
    client.enabled = false;
    assert_eq!(assertion.check_client(&client, SignatureVerdict::Good).unwrap_err().reason, "client_disabled");
}

#[test]
fn a_young_memory_refuses_exactly_what_it_may_have_forgotten() {
    // What could have been accepted at any second before the birth is refused, and nothing else.
    for born in -200..400_i64 {
        for (exp, iat) in [(60, Some(0)), (300, Some(0)), (300, None), (60, None), (120, Some(60)), (10, Some(-290))] {
            let claims = match iat {
                Some(iat) => but(json!({ "exp": now() + exp, "iat": now() + iat })),
                None => but(json!({ "exp": now() + exp, "iat": null })),
            };
            let text = token(&claims);
            let assertion = parse(&text).unwrap();
            let moment = |second: i64| Timestamp::from_secs(now() + second);
            let accepted = (born - 1_000..born).any(|second| assertion.check(&AUDIENCE, moment(second)).is_ok());
            assert_eq!(assertion.may_predate(moment(born)), accepted, "born {born} exp {exp} iat {iat:?}");
        }
    }
    assert!(!parse(&token(&claims())).unwrap().may_predate(Timestamp::from_secs(0)));
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        let _ = outcome(&text);
    }

    #[test]
    fn any_claims_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = outcome(&token_of(r#"{"alg":"RS256"}"#, bytes));
    }

    #[test]
    fn any_values_are_read_or_refused(
        iss in "\\PC{0,8}", aud in "\\PC{0,8}", exp in any::<f64>(), iat in any::<i64>(), jti in "\\PC{0,8}",
    ) {
        let claims = json!({ "iss": iss, "sub": iss, "aud": aud, "exp": exp, "iat": iat, "jti": jti });
        prop_assert_ne!(outcome(&token(&claims)), "ok", "nobody hits the audience by chance");
    }
}
