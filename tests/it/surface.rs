//! The whole surface, row by row: what every answer carries, which methods an address takes, how
//! large a body may be, what is not there, and that looking changes nothing (`security` 3.1).

mod looking;

use std::collections::{BTreeMap, BTreeSet};

use axum::body::Body;
use doorward::http::extract::address::Peer;
use doorward::http::router::{self, Audience, Dialect};
use http::{Method, Request};

use crate::kit::browser::Answer;
use crate::kit::flow::{WEB, authorize, refresh, text, tokens};
use crate::kit::house::{self, MAIN, OTHER};
use crate::kit::op::Op;

/// What looking at a row does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// A document or page; nothing is kept.
    Document,
    /// Keeps a request for the browser, nothing more.
    Begins,
    /// It is not for looking: POST.
    Acts,
}

/// Every row by hand: method, path, an address of it, where it is, how its errors speak, what looking
/// does. A new row of the table belongs here too.
const ROWS: &[(&str, &str, &str, Audience, Dialect, Look)] = {
    use Audience::{Dev, Main, Realm};
    use Dialect::{Bearer, Oauth, Page};
    use Look::{Acts, Begins, Document};
    &[
        ("GET", "/.well-known/openid-configuration", "/.well-known/openid-configuration", Realm, Oauth, Document),
        (
            "GET",
            "/.well-known/oauth-authorization-server",
            "/.well-known/oauth-authorization-server",
            Realm,
            Oauth,
            Document,
        ),
        ("GET", "/.well-known/jwks.json", "/.well-known/jwks.json", Realm, Oauth, Document),
        ("GET", "/authorize", "/authorize", Realm, Page, Begins),
        ("POST", "/authorize", "/authorize", Realm, Page, Acts),
        ("POST", "/token", "/token", Realm, Oauth, Acts),
        ("GET", "/userinfo", "/userinfo", Realm, Bearer, Document),
        ("POST", "/userinfo", "/userinfo", Realm, Bearer, Acts),
        ("POST", "/introspect", "/introspect", Realm, Oauth, Acts),
        ("POST", "/revoke", "/revoke", Realm, Oauth, Acts),
        ("POST", "/register", "/register", Realm, Bearer, Acts),
        ("GET", "/register/{client_id}", "/register/cli_x", Realm, Bearer, Document),
        ("PUT", "/register/{client_id}", "/register/cli_x", Realm, Bearer, Acts),
        ("DELETE", "/register/{client_id}", "/register/cli_x", Realm, Bearer, Acts),
        ("GET", "/logout", "/logout", Realm, Page, Document),
        ("POST", "/logout", "/logout", Realm, Page, Acts),
        ("GET", "/session/check", "/session/check", Realm, Page, Document),
        ("GET", "/login", "/login", Realm, Page, Document),
        ("POST", "/login", "/login", Realm, Page, Acts),
        ("GET", "/login/select-account", "/login/select-account", Realm, Page, Document),
        ("POST", "/login/select-account", "/login/select-account", Realm, Page, Acts),
        ("GET", "/login/start", "/login/start", Realm, Page, Begins),
        ("GET", "/login/logo", "/login/logo", Realm, Page, Document),
        ("GET", "/consent", "/consent", Realm, Page, Document),
        ("POST", "/consent", "/consent", Realm, Page, Acts),
        ("POST", "/logout/confirm", "/logout/confirm", Realm, Page, Acts),
        ("GET", "/setup/{token}", "/setup/x", Main, Page, Document),
        ("POST", "/setup/{token}", "/setup/x", Main, Page, Acts),
        ("GET", "/static/{*file}", "/static/img/none.svg", Realm, Page, Document),
        ("GET", "/favicon.ico", "/favicon.ico", Realm, Page, Document),
        ("GET", "/", "/", Realm, Page, Document),
        ("GET", "/demo", "/demo", Dev, Page, Document),
        ("GET", "/demo/start", "/demo/start", Dev, Page, Document),
        ("GET", "/demo/callback", "/demo/callback", Dev, Page, Document),
        ("POST", "/demo/refresh", "/demo/refresh", Dev, Page, Acts),
        ("POST", "/demo/logout", "/demo/logout", Dev, Page, Acts),
    ]
};

#[test]
fn the_table_is_the_list() {
    let table: Vec<_> =
        router::table().iter().map(|row| (row.method.to_string(), row.path, row.audience, row.dialect)).collect();
    let list: Vec<_> = ROWS
        .iter()
        .map(|(method, path, _, audience, dialect, _)| ((*method).to_owned(), *path, *audience, *dialect))
        .collect();
    assert_eq!(table, list);
    for row in router::table() {
        let has_none = [Method::GET, Method::DELETE].contains(&row.method);
        assert_eq!(has_none, !row.takes_body, "{}: only what acts takes a body", row.path);
    }
}

#[test]
fn every_row_has_its_label_and_strangers_paths_have_none() {
    for (_, path, sample, ..) in ROWS {
        assert_eq!(router::label(sample), *path, "{sample}");
    }
    for stranger in [
        "/nosuch",
        "/setup/",
        "/setup/a/b",
        "/static/",
        "/register/",
        "/register/a/b",
        "//token",
        "/TOKEN",
        "/login/x",
        "",
    ] {
        assert_eq!(router::label(stranger), "none", "{stranger}");
    }
}

/// Everything switched on that a realm may have switched off: what is off is not there.
async fn switched_on(op: Op, realms: &[&str]) -> Op {
    for realm in realms {
        op.apply(&format!("realm: {realm}\nsettings: {{ client_registration: {{ enabled: true }} }}\n")).await;
    }
    op
}

async fn ask(op: &Op, method: &str, url: &str, accept: &str) -> Answer {
    let url = op.absolute(url);
    let (host, path) = op.path_of(&url);
    let request = Request::builder().method(method).uri(path).header("host", host).header("accept", accept);
    op.send_from([203, 0, 113, 9].into(), url, request.body(Body::empty()).expect("a request")).await
}

/// What every answer carries, whatever it is.
fn is_safe(answer: &Answer, say: &str) {
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("x-frame-options", "DENY"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{name} of {say}");
    }
    let hsts = answer.header("strict-transport-security").unwrap_or_else(|| panic!("HSTS of {say}"));
    let age =
        hsts.strip_prefix("max-age=").and_then(|rest| rest.split(';').next()).and_then(|age| age.parse::<u64>().ok());
    assert!(age.is_some_and(|age| age >= 31_536_000) && hsts.contains("includeSubDomains"), "{hsts} of {say}");
    let csp = answer.header("content-security-policy").unwrap_or_else(|| panic!("CSP of {say}"));
    for part in ["default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"] {
        assert!(csp.contains(part), "{part} of {say}: {csp}");
    }
    assert!(!csp.contains("unsafe"), "{csp} of {say}");
    assert!(answer.header("cache-control").is_some(), "caching of {say}");
    assert!(answer.header("x-request-id").is_some_and(|id| id.len() == 16), "a request id of {say}");
    assert!(answer.header("server").is_none() && answer.header("x-powered-by").is_none(), "{say}");
    for word in ["panicked", "src/", "sqlx", "SELECT", "sea_orm", "stack backtrace"] {
        assert!(!answer.body.contains(word), "{word} in {say}: {}", answer.body);
    }
}

#[tokio::test]
async fn every_answer_carries_the_security_headers_errors_too() {
    let op = switched_on(house::start().await, &["main", "other", "third"]).await;
    for base in ["", "/realms/other", "https://login.example"] {
        for (method, _, sample, ..) in ROWS {
            for method in [method, "OPTIONS", "DELETE", "HEAD", "POST", "PATCH", "BREW"] {
                for accept in ["text/html", "*/*"] {
                    let answer = ask(&op, method, &format!("{base}{sample}"), accept).await;
                    is_safe(&answer, &format!("{method} {base}{sample}"));
                    assert!(answer.status.as_u16() < 500, "{method} {base}{sample}: {}", answer.status);
                }
            }
        }
    }
    for url in [
        "/nosuch",
        "/realms/nosuch/",
        "/realms/closed/token",
        "/realms/main/",
        "https://evil.example/",
        "/%00",
        "/..;/",
        "/token/",
    ] {
        for accept in ["text/html", "application/json"] {
            let answer = ask(&op, "GET", url, accept).await;
            is_safe(&answer, url);
            assert!(answer.status.is_client_error(), "{url}: {}", answer.status);
        }
    }
    let two_hosts = Request::builder().uri("/").header("host", "id.example").header("host", "id.example");
    let peer = Peer::Tcp(([203, 0, 113, 9], 40_000).into());
    let answer = op.send_as(peer, "/".to_owned(), two_hosts.body(Body::empty()).expect("a request")).await;
    assert_eq!(answer.status, 400);
    is_safe(&answer, "a request with two hosts");
}

#[tokio::test]
async fn plain_http_on_loopback_promises_no_https() {
    let op = Op::start().await;
    for path in ["/", "/nosuch", "/token", "/realms/nosuch/"] {
        assert!(ask(&op, "GET", path, "text/html").await.header("strict-transport-security").is_none(), "{path}");
    }
}

#[tokio::test]
async fn what_holds_secrets_is_never_stored_and_what_is_public_may_be() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let got = tokens(&op, &mut browser, WEB, "openid profile").await;
    let bearer = format!("Bearer {}", text(&got, "access_token"));
    let userinfo = op.get("/userinfo", &[("authorization", &bearer)]).await;
    let refreshed = refresh(&op, WEB, text(&got, "refresh_token")).await;
    let introspected = crate::kit::flow::post_as(&op, WEB, "/introspect", &[("token", "x")]).await;
    for answer in [userinfo, refreshed, introspected, op.post("/token", &[], &[]).await, op.get("/userinfo", &[]).await]
    {
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{}", answer.url);
    }
    for (_, _, sample, _, dialect, _) in ROWS.iter().filter(|row| row.0 == "GET" && row.4 == Dialect::Page) {
        let answer = ask(&op, "GET", sample, "text/html").await;
        if *sample != "/favicon.ico" {
            assert_eq!(answer.header("cache-control"), Some("no-store"), "{sample} {dialect:?}");
        }
    }
    let login = op.browser().get(&authorize(WEB, "openid", &[])).await;
    for (name, attributes) in login.page().tags {
        let target =
            attributes.iter().find(|(key, _)| (key == "href" && name == "link") || (key == "src" && name != "a"));
        if let Some((_, target)) = target {
            let asset = op.get(target, &[]).await;
            assert_eq!(asset.header("cache-control"), Some("public, max-age=31536000, immutable"), "{target}");
        }
    }
}

/// The methods that an address takes.
fn methods() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let mut methods: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (method, _, sample, ..) in ROWS {
        let taken = methods.entry(sample).or_default();
        taken.insert(method);
        if *method == "GET" {
            taken.insert("HEAD");
        }
    }
    methods
}

#[tokio::test]
async fn another_method_is_405_and_says_which_there_are() {
    let op = switched_on(Op::builder().dev().start().await, &["main"]).await;
    let dialects: BTreeMap<&str, Dialect> = ROWS.iter().map(|row| (row.2, row.4)).collect();
    for (path, taken) in methods() {
        for method in ["GET", "POST", "PUT", "DELETE", "PATCH", "TRACE", "BREW"] {
            let answer = ask(&op, method, path, "*/*").await;
            assert_eq!(answer.status == 405, !taken.contains(method), "{method} {path}: {}", answer.status);
            if answer.status != 405 {
                continue;
            }
            let allow: BTreeSet<&str> = answer.header("allow").expect("Allow").split(", ").collect();
            assert_eq!(allow, taken, "{method} {path}");
            if dialects[path] != Dialect::Page {
                assert_eq!(answer.json()["error"], "invalid_request", "{method} {path}");
            }
        }
    }
}

#[tokio::test]
async fn head_is_get_without_its_body() {
    let op = switched_on(Op::start().await, &["main"]).await;
    for (_, _, sample, ..) in ROWS.iter().filter(|row| row.0 == "GET" && row.3 == Audience::Realm) {
        let (get, head) = (ask(&op, "GET", sample, "text/html").await, ask(&op, "HEAD", sample, "text/html").await);
        assert_eq!(head.status, get.status, "{sample}");
        assert_eq!(head.body, "", "{sample}");
        assert_eq!(head.header("content-type"), get.header("content-type"), "{sample}");
    }
}

#[tokio::test]
async fn what_belongs_to_main_or_to_development_is_nowhere_else() {
    let op = house::start().await;
    for (method, _, sample, audience, ..) in ROWS.iter().filter(|row| row.3 != Audience::Realm) {
        for base in [OTHER.issuer, "https://login.example"] {
            for method in [method, "DELETE"] {
                assert_eq!(
                    ask(&op, method, &format!("{base}{sample}"), "text/html").await.status,
                    404,
                    "{method} {base}{sample}"
                );
            }
        }
        if *audience == Audience::Dev {
            for method in [method, "DELETE"] {
                let answer = ask(&op, method, &MAIN.at(sample), "text/html").await;
                assert_eq!(answer.status, 404, "{method} {sample} without --dev");
            }
        }
    }
}

#[tokio::test]
async fn an_unknown_path_is_a_page_for_people_and_a_line_for_programs() {
    let op = Op::start().await;
    for path in ["/nosuch", "/login/", "/token/", "/.well-known/", "/realms", "/static/", "/setup/"] {
        let page = ask(&op, "GET", path, "text/html,application/xhtml+xml").await;
        assert_eq!(page.status, 404, "{path}");
        assert!(page.header("content-type").is_some_and(|media| media.starts_with("text/html")), "{path}");
        page.page().check(&page);
        for method in ["GET", "POST", "DELETE"] {
            let line = ask(&op, method, path, "application/json").await;
            assert_eq!(line.status, 404, "{method} {path}");
            assert!(line.header("content-type").is_some_and(|media| media.starts_with("text/plain")), "{path}");
            assert!(line.body.len() < 100, "{path}");
        }
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_in_the_rows_dialect() {
    let op = switched_on(Op::builder().dev().start().await, &["main"]).await;
    let small = Op::builder().dev().env("DOORWARD_LIMITS__BODY_KIB", "8").start().await;
    let small = switched_on(small, &["main"]).await;
    for (op, kib) in [(&op, 64), (&small, 8)] {
        for (method, _, sample, _, dialect, _) in ROWS.iter().filter(|row| ["POST", "PUT"].contains(&row.0)) {
            for (size, fits) in [(kib * 1024 - 2, true), (kib * 1024 - 1, false), (5 * 1024 * 1024, false)] {
                let body = format!("x={}", "a".repeat(size));
                let headers = [("content-type", "application/x-www-form-urlencoded"), ("accept", "text/html")];
                let answer = op.raw(method, sample, &headers, &body).await;
                let about = format!("{sample} with {} bytes of {kib} KiB", body.len());
                assert_eq!(answer.status == 413, !fits, "{about}: {}", answer.status);
                match dialect {
                    _ if fits => assert!(!answer.status.is_server_error(), "{about}: {}", answer.status),
                    Dialect::Page => {
                        answer.page().check(&answer);
                        assert!(answer.page().text.contains("too_large"), "{about}: {}", answer.page().text);
                    }
                    Dialect::Oauth | Dialect::Bearer => {
                        assert_eq!(answer.json()["error"], "invalid_request", "{about}");
                        let told = answer.json()["error_description"].as_str().is_some_and(|text| text.contains("KiB"));
                        assert!(told, "{about}: {}", answer.body);
                    }
                }
            }
        }
    }
    // Too many fields, too: 10,000 of them.
    let many = "a=&".repeat(10_000);
    let request = Request::builder().method("POST").uri("/token").header("host", "localhost:8080");
    let request =
        request.header("content-type", "application/x-www-form-urlencoded").body(many.into()).expect("a request");
    assert_eq!(op.send(request).await.status, 400);
}
