//! Keys by `jwks_uri`: fetched by the guarded client, kept, fetched again for an unknown name once a minute;
//! whatever is hostile is refused like a wrong signature (`security` row 63).

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{add_client, header, with_client};
use crate::kit::op::{Builder, Op};
use crate::kit::relay::{Relay, authorities};
use crate::kit::signing::{EC, ED, Key, RSA, claims, jwks, token_by};
use crate::kit::tls_host::{Behaviour, TlsHost};
use crate::kit::token::{at_once, given, refused};

fn by_uri(uri: &str) -> String {
    format!("    token_endpoint_auth_method: private_key_jwt\n    jwks_uri: \"{uri}\"")
}

/// With a way out to this machine, and to the hosts of these authorities.
fn reaching(builder: Builder, authorities: &std::path::Path) -> Builder {
    builder
        .env("DOORWARD_OUTBOUND__ALLOW_NETWORKS", "127.0.0.1/32")
        .env("DOORWARD_OUTBOUND__CA_FILE", authorities.to_str().expect("a path"))
}

/// A host whose `/jwks` gives these keys.
async fn host_of(keys: &[Value]) -> TlsHost {
    TlsHost::start(&[("/jwks", Behaviour::sends("application/jwk-set+json", jwks(keys).as_bytes()))]).await
}

fn named(op: &Op, key: &Key, alg: &str, kid: &str) -> String {
    key.sign(&json!({ "alg": alg, "kid": kid }), &claims(op, "signer"))
}

#[tokio::test]
async fn keys_are_fetched_once_and_looked_at_again_after_a_while() {
    let host = host_of(&[EC.public(Some("a"))]).await;
    let uri = host.url("localhost", "/jwks");
    let op = reaching(with_client(&by_uri(&uri)), &host.authority()).start().await;
    assert_eq!(host.seen("/jwks"), 0, "nobody is asked before a key is needed");
    for _ in 0..3 {
        given(&token_by(&op, &named(&op, &EC, "ES256", "a")).await);
    }
    given(&token_by(&op, &EC.sign(&header("ES256"), &claims(&op, "signer"))).await);
    assert_eq!(host.seen("/jwks"), 1);
    op.advance(Duration::from_secs(599)).await;
    given(&token_by(&op, &named(&op, &EC, "ES256", "a")).await);
    assert_eq!(host.seen("/jwks"), 1);
    op.advance(Duration::from_secs(1)).await;
    given(&token_by(&op, &named(&op, &EC, "ES256", "a")).await);
    assert_eq!(host.seen("/jwks"), 2);
}

#[tokio::test]
async fn a_new_key_is_understood_at_once_and_the_old_one_ends() {
    let (old, new) = (host_of(&[EC.public(Some("old"))]).await, host_of(&[RSA.public(Some("new"))]).await);
    let relay = Relay::to(&old).await;
    let file = authorities(&[&old, &new]);
    let op = reaching(with_client(&by_uri(&relay.url("/jwks"))), file.path()).start().await;
    given(&token_by(&op, &named(&op, &EC, "ES256", "old")).await);
    relay.turn(&new);
    given(&token_by(&op, &named(&op, &RSA, "PS256", "new")).await);
    assert_eq!((old.seen("/jwks"), new.seen("/jwks")), (1, 1));
    refused(&token_by(&op, &named(&op, &EC, "ES256", "old")).await, 401, "invalid_client");
    assert_eq!(new.seen("/jwks"), 1, "once a minute");
}

#[tokio::test]
async fn keys_without_names_change_as_well() {
    let (old, new) = (host_of(&[EC.public(None)]).await, host_of(&[ED.public(None)]).await);
    let relay = Relay::to(&old).await;
    let file = authorities(&[&old, &new]);
    let op = reaching(with_client(&by_uri(&relay.url("/jwks"))), file.path()).start().await;
    given(&token_by(&op, &EC.sign(&header("ES256"), &claims(&op, "signer"))).await);
    relay.turn(&new);
    given(&token_by(&op, &ED.sign(&header("EdDSA"), &claims(&op, "signer"))).await);
}

#[tokio::test]
async fn unknown_names_cause_one_fetch_a_minute_however_many_come() {
    let host = host_of(&[EC.public(Some("a"))]).await;
    let op = reaching(with_client(&by_uri(&host.url("localhost", "/jwks"))), &host.authority()).start().await;
    given(&token_by(&op, &named(&op, &EC, "ES256", "a")).await);
    let op = Arc::new(op);
    for minute in 1..=3 {
        let answers = at_once(10, |number| {
            let (op, assertion) = (op.clone(), named(&op, &ED, "EdDSA", &format!("unknown-{number}")));
            async move { token_by(&op, &assertion).await }
        })
        .await;
        for answer in &answers {
            refused(answer, 401, "invalid_client");
        }
        // A name that is known and a wrong signature are no reason to ask.
        refused(&token_by(&op, &named(&op, &ED, "EdDSA", "a")).await, 401, "invalid_client");
        assert_eq!(host.seen("/jwks"), 1 + minute);
        op.advance(Duration::from_secs(60)).await;
    }
    given(&token_by(&op, &named(&op, &EC, "ES256", "a")).await);
}

#[tokio::test]
async fn a_host_that_is_down_costs_nothing_as_long_as_its_keys_are_kept() {
    let host = host_of(&[EC.public(Some("a"))]).await;
    let down = TlsHost::start(&[]).await;
    let relay = Relay::to(&host).await;
    let file = authorities(&[&host, &down]);
    let op = reaching(with_client(&by_uri(&relay.url("/jwks"))), file.path()).start().await;
    given(&token_by(&op, &named(&op, &EC, "ES256", "a")).await);
    relay.turn(&down);
    op.advance(Duration::from_secs(601)).await;
    given(&token_by(&op, &named(&op, &EC, "ES256", "a")).await);
    given(&token_by(&op, &named(&op, &EC, "ES256", "a")).await);
    assert_eq!(down.seen("/jwks"), 1, "asked again after a minute");
    op.advance(Duration::from_secs(60)).await;
    given(&token_by(&op, &named(&op, &EC, "ES256", "a")).await);
    assert_eq!(down.seen("/jwks"), 2);
    // Not for ever.
    op.advance(Duration::from_secs(3_600)).await;
    refused(&token_by(&op, &named(&op, &EC, "ES256", "a")).await, 401, "invalid_client");
    relay.turn(&host);
    op.advance(Duration::from_secs(60)).await;
    given(&token_by(&op, &named(&op, &EC, "ES256", "a")).await);
}

#[tokio::test]
async fn hostile_hosts_all_read_like_a_wrong_signature() {
    let set = jwks(&[EC.public(Some("a"))]);
    let large = format!("{{\"keys\":[],\"x\":\"{}\"}}", "x".repeat(70_000));
    let host = TlsHost::start(&[
        ("/jwks", Behaviour::sends("application/json; charset=utf-8", set.as_bytes())),
        ("/html", Behaviour::sends("text/html", set.as_bytes())),
        ("/text", Behaviour::sends("text/plain", set.as_bytes())),
        ("/moved", Behaviour::Redirects("/jwks")),
        ("/endless", Behaviour::NeverEnds),
        ("/large", Behaviour::sends("application/json", large.as_bytes())),
        ("/broken", Behaviour::sends("application/json", b"{\"keys\":[")),
        ("/list", Behaviour::sends("application/json", b"[]")),
        ("/empty", Behaviour::sends("application/json", b"")),
        (
            "/zipped",
            Behaviour::Sends {
                media_type: "application/json",
                headers: "content-encoding: gzip\r\n",
                body: set.clone().into(),
            },
        ),
        ("/private", Behaviour::sends("application/json", &private())),
    ])
    .await;
    let op = reaching(Op::builder(), &host.authority()).start().await;
    let stranger = token_by(&op, &EC.sign(&json!({ "alg": "ES256", "kid": "a" }), &claims(&op, "nobody"))).await;
    refused(&stranger, 401, "invalid_client");
    add_client(&op, "signer", &by_uri(&host.url("localhost", "/jwks"))).await;
    given(&token_by(&op, &named(&op, &EC, "ES256", "a")).await);
    for path in
        ["/html", "/text", "/moved", "/endless", "/large", "/broken", "/list", "/empty", "/zipped", "/private", "/none"]
    {
        add_client(&op, "signer", &by_uri(&host.url("localhost", path))).await;
        let answer = token_by(&op, &named(&op, &EC, "ES256", "a")).await;
        refused(&answer, 401, "invalid_client");
        assert_eq!(answer.body, stranger.body, "{path}: nothing tells what stands there");
        assert_eq!(host.seen(path), 1, "{path}");
    }
    assert_eq!(host.seen("/jwks"), 1, "nobody followed");
}

/// A set whose one key is a private one.
fn private() -> Vec<u8> {
    let mut key = EC.public(Some("a"));
    key["d"] = json!("AAAA");
    jwks(&[key]).into_bytes()
}

#[tokio::test]
async fn where_we_do_not_go_nobody_is_asked() {
    let host = host_of(&[EC.public(Some("a"))]).await;
    // The second local address is not among the allowed networks, and the authority of the second host is not known.
    let untrusted = host_of(&[EC.public(Some("a"))]).await;
    let op = reaching(Op::builder(), &host.authority()).start().await;
    for uri in [
        host.url("127.0.0.2", "/jwks"),
        host.url("[::ffff:127.0.0.1]", "/jwks"),
        "https://169.254.169.254/jwks".to_owned(),
        "https://10.255.255.1/jwks".to_owned(),
        "https://no-such-host.invalid/jwks".to_owned(),
        untrusted.url("localhost", "/jwks"),
    ] {
        add_client(&op, "signer", &by_uri(&uri)).await;
        refused(&token_by(&op, &named(&op, &EC, "ES256", "a")).await, 401, "invalid_client");
    }
    assert_eq!((host.seen("/jwks"), untrusted.seen("/jwks")), (0, 0));
    let told = op.try_apply("realm: main\nclients: [{ client_id: signer, jwks_uri: \"http://localhost/jwks\" }]").await;
    assert!(told.expect_err("no plain http").contains("must begin with https://"));
}

#[tokio::test]
async fn a_host_that_never_answers_holds_nobody_else_up() {
    let host = TlsHost::start(&[("/sleeps", Behaviour::Sleeps)]).await;
    let uri = host.url("localhost", "/sleeps");
    let op = Arc::new(reaching(with_client(&by_uri(&uri)), &host.authority()).start().await);
    add_client(&op, "other", &super::by_keys(&[ED.public(None)])).await;
    let began = Instant::now();
    let slow = {
        let op = op.clone();
        tokio::spawn(async move {
            at_once(5, |_| {
                let (op, assertion) = (op.clone(), named(&op, &EC, "ES256", "a"));
                async move { token_by(&op, &assertion).await }
            })
            .await
        })
    };
    // On this one thread everybody else goes on.
    while host.seen("/sleeps") == 0 {
        tokio::task::yield_now().await;
    }
    for _ in 0..5 {
        given(&token_by(&op, &ED.sign(&header("EdDSA"), &claims(&op, "other"))).await);
    }
    assert!(!slow.is_finished(), "the others did not wait for it");
    for answer in slow.await.expect("answers") {
        refused(&answer, 401, "invalid_client");
    }
    assert!(began.elapsed() < Duration::from_secs(8), "two seconds for all together: {:?}", began.elapsed());
    assert_eq!(host.seen("/sleeps"), 1, "one attempt for all of them");
    // For a minute it is not even asked.
    refused(&token_by(&op, &named(&op, &EC, "ES256", "a")).await, 401, "invalid_client");
    assert_eq!(host.seen("/sleeps"), 1);
}

#[tokio::test]
async fn who_hangs_up_does_not_waste_the_attempt() {
    let host = host_of(&[EC.public(Some("a"))]).await;
    let op = reaching(with_client(&by_uri(&host.url("localhost", "/jwks"))), &host.authority()).start().await;
    let op = Arc::new(op);
    let gone = {
        let (op, assertion) = (op.clone(), named(&op, &EC, "ES256", "a"));
        tokio::spawn(async move { token_by(&op, &assertion).await })
    };
    while host.seen("/jwks") == 0 && !gone.is_finished() {
        tokio::task::yield_now().await;
    }
    gone.abort();
    given(&token_by(&op, &named(&op, &EC, "ES256", "a")).await);
    assert_eq!(host.seen("/jwks"), 1);
}
