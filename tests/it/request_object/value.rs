//! By value: what stands inside, who signed it, and what is no request.

use std::time::Duration;

use serde_json::{Value, json};

use super::{add_keys, error, signed, started, unsigned, whole, with};
use crate::kit::flow::{WEB, authorize, code, id_claims, text};
use crate::kit::op::{Op, PASSWORD};
use crate::kit::signing::{EC, ED, Key, OTHER_RSA, RSA, but, claims, jwks, sign_with_secret, token_by};

#[tokio::test]
async fn every_listed_algorithm_works_with_keys_that_have_no_name() {
    let op = started().await;
    let document = op.get("/.well-known/openid-configuration", &[]).await.json();
    let works: [(&str, &Key); 4] = [("RS256", &RSA), ("PS256", &RSA), ("ES256", &EC), ("EdDSA", &ED)];
    let listed = works.map(|(alg, _)| alg).into_iter().chain(["none"]).collect::<Vec<_>>();
    assert_eq!(document["request_object_signing_alg_values_supported"], json!(listed));
    for (alg, key) in works {
        let object = key.sign(&json!({ "alg": alg }), &whole(&op));
        let mut browser = op.browser();
        browser.get(&format!("/authorize?client_id=web&request={object}")).await;
        let answer = browser.sign_in("alice", PASSWORD).await;
        assert!(answer.location().starts_with(WEB.redirect_uri), "{alg}: {}", answer.body);
        assert_eq!(answer.location_param("state").as_deref(), Some("inside"), "{alg}");
        assert_eq!(text(&id_claims(&op, WEB, &answer).await, "nonce"), "in", "{alg}");
    }
}

#[tokio::test]
async fn what_stands_inside_counts_and_what_stands_beside_fills_up() {
    let op = started().await;
    let mut browser = op.browser();
    code(&mut browser, WEB, "openid").await;
    let object = signed(&json!({"state": "inside", "redirect_uri": "https://app.example/cb?bar=foo"}));
    // The address beside is nobody's.
    let answer = browser.get(&with(&object, &[("redirect_uri", "https://evil.example/")])).await;
    assert!(answer.location().starts_with("https://app.example/cb?bar=foo&code="), "{}", answer.location());
    assert_eq!(answer.location_param("state").as_deref(), Some("inside"));
    // Numbers and objects are parameters too; a mode inside is the mode of the answer.
    let object = signed(&json!({"max_age": 0, "prompt": "none", "response_mode": "form_post", "state": "s"}));
    let answer = browser.get(&with(&object, &[])).await;
    let form = answer.page().form_with("form-post-submit").expect("a form");
    assert_eq!((form.value("error").as_deref(), form.value("state").as_deref()), (Some("login_required"), Some("s")));
    let object = signed(&json!({"claims": {"id_token": {"nickname": null}}, "resource": ["https://api.example"]}));
    let answer = browser.get(&with(&object, &[])).await;
    assert_eq!(text(&id_claims(&op, WEB, &answer).await, "nickname"), "Ally");
}

#[tokio::test]
async fn of_a_plain_oauth_request_the_object_is_all_that_counts() {
    let op = started().await;
    let mut browser = op.browser();
    code(&mut browser, WEB, "openid").await;
    let object = signed(&but(whole(&op), json!({"scope": "read", "state": null})));
    let answer = browser.get(&with(&object, &[("scope", "read"), ("state", "beside")])).await;
    assert!(answer.location_param("code").is_some(), "{}", answer.location());
    assert_eq!(answer.location_param("state"), None, "nobody vouches for what stands beside (RFC 9101 6.3)");
}

#[tokio::test]
async fn a_fault_of_the_request_is_told_with_what_stands_inside() {
    let op = started().await;
    for changes in [json!({"response_type": "none"}), json!({"exp": 1_000})] {
        let object = signed(&but(whole(&op), changes));
        let answer = op.browser().get(&with(&object, &[("state", ""), ("redirect_uri", "https://x.example/")])).await;
        assert!(answer.location().starts_with(WEB.redirect_uri), "{} {}", answer.status, answer.body);
        assert_eq!(answer.location_param("state").as_deref(), Some("inside"));
    }
}

#[tokio::test]
async fn an_object_that_is_not_the_clients_own_is_refused() {
    let op = started().await;
    op.apply(&format!(
        "realm: main\nclients: [ {{ client_id: opaque, jwks: {} }} ]",
        jwks(&[OTHER_RSA.public(Some("other"))])
    ))
    .await;
    let good = whole(&op);
    let header = |more: Value| {
        let mut header = json!({"alg": "ES256"});
        header.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        header
    };
    let public = EC.public(None).to_string();
    let cases: Vec<(&str, String)> = vec![
        ("nobody's", unsigned(&good)),
        ("another client's key", OTHER_RSA.sign(&json!({"alg": "RS256"}), &good)),
        ("another client's key by its name", OTHER_RSA.sign(&json!({"alg": "RS256", "kid": "other"}), &good)),
        ("a public key as secret", sign_with_secret(public.as_bytes(), &json!({"alg": "HS256"}), &good)),
        ("the secret", sign_with_secret(b"web-secret-0123456789abcdef", &json!({"alg": "HS256"}), &good)),
        ("a key that came along", EC.sign(&header(json!({"jwk": EC.public(None)})), &good)),
        ("a key from elsewhere", EC.sign(&header(json!({"jku": "https://evil.example/"})), &good)),
        ("not understood", EC.sign(&header(json!({"crit": ["x"], "x": 1})), &good)),
        ("not encoded", EC.sign(&header(json!({"crit": ["b64"], "b64": false})), &good)),
        ("an assertion", EC.sign(&header(json!({"typ": "client-authentication+jwt"})), &good)),
        ("an assertion without a type", EC.sign(&header(json!({})), &claims(&op, "web"))),
        ("an access token", EC.sign(&header(json!({"typ": "at+jwt"})), &good)),
        ("changed", format!("{}A", signed(&good))),
        ("of another issuer", signed(&but(good.clone(), json!({"iss": "asker"})))),
        ("for another server", signed(&but(good.clone(), json!({"aud": "https://other.example"})))),
        ("of another client", signed(&but(good.clone(), json!({"client_id": "asker"})))),
        ("inside another", signed(&but(good.clone(), json!({"request": "x"})))),
        ("at another place", signed(&but(good.clone(), json!({"request_uri": "https://app.example/r"})))),
        ("past", signed(&but(good.clone(), json!({"exp": 1_000})))),
        ("too long", signed(&but(good.clone(), json!({"exp": good["nbf"].as_i64().expect("a time") + 3_601})))),
        ("encrypted", "e30.a.b.c.d".to_owned()),
        ("no token", "x".to_owned()),
    ];
    for (what, object) in cases {
        let answer = op.browser().get(&with(&object, &[])).await;
        assert_eq!(error(&answer).as_deref(), Some("invalid_request_object"), "{what}: {}", answer.body);
        assert!(answer.location().starts_with(WEB.redirect_uri), "{what}");
        // Nobody is sent anywhere by an address that is not good.
        let stranger = op.browser().get(&with(&object, &[("redirect_uri", "https://evil.example/")])).await;
        let to = stranger.header("location").unwrap_or_default();
        assert!(!to.contains("evil"), "{what}: {to}");
    }
    let both = [("request_uri", "https://app.example/r")];
    let answer = op.browser().get(&with(&signed(&good), &both)).await;
    assert_eq!(error(&answer).as_deref(), Some("invalid_request"));
}

#[tokio::test]
async fn the_registered_algorithm_is_the_only_one() {
    let op = started().await;
    add_keys(&op, ", request_object_signing_alg: PS256").await;
    let mut browser = op.browser();
    code(&mut browser, WEB, "openid").await;
    for (object, expected) in [
        (RSA.sign(&json!({"alg": "PS256"}), &whole(&op)), None),
        (RSA.sign(&json!({"alg": "RS256"}), &whole(&op)), Some("invalid_request_object")),
        (signed(&whole(&op)), Some("invalid_request_object")),
        (unsigned(&whole(&op)), Some("invalid_request_object")),
    ] {
        assert_eq!(error(&browser.get(&with(&object, &[])).await).as_deref(), expected);
    }
    add_keys(&op, ", request_object_signing_alg: none").await;
    for (object, expected) in [(unsigned(&whole(&op)), None), (signed(&whole(&op)), Some("invalid_request_object"))] {
        assert_eq!(error(&browser.get(&with(&object, &[])).await).as_deref(), expected);
    }
}

#[tokio::test]
async fn a_request_object_is_no_assertion() {
    let op = started().await;
    op.apply("realm: main\nclients: [ { client_id: web, token_endpoint_auth_method: private_key_jwt } ]").await;
    let assertion = claims(&op, "web");
    let as_object = EC.sign(&json!({"alg": "ES256", "typ": "oauth-authz-req+jwt"}), &assertion);
    assert_eq!(token_by(&op, &as_object).await.status, 401);
    assert_eq!(token_by(&op, &signed(&whole(&op))).await.status, 401);
    assert_eq!(token_by(&op, &EC.sign(&json!({"alg": "ES256"}), &assertion)).await.status, 200);
}

#[tokio::test]
async fn a_sign_in_that_takes_longer_than_its_object_goes_on_and_can_begin_again() {
    let op = started().await;
    let object = signed(&whole(&op));
    let mut browser = op.browser();
    let login = browser.get(&with(&object, &[])).await;
    assert!(login.page().has_id("login-submit"), "{}", login.body);
    op.advance(Duration::from_secs(3_000)).await;
    // Another browser with the address of the page: the request begins again there.
    let mut other = op.browser();
    let url = login.url.clone();
    other.get(&url).await;
    for browser in [&mut browser, &mut other] {
        let answer = browser.sign_in("alice", PASSWORD).await;
        assert!(answer.location_param("code").is_some(), "{} {}", answer.location(), answer.body);
        assert_eq!(answer.location_param("state").as_deref(), Some("inside"));
    }
    // Sent again, it is old.
    let answer = op.browser().get(&with(&object, &[])).await;
    assert_eq!(error(&answer).as_deref(), Some("invalid_request_object"));
}

#[tokio::test]
async fn what_is_sent_twice_beside_an_object_is_refused_as_ever() {
    let op = started().await;
    let object = signed(&whole(&op));
    let answer = op.browser().get(&format!("{}&scope=email", with(&object, &[]))).await;
    assert_eq!(error(&answer).as_deref(), Some("invalid_request"));
    let answer = op.browser().get(&format!("{}&request={object}", with(&object, &[]))).await;
    assert_eq!(error(&answer).as_deref(), Some("invalid_request"));
    // A disabled client's object is not even read.
    op.apply("realm: main\nclients: [ { client_id: web, enabled: false } ]").await;
    assert_eq!(op.browser().get(&with(&object, &[])).await.status, 400);
    assert_eq!(op.browser().get(&authorize(WEB, "openid", &[])).await.status, 400);
}

#[tokio::test]
async fn keys_and_algorithms_that_do_not_fit_are_told_when_they_are_registered() {
    let op = Op::start().await;
    for (fields, told) in [
        ("request_object_signing_alg: RS256", "needs the client's public keys"),
        ("request_object_signing_alg: HS256", "request_object_signing_alg"),
        ("request_uris: [ \"http://app.example/r\" ]", "must use https"),
        ("request_uris: [ \"https://app.example/r#x\" ]", "not the base64url of a SHA-256"),
    ] {
        let fault = op.try_apply(&format!("realm: main\nclients: [ {{ client_id: web, {fields} }} ]")).await;
        assert!(fault.expect_err(fields).contains(told), "{fields}");
    }
}
