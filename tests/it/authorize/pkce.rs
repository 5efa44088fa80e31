//! B-14 and B-15: PKCE is S256, demanded here and not when the code has been issued.

use super::assert_refused;
use crate::kit::flow::{CHALLENGE, Client, NATIVE, VERIFIER, WEB, authorize, code, code_answer, post_as};
use crate::kit::op::Op;

#[tokio::test]
async fn only_an_s256_challenge_of_its_exact_form_is_taken() {
    let op = Op::start().await;
    let long = format!("{CHALLENGE}A");
    for client in [WEB, NATIVE] {
        for (what, changes) in [
            ("nothing", &[("code_challenge", ""), ("code_challenge_method", "")][..]),
            ("a method alone", &[("code_challenge", "")]),
            ("no method, which means plain", &[("code_challenge_method", "")]),
            ("plain", &[("code_challenge_method", "plain")]),
            ("another spelling", &[("code_challenge_method", "s256")]),
            ("too short", &[("code_challenge", &CHALLENGE[1..])]),
            ("too long", &[("code_challenge", &long)]),
            ("padded", &[("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-c=")]),
            ("not base64url", &[("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw+cM")]),
        ] {
            let answer = op.browser().get(&authorize(client, "openid", changes)).await;
            assert_refused(&answer, client.redirect_uri, "invalid_request", what);
            assert_eq!(answer.location_param("state").as_deref(), Some("st"), "{what}");
        }
    }
    let answer = op.browser().get(&authorize(WEB, "openid", &[("code_challenge_method", "plain")])).await;
    let description = answer.location_param("error_description").expect("a description");
    assert!(description.contains("transform algorithm not supported"), "{description}");
}

const LEGACY: Client = Client {
    id: "legacy",
    secret: Some("leg-secret-0123456789abcdef"),
    in_body: false,
    redirect_uri: "https://old.example/cb",
};

const LEGACY_REALM: &str = r#"
realm: main
clients:
  - client_id: legacy
    client_secret: "leg-secret-0123456789abcdef"
    redirect_uris: [ "https://old.example/cb" ]
    grant_types: [ authorization_code ]
    scope: openid
    consent: skip
    require_pkce: false
"#;

async fn redeem_with(op: &Op, client: Client, code: &str, verifier: Option<&str>) -> (u16, String) {
    let mut fields = vec![("grant_type", "authorization_code"), ("code", code), ("redirect_uri", client.redirect_uri)];
    fields.extend(verifier.map(|verifier| ("code_verifier", verifier)));
    let answer = post_as(op, client, "/token", &fields).await;
    (answer.status.as_u16(), answer.json()["error"].as_str().unwrap_or("").to_owned())
}

#[tokio::test]
async fn a_challenge_cannot_be_stripped_nor_a_verifier_left_out() {
    let op = Op::start().await;
    op.apply(LEGACY_REALM).await;
    let mut browser = op.browser();
    let without = [("code_challenge", ""), ("code_challenge_method", "")];
    let code_without = |answer: crate::kit::browser::Answer| answer.location_param("code").expect("a code");

    // A client that may go without: a verifier then shows that somebody took the challenge away.
    let stripped = code_without(code_answer(&mut browser, LEGACY, "openid", &without).await);
    assert_eq!(redeem_with(&op, LEGACY, &stripped, Some(VERIFIER)).await, (400, "invalid_grant".to_owned()));
    let fine = code_without(code_answer(&mut browser, LEGACY, "openid", &without).await);
    assert_eq!(redeem_with(&op, LEGACY, &fine, None).await.0, 200);

    for client in [LEGACY, WEB, NATIVE] {
        for verifier in [None, Some(""), Some("a-verifier-of-some-other-request-0123456789")] {
            let code = code(&mut browser, client, "openid").await;
            let refused = redeem_with(&op, client, &code, verifier).await;
            assert_eq!(refused, (400, "invalid_grant".to_owned()), "{} {verifier:?}", client.id);
        }
    }
}
