//! The modules of the dynamic plan that need no registration by the client itself.

use std::collections::BTreeSet;

use doorward::clock::Clock;
use doorward::domain::model::key::Algorithm;
use doorward::domain::protocol::key_schedule::Rotation;
use doorward::service::rotate_keys;
use serde_json::Value;

use super::{FIRST, Suite, stays};
use crate::kit::flow::{Client, decode, text};

#[tokio::test]
async fn oidcc_idtoken_rs256() {
    let suite = Suite::start().await;
    suite.op.apply("realm: main\nclients:\n  - { client_id: first, id_token_signed_response_alg: RS256 }\n").await;
    let (tokens, _) = suite.tokens(&mut suite.op.browser(), &[]).await;
    assert_eq!(text(&decode(text(&tokens, "id_token")).0, "alg"), "RS256");
}

#[tokio::test]
async fn oidcc_ensure_redirect_uri_in_authorization_request() {
    let suite = Suite::start().await;
    stays(&suite.op.browser().get(&suite.request(FIRST, &[("redirect_uri", "")])).await);
}

const WITH_QUERY: Client = Client { redirect_uri: "https://suite.example/cb?bar=foo", ..FIRST };

#[tokio::test]
async fn oidcc_redirect_uri_query_ok() {
    let suite = Suite::start().await;
    let mut browser = suite.op.browser();
    let answer = suite.visit(&mut browser, &suite.request(WITH_QUERY, &[])).await;
    assert!(answer.location().starts_with("https://suite.example/cb?bar=foo&code="), "{}", answer.location());
    suite.redeem(WITH_QUERY, &answer.location_param("code").expect("a code")).await;
}

#[tokio::test]
async fn oidcc_redirect_uri_query_mismatch() {
    let suite = Suite::start().await;
    for uri in ["https://suite.example/cb?bar=other", "https://suite.example/cb", "https://suite.example/cb?foo=bar"] {
        stays(&suite.op.browser().get(&suite.request(FIRST, &[("redirect_uri", uri)])).await);
    }
}

#[tokio::test]
async fn oidcc_redirect_uri_query_added() {
    let suite = Suite::start().await;
    let added = format!("{}?foo=bar", FIRST.redirect_uri);
    for uri in [added.as_str(), "https://suite.example/cb?bar=foo&x=1"] {
        stays(&suite.op.browser().get(&suite.request(FIRST, &[("redirect_uri", uri)])).await);
    }
}

#[tokio::test]
async fn oidcc_redirect_uri_regfrag() {
    let suite = Suite::start().await;
    let file = "realm: main\nclients:\n  - client_id: fragment\n    client_secret: \"0123456789abcdef\"\n    \
                redirect_uris: [ \"https://suite.example/cb#foobar\" ]\n";
    let refused = suite.op.try_apply(file).await.expect_err("no fragment");
    assert!(refused.contains("redirect_uris") && refused.contains("must not have a fragment"), "{refused}");
}

async fn stands_on_the_sign_in_page(link: &str) {
    let suite = Suite::start().await;
    let page = suite.op.browser().get(&suite.request(FIRST, &[])).await.page();
    assert!(page.has_id("login-submit"), "the first page, not only consent");
    assert!(page.links().iter().any(|found| found == link), "{link}: {:?}", page.links());
}

#[tokio::test]
async fn oidcc_registration_policy_uri() {
    stands_on_the_sign_in_page("https://suite.example/policy").await;
}

#[tokio::test]
async fn oidcc_registration_tos_uri() {
    stands_on_the_sign_in_page("https://suite.example/tos").await;
}

/// The published keys by `kid`, looked at as the suite does in every module.
async fn keys(suite: &Suite) -> BTreeSet<(String, String)> {
    let set = suite.op.get("/.well-known/jwks.json", &[]).await.json();
    let list = set["keys"].as_array().expect("keys");
    let found: BTreeSet<(String, String)> =
        list.iter().map(|key| (text(key, "kid").to_owned(), text(key, "kty").to_owned())).collect();
    assert_eq!(found.len(), list.len(), "no kid twice");
    for secret in ["d", "p", "q", "dp", "dq", "qi", "oth", "k"] {
        assert!(list.iter().all(|key: &Value| key.get(secret).is_none()), "{secret}");
    }
    found
}

#[tokio::test]
async fn oidcc_server_rotate_keys() {
    let suite = Suite::start().await;
    let before = keys(&suite).await;
    let realm = suite.op.db_realm("main").await;
    // The tester's command rotates what the suite knows: RSA and EC.
    let algorithms = [Algorithm::RS256, Algorithm::PS256, Algorithm::ES256];
    rotate_keys::rotate(&suite.op.app, &realm, &algorithms, Rotation::Orderly, suite.op.clock.now())
        .await
        .expect("rotated");
    suite.op.poll().await;
    let after = keys(&suite).await;
    assert!(before.is_subset(&after), "the old ones are still published");
    let new: Vec<&str> = after.difference(&before).map(|(_, kty)| kty.as_str()).collect();
    assert!(!new.is_empty() && new.iter().all(|kty| ["RSA", "EC"].contains(kty)), "{new:?}");
    suite.tokens(&mut suite.op.browser(), &[]).await;
}
