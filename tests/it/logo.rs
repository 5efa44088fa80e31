//! Logos of clients from end to end: fetched once by the guarded client, kept, served by us, shown on the
//! pages; whatever is not a small raster image from where we may go leaves the page as it is.

use std::time::Duration;

use doorward::clock::Clock;
use doorward::tasks::fetch_logos;

use crate::kit::browser::Answer;
use crate::kit::flow::{ASKER, Client, authorize};
use crate::kit::op::{Builder, Op, PASSWORD, REALM};
use crate::kit::tls_host::{Behaviour, PNG, TlsHost};

/// Goes out to this machine's first local address, and to no other.
fn with_host(host: &TlsHost, realm: &str) -> Builder {
    Op::builder()
        .realm(realm)
        .env("DOORWARD_OUTBOUND__ALLOW_NETWORKS", "127.0.0.1/32")
        .env("DOORWARD_OUTBOUND__CA_FILE", host.authority().to_str().expect("a path"))
}

/// The usual realm with a logo for the client that asks for consent.
fn realm_with(logo: &str) -> String {
    REALM.replace("client_name: Asking app", &format!("client_name: Asking app\n    logo_uri: \"{logo}\""))
}

async fn fetch(op: &Op) -> usize {
    let fetched = fetch_logos::run_once(&op.app, op.clock.now()).await.expect("the store answers");
    op.poll().await;
    fetched
}

/// Where the sign-in page of a client shows its logo from.
async fn shown(op: &Op, client: Client) -> Option<String> {
    let page = op.browser().get(&authorize(client, "openid", &[])).await;
    assert!(page.status == 200 && page.page().has_id("login-submit"), "{} {}", page.status, page.body);
    src(&page)
}

fn src(page: &Answer) -> Option<String> {
    let (_, rest) = page.body.split_once("class=\"client-logo\" src=\"")?;
    let (src, _) = rest.split_once('"').expect("an attribute");
    Some(src.replace("&amp;", "&").replace("&#38;", "&"))
}

#[tokio::test]
async fn a_logo_is_fetched_once_and_shown_from_our_own_copy() {
    let host = TlsHost::start(&[("/logo.png", Behaviour::sends("image/png; charset=binary", PNG))]).await;
    let op = with_host(&host, &realm_with(&host.url("localhost", "/logo.png"))).start().await;
    assert_eq!(shown(&op, ASKER).await, None, "no page waits for a stranger");
    assert_eq!(host.seen("/logo.png"), 0);
    assert_eq!(fetch(&op).await, 1);
    let src_on_page = shown(&op, ASKER).await.expect("a logo");
    assert!(src_on_page.starts_with("/login/logo?client=cli_"), "{src_on_page}");

    let logo = op.get(&src_on_page, &[]).await;
    assert_eq!((logo.status.as_u16(), logo.header("content-type")), (200, Some("image/png")));
    assert_eq!(logo.body, String::from_utf8_lossy(PNG), "byte for byte");
    assert_eq!(logo.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(logo.header("cross-origin-resource-policy"), Some("same-origin"));
    assert_eq!(logo.header("cache-control"), Some("public, max-age=86400"));
    let policy = logo.header("content-security-policy").expect("a policy");
    assert!(policy.contains("default-src 'none'"), "{policy}");
    assert_eq!(logo.header("set-cookie"), None);
    let tag = logo.header("etag").expect("a tag").to_owned();
    let again = op.get(&src_on_page, &[("if-none-match", &tag)]).await;
    assert_eq!((again.status.as_u16(), again.body.as_str()), (304, ""));

    // The other pages of the sign-in show it too.
    let mut browser = op.browser();
    browser.get(&authorize(ASKER, "openid profile", &[])).await;
    let consent = browser.sign_in("alice", PASSWORD).await;
    assert!(consent.page().has_id("consent-allow"), "{}", consent.body);
    assert_eq!(src(&consent).as_deref(), Some(src_on_page.as_str()));

    // Neither later rounds, nor pages, nor a restart ask the host again.
    op.advance(Duration::from_secs(3 * 86_400)).await;
    assert_eq!(fetch(&op).await, 0);
    let op = op.restart().await;
    assert_eq!(fetch(&op).await, 0);
    assert_eq!(shown(&op, ASKER).await, Some(src_on_page));
    assert_eq!(host.seen("/logo.png"), 1);
}

#[tokio::test]
async fn another_address_asks_for_another_logo_and_none_for_none() {
    let host = TlsHost::start(&[
        ("/one.png", Behaviour::sends("image/png", PNG)),
        ("/two.gif", Behaviour::sends("image/gif", b"GIF89a, more or less")),
    ])
    .await;
    let op = with_host(&host, &realm_with(&host.url("127.0.0.1", "/one.png"))).start().await;
    assert_eq!(fetch(&op).await, 1);
    let first = shown(&op, ASKER).await.expect("a logo");
    op.advance(Duration::from_secs(60)).await;
    let with_logo = |logo: &str| format!("realm: main\nclients:\n  - {{ client_id: asker, logo_uri: {logo} }}\n");
    op.apply(&with_logo(&format!("\"{}\"", host.url("127.0.0.1", "/two.gif")))).await;
    op.poll().await;
    assert_eq!(shown(&op, ASKER).await, None, "the old one is not the one registered now");
    assert_eq!(op.get(&first, &[]).await.status, 404);
    assert_eq!(fetch(&op).await, 1);
    let second = shown(&op, ASKER).await.expect("a logo");
    assert_ne!(second, first, "no cache mistakes it for the old one");
    assert_eq!(op.get(&second, &[]).await.header("content-type"), Some("image/gif"));
    op.apply(&with_logo("null")).await;
    op.poll().await;
    assert_eq!(shown(&op, ASKER).await, None);
    assert_eq!(op.get(&second, &[]).await.status, 404);
    for wrong in ["/login/logo", "/login/logo?client=", "/login/logo?client=x", "/login/logo?client=cli_x&client=cli_x"]
    {
        assert_eq!(op.get(wrong, &[]).await.status, 404, "{wrong}");
    }
}

#[tokio::test]
async fn what_is_no_small_raster_image_from_where_we_may_go_is_refused() {
    const SVG: &[u8] = b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>";
    const HTML: &[u8] = b"<!doctype html><script>alert(1)</script>";
    let zeros = vec![0; 300 * 1024];
    let large = [PNG, &zeros].concat();
    // As small as a thousandth of what it would unfold to: nothing is ever unfolded here.
    let bomb = Behaviour::Sends {
        media_type: "image/png",
        headers: "content-encoding: gzip\r\n",
        body: b"\x1f\x8b\x08\0\0\0\0\0\0\x03".repeat(50),
    };
    let host = TlsHost::start(&[
        ("/logo.png", Behaviour::sends("image/png", PNG)),
        ("/redirects", Behaviour::Redirects("/logo.png")),
        ("/svg", Behaviour::sends("image/svg+xml", SVG)),
        ("/svg-as-png", Behaviour::sends("image/png", SVG)),
        ("/html-as-png", Behaviour::sends("image/png", HTML)),
        ("/png-as-html", Behaviour::sends("text/html", PNG)),
        ("/no-type", Behaviour::sends("", PNG)),
        ("/large", Behaviour::sends("image/png", &large)),
        ("/never-ends", Behaviour::NeverEnds),
        ("/bomb", bomb),
    ])
    .await;
    let paths = [
        "/redirects",
        "/svg",
        "/svg-as-png",
        "/html-as-png",
        "/png-as-html",
        "/no-type",
        "/large",
        "/never-ends",
        "/bomb",
        "/missing",
    ];
    let mut realm = REALM.split("clients:\n").next().expect("a part").to_owned() + "clients:\n";
    let mut add = |id: &str, logo: &str| {
        realm.push_str(&format!(
            "  - {{ client_id: \"{id}\", client_secret: \"web-secret-0123456789abcdef\", redirect_uris: [\"https://app.example/cb\"], \
             grant_types: [authorization_code], scope: openid, logo_uri: \"{logo}\" }}\n"
        ));
    };
    for path in paths {
        add(&path[1..], &host.url("127.0.0.1", path));
    }
    // A local address that is not in allow_networks, though the same host answers there.
    add("elsewhere", &host.url("127.0.0.2", "/logo.png"));
    let op = with_host(&host, &realm).start().await;
    assert_eq!(fetch(&op).await, paths.len() + 1, "each was tried");
    for path in paths {
        assert_eq!(host.seen(path), 1, "{path} was asked for");
        let id: &'static str = &path[1..];
        let client = Client { id, secret: None, in_body: false, redirect_uri: "https://app.example/cb" };
        assert_eq!(shown(&op, client).await, None, "{path}");
    }
    let elsewhere = Client { id: "elsewhere", secret: None, in_body: false, redirect_uri: "https://app.example/cb" };
    assert_eq!(shown(&op, elsewhere).await, None);
    assert_eq!(host.seen("/logo.png"), 0, "neither by redirect nor at the other address");
    assert_eq!(fetch(&op).await, 0, "a refusal too is remembered");
}

#[tokio::test]
async fn a_host_that_failed_is_asked_again_a_day_later() {
    let host = TlsHost::start(&[("/late", Behaviour::Recovers)]).await;
    let op = with_host(&host, &realm_with(&host.url("127.0.0.1", "/late"))).start().await;
    assert_eq!(fetch(&op).await, 1);
    assert_eq!(shown(&op, ASKER).await, None);
    op.advance(Duration::from_secs(86_399)).await;
    assert_eq!(fetch(&op).await, 0);
    op.advance(Duration::from_secs(1)).await;
    assert_eq!(fetch(&op).await, 1);
    assert!(shown(&op, ASKER).await.is_some());
    assert_eq!(host.seen("/late"), 2);
}
