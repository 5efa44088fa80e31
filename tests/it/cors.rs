//! Calls by script from another origin (Fetch standard; RFC 9700 section 2.6; behaviour case B-24): errors
//! carry the same headers as success, pages none, credentials never.

use std::time::Duration;

use crate::kit::browser::Answer;
use crate::kit::flow::{NATIVE, WEB, authorize, code, redeem, text};
use crate::kit::op::Op;
use crate::kit::token::{given, signed_in};

const APP: &str = "https://app.example";
const LOCAL: &str = "http://localhost:3000";
const SPA: &str = r#"
realm: main
clients:
  - client_id: spa
    token_endpoint_auth_method: none
    redirect_uris: ["https://spa.example:8443/cb", "com.example.spa:/cb"]
    web_origins: ["https://embed.example", "http://localhost:5173"]
    grant_types: [authorization_code, refresh_token]
    consent: skip
"#;

fn allowed(answer: &Answer) -> Option<&str> {
    answer.header("access-control-allow-origin")
}

/// The headers of an answer that a script of this origin may read.
#[track_caller]
fn readable(answer: &Answer, origin: &str) {
    assert_eq!(allowed(answer), Some(origin), "{} {}", answer.status, answer.url);
    assert!(answer.headers.get_all("vary").iter().any(|value| value == "Origin"), "{:?}", answer.headers);
    assert!(answer.header("access-control-allow-credentials").is_none(), "never with cookies");
    let exposed = answer.header("access-control-expose-headers").unwrap_or_default();
    assert!(exposed.contains("WWW-Authenticate") && exposed.contains("DPoP-Nonce"), "{exposed}");
}

#[track_caller]
fn unreadable(answer: &Answer) {
    for name in answer.headers.keys() {
        assert!(!name.as_str().starts_with("access-control-"), "{name} at {}", answer.url);
    }
}

async fn preflight(op: &Op, path: &str, origin: &str, method: &str, headers: &str) -> Answer {
    let asked =
        [("origin", origin), ("access-control-request-method", method), ("access-control-request-headers", headers)];
    op.raw("OPTIONS", path, &asked, "").await
}

#[tokio::test]
async fn a_preflight_is_answered_without_authentication() {
    let op = Op::start().await;
    for (path, method) in [("/token", "POST"), ("/userinfo", "GET"), ("/userinfo", "POST"), ("/revoke", "POST")] {
        for headers in ["authorization, dpop, content-type", "authorization", "content-type"] {
            let answer = preflight(&op, path, APP, method, headers).await;
            assert_eq!((answer.status.as_u16(), answer.body.as_str()), (204, ""), "{path}");
            readable(&answer, APP);
            let methods = answer.header("access-control-allow-methods").unwrap();
            assert!(methods.split(", ").any(|own| own == method), "{methods}");
            let own = answer.header("access-control-allow-headers").unwrap().to_ascii_lowercase();
            assert!(headers.split(", ").all(|header| own.split(", ").any(|own| own == header)), "{own}");
            assert!(answer.header("access-control-max-age").is_some());
        }
    }
}

#[tokio::test]
async fn metadata_and_keys_are_for_everybody() {
    let op = Op::start().await;
    for path in
        ["/.well-known/openid-configuration", "/.well-known/oauth-authorization-server", "/.well-known/jwks.json"]
    {
        for origin in [LOCAL, "https://anybody.example", "null"] {
            let answer = op.get(path, &[("origin", origin)]).await;
            assert_eq!((answer.status.as_u16(), allowed(&answer)), (200, Some("*")), "{path}");
            assert!(answer.header("access-control-allow-credentials").is_none());
            let answer = preflight(&op, path, origin, "GET", "").await;
            assert_eq!((answer.status.as_u16(), allowed(&answer)), (204, Some("*")), "{path}");
        }
        // Also when nobody asks: a shared cache keeps one answer for all.
        assert_eq!(allowed(&op.get(path, &[]).await), Some("*"));
        let etag = op.get(path, &[]).await.header("etag").unwrap().to_owned();
        let same = op.get(path, &[("origin", LOCAL), ("if-none-match", &etag)]).await;
        assert_eq!((same.status.as_u16(), allowed(&same)), (304, Some("*")), "{path}");
    }
}

#[tokio::test]
async fn a_script_can_read_success_and_every_kind_of_error() {
    let op = Op::start().await;
    let tokens = signed_in(&op).await;
    let bearer = format!("Bearer {}", text(&tokens, "access_token"));
    let basic = crate::kit::flow::basic("web", crate::kit::op::SECRET);
    let origin = ("origin", APP);
    let good = op.get("/userinfo", &[origin, ("authorization", &bearer)]).await;
    assert_eq!(good.status, 200);
    readable(&good, APP);
    let own = [("grant_type", "client_credentials")];
    let answer = op.post("/token", &own, &[origin, ("authorization", &basic)]).await;
    assert_eq!(answer.status, 200);
    readable(&answer, APP);
    op.advance(Duration::from_secs(301)).await;
    let wrong_code =
        [("grant_type", "authorization_code"), ("code", "x"), ("redirect_uri", "y"), ("client_id", "native")];
    for (answer, status) in [
        (op.get("/userinfo", &[origin, ("authorization", &bearer)]).await, 401),
        (op.get("/userinfo", &[origin]).await, 401),
        (op.get("/userinfo?access_token=x", &[origin]).await, 400),
        (op.post("/token", &wrong_code, &[origin]).await, 400),
        (op.post("/token", &own, &[origin]).await, 401),
        (op.post("/token", &[], &[origin, ("authorization", "Basic !")]).await, 401),
        (op.raw("POST", "/token", &[origin, ("content-type", "application/json")], "{}").await, 400),
        (
            op.raw(
                "POST",
                "/token",
                &[origin, ("content-type", "application/x-www-form-urlencoded")],
                &"a".repeat(70_000),
            )
            .await,
            413,
        ),
        (op.post("/revoke", &[("token", "x")], &[origin]).await, 401),
        (op.post("/revoke", &[("token", "x")], &[origin, ("authorization", &basic)]).await, 200),
    ] {
        assert_eq!(answer.status, status, "{} {}", answer.url, answer.body);
        readable(&answer, APP);
    }
}

#[tokio::test]
async fn only_origins_of_the_realms_clients_may_call() {
    let op = Op::start().await;
    op.apply(SPA).await;
    for origin in [APP, "https://spa.example:8443", "https://embed.example", "http://localhost:5173"] {
        readable(&op.get("/userinfo", &[("origin", origin)]).await, origin);
    }
    for origin in [
        "https://evil.example",
        "https://app.example.evil.example",
        "https://app.example:8443",
        "http://app.example",
        "https://APP.example",
        "https://app.example/",
        "https://spa.example",
        "http://embed.example",
        "com.example.spa://",
        "null",
        "*",
        "",
    ] {
        let answer = op.get("/userinfo", &[("origin", origin)]).await;
        assert_eq!(answer.status, 401, "answered all the same");
        unreadable(&answer);
        let answer = preflight(&op, "/token", origin, "POST", "content-type").await;
        assert_eq!(answer.status, 204, "{origin}");
        unreadable(&answer);
        assert!(answer.headers.get_all("vary").iter().any(|value| value == "Origin"), "a cache must know");
    }
    let answer = op.get("/userinfo", &[]).await;
    unreadable(&answer);
    assert!(answer.headers.get_all("vary").iter().any(|value| value == "Origin"));
}

#[tokio::test]
async fn a_loopback_app_may_call_from_the_port_that_its_redirect_uri_leaves_free() {
    let op = Op::start().await;
    // `native` is registered with http://localhost/callback: any port may receive, so any may call.
    let preflight = preflight(&op, "/token", LOCAL, "POST", "content-type").await;
    assert_eq!(preflight.status, 204);
    readable(&preflight, LOCAL);
    for origin in [LOCAL, "http://localhost", "http://127.0.0.1:49152", "http://localhost:63785"] {
        readable(&op.get("/userinfo", &[("origin", origin)]).await, origin);
    }
    for origin in [
        "https://localhost:3000",
        "http://[::1]:3000",
        "http://localhost.evil.example:3000",
        "http://localhost:3000@evil.example",
        "http://localhost:0",
        "http://localhost:99999",
        "http://localhost:*",
    ] {
        unreadable(&op.get("/userinfo", &[("origin", origin)]).await);
    }
    let wrong = [("grant_type", "authorization_code"), ("code", "x"), ("redirect_uri", "y"), ("client_id", "native")];
    let answer = op.post("/token", &wrong, &[("origin", LOCAL)]).await;
    assert_eq!(answer.json()["error"], "invalid_grant");
    readable(&answer, LOCAL);
    let code = code(&mut op.browser(), NATIVE, "openid").await;
    given(&redeem(&op, NATIVE, &code).await);
}

#[tokio::test]
async fn an_origin_comes_and_goes_with_its_client() {
    let op = Op::start().await;
    let spa = "https://spa.example:8443";
    unreadable(&op.get("/userinfo", &[("origin", spa)]).await);
    op.apply(SPA).await;
    readable(&op.get("/userinfo", &[("origin", spa)]).await, spa);
    op.apply("realm: main\nclients:\n  - { client_id: spa, enabled: false }\n").await;
    unreadable(&op.get("/userinfo", &[("origin", spa)]).await);
}

#[tokio::test]
async fn no_page_and_no_back_channel_is_for_scripts() {
    let op = Op::start().await;
    let url = authorize(WEB, "openid", &[]);
    for (method, path) in [
        ("GET", &*url),
        ("POST", "/authorize"),
        ("GET", "/authorize?client_id=nobody"),
        ("GET", "/login"),
        ("POST", "/login"),
        ("GET", "/consent"),
        ("GET", "/logout"),
        ("POST", "/logout/confirm"),
        ("POST", "/introspect"),
        ("GET", "/"),
        ("GET", "/nowhere"),
    ] {
        let form = [("origin", APP), ("content-type", "application/x-www-form-urlencoded")];
        unreadable(&op.raw(method, path, &form, "").await);
        let answer = preflight(&op, path, APP, method, "content-type").await;
        assert!(answer.status.is_client_error(), "{path}: {}", answer.status);
        unreadable(&answer);
    }
}
