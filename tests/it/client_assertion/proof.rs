//! What proves a client and what does not.

use doorward::domain::model::audit::AuditKind;
use serde_json::{Value, json};

use super::{add_client, by_keys, header, pairs, started};
use crate::kit::browser::Answer;
use crate::kit::flow::{API, WEB, basic, post_as, text};
use crate::kit::op::{Op, SECRET};
use crate::kit::signing::{EC, ED, JWT_BEARER, OTHER_RSA, RSA, but, claims, post_signed, sign_with_secret, token_by};
use crate::kit::token::{db_audit, given, refused};

/// What a stranger sees of an answer, without what differs by nature.
fn seen(answer: &Answer) -> (u16, String) {
    (answer.status.as_u16(), answer.body.clone())
}

#[tokio::test]
async fn every_algorithm_proves_a_client_at_every_endpoint() {
    let op = started().await;
    for (alg, key) in pairs() {
        for kid in [None, Some("rsa"), Some("ed"), Some("of-a-key-that-is-not-named-here")] {
            let mut header = header(alg);
            if let Some(kid) = kid {
                header["kid"] = json!(kid);
            }
            // A name finds its key; the key without a name stands for any.
            let good = match alg {
                "RS256" | "PS256" => matches!(kid, None | Some("rsa")),
                "ES256" => true,
                _ => matches!(kid, None | Some("ed")),
            };
            let answer = token_by(&op, &key.sign(&header, &claims(&op, "signer"))).await;
            if good {
                given(&answer);
            } else {
                refused(&answer, 401, "invalid_client");
            }
        }
        let fresh = || key.sign(&header(alg), &claims(&op, "signer"));
        let token = given(&token_by(&op, &fresh()).await);
        let token = [("token", text(&token, "access_token"))];
        let told = post_signed(&op, "/introspect", &fresh(), &token).await;
        assert_eq!((told.status.as_u16(), &told.json()["active"]), (200, &json!(true)), "{alg}: {}", told.body);
        assert_eq!(post_signed(&op, "/revoke", &fresh(), &token).await.status, 200, "{alg}");
        assert_eq!(post_signed(&op, "/introspect", &fresh(), &token).await.json()["active"], false, "{alg}");
    }
}

#[tokio::test]
async fn b_12_two_client_authentications_in_one_request_are_refused() {
    let op = started().await;
    let own = ("grant_type", "client_credentials");
    let fresh = || EC.sign(&header("ES256"), &claims(&op, "signer"));
    let kind = ("client_assertion_type", JWT_BEARER);
    for path in ["/token", "/introspect", "/revoke"] {
        let assertion = fresh();
        let both = [own, ("token", "x"), kind, ("client_assertion", &assertion)];
        let header = [("authorization", &*basic("web", SECRET))];
        refused(&op.post(path, &both, &header).await, 400, "invalid_request");
        let with_secret = [&both[..], &[("client_secret", "x")]].concat();
        refused(&op.post(path, &with_secret, &[]).await, 400, "invalid_request");
        // The refused ones are not spent.
        let answer = op.post(path, &both, &[]).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    }
    // A client_id beside it may only say the same.
    given(&post_signed(&op, "/token", &fresh(), &[own, ("client_id", "signer")]).await);
    refused(&post_signed(&op, "/token", &fresh(), &[own, ("client_id", "web")]).await, 401, "invalid_client");
    let assertion = fresh();
    for fields in [
        &[own, ("client_assertion", &*assertion)][..],
        &[own, kind],
        &[own, ("client_assertion_type", "urn:x"), ("client_assertion", &assertion)],
    ] {
        refused(&op.post("/token", fields, &[]).await, 401, "invalid_client");
    }
    let twice = [own, kind, ("client_assertion", &*assertion), ("client_assertion", &*assertion)];
    refused(&op.post("/token", &twice, &[]).await, 400, "invalid_request");
}

/// A request to an endpoint with an assertion that says this.
async fn says(op: &Op, path: &str, changes: &Value) -> Answer {
    let assertion = RSA.sign(&header("PS256"), &but(claims(op, "signer"), changes.clone()));
    post_signed(op, path, &assertion, &[("grant_type", "client_credentials"), ("token", "x")]).await
}

#[tokio::test]
async fn b_13_the_assertion_is_for_this_server_alone_and_short() {
    let op = started().await;
    let (issuer, now) = (op.public_url.clone(), crate::kit::token::seconds(&op));
    for path in ["/token", "/introspect", "/revoke"] {
        for good in [
            json!({ "aud": issuer }),
            json!({ "aud": format!("{issuer}/token") }),
            json!({ "aud": format!("{issuer}{path}") }),
            json!({ "iat": now + 20, "exp": now + 80 }),
            json!({ "nbf": now + 8 }),
            json!({ "exp": now + 300 }),
            json!({ "iat": null }),
            json!({ "exp": now + 60, "more": ["of", "this"] }),
        ] {
            let answer = says(&op, path, &good).await;
            assert_eq!(answer.status, 200, "{path} {good}: {}", answer.body);
        }
        for (bad, word) in [
            (json!({ "aud": [issuer] }), "one string"),
            (json!({ "aud": ["https://other-as.example", issuer] }), "one string"),
            (json!({ "aud": [issuer, format!("{issuer}/token")] }), "one string"),
            (json!({ "aud": format!("{issuer}/") }), "exactly"),
            (json!({ "aud": format!("{issuer}/token/") }), "exactly"),
            (json!({ "aud": format!("{issuer}/authorize") }), "exactly"),
            (json!({ "aud": "https://other-as.example" }), "exactly"),
            (json!({ "aud": null }), "aud"),
            (json!({ "exp": now + 3_600 }), "5 minutes"),
            (json!({ "exp": now + 301 }), "5 minutes"),
            (json!({ "exp": now - 300, "iat": now - 400 }), "expired"),
            (json!({ "exp": now }), "expired"),
            (json!({ "exp": null }), "exp"),
            (json!({ "iat": now + 61, "exp": now + 120 }), "clock"),
            (json!({ "nbf": now + 61 }), "clock"),
            (json!({ "iss": "other" }), "iss and sub"),
            (json!({ "sub": null }), "sub"),
            (json!({ "jti": null }), "jti"),
        ] {
            let answer = says(&op, path, &bad).await;
            refused(&answer, 401, "invalid_client");
            assert!(answer.body.contains(word), "{path} {bad}: {}", answer.body);
        }
    }
    // Another endpoint than the one called and the token endpoint is none of its audiences.
    refused(&says(&op, "/token", &json!({ "aud": format!("{issuer}/revoke") })).await, 401, "invalid_client");
}

#[tokio::test]
async fn a_signature_by_anybody_else_is_worth_nothing() {
    let op = started().await;
    add_client(&op, "other", &by_keys(&[OTHER_RSA.public(Some("rsa"))])).await;
    let claims = || claims(&op, "signer");
    let good = EC.sign(&header("ES256"), &claims());
    let (body, signature) = good.rsplit_once('.').expect("three parts");
    let modulus = RSA.public(None)["n"].as_str().expect("a text").to_owned();
    let bare = {
        use base64::Engine;
        let part = |value: &Value| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(value.to_string());
        format!("{}.{}.", part(&json!({ "alg": "none" })), part(&claims()))
    };
    let mut led = header("RS256");
    led["jwk"] = OTHER_RSA.public(None);
    for forged in [
        OTHER_RSA.sign(&header("RS256"), &claims()),
        OTHER_RSA.sign(&json!({ "alg": "RS256", "kid": "rsa" }), &claims()),
        OTHER_RSA.sign(&led, &claims()),
        RSA.sign(&json!({ "alg": "RS256", "jku": "https://evil.example/jwks" }), &claims()),
        RSA.sign(&json!({ "alg": "RS256", "crit": ["exp"] }), &claims()),
        RSA.sign(&json!({ "alg": "RS256", "typ": "dpop+jwt" }), &claims()),
        // The public key is no secret.
        sign_with_secret(modulus.as_bytes(), &header("HS256"), &claims()),
        bare,
        format!("{body}."),
        format!("{body}.{}", signature.replace(&signature[..4], "AAAA")),
        format!("{good}="),
        format!("{good}.e30"),
        "e30.e30.e30".to_owned(),
        "x".to_owned(),
    ] {
        refused(&token_by(&op, &forged).await, 401, "invalid_client");
    }
    given(&token_by(&op, &good).await);
    given(&token_by(&op, &OTHER_RSA.sign(&header("RS256"), &crate::kit::signing::claims(&op, "other"))).await);
}

#[tokio::test]
async fn only_the_registered_method_and_algorithm_count() {
    let op = started().await;
    // A client with a secret, and one without any.
    for client in ["web", "native"] {
        let answer = token_by(&op, &EC.sign(&header("ES256"), &claims(&op, client))).await;
        refused(&answer, 401, "invalid_client");
    }
    let signed = sign_with_secret(SECRET.as_bytes(), &header("HS256"), &claims(&op, "web"));
    refused(&token_by(&op, &signed).await, 401, "invalid_client");
    // A client that signs has neither secret nor leave to come without proof.
    let own = ("grant_type", "client_credentials");
    refused(&op.post("/token", &[own, ("client_id", "signer")], &[]).await, 401, "invalid_client");
    let secret = [own, ("client_id", "signer"), ("client_secret", SECRET)];
    refused(&op.post("/token", &secret, &[]).await, 401, "invalid_client");
    refused(&op.post("/token", &[own], &[("authorization", &*basic("signer", SECRET))]).await, 401, "invalid_client");

    op.apply("realm: main\nclients: [{ client_id: signer, token_endpoint_auth_signing_alg: PS256 }]\n").await;
    given(&token_by(&op, &RSA.sign(&header("PS256"), &claims(&op, "signer"))).await);
    let answer = token_by(&op, &RSA.sign(&header("RS256"), &claims(&op, "signer"))).await;
    refused(&answer, 401, "invalid_client");
    assert!(answer.body.contains("registered is PS256"), "whoever holds the key is helped: {}", answer.body);
    let stranger = token_by(&op, &OTHER_RSA.sign(&header("RS256"), &claims(&op, "signer"))).await;
    assert!(!stranger.body.contains("PS256"), "nobody else is: {}", stranger.body);
}

#[tokio::test]
async fn a_stranger_learns_nothing_and_a_known_client_is_audited() {
    let op = started().await;
    add_client(&op, "off", &format!("    enabled: false\n{}", by_keys(&[ED.public(None)]))).await;
    let unknown = token_by(&op, &ED.sign(&header("EdDSA"), &claims(&op, "nobody"))).await;
    refused(&unknown, 401, "invalid_client");
    assert!(db_audit(&op, AuditKind::ClientRefused).await.is_empty(), "strangers must not fill the audit");
    let reasons = [
        (OTHER_RSA.sign(&header("RS256"), &claims(&op, "signer")), "assertion_signature"),
        (ED.sign(&json!({ "alg": "EdDSA", "kid": "unknown" }), &claims(&op, "signer")), "assertion_no_key"),
        (ED.sign(&header("EdDSA"), &claims(&op, "off")), "client_disabled"),
    ];
    for (assertion, reason) in reasons {
        assert_eq!(seen(&token_by(&op, &assertion).await), seen(&unknown), "{reason}");
        let audit = db_audit(&op, AuditKind::ClientRefused).await;
        let event = audit.iter().find(|event| event.reason.as_deref() == Some(reason));
        assert!(event.is_some_and(|event| event.client.is_some()), "{reason}: {audit:?}");
    }
    // What is wrong with the assertion itself is told without a look at who it is of.
    for client in ["signer", "nobody"] {
        let late = but(claims(&op, client), json!({ "exp": 1 }));
        assert!(token_by(&op, &ED.sign(&header("EdDSA"), &late)).await.body.contains("expired"));
    }
    assert_eq!(db_audit(&op, AuditKind::ClientRefused).await.len(), 3);
}

#[tokio::test]
async fn keys_that_are_replaced_or_taken_away_prove_nothing_on_any_node() {
    let op = started().await;
    let other = Op::builder().beside(&op).start().await;
    let fresh = || EC.sign(&header("ES256"), &claims(&op, "signer"));
    given(&token_by(&op, &fresh()).await);
    given(&token_by(&other, &fresh()).await);
    add_client(&op, "signer", &by_keys(&[ED.public(None)])).await;
    other.poll().await;
    for node in [&op, &other] {
        refused(&token_by(node, &fresh()).await, 401, "invalid_client");
        given(&token_by(node, &ED.sign(&header("EdDSA"), &claims(&op, "signer"))).await);
    }
    add_client(&op, "signer", "    token_endpoint_auth_method: client_secret_post\n    jwks: null").await;
    refused(&token_by(&op, &ED.sign(&header("EdDSA"), &claims(&op, "signer"))).await, 401, "invalid_client");
}

#[tokio::test]
async fn another_realm_is_another_server() {
    let op = started().await;
    let realm = format!(
        "realm: other\nclients:\n  - client_id: signer\n    grant_types: [ client_credentials ]\n    response_types: []\n    scope: read\n{}\n",
        by_keys(&[EC.public(None)])
    );
    op.apply(&realm).await;
    let here = EC.sign(&header("ES256"), &claims(&op, "signer"));
    let path = "/realms/other/token";
    let own = [("grant_type", "client_credentials")];
    refused(&post_signed(&op, path, &here, &own).await, 401, "invalid_client");
    let there = but(claims(&op, "signer"), json!({ "aud": format!("{}/realms/other", op.public_url) }));
    let there = EC.sign(&header("ES256"), &there);
    refused(&token_by(&op, &there).await, 401, "invalid_client");
    given(&post_signed(&op, path, &there, &own).await);
    given(&token_by(&op, &here).await);
    assert_eq!(post_as(&op, API, "/introspect", &[("token", "x")]).await.status, 200);
    assert_eq!(post_as(&op, WEB, "/introspect", &[("token", "x")]).await.status, 200);
}
