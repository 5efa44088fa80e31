//! Table tests of request objects.

use proptest::prelude::*;
use serde_json::json;

use super::super::sample::{self, ISSUER};
use super::*;
use crate::model::key::Algorithm;

fn encode(text: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(text)
}

fn with_header(header: &Value, payload: &str) -> String {
    format!("{}.{}.{}", encode(header.to_string()), encode(payload), encode("signature"))
}

fn signed(members: &Value) -> String {
    with_header(&json!({"alg": "ES256"}), &members.to_string())
}

fn unsigned(members: &Value) -> String {
    format!("{}.{}.", encode(r#"{"alg":"none"}"#), encode(members.to_string()))
}

fn client(alg: Option<RequestObjectAlgorithm>) -> Client {
    let mut client = sample::client();
    client.metadata.request_object_signing_alg = alg;
    client
}

fn reason(members: &Value) -> Option<&'static str> {
    let text = signed(members);
    let refusal = parse(&text).unwrap().check(&client(None), ISSUER, sample::now()).err()?;
    assert_eq!(refusal.code, OauthCode::InvalidRequestObject);
    Some(refusal.reason)
}

fn effective(members: &Value, beside: &[(&str, &str)]) -> Result<Vec<(String, String)>, Refusal> {
    let text = unsigned(members);
    let beside = Params::from_pairs(beside.iter().copied());
    let params = parse(&text).unwrap().effective(&beside)?;
    Ok(params.pairs().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

#[test]
fn what_is_no_request_object_is_refused_with_its_reason() {
    let es256 = |more: &Value| {
        let mut header = json!({"alg": "ES256"});
        header.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        with_header(&header, "{}")
    };
    for (text, reason) in [
        (format!("{}.a.b.c.d", encode(r#"{"alg":"RSA-OAEP","enc":"A256GCM"}"#)), "object_encrypted"),
        ("x".to_owned(), "object_unreadable"),
        (es256(&json!({"jwk": {}})), "object_unreadable"),
        (es256(&json!({"jku": "https://evil.example"})), "object_unreadable"),
        (es256(&json!({"crit": ["b64"], "b64": false})), "object_unreadable"),
        (es256(&json!({"b64": false})), "object_unreadable"),
        (with_header(&json!({"alg": "RS512"}), "{}"), "object_unreadable"),
        // Tokens of other kinds.
        (es256(&json!({"typ": "client-authentication+jwt"})), "object_typ"),
        (es256(&json!({"typ": "at+jwt"})), "object_typ"),
        (es256(&json!({"typ": "dpop+jwt"})), "object_typ"),
        (with_header(&json!({"alg": "ES256"}), "[]"), "object_claims"),
        (with_header(&json!({"alg": "ES256"}), r#"{"state":"a","state":"b"}"#), "object_claims"),
        (
            with_header(&json!({"alg": "ES256"}), r#"{"claims":{"userinfo":{"name":null,"name":null}}}"#),
            "object_claims",
        ),
    ] {
        let refusal = parse(&text).unwrap_err();
        assert_eq!((refusal.code, refusal.reason), (OauthCode::InvalidRequestObject, reason), "{text}");
    }
    for typ in ["JWT", "jwt", "oauth-authz-req+jwt", "application/oauth-authz-req+jwt"] {
        assert!(parse(&es256(&json!({ "typ": typ }))).is_ok(), "{typ}");
    }
}

#[test]
fn the_registered_algorithm_is_the_only_one_and_none_is_never_a_default() {
    let object = |alg: &str| {
        if alg == "none" { unsigned(&json!({})) } else { with_header(&json!({ "alg": alg }), "{}") }
    };
    let algorithms = RequestObjectAlgorithm::ALL.map(RequestObjectAlgorithm::as_str);
    for registered in RequestObjectAlgorithm::ALL {
        for alg in algorithms {
            let text = object(alg);
            let said = parse(&text).unwrap().needs_signature(&client(Some(registered)));
            let expected = (alg == registered.as_str()).then_some(alg != "none");
            assert_eq!(said.ok(), expected, "{alg} for {registered:?}");
        }
    }
    for alg in algorithms {
        let text = object(alg);
        assert_eq!(parse(&text).unwrap().needs_signature(&client(None)).is_ok(), alg != "none", "{alg}");
    }
    // The client's public key is no secret.
    for registered in
        [None, Some(RequestObjectAlgorithm::Signed(Algorithm::RS256)), Some(RequestObjectAlgorithm::Unsigned)]
    {
        let text = object("HS256");
        assert_eq!(parse(&text).unwrap().needs_signature(&client(registered)).unwrap_err().reason, "object_algorithm");
    }
}

#[test]
fn an_object_is_held_to_what_it_says_of_itself() {
    let now = sample::now().as_secs();
    for (members, expected) in [
        (json!({}), None),
        (json!({"iss": "web", "aud": ISSUER, "client_id": "web"}), None),
        (json!({"aud": ["https://other.example", ISSUER]}), None),
        (json!({"sub": "alice"}), None),
        (json!({"iss": "app"}), Some("object_iss")),
        (json!({"iss": ["web"]}), Some("object_iss")),
        (json!({"client_id": "app"}), Some("object_client_id")),
        (json!({"client_id": null}), Some("object_client_id")),
        (json!({"sub": "web"}), Some("object_sub")),
        (json!({"aud": "https://other.example"}), Some("object_aud")),
        (json!({"aud": []}), Some("object_aud")),
        (json!({"aud": {}}), Some("object_aud")),
        (json!({"aud": format!("{ISSUER}/")}), Some("object_aud")),
        (json!({"request": "x"}), Some("object_nested")),
        (json!({"request_uri": "x"}), Some("object_nested")),
        (json!({"exp": now + 1}), None),
        (json!({"exp": now}), Some("object_expired")),
        (json!({"exp": "1900000000"}), Some("object_time")),
        (json!({"exp": null}), Some("object_time")),
        (json!({"nbf": now + 8, "iat": now + 60}), None),
        (json!({"nbf": now + 61}), Some("object_early")),
        (json!({"iat": now + 61}), Some("object_early")),
        (json!({"exp": now + 86_400}), None),
        (json!({"nbf": now, "exp": now + 3_600}), None),
        (json!({"nbf": now, "exp": now + 3_601}), Some("object_too_long")),
        (json!({"nbf": now - 3_600}), Some("object_too_long")),
        (json!({"nbf": now - 3_599}), None),
    ] {
        assert_eq!(reason(&members), expected, "{members}");
    }
}

#[test]
fn what_stands_inside_counts_for_more_and_what_stands_beside_fills_up() {
    let beside = [
        ("client_id", "web"),
        ("scope", "openid"),
        ("request", "x"),
        ("state", "outer"),
        ("nonce", "outer"),
        ("prompt", "login"),
        ("resource", "https://a.example"),
        ("foo", "bar"),
    ];
    let inside = json!({
        "iss": "web", "exp": 1, "client_id": "web", "foo": "inner", "redirect_uri": "https://app.example/cb",
        "state": "inner", "nonce": "", "max_age": 300, "claims": {"userinfo": {"name": null}}, "response_type": "code",
        "resource": ["https://b.example", "https://c.example"],
    });
    let mut found = effective(&inside, &beside).unwrap();
    found.sort();
    let expected = [
        ("claims", r#"{"userinfo":{"name":null}}"#),
        ("client_id", "web"),
        ("max_age", "300"),
        ("nonce", ""),
        ("prompt", "login"),
        ("redirect_uri", "https://app.example/cb"),
        ("resource", "https://b.example"),
        ("resource", "https://c.example"),
        ("response_type", "code"),
        ("scope", "openid"),
        ("state", "inner"),
    ];
    assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
}

#[test]
fn beside_a_plain_oauth_object_nothing_counts() {
    let beside = [("client_id", "web"), ("scope", "orders:read"), ("state", "outer"), ("prompt", "none")];
    let found = effective(&json!({"scope": "openid", "nonce": "n"}), &beside).unwrap();
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(!found.iter().any(|(name, _)| name == "state" || name == "prompt"));
}

#[test]
fn a_member_of_another_type_is_refused() {
    for members in [
        json!({"state": null}),
        json!({"scope": ["openid"]}),
        json!({"nonce": {"a": 1}}),
        json!({"claims": []}),
        json!({"resource": [["x"]]}),
    ] {
        assert_eq!(effective(&members, &[("scope", "openid")]).unwrap_err().reason, "object_member", "{members}");
    }
}

proptest! {
    #[test]
    fn any_payload_is_read_or_refused(payload in "\\PC{0,120}") {
        let text = with_header(&json!({"alg": "RS256"}), &payload);
        if let Ok(object) = parse(&text) {
            let _ = object.check(&client(None), ISSUER, sample::now());
            let _ = object.effective(&Params::default());
        }
    }
}
