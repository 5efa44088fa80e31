//! Request objects, by value and by reference: as the suite's clients send them once they have registered the
//! algorithm, the address, or both.

use aws_lc_rs::digest;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::{CLIENTS, Callback, FIRST, LONG_STATE, NONCE, PLANS, Suite, stays};
use crate::kit::flow::text;
use crate::kit::op::Op;
use crate::kit::signing::{RSA, jwks};
use crate::kit::tls_host::{Behaviour, TlsHost};

/// A request object that nobody signed.
fn unsigned(payload: &Value) -> String {
    format!("{}.{}.", URL_SAFE_NO_PAD.encode(r#"{"alg":"none"}"#), URL_SAFE_NO_PAD.encode(payload.to_string()))
}

/// The first client with these fields besides.
async fn registered(suite: &Suite, fields: &str) {
    suite.op.apply(&format!("realm: main\nclients: [ {{ client_id: first, {fields} }} ]")).await;
}

/// What the suite puts into an object: the whole request.
fn whole(op: &Op) -> Value {
    json!({
        "iss": FIRST.id, "aud": op.public_url, "client_id": FIRST.id, "response_type": "code", "scope": "openid",
        "redirect_uri": FIRST.redirect_uri, "state": LONG_STATE, "nonce": NONCE,
    })
}

/// A good answer whose state stood inside.
fn success(suite: &Suite, callback: &Callback) {
    assert_eq!(callback.keys().collect::<Vec<_>>(), ["code", "iss", "state"], "{callback:?}");
    assert_eq!(callback["state"], LONG_STATE, "{}", suite.mode);
}

#[tokio::test]
async fn oidcc_unsigned_request_object_supported_correctly_or_rejected_as_unsupported() {
    let mut suite = Suite::start().await;
    let object = unsigned(&json!({"state": LONG_STATE, "nonce": "inside"}));
    let keys = jwks(&[RSA.public(None)]);
    for mode in PLANS {
        suite.mode = mode;
        // State and nonce are inside alone.
        let url = suite.request(FIRST, &[("state", ""), ("nonce", ""), ("request", &object)]);
        registered(&suite, &format!("request_object_signing_alg: RS256, jwks: {keys}")).await;
        suite.refusal(FIRST, &suite.op.browser().get(&url).await, &["invalid_request_object"]);
        registered(&suite, "request_object_signing_alg: none").await;
        let callback = suite.callback(FIRST, &suite.visit(&mut suite.op.browser(), &url).await);
        success(&suite, &callback);
        assert_eq!(suite.redeem(FIRST, &callback["code"]).await.1["nonce"], "inside");
    }
}

#[tokio::test]
async fn oidcc_ensure_request_object_with_redirect_uri() {
    let mut suite = Suite::start().await;
    registered(&suite, "request_object_signing_alg: none").await;
    let wrong = format!("{}/wrong", FIRST.redirect_uri);
    for mode in PLANS {
        suite.mode = mode;
        let good = unsigned(&whole(&suite.op));
        for outside in [wrong.as_str(), ""] {
            let url = suite.request(FIRST, &[("redirect_uri", outside), ("request", &good)]);
            let callback = suite.callback(FIRST, &suite.visit(&mut suite.op.browser(), &url).await);
            success(&suite, &callback);
        }
        // A wrong one inside is what counts.
        let bad = unsigned(&json!({"redirect_uri": wrong}));
        stays(&suite.op.browser().get(&suite.request(FIRST, &[("request", &bad)])).await);
    }
}

/// A suite whose host gives `object` at `/r`.
async fn hosting(object: impl FnOnce(&Op) -> String) -> (Suite, TlsHost, String) {
    // The object names the issuer, which is the same for every test.
    let plain = Op::start().await;
    let object = object(&plain);
    let media_type = "application/oauth-authz-req+jwt";
    let host = TlsHost::start(&[("/r", Behaviour::sends(media_type, object.as_bytes()))]).await;
    let op = Op::builder()
        .env("DOORWARD_OUTBOUND__ALLOW_NETWORKS", "127.0.0.1/32")
        .env("DOORWARD_OUTBOUND__CA_FILE", host.authority().to_str().expect("a path"))
        .start()
        .await;
    op.apply(CLIENTS).await;
    let hash = URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, object.as_bytes()));
    let uri = format!("{}#{hash}", host.url("localhost", "/r"));
    (Suite { op, mode: "query" }, host, uri)
}

/// The state and nonce of the object come back, through the whole flow, in both modes.
async fn works(suite: &mut Suite, uri: &str) {
    for mode in PLANS {
        suite.mode = mode;
        let url = suite.request(FIRST, &[("state", ""), ("nonce", ""), ("redirect_uri", ""), ("request_uri", uri)]);
        let callback = suite.callback(FIRST, &suite.visit(&mut suite.op.browser(), &url).await);
        success(suite, &callback);
        assert_eq!(text(&suite.redeem(FIRST, &callback["code"]).await.1, "nonce"), NONCE);
    }
}

#[tokio::test]
async fn oidcc_request_uri_unsigned_supported_correctly_or_rejected_as_unsupported() {
    let (mut suite, host, uri) = hosting(|op| unsigned(&whole(op))).await;
    suite.mode = "query";
    // Nobody is asked for what is not registered.
    let url = suite.request(FIRST, &[("state", LONG_STATE), ("request_uri", &uri)]);
    suite.refusal(FIRST, &suite.op.browser().get(&url).await, &["invalid_request_uri"]);
    assert_eq!(host.seen("/r"), 0);
    registered(&suite, &format!("request_object_signing_alg: none, request_uris: [ \"{uri}\" ]")).await;
    works(&mut suite, &uri).await;
}

#[tokio::test]
async fn oidcc_request_uri_unsigned() {
    let (mut suite, host, uri) = hosting(|op| unsigned(&whole(op))).await;
    let document = suite.op.get("/.well-known/openid-configuration", &[]).await.json();
    assert_eq!(document["request_uri_parameter_supported"], true);
    registered(&suite, &format!("request_object_signing_alg: none, request_uris: [ \"{uri}\" ]")).await;
    works(&mut suite, &uri).await;
    assert_eq!(host.seen("/r"), 1, "what a hash names is fetched once");
}

#[tokio::test]
async fn oidcc_request_uri_signed_rs256() {
    // The suite's keys come without `kid`.
    let (mut suite, host, uri) = hosting(|op| RSA.sign(&json!({"alg": "RS256"}), &whole(op))).await;
    let document = suite.op.get("/.well-known/openid-configuration", &[]).await.json();
    let algorithms = document["request_object_signing_alg_values_supported"].as_array().expect("a list");
    assert!(algorithms.contains(&json!("RS256")), "{document}");
    let keys = jwks(&[RSA.public(None)]);
    registered(&suite, &format!("request_object_signing_alg: RS256, jwks: {keys}, request_uris: [ \"{uri}\" ]")).await;
    works(&mut suite, &uri).await;
    assert_eq!(host.seen("/r"), 1);
}
