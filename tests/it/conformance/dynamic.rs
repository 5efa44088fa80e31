//! The modules of the dynamic plan that need no registration by the client itself. What the suite would
//! register stands in a realm file.

use std::collections::BTreeSet;

use doorward::clock::Clock;
use doorward::domain::model::key::Algorithm;
use doorward::domain::protocol::key_schedule::Rotation;
use doorward::service::rotate_keys;
use serde_json::{Value, json};

use super::{FIRST, Suite, stays};
use crate::kit::browser::Answer;
use crate::kit::flow::{Client, decode, text, userinfo};
use crate::kit::op::Op;
use crate::kit::relay::{Relay, authorities};
use crate::kit::signing::{EC, RSA, but, claims, jwks, post_signed};
use crate::kit::tls_host::{Behaviour, TlsHost};
use crate::kit::token::{given, verified};

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

#[tokio::test]
async fn oidcc_userinfo_rs256() {
    let suite = Suite::start().await;
    suite.op.apply("realm: main\nclients:\n  - { client_id: first, userinfo_signed_response_alg: RS256 }\n").await;
    let document = suite.op.get("/.well-known/openid-configuration", &[]).await.json();
    let listed = document["userinfo_signing_alg_values_supported"].as_array().expect("a list");
    assert!(listed.contains(&json!("RS256")), "the plan fails otherwise");
    let (tokens, claims) = suite.tokens(&mut suite.op.browser(), &[("scope", "openid profile email")]).await;
    let answer = userinfo(&suite.op, text(&tokens, "access_token")).await;
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, Some("application/jwt")));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let (header, info) = verified(&suite.op, &answer.body).await;
    assert_eq!((&header["alg"], &info["sub"]), (&json!("RS256"), &claims["sub"]));
    assert_eq!((&info["iss"], &info["aud"]), (&json!(suite.op.public_url), &json!("first")));
    assert!(info.get("nonce").is_none() && info["email"] == "alice@example.com", "{info}");
}

/// The client that the suite registers with keys instead of a secret.
fn signs(keys: &str) -> String {
    format!(
        "realm: main\nclients:\n  - client_id: first\n    token_endpoint_auth_method: private_key_jwt\n    {keys}\n"
    )
}

/// The suite's token request with an assertion for this audience.
async fn exchange(suite: &Suite, code: &str, aud: &str) -> Answer {
    let assertion = RSA.sign(&json!({ "alg": "RS256" }), &but(claims(&suite.op, "first"), json!({ "aud": aud })));
    let fields = [("grant_type", "authorization_code"), ("code", code), ("redirect_uri", FIRST.redirect_uri)];
    post_signed(&suite.op, "/token", &assertion, &fields).await
}

async fn code(suite: &Suite) -> String {
    let answer = suite.visit(&mut suite.op.browser(), &suite.request(FIRST, &[])).await;
    suite.success(FIRST, &answer)["code"].clone()
}

#[tokio::test]
async fn oidcc_ensure_client_assertion_with_iss_aud_succeeds() {
    let suite = Suite::start().await;
    // The suite's key usually has no name.
    suite.op.apply(&signs(&format!("jwks: {}", jwks(&[RSA.public(None)])))).await;
    let issuer = suite.op.public_url.clone();
    for aud in [issuer.clone(), format!("{issuer}/token")] {
        let answer = exchange(&suite, &code(&suite).await, &aud).await;
        suite.id_token(FIRST, &given(&answer)).await;
    }
}

pub(super) async fn reaching(file: &std::path::Path) -> Suite {
    let op = Op::builder()
        .env("DOORWARD_OUTBOUND__ALLOW_NETWORKS", "127.0.0.1/32")
        .env("DOORWARD_OUTBOUND__CA_FILE", file.to_str().expect("a path"))
        .start()
        .await;
    op.apply(super::CLIENTS).await;
    Suite { op, mode: "query" }
}

fn set(key: Value) -> Behaviour {
    Behaviour::sends("application/json", jwks(&[key]).as_bytes())
}

#[tokio::test]
async fn oidcc_registration_jwks_uri() {
    let host = TlsHost::start(&[("/jwks", set(RSA.public(None)))]).await;
    let suite = reaching(&host.authority()).await;
    suite.op.apply(&signs(&format!("jwks_uri: \"{}\"", host.url("localhost", "/jwks")))).await;
    let answer = exchange(&suite, &code(&suite).await, &format!("{}/token", suite.op.public_url)).await;
    suite.id_token(FIRST, &given(&answer)).await;
}

#[tokio::test]
async fn oidcc_refresh_token_rp_key_rotation() {
    let old = TlsHost::start(&[("/jwks", set(RSA.public(Some("first"))))]).await;
    let new = TlsHost::start(&[("/jwks", set(EC.public(Some("second"))))]).await;
    let relay = Relay::to(&old).await;
    let file = authorities(&[&old, &new]);
    let suite = reaching(file.path()).await;
    suite.op.apply(&signs(&format!("jwks_uri: \"{}\"", relay.url("/jwks")))).await;
    let tokens = given(&exchange(&suite, &code(&suite).await, &suite.op.public_url).await);
    // Without any pause: the new name is looked up at once.
    relay.turn(&new);
    let assertion = EC.sign(&json!({ "alg": "ES256", "kid": "second" }), &claims(&suite.op, "first"));
    let fields = [("grant_type", "refresh_token"), ("refresh_token", text(&tokens, "refresh_token"))];
    let refreshed = given(&post_signed(&suite.op, "/token", &assertion, &fields).await);
    assert!(!text(&refreshed, "access_token").is_empty());
}
