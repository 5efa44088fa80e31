//! What a client registers about its tokens (OpenID Connect Dynamic Registration 2): each is honoured wherever
//! it means something, and a realm keeps the algorithms that its clients use.

use std::time::Duration;

use serde_json::Value;

use crate::kit::flow::{WEB, authorize, code_answer, decode, id_claims, redeem, refresh, text, userinfo};
use crate::kit::op::{Op, PASSWORD};
use crate::kit::token::{given, signed_in_with, verified};

async fn with(op: &Op, fields: &str) {
    op.apply(&format!("realm: main\nclients:\n  - {{ client_id: web, {fields} }}\n")).await;
}

#[tokio::test]
async fn default_max_age_asks_again_and_max_age_overrides_it() {
    let op = Op::start().await;
    with(&op, "default_max_age: 60").await;
    let mut browser = op.browser();
    code_answer(&mut browser, WEB, "openid", &[]).await;
    op.advance(Duration::from_secs(60)).await;
    let answer = browser.get(&authorize(WEB, "openid", &[])).await;
    assert!(answer.location_param("code").is_some(), "a minute is not too old: {}", answer.body);
    op.advance(Duration::from_secs(1)).await;
    let silent = browser.get(&authorize(WEB, "openid", &[("prompt", "none")])).await;
    assert_eq!(silent.location_param("error").as_deref(), Some("login_required"));
    // Longer by the request's own word, and shorter.
    let answer = browser.get(&authorize(WEB, "openid", &[("max_age", "3600")])).await;
    assert!(answer.location_param("code").is_some(), "{}", answer.body);
    let answer = browser.get(&authorize(WEB, "openid", &[])).await;
    assert!(answer.page().has_id("login-submit"), "{}", answer.body);
    browser.sign_in("alice", PASSWORD).await;
    op.advance(Duration::from_secs(5)).await;
    let answer = browser.get(&authorize(WEB, "openid", &[("max_age", "4")])).await;
    assert!(answer.page().has_id("login-submit"), "{}", answer.body);
    with(&op, "default_max_age: null").await;
    op.advance(Duration::from_secs(600)).await;
    let answer = browser.get(&authorize(WEB, "openid", &[])).await;
    assert!(answer.location_param("code").is_some(), "{}", answer.body);
}

#[tokio::test]
async fn auth_time_is_in_each_id_token_and_a_refresh_keeps_it() {
    let op = Op::start().await;
    for fields in
        ["default_max_age: 3600", "require_auth_time: true", "require_auth_time: false, default_max_age: null"]
    {
        with(&op, fields).await;
        let tokens = signed_in_with(&op, &mut op.browser(), "openid").await;
        let time = |tokens: &Value| decode(text(tokens, "id_token")).1["auth_time"].as_i64().expect("auth_time");
        let at = crate::kit::token::seconds(&op);
        assert_eq!(time(&tokens), at, "{fields}");
        op.advance(Duration::from_secs(30)).await;
        let next = given(&refresh(&op, WEB, text(&tokens, "refresh_token")).await);
        assert_eq!(time(&next), at, "of the sign-in, not of the refresh: {fields}");
    }
}

#[tokio::test]
async fn default_acr_values_are_wishes_and_the_id_token_tells_the_truth() {
    let op = Op::start().await;
    for fields in ["default_acr_values: [phr, aal2]", "default_acr_values: [aal1]", "default_acr_values: []"] {
        with(&op, fields).await;
        for extra in [&[][..], &[("acr_values", "phrh")]] {
            let answer = code_answer(&mut op.browser(), WEB, "openid", extra).await;
            let claims = id_claims(&op, WEB, &answer).await;
            assert_eq!(text(&claims, "acr"), "aal1", "{fields} {extra:?}");
        }
    }
    let told = op.try_apply("realm: main\nclients: [{ client_id: web, default_acr_values: [gold] }]").await;
    assert!(told.expect_err("no such class").contains("allowed are"));
}

#[tokio::test]
async fn userinfo_is_signed_as_registered_whatever_accept_says() {
    // Behaviour case B-23.
    let op = Op::start().await;
    let tokens = signed_in_with(&op, &mut op.browser(), "openid profile").await;
    let bearer = format!("Bearer {}", text(&tokens, "access_token"));
    let accepts = [Some("application/jwt"), Some("application/json"), Some("*/*"), Some("text/html;q=0.1"), None];
    for alg in ["RS256", "PS256", "ES256", "EdDSA"] {
        with(&op, &format!("userinfo_signed_response_alg: {alg}")).await;
        for accept in accepts {
            let mut headers = vec![("authorization", bearer.as_str())];
            headers.extend(accept.map(|accept| ("accept", accept)));
            for method in ["GET", "POST"] {
                let answer = op.raw(method, "/userinfo", &headers, "").await;
                let found = (answer.status.as_u16(), answer.header("content-type"), answer.header("cache-control"));
                assert_eq!(found, (200, Some("application/jwt"), Some("no-store")), "{alg} {accept:?} {method}");
                let (header, claims) = verified(&op, &answer.body).await;
                assert_eq!((text(&header, "alg"), text(&claims, "iss")), (alg, &*op.public_url));
                assert_eq!((text(&claims, "aud"), text(&claims, "given_name")), ("web", "Alice"));
                assert_eq!(claims["sub"], decode(text(&tokens, "id_token")).1["sub"]);
            }
            // Errors stay JSON with a challenge.
            let mut headers = vec![("authorization", "Bearer x")];
            headers.extend(accept.map(|accept| ("accept", accept)));
            let answer = op.raw("GET", "/userinfo", &headers, "").await;
            assert_eq!((answer.status.as_u16(), answer.header("content-type")), (401, Some("application/json")));
            assert!(
                answer.header("www-authenticate").expect("a challenge").starts_with("Bearer error=\"invalid_token\"")
            );
            assert_eq!(answer.json()["error"], "invalid_token");
        }
    }
    with(&op, "userinfo_signed_response_alg: null").await;
    for accept in accepts {
        let mut headers = vec![("authorization", bearer.as_str())];
        headers.extend(accept.map(|accept| ("accept", accept)));
        let answer = op.raw("GET", "/userinfo", &headers, "").await;
        assert_eq!(
            (answer.status.as_u16(), answer.header("content-type")),
            (200, Some("application/json")),
            "{accept:?}"
        );
    }
}

#[tokio::test]
async fn a_realm_does_not_drop_an_algorithm_that_a_client_uses() {
    let op = Op::start().await;
    with(&op, "id_token_signed_response_alg: PS256, userinfo_signed_response_alg: EdDSA").await;
    let drop = "realm: main\nsettings: { keys: { algorithms: [RS256, ES256] } }\n";
    let told = op.try_apply(drop).await.expect_err("the client would get no ID token");
    for words in [
        "test.yaml:2",
        "settings.keys.algorithms",
        "PS256",
        "id_token_signed_response_alg",
        "EdDSA",
        "userinfo_signed_response_alg",
        "of the client web",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    // Nothing has changed, and with the client's word changed in the same file it goes.
    let tokens = signed_in_with(&op, &mut op.browser(), "openid").await;
    assert_eq!(text(&decode(text(&tokens, "id_token")).0, "alg"), "PS256");
    let both = format!(
        "{drop}clients:\n  - {{ client_id: web, id_token_signed_response_alg: ES256, userinfo_signed_response_alg: null \
         }}\n"
    );
    op.try_apply(&both).await.expect("applied");
    let code = code_answer(&mut op.browser(), WEB, "openid", &[]).await.location_param("code").expect("a code");
    let tokens = given(&redeem(&op, WEB, &code).await);
    assert_eq!(text(&decode(text(&tokens, "id_token")).0, "alg"), "ES256");
    assert_eq!(userinfo(&op, text(&tokens, "access_token")).await.header("content-type"), Some("application/json"));
}
