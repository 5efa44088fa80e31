//! Which host and realm a request came to, and who sent it: behaviour cases B-28 and B-29,
//! `security` row 11, `security-design` rule 29.

use std::net::{IpAddr, SocketAddr};

use axum::body::Body;
use doorward::config::network::Network;
use doorward::domain::model::audit::AuditKind;
use doorward::http::extract::address::{Peer, client_address, is_trusted};
use doorward::http::extract::place::place;
use doorward::store::repo;
use doorward::store::repo::audit::AuditFilter;
use http::{HeaderMap, HeaderName, HeaderValue, Request};

use crate::kit::browser::Answer;
use crate::kit::flow::{WEB, authorize};
use crate::kit::house::{self, HOUSES, MAIN, THIRD};
use crate::kit::op::{Op, PASSWORD};

const DISCOVERY: &str = "/.well-known/openid-configuration";

#[test]
fn every_path_has_one_place() {
    let cases = [
        // base, path as it came, realm, path below the issuer
        ("", "/", None, "/"),
        ("", "/authorize", None, "/authorize"),
        ("", "/realms/other", Some("other"), "/"),
        ("", "/realms/other/", Some("other"), "/"),
        ("", "/realms/other/token", Some("other"), "/token"),
        ("", "/realms/main/token", Some("main"), "/token"),
        ("", "/realms//token", None, "/realms//token"),
        ("", "/realms/Other/token", None, "/realms/Other/token"),
        ("", "/realms/o%74her/token", None, "/realms/o%74her/token"),
        ("", "/realms", None, "/realms"),
        ("", "/realms/a/realms/b/token", Some("a"), "/realms/b/token"),
        ("", DISCOVERY, None, DISCOVERY),
        ("", "/.well-known/openid-configuration/realms/r", Some("r"), DISCOVERY),
        ("", "/.well-known/openid-configuration/realms/r/", None, "/.well-known/openid-configuration/realms/r/"),
        ("", "/.well-known/openid-configuration/x", None, "/.well-known/openid-configuration/x"),
        ("", "/.well-known/jwks.json/realms/r", None, "/.well-known/jwks.json/realms/r"),
        ("", "/.well-known/openid-configurationx", None, "/.well-known/openid-configurationx"),
        ("/sso", "/sso", None, "/"),
        ("/sso", "/sso/", None, "/"),
        ("/sso", "/", None, "/"),
        ("/sso", "/sso/token", None, "/token"),
        ("/sso", "/token", None, "/token"),
        ("/sso", "/ssotoken", None, "/ssotoken"),
        ("/sso", "/sso/sso/token", None, "/sso/token"),
        ("/sso", "/sso/realms/r/token", Some("r"), "/token"),
        ("/sso", "/realms/r/token", Some("r"), "/token"),
        ("/sso", "/.well-known/oauth-authorization-server/sso", None, "/.well-known/oauth-authorization-server"),
        (
            "/sso",
            "/.well-known/oauth-authorization-server/sso/realms/r",
            Some("r"),
            "/.well-known/oauth-authorization-server",
        ),
        ("/sso", "/.well-known/oauth-authorization-server/ssox", None, "/.well-known/oauth-authorization-server/ssox"),
        ("/a/b", "/a/b/realms/r", Some("r"), "/"),
    ];
    for (base, path, realm, below) in cases {
        let got = place(base, path);
        assert_eq!((got.realm, got.path.as_ref()), (realm, below), "{base} {path}");
    }
}

fn networks(texts: &[&str]) -> Vec<Network> {
    texts.iter().map(|text| text.parse().expect("a network")).collect()
}

fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
    let pair = |(name, value): &(&'static str, &'static str)| {
        (HeaderName::from_static(name), HeaderValue::from_bytes(value.as_bytes()).expect("a value"))
    };
    let mut map = HeaderMap::new();
    for (name, value) in pairs.iter().map(pair) {
        map.append(name, value);
    }
    map
}

fn tcp(ip: &str) -> Peer {
    Peer::Tcp(SocketAddr::new(ip.parse().expect("an address"), 8080))
}

#[test]
fn the_client_is_the_right_most_hop_that_no_trusted_proxy_wrote() {
    const XFF: &str = "x-forwarded-for";
    let proxy = "fd00::5";
    let cases: [(&str, &[(&'static str, &'static str)], &str); 19] = [
        // Strangers' headers count for nothing.
        ("203.0.113.9", &[(XFF, "1.2.3.4")], "203.0.113.9"),
        ("203.0.113.9", &[("forwarded", "for=1.2.3.4")], "203.0.113.9"),
        // Mapped IPv4 is IPv4.
        ("::ffff:198.51.100.7", &[], "198.51.100.7"),
        ("::ffff:10.1.2.3", &[(XFF, "::ffff:198.51.100.7")], "198.51.100.7"),
        // The case of B-28.
        (proxy, &[(XFF, "1.2.3.4, evil, [2001:db8::9]:443")], "2001:db8::9"),
        (proxy, &[(XFF, "1.2.3.4, 2001:db8::1")], "2001:db8::1"),
        (proxy, &[(XFF, "1.2.3.4, [2001:db8::1]")], "2001:db8::1"),
        (proxy, &[(XFF, "1.2.3.4, 192.0.2.1:5555")], "192.0.2.1"),
        // A hop that cannot be read ends the chain: left of it is a stranger's word.
        (proxy, &[(XFF, "1.2.3.4, evil")], proxy),
        (proxy, &[(XFF, "1.2.3.4, evil, 10.0.0.8")], "10.0.0.8"),
        (proxy, &[(XFF, "1.2.3.4,")], proxy),
        (proxy, &[(XFF, "1.2.3.4, 999.1.1.1")], proxy),
        // Trusted hops are passed over.
        (proxy, &[(XFF, "1.2.3.4, 198.51.100.7, 10.0.0.8, fd00::7")], "198.51.100.7"),
        (proxy, &[(XFF, "10.0.0.8")], "10.0.0.8"),
        // Several header lines are one list.
        (proxy, &[(XFF, "1.2.3.4"), (XFF, "198.51.100.7, 10.0.0.8")], "198.51.100.7"),
        // RFC 7239.
        (proxy, &[("forwarded", "for=1.2.3.4, For=\"[2001:db8::9]:443\";proto=https")], "2001:db8::9"),
        (proxy, &[("forwarded", "for=198.51.100.7;by=10.0.0.8"), (XFF, "1.2.3.4")], "198.51.100.7"),
        (proxy, &[("forwarded", "for=_hidden")], proxy),
        (proxy, &[("forwarded", "for=1.2.3.4, proto=https")], proxy),
    ];
    let trusted = networks(&["fd00::/64", "10.0.0.0/8"]);
    for (peer, sent, client) in cases {
        let got = client_address(tcp(peer), &headers(sent), &trusted);
        assert_eq!(got, Some(client.parse::<IpAddr>().expect("an address")), "{peer} {sent:?}");
    }
    assert_eq!(
        client_address(Peer::Unix, &headers(&[(XFF, "1.2.3.4, 198.51.100.7")]), &trusted),
        "198.51.100.7".parse().ok()
    );
    assert_eq!(client_address(Peer::Unix, &HeaderMap::new(), &trusted), None);
    let broken = headers(&[(XFF, "1.2.3.4, \u{e9}")]);
    assert_eq!(client_address(tcp(proxy), &broken, &trusted), proxy.parse().ok());
    assert!(is_trusted(Peer::Unix, &[]) && is_trusted(tcp("::ffff:10.0.0.1"), &trusted));
    assert!(!is_trusted(tcp("203.0.113.9"), &trusted) && !is_trusted(tcp("127.0.0.1"), &[]));
}

async fn behind_a_proxy() -> Op {
    Op::builder()
        .public_url("https://id.example/sso")
        .realm(&house::realms())
        .env("DOORWARD_TRUSTED_PROXIES", "fd00::/64,10.0.0.0/8")
        .start()
        .await
}

#[tokio::test]
async fn an_audit_event_names_the_client_and_not_the_proxy() {
    let op = behind_a_proxy().await;
    let cases = [
        ("fd00::5", vec![("x-forwarded-for", "1.2.3.4, evil, [2001:db8::9]:443")], "2001:db8::9"),
        ("::ffff:10.0.0.1", vec![("x-forwarded-for", "::ffff:198.51.100.7")], "198.51.100.7"),
        ("2001:db8::1", vec![("x-forwarded-for", "1.2.3.4")], "2001:db8::1"),
    ];
    let realm = op.db_realm("main").await.id;
    for (peer, added, client) in cases {
        let mut browser = op.browser();
        browser.address = peer.parse().expect("an address");
        browser.added = added;
        browser.get(&authorize(WEB, "openid", &[])).await;
        assert!(browser.sign_in("alice", PASSWORD).await.location_param("code").is_some());
        for (name, path) in browser.cookie_names() {
            assert!(name.starts_with("__Secure-") && path == "/sso", "{name} at {path}");
        }
        op.app.store.batch().flush().await.expect("flushed");
        let filter = AuditFilter { kind: Some(AuditKind::SignedIn), ..AuditFilter::default() };
        let newest = repo::audit::list(&op.app.store.read(), realm, filter, 1).await.expect("the store");
        assert_eq!(newest[0].address.as_deref(), Some(client));
        op.advance(std::time::Duration::from_secs(1)).await;
    }
}

/// Discovery with a Host header and more.
async fn discover(op: &Op, peer: Peer, host: Option<&str>, path: &str, added: &[(&str, &str)]) -> Answer {
    let mut request = Request::builder().uri(path);
    if let Some(host) = host {
        request = request.header("host", host);
    }
    for (name, value) in added {
        request = request.header(*name, *value);
    }
    op.send_as(peer, path.to_owned(), request.body(Body::empty()).expect("a request")).await
}

const EVIL: [(&str, &str); 7] = [
    ("x-forwarded-host", "evil.example"),
    ("forwarded", "host=evil.example;proto=http"),
    ("x-forwarded-prefix", "/evil"),
    ("x-forwarded-proto", "http"),
    ("x-forwarded-port", "8080"),
    ("x-original-url", "/evil"),
    ("x-forwarded-server", "evil.example"),
];

#[tokio::test]
async fn an_unknown_host_is_misdirected_and_headers_of_strangers_change_nothing() {
    let op = house::start().await;
    let stranger = tcp("203.0.113.9");
    for host in [
        "evil.example",
        "id.example.evil.example",
        "evil-id.example",
        "id.example:8443",
        "id.example.",
        "",
        "id.example@evil.example",
    ] {
        let answer = discover(&op, stranger, Some(host), DISCOVERY, &[]).await;
        assert!(matches!(answer.status.as_u16(), 400 | 421), "{host}: {}", answer.status);
        assert!(!answer.body.contains("evil"), "{}", answer.body);
    }
    assert_eq!(discover(&op, stranger, Some("evil.example"), DISCOVERY, &[]).await.status, 421);
    let plain = discover(&op, stranger, Some("id.example"), DISCOVERY, &[]).await;
    for added in EVIL {
        let answer = discover(&op, stranger, Some("id.example"), DISCOVERY, &[added]).await;
        assert_eq!((answer.status.as_u16(), &answer.body), (200, &plain.body), "{added:?}");
    }
    for same in ["ID.Example", "id.example:443"] {
        assert_eq!(discover(&op, stranger, Some(same), DISCOVERY, &[]).await.body, plain.body, "{same}");
    }
    let third = discover(&op, stranger, Some("login.example:443"), DISCOVERY, &[]).await;
    assert_eq!(third.json()["issuer"], THIRD.issuer);
    assert_eq!(discover(&op, stranger, None, DISCOVERY, &[]).await.status, 400, "no Host");
    assert_eq!(
        discover(&op, stranger, Some("id.example"), DISCOVERY, &[("host", "id.example")]).await.status,
        400,
        "two"
    );
    // The absolute form names the host; Host is not looked at then (RFC 9112 section 3.2.2).
    let absolute = format!("https://evil.example{DISCOVERY}");
    assert_eq!(discover(&op, stranger, Some("id.example"), &absolute, &[]).await.status, 421);
    let absolute = format!("https://login.example{DISCOVERY}");
    assert_eq!(discover(&op, stranger, Some("id.example"), &absolute, &[]).await.json()["issuer"], THIRD.issuer);
}

#[tokio::test]
async fn a_trusted_proxy_chooses_the_host_and_nothing_else() {
    let op = Op::builder()
        .public_url(MAIN.issuer)
        .realm(&house::realms())
        .env("DOORWARD_TRUSTED_PROXIES", "10.0.0.0/8")
        .start()
        .await;
    for proxy in [tcp("10.0.0.1"), Peer::Unix] {
        let plain = discover(&op, proxy, Some("id.example"), DISCOVERY, &[]).await;
        assert_eq!(plain.json()["issuer"], MAIN.issuer);
        let other =
            discover(&op, proxy, Some("inside:8080"), DISCOVERY, &[("x-forwarded-host", "login.example")]).await;
        assert_eq!(other.json()["issuer"], THIRD.issuer);
        let chain = [("x-forwarded-host", "evil.example, login.example")];
        assert_eq!(
            discover(&op, proxy, Some("inside"), DISCOVERY, &chain).await.json()["issuer"],
            THIRD.issuer,
            "the nearest word"
        );
        let evil = discover(&op, proxy, Some("id.example"), DISCOVERY, &[("x-forwarded-host", "evil.example")]).await;
        assert_eq!(evil.status, 421);
        for added in EVIL.into_iter().filter(|(name, _)| *name != "x-forwarded-host") {
            let answer = discover(&op, proxy, Some("id.example"), DISCOVERY, &[added]).await;
            assert_eq!((answer.status.as_u16(), &answer.body), (200, &plain.body), "{added:?}");
        }
    }
}

#[tokio::test]
async fn links_and_redirects_come_from_configuration() {
    let op = house::start().await;
    for house in HOUSES {
        let mut browser = op.browser();
        browser.added = EVIL.to_vec();
        let login = browser.get(&house.authorize(WEB, "openid", &[])).await;
        assert_eq!(login.status, 200, "{}", login.body);
        assert!(!login.body.contains("evil"), "{}", login.body);
        let answer = browser.sign_in("alice", house.password).await;
        assert_eq!(answer.location_param("iss").as_deref(), Some(house.issuer));
    }
}

#[tokio::test]
async fn the_development_server_refuses_unknown_hosts_and_forwarded_requests() {
    let op = Op::builder().dev().env("DOORWARD_TRUSTED_PROXIES", "127.0.0.0/8").start().await;
    let here = tcp("127.0.0.1");
    assert_eq!(discover(&op, here, Some("localhost:8080"), DISCOVERY, &[]).await.status, 200);
    for host in ["evil.example", "localhost:9999", "127.0.0.1:8080", "rebound.example:8080"] {
        assert_eq!(discover(&op, here, Some(host), DISCOVERY, &[]).await.status, 421, "{host}");
    }
    for added in
        [("x-forwarded-host", "evil.example"), ("x-forwarded-for", "203.0.113.9"), ("forwarded", "for=203.0.113.9")]
    {
        let answer = discover(&op, here, Some("localhost:8080"), DISCOVERY, &[added]).await;
        assert_eq!(answer.status, 400, "a proxy stands before it, which --dev is not for: {added:?}");
        assert!(answer.body.contains("--dev"), "it says why: {}", answer.body);
    }
}
