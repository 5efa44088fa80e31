//! Addresses that a stranger registers: looked at only on the public internet, whatever the operator allows for
//! addresses of his own (`security-design` rule 25), until he vouches for the client.

use std::time::Duration;

use doorward::clock::Clock;
use doorward::tasks::{backchannel_logout, fetch_logos};
use serde_json::json;

use super::{OPEN, app_with, as_client, call, managed, registered};
use crate::kit::flow::{Client, VERIFIER, authorize, code, text, tokens};
use crate::kit::op::{Op, REALM};
use crate::kit::signing::{RSA, claims, jwks, post_signed};
use crate::kit::tls_host::{Behaviour, PNG, TlsHost};

async fn host() -> TlsHost {
    TlsHost::start(&[
        ("/logo.png", Behaviour::sends("image/png", PNG)),
        ("/jwks", Behaviour::sends("application/json", jwks(&[RSA.public(None)]).as_bytes())),
        ("/bye", Behaviour::sends("text/plain", b"")),
    ])
    .await
}

/// Goes out to this machine wherever an operator says so.
async fn reaching(host: &TlsHost) -> Op {
    let op = Op::builder()
        .realm(REALM)
        .env("DOORWARD_OUTBOUND__ALLOW_NETWORKS", "127.0.0.0/8")
        .env("DOORWARD_OUTBOUND__CA_FILE", host.authority().to_str().expect("a path"))
        .start()
        .await;
    op.apply(OPEN).await;
    op
}

fn shows_logo(page: &str) -> bool {
    page.contains("class=\"client-logo\" src=\"/login/logo")
}

async fn page(op: &Op, client: Client) -> String {
    op.browser().get(&authorize(client, "openid", &[])).await.body
}

async fn by_key(op: &Op, client: Client) -> u16 {
    let code = code(&mut op.browser(), client, "openid").await;
    let assertion = RSA.sign(&json!({ "alg": "RS256" }), &claims(op, client.id));
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", code.as_str()),
        ("redirect_uri", client.redirect_uri),
        ("code_verifier", VERIFIER),
    ];
    post_signed(op, "/token", &assertion, &fields).await.status.as_u16()
}

#[tokio::test]
async fn a_strangers_addresses_are_not_called_in_networks_that_an_operator_allows_himself() {
    let host = host().await;
    let op = reaching(&host).await;
    let own = app_with(&json!({
        "logo_uri": host.url("localhost", "/logo.png"),
        "jwks_uri": host.url("localhost", "/jwks"),
        "token_endpoint_auth_method": "private_key_jwt",
    }));
    let made = registered(&op, &own).await;
    let client = as_client(&made);
    fetch_logos::run_once(&op.app, op.clock.now()).await.expect("the store answers");
    assert!(!shows_logo(&page(&op, client).await));
    assert_eq!(by_key(&op, client).await, 401);
    for address in ["127.0.0.1", "127.9.9.9", "[::1]", "0.0.0.0", "localhost"] {
        let other = app_with(&json!({ "logo_uri": host.url(address, "/logo.png") }));
        registered(&op, &other).await;
    }
    let (path, token) = managed(&op, &made);
    let mut update = own.clone();
    update["client_id"] = made["client_id"].clone();
    update["logo_uri"] = json!(host.url("127.0.0.1", "/logo.png"));
    assert_eq!(call(&op, "PUT", path, Some(token), Some(&update)).await.status, 200);
    op.advance(Duration::from_secs(2 * 86_400)).await;
    fetch_logos::run_once(&op.app, op.clock.now()).await.expect("the store answers");
    assert_eq!((host.seen("/logo.png"), host.seen("/jwks")), (0, 0), "nobody asked");

    // The operator vouches for it: the same addresses are his now.
    op.apply(&format!("realm: main\nclients:\n  - client_id: {}\n    consent: skip\n", client.id)).await;
    op.poll().await;
    fetch_logos::run_once(&op.app, op.clock.now()).await.expect("the store answers");
    assert_eq!(host.seen("/logo.png"), 1);
    assert!(shows_logo(&page(&op, client).await));
    assert_eq!(by_key(&op, client).await, 200);
    assert_eq!(host.seen("/jwks"), 1);
}

#[tokio::test]
async fn a_stranger_is_not_told_of_sign_outs_in_such_networks() {
    let host = host().await;
    let op = reaching(&host).await;
    let made = registered(&op, &app_with(&json!({ "backchannel_logout_uri": host.url("localhost", "/bye") }))).await;
    let client = as_client(&made);
    let told = async |browser: &mut crate::kit::browser::Browser<'_>| {
        let got = tokens(&op, browser, client, "openid").await;
        let hint = text(&got, "id_token");
        browser.get(&format!("/logout?id_token_hint={hint}")).await;
        op.app.store.batch().flush().await.expect("flushed");
        let attempts = backchannel_logout::run_once(&op.app, op.clock.now()).await.expect("the store answers");
        assert_eq!(attempts, 1, "it was tried");
        host.seen("/bye")
    };
    assert_eq!(told(&mut op.browser()).await, 0);
    op.apply(&format!("realm: main\nclients:\n  - {{ client_id: {}, consent: skip }}\n", client.id)).await;
    op.poll().await;
    assert!(told(&mut op.browser()).await >= 1, "an operator's own are told");
}
