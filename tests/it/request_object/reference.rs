//! By reference: fetched by the guarded client from registered addresses alone. Whatever is hostile there has one
//! answer, holds no thread and costs nobody but its own client (`security-design` rule 25).

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aws_lc_rs::digest;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use doorward::outbound::{Outbound, Trust};
use url::Url;

use serde_json::json;

use super::{add_keys, error, signed, unsigned, whole};
use crate::kit::flow::{ASKER, WEB, authorize, code};
use crate::kit::names::Turning;
use crate::kit::op::{Op, PASSWORD};
use crate::kit::relay::{Relay, authorities};
use crate::kit::tls_host::{Behaviour, TlsHost};
use crate::kit::token::at_once;
use crate::registration;

const JAR: &str = "application/oauth-authz-req+jwt";

/// With a way out to this machine, and to the hosts of these authorities.
async fn reaching(authorities: &Path) -> Op {
    Op::builder()
        .env("DOORWARD_OUTBOUND__ALLOW_NETWORKS", "127.0.0.1/32")
        .env("DOORWARD_OUTBOUND__CA_FILE", authorities.to_str().expect("a path"))
        .start()
        .await
}

/// An object as good as can be.
async fn object() -> String {
    signed(&whole(&Op::start().await))
}

async fn register(op: &Op, uris: &[&str]) {
    add_keys(op, &format!(", request_uris: [ \"{}\" ]", uris.join("\", \""))).await;
}

fn hash(object: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, object.as_bytes()))
}

fn at(uri: &str) -> String {
    authorize(WEB, "openid", &[("request_uri", uri), ("state", "beside")])
}

#[tokio::test]
async fn an_object_is_fetched_once_in_a_sign_in_and_again_for_the_next() {
    let object = object().await;
    let host = TlsHost::start(&[("/r", Behaviour::sends(JAR, object.as_bytes()))]).await;
    let uri = host.url("localhost", "/r");
    let op = reaching(&host.authority()).await;
    register(&op, &[&uri]).await;
    for times in 1..=2 {
        let mut browser = op.browser();
        let login = browser.get(&at(&uri)).await;
        let page = login.url.clone();
        let mut other = op.browser();
        other.get(&page).await;
        for browser in [&mut browser, &mut other] {
            let answer = browser.sign_in("alice", PASSWORD).await;
            assert_eq!(answer.location_param("state").as_deref(), Some("inside"), "{}", answer.body);
            assert!(answer.location_param("code").is_some());
        }
        assert_eq!(host.seen("/r"), times, "the page began again without it");
    }
}

#[tokio::test]
async fn what_a_hash_names_is_kept_and_another_hash_is_another_object() {
    let (one, two) = (object().await, format!("{} ", object().await));
    let first = TlsHost::start(&[("/r", Behaviour::sends(JAR, one.as_bytes()))]).await;
    let second = TlsHost::start(&[("/r", Behaviour::sends("text/plain", two.as_bytes()))]).await;
    let relay = Relay::to(&first).await;
    let file = authorities(&[&first, &second]);
    let op = reaching(file.path()).await;
    let uri = relay.url("/r");
    register(&op, &[&uri]).await;
    let mut browser = op.browser();
    code(&mut browser, WEB, "openid").await;
    let named = |object: &str| at(&format!("{uri}#{}", hash(object)));
    for _ in 0..3 {
        assert_eq!(error(&browser.get(&named(&one)).await), None);
    }
    assert_eq!(first.seen("/r"), 1);
    // Not there yet.
    assert_eq!(error(&browser.get(&named(&two)).await).as_deref(), Some("invalid_request_uri"));
    relay.turn(&second);
    assert_eq!(error(&browser.get(&named(&two)).await), None);
    assert_eq!(error(&browser.get(&named(&one)).await).as_deref(), Some("invalid_request_uri"));
    // A fragment that was registered is demanded, also where it is not said again.
    register(&op, &[&format!("{uri}#{}", hash(&one))]).await;
    assert_eq!(error(&browser.get(&at(&uri)).await).as_deref(), Some("invalid_request_uri"));
    register(&op, &[&format!("{uri}#{}", hash(&two))]).await;
    assert_eq!(error(&browser.get(&at(&uri)).await), None);
}

#[tokio::test]
async fn hostile_hosts_all_have_one_answer() {
    let good = object().await;
    let large = "x".repeat(17 * 1024);
    let host = TlsHost::start(&[
        ("/r", Behaviour::sends(JAR, good.as_bytes())),
        ("/html", Behaviour::sends("text/html", good.as_bytes())),
        ("/json", Behaviour::sends("application/json", good.as_bytes())),
        ("/moved", Behaviour::Redirects("/r")),
        ("/endless", Behaviour::NeverEnds),
        ("/large", Behaviour::sends(JAR, large.as_bytes())),
        ("/binary", Behaviour::sends(JAR, b"\xff\xfe")),
        (
            "/zipped",
            Behaviour::Sends { media_type: JAR, headers: "content-encoding: gzip\r\n", body: good.clone().into() },
        ),
    ])
    .await;
    let untrusted = TlsHost::start(&[("/r", Behaviour::sends(JAR, good.as_bytes()))]).await;
    let op = reaching(&host.authority()).await;
    let paths = ["/html", "/json", "/moved", "/endless", "/large", "/binary", "/zipped", "/none"];
    let mut uris: Vec<String> = paths.iter().map(|path| host.url("localhost", path)).collect();
    // Where we do not go: another local address, mapped, of the cloud, private, nowhere, and not to be trusted.
    uris.extend([
        host.url("127.0.0.2", "/r"),
        host.url("[::ffff:7f00:1]", "/r"),
        "https://169.254.169.254/r".to_owned(),
        "https://10.255.255.1/r".to_owned(),
        "https://no-such-host.invalid/r".to_owned(),
        untrusted.url("localhost", "/r"),
    ]);
    let mut told = Vec::new();
    for uri in &uris {
        register(&op, &[uri]).await;
        let answer = op.browser().get(&at(uri)).await;
        assert_eq!(error(&answer).as_deref(), Some("invalid_request_uri"), "{uri}: {}", answer.body);
        assert_eq!(answer.location_param("state").as_deref(), Some("beside"));
        told.push(answer.location().to_owned());
    }
    assert!(told.windows(2).all(|pair| pair[0] == pair[1]), "nothing tells what stands there: {told:?}");
    assert_eq!((host.seen("/r"), untrusted.seen("/r")), (0, 0), "nobody followed, nobody went there");
    for path in paths {
        assert_eq!(host.seen(path), 1, "{path}");
    }
}

#[tokio::test]
async fn a_name_that_leads_inside_between_two_looks_is_not_followed_there() {
    let host = TlsHost::start(&[("/r", Behaviour::sends(JAR, object().await.as_bytes()))]).await;
    let op = reaching(&host.authority()).await;
    let (allowed, inside): (IpAddr, IpAddr) = (Ipv4Addr::LOCALHOST.into(), [127, 0, 0, 2].into());
    let url = Url::parse(&host.url("localhost", "/r")).expect("an address");
    let looked = async |answers: Vec<Vec<IpAddr>>, trust| {
        let names = Arc::new(Turning::new(answers));
        let outbound = Outbound::new(&op.app.config.outbound).expect("a client").with_names(names.clone());
        (outbound.request_object(&url, trust).await.is_ok(), names.left())
    };
    // One look-up for one request, and what it gave is what is checked and connected to.
    assert_eq!(looked(vec![vec![allowed], vec![inside], vec![inside]], Trust::Operator).await, (true, 2));
    assert!(!looked(vec![vec![inside], vec![allowed]], Trust::Operator).await.0);
    // What an operator may name, a stranger may not.
    assert!(!looked(vec![vec![allowed]], Trust::Stranger).await.0);
    assert_eq!(host.seen("/r"), 1);
}

#[tokio::test]
async fn a_client_that_registered_itself_makes_us_go_nowhere_inside() {
    let host = TlsHost::start(&[("/r", Behaviour::sends(JAR, object().await.as_bytes()))]).await;
    let op = reaching(&host.authority()).await;
    op.apply(registration::OPEN).await;
    let uris = [host.url("localhost", "/r"), "https://localhost/r".to_owned(), "https://127.0.0.1/r".to_owned()];
    let answer = registration::registered(
        &op,
        &registration::app_with(&json!({ "request_uris": uris, "request_object_signing_alg": "none" })),
    )
    .await;
    assert_eq!((&answer["request_uris"], &answer["request_object_signing_alg"]), (&json!(uris), &json!("none")));
    let client = registration::as_client(&answer);
    let mut browser = op.browser();
    code(&mut browser, WEB, "openid").await;
    for uri in &uris {
        let answer = browser.get(&authorize(client, "openid", &[("request_uri", uri)])).await;
        assert_eq!(error(&answer).as_deref(), Some("invalid_request_uri"), "{uri}: {}", answer.body);
    }
    assert_eq!(host.seen("/r"), 0);
    // By value it may send one.
    let answer = browser.get(&authorize(client, "openid", &[("request", &unsigned(&json!({"state": "in"})))])).await;
    assert!(answer.page().has_id("consent-allow"), "{}", answer.body);
    let answer = browser.submit("consent-allow", &[]).await;
    assert_eq!(answer.location_param("state").as_deref(), Some("in"), "{}", answer.body);
}

#[tokio::test]
async fn what_is_not_registered_is_not_asked() {
    let host = TlsHost::start(&[("/r", Behaviour::sends(JAR, object().await.as_bytes()))]).await;
    let uri = host.url("localhost", "/r");
    let op = reaching(&host.authority()).await;
    add_keys(&op, "").await;
    let long = format!("{uri}?{}", "x".repeat(512));
    for other in [uri.as_str(), "urn:ietf:params:oauth:request_uri:x", "file:///etc/passwd", &long] {
        assert_eq!(error(&op.browser().get(&at(other)).await).as_deref(), Some("invalid_request_uri"), "{other}");
    }
    register(&op, &[&uri]).await;
    // Another client's address, and another spelling of it.
    let foreign = authorize(ASKER, "openid", &[("request_uri", &uri)]);
    assert_eq!(error(&op.browser().get(&foreign).await).as_deref(), Some("invalid_request_uri"));
    for other in [format!("{uri}?"), format!("{uri}/"), uri.replace("localhost", "LOCALHOST"), format!("{uri}#x")] {
        assert_eq!(error(&op.browser().get(&at(&other)).await).as_deref(), Some("invalid_request_uri"), "{other}");
    }
    assert_eq!(host.seen("/r"), 0);
    // Where nobody can be told, nobody is.
    let nobody =
        authorize(WEB, "openid", &[("request_uri", "https://x.example/"), ("redirect_uri", "https://e.example/")]);
    assert_eq!(op.browser().get(&nobody).await.status, 400);
}

#[tokio::test]
async fn a_host_that_never_answers_holds_nobody_else_up() {
    let host = TlsHost::start(&[("/sleeps", Behaviour::Sleeps)]).await;
    let uri = host.url("localhost", "/sleeps");
    let op = reaching(&host.authority()).await;
    register(&op, &[&uri]).await;
    let op = Arc::new(op);
    let began = Instant::now();
    let slow = {
        let (op, url) = (op.clone(), at(&uri));
        tokio::spawn(async move {
            at_once(5, |_| {
                let (op, url) = (op.clone(), url.clone());
                async move { op.browser().get(&url).await }
            })
            .await
        })
    };
    // On this one thread everybody else goes on, the client's other people included.
    while host.seen("/sleeps") == 0 {
        tokio::task::yield_now().await;
    }
    code(&mut op.browser(), WEB, "openid").await;
    assert!(!slow.is_finished(), "the others did not wait for it");
    for answer in slow.await.expect("answers") {
        assert_eq!(error(&answer).as_deref(), Some("invalid_request_uri"));
    }
    assert!(began.elapsed() < Duration::from_secs(8), "two seconds for all together: {:?}", began.elapsed());
    assert_eq!(host.seen("/sleeps"), 1, "one attempt for all of them");
    // For ten seconds it is not even asked.
    op.browser().get(&at(&uri)).await;
    assert_eq!(host.seen("/sleeps"), 1);
}

#[tokio::test]
async fn a_host_that_comes_back_is_asked_again() {
    let object = object().await;
    let down = TlsHost::start(&[]).await;
    let host = TlsHost::start(&[("/r", Behaviour::sends(JAR, object.as_bytes()))]).await;
    let relay = Relay::to(&down).await;
    let file = authorities(&[&down, &host]);
    let op = reaching(file.path()).await;
    let uri = relay.url("/r");
    register(&op, &[&uri]).await;
    let mut browser = op.browser();
    code(&mut browser, WEB, "openid").await;
    assert_eq!(error(&browser.get(&at(&uri)).await).as_deref(), Some("invalid_request_uri"));
    relay.turn(&host);
    assert_eq!(error(&browser.get(&at(&uri)).await).as_deref(), Some("invalid_request_uri"));
    op.advance(Duration::from_secs(10)).await;
    assert_eq!(error(&browser.get(&at(&uri)).await), None);
}

#[tokio::test]
async fn who_hangs_up_leaves_nothing_behind() {
    let object = object().await;
    let host = TlsHost::start(&[("/r", Behaviour::sends(JAR, object.as_bytes()))]).await;
    let uri = host.url("localhost", "/r");
    let op = reaching(&host.authority()).await;
    register(&op, &[&uri]).await;
    let op = Arc::new(op);
    let gone = {
        let (op, url) = (op.clone(), at(&uri));
        tokio::spawn(async move { op.browser().get(&url).await })
    };
    while host.seen("/r") == 0 && !gone.is_finished() {
        tokio::task::yield_now().await;
    }
    gone.abort();
    let answer = op.browser().get(&at(&uri)).await;
    assert_eq!(error(&answer), None);
}
