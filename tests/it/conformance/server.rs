//! Ordinary sign-ins.

use serde_json::json;

use super::{FIRST, PLANS, SECOND, Suite, stays};
use crate::kit::flow::{CHALLENGE, VERIFIER, post_as, text, userinfo};
use crate::kit::token::{given, refused};

#[tokio::test]
async fn oidcc_server() {
    let mut suite = Suite::start().await;
    for mode in PLANS {
        suite.mode = mode;
        let (tokens, claims) = suite.tokens(&mut suite.op.browser(), &[]).await;
        suite.userinfo(&tokens, &claims).await;
    }
}

#[tokio::test]
async fn oidcc_server_client_secret_post() {
    let mut suite = Suite::start().await;
    for mode in PLANS {
        suite.mode = mode;
        let mut browser = suite.op.browser();
        let answer = suite.visit(&mut browser, &suite.request(SECOND, &[])).await;
        suite.redeem(SECOND, &suite.success(SECOND, &answer)["code"]).await;
    }
}

#[tokio::test]
async fn oidcc_idtoken_signature() {
    // `Suite::id_token` finds the `kid` in the key set and verifies RS256, the default.
    let mut suite = Suite::start().await;
    for mode in PLANS {
        suite.mode = mode;
        suite.tokens(&mut suite.op.browser(), &[]).await;
    }
}

#[tokio::test]
async fn oidcc_idtoken_unsigned() {
    // Skipped by the suite where the document does not list `none`; nothing may sign with it either.
    let suite = Suite::start().await;
    let document = suite.op.get("/.well-known/openid-configuration", &[]).await.json();
    let listed = document["id_token_signing_alg_values_supported"].as_array().expect("a list");
    assert!(!listed.contains(&json!("none")), "{listed:?}");
    let unsigned = "realm: main\nclients:\n  - { client_id: first, id_token_signed_response_alg: none }\n";
    let refused = suite.op.try_apply(unsigned).await.expect_err("no unsigned ID tokens");
    assert!(refused.contains("id_token_signed_response_alg"), "{refused}");
}

#[tokio::test]
async fn oidcc_ensure_request_without_nonce_succeeds_for_code_flow() {
    let mut suite = Suite::start().await;
    for mode in PLANS {
        suite.mode = mode;
        let (_, claims) = suite.tokens(&mut suite.op.browser(), &[("nonce", "")]).await;
        assert!(claims.get("nonce").is_none(), "{claims}");
    }
}

#[tokio::test]
async fn oidcc_alternate_happy_flow() {
    let mut suite = Suite::start().await;
    for mode in PLANS {
        suite.mode = mode;
        let mut browser = suite.op.browser();
        let url = suite.request(FIRST, &[("scope", "phone profile openid email address")]);
        let (path, query) = url.split_once('?').expect("a query");
        let turned: Vec<&str> = query.split('&').rev().collect();
        let answer = suite.visit(&mut browser, &format!("{path}?{}", turned.join("&"))).await;
        suite.redeem(FIRST, &suite.success(FIRST, &answer)["code"]).await;
    }
}

#[tokio::test]
async fn oidcc_ensure_request_with_unknown_parameter_succeeds() {
    let mut suite = Suite::start().await;
    for mode in PLANS {
        suite.mode = mode;
        suite.tokens(&mut suite.op.browser(), &[("extra", "foobar")]).await;
    }
}

#[tokio::test]
async fn oidcc_ensure_post_request_succeeds() {
    let mut suite = Suite::start().await;
    for mode in PLANS {
        suite.mode = mode;
        let mut browser = suite.op.browser();
        let url = suite.request(FIRST, &[]);
        let (path, query) = url.split_once('?').expect("a query");
        let fields: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        let elsewhere = [("origin", "https://suite.example"), ("sec-fetch-site", "cross-site")];
        let answer = browser.send(http::Method::POST, path, Some(&fields), &elsewhere).await;
        let answer = browser.follow(answer).await;
        let answer = suite.go_on(&mut browser, answer).await;
        suite.redeem(FIRST, &suite.success(FIRST, &answer)["code"]).await;
    }
}

#[tokio::test]
async fn oidcc_ensure_request_with_valid_pkce_succeeds() {
    let mut suite = Suite::start().await;
    for mode in PLANS {
        suite.mode = mode;
        let mut browser = suite.op.browser();
        let pkce = [("code_challenge", CHALLENGE), ("code_challenge_method", "S256")];
        let answer = suite.visit(&mut browser, &suite.request(FIRST, &pkce)).await;
        let code = suite.success(FIRST, &answer).remove("code").expect("a code");
        suite.redeem_with(FIRST, &code, &[("code_verifier", VERIFIER)]).await;
    }
}

#[tokio::test]
async fn oidcc_codereuse() {
    let mut suite = Suite::start().await;
    for mode in PLANS {
        suite.mode = mode;
        let mut browser = suite.op.browser();
        let answer = suite.visit(&mut browser, &suite.request(FIRST, &[])).await;
        let code = suite.success(FIRST, &answer).remove("code").expect("a code");
        suite.redeem(FIRST, &code).await;
        refused(&suite.exchange(FIRST, &code, &[]).await, 400, "invalid_grant");
    }
}

#[tokio::test]
async fn oidcc_codereuse_30seconds() {
    let mut suite = Suite::start().await;
    for mode in PLANS {
        suite.mode = mode;
        let mut browser = suite.op.browser();
        let answer = suite.visit(&mut browser, &suite.request(FIRST, &[])).await;
        let code = suite.success(FIRST, &answer).remove("code").expect("a code");
        let (tokens, _) = suite.redeem(FIRST, &code).await;
        suite.op.advance(std::time::Duration::from_secs(30)).await;
        refused(&suite.exchange(FIRST, &code, &[]).await, 400, "invalid_grant");
        assert_eq!(userinfo(&suite.op, text(&tokens, "access_token")).await.status, 401, "the first token is dead");
    }
}

#[tokio::test]
async fn oidcc_refresh_token() {
    let mut suite = Suite::start().await;
    for mode in PLANS {
        suite.mode = mode;
        let wish = [("scope", "openid offline_access"), ("prompt", "consent")];
        let (first, before) = suite.tokens(&mut suite.op.browser(), &wish).await;
        let mut browser = suite.op.browser();
        let answer = suite.visit(&mut browser, &suite.request(SECOND, &wish)).await;
        let (second, _) = suite.redeem(SECOND, &suite.success(SECOND, &answer)["code"]).await;
        suite.op.advance(std::time::Duration::from_secs(2)).await;
        let mut token = text(&first, "refresh_token").to_owned();
        for scope in [None, Some("openid")] {
            let mut fields = vec![("grant_type", "refresh_token"), ("refresh_token", token.as_str())];
            fields.extend(scope.map(|scope| ("scope", scope)));
            let next = given(&post_as(&suite.op, FIRST, "/token", &fields).await);
            let after = suite.id_token(FIRST, &next).await;
            for name in ["iss", "sub", "aud", "azp", "auth_time"] {
                assert_eq!(after[name], before[name], "{name}");
            }
            assert_ne!(after["iat"], before["iat"]);
            token = text(&next, "refresh_token").to_owned();
        }
        let strange = [("grant_type", "refresh_token"), ("refresh_token", text(&second, "refresh_token"))];
        refused(&post_as(&suite.op, FIRST, "/token", &strange).await, 400, "invalid_grant");
    }
}

#[tokio::test]
async fn oidcc_ensure_registered_redirect_uri() {
    let mut suite = Suite::start().await;
    for mode in PLANS {
        suite.mode = mode;
        let wrong = format!("{}/KdlhDUnm3N", FIRST.redirect_uri);
        stays(&suite.op.browser().get(&suite.request(FIRST, &[("redirect_uri", &wrong)])).await);
    }
}
