//! Sectors (OpenID Connect Core 8.1, Dynamic Registration 5): which clients know people together, and whether
//! the sector's host agrees. Its document comes from wherever a stranger says, so the guarded client fetches it.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use doorward::domain::model::client::{ClientMetadata, SubjectType};
use doorward::domain::protocol::subject::DocumentFault;
use doorward::outbound::{self, Outbound, Trust};
use doorward::service::admin::doctor::{Found, examine};
use doorward::service::sector::{self, SectorError};

use super::{ONE, known, start};
use crate::kit::flow::Client;
use crate::kit::names::Turning;
use crate::kit::op::{Builder, Op};
use crate::kit::relay::{Relay, authorities};
use crate::kit::tls_host::{Behaviour, TlsHost};

const URIS: [&str; 2] = ["https://app.example/cb", "https://other.example/cb"];

/// With a way out to this machine, and to the hosts of these authorities.
fn reaching(authorities: &std::path::Path) -> Builder {
    Op::builder()
        .env("DOORWARD_OUTBOUND__ALLOW_NETWORKS", "127.0.0.1/32")
        .env("DOORWARD_OUTBOUND__CA_FILE", authorities.to_str().expect("a path"))
}

fn json(body: &str) -> Behaviour {
    Behaviour::sends("application/json", body.as_bytes())
}

fn client(uri: &str) -> ClientMetadata {
    ClientMetadata {
        subject_type: SubjectType::Pairwise,
        sector_identifier_uri: Some(uri.to_owned()),
        redirect_uris: URIS.map(str::to_owned).to_vec(),
        ..ClientMetadata::default()
    }
}

async fn checked(op: &Op, uri: &str, trust: Trust) -> Result<(), SectorError> {
    sector::check(&op.app.outbound, &client(uri), trust).await
}

fn all() -> String {
    format!("[\"https://more.example/\",\"{}\",\"{}\"]", URIS[1], URIS[0])
}

#[tokio::test]
async fn several_hosts_need_a_sector_identifier_uri_and_the_fault_says_so() {
    let op = Op::start().await;
    let declared = |more: &str| {
        format!(
            "realm: main\nclients:\n  - client_id: pair\n    client_secret: \"pair-secret-0123456789\"\n    \
             redirect_uris: [\"{}\", \"{}\"]\n    subject_type: pairwise\n{more}",
            URIS[0], URIS[1]
        )
    };
    let told = op.try_apply(&declared("")).await.expect_err("two hosts");
    for words in ["client pair", "app.example and other.example", "set sector_identifier_uri"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let sector = |uri: &str| declared(&format!("    sector_identifier_uri: \"{uri}\"\n"));
    for (uri, words) in [
        ("http://sector.example/uris.json", "must begin with https://"),
        ("http://localhost/uris.json", "must begin with https://"),
        ("https://sector.example/uris.json#x", "have no fragment"),
        ("https://user@sector.example/", "user name"),
        ("sector.example", "sector_identifier_uri"),
    ] {
        let told = op.try_apply(&sector(uri)).await.expect_err(uri);
        assert!(told.contains(words), "{uri}: {told}");
    }
    op.try_apply(&sector("https://sector.example/uris.json")).await.expect("an operator's word");
    // A stored client is looked at again when only one of its addresses is declared.
    let lone = "realm: main\nclients:\n  - { client_id: pair, sector_identifier_uri: null }\n";
    assert!(op.try_apply(lone).await.expect_err("two hosts").contains("set sector_identifier_uri"));
    let told = op.try_apply("realm: main\nclients: [{ client_id: pair, subject_type: other }]").await;
    assert!(told.expect_err("a word of our own").contains("one of public, pairwise"));
}

#[tokio::test]
async fn the_documents_host_is_the_sector() {
    const SPREAD: Client = Client {
        id: "spread",
        secret: Some("spr-secret-0123456789abcdef"),
        in_body: false,
        redirect_uri: "https://b.example/cb",
    };
    let op = start().await;
    op.apply(
        "realm: main\nclients:\n  - client_id: spread\n    client_secret: \"spr-secret-0123456789abcdef\"\n    \
         redirect_uris: [\"https://a.example/cb\", \"https://b.example/cb\"]\n    subject_type: pairwise\n    \
         sector_identifier_uri: \"https://PAIR.example/sector.json\"\n    consent: skip\n",
    )
    .await;
    assert_eq!(known(&op, SPREAD).await, known(&op, ONE).await);
}

#[tokio::test]
async fn a_document_that_lists_every_redirect_uri_is_taken() {
    let host = TlsHost::start(&[("/uris", json(&all()))]).await;
    let op = reaching(&host.authority()).start().await;
    assert_eq!(checked(&op, &host.url("localhost", "/uris"), Trust::Operator).await, Ok(()));
    assert_eq!(host.seen("/uris"), 1);
    let without = ClientMetadata { sector_identifier_uri: None, ..client("") };
    assert_eq!(sector::check(&op.app.outbound, &without, Trust::Stranger).await, Ok(()), "there is none");
}

#[tokio::test]
async fn hostile_documents_are_refused_and_all_read_the_same() {
    let large = format!("[\"{}\",\"{}\",\"{}\"]", URIS[0], URIS[1], "x".repeat(70_000));
    let missing = format!("[\"{}\"]", URIS[0]);
    let object = format!("{{\"redirect_uris\":{}}}", all());
    let host = TlsHost::start(&[
        ("/uris", json(&all())),
        ("/missing", json(&missing)),
        ("/object", json(&object)),
        ("/broken", json("[\"https://app.example/cb\"")),
        ("/empty", json("")),
        ("/large", json(&large)),
        ("/html", Behaviour::sends("text/html", all().as_bytes())),
        ("/text", Behaviour::sends("text/plain", all().as_bytes())),
        ("/moved", Behaviour::Redirects("/uris")),
        ("/endless", Behaviour::NeverEnds),
        ("/stalls", Behaviour::Stalls),
        ("/sleeps", Behaviour::Sleeps),
        (
            "/zipped",
            Behaviour::Sends {
                media_type: "application/json",
                headers: "content-encoding: gzip\r\n",
                body: all().into(),
            },
        ),
    ])
    .await;
    let op = reaching(&host.authority()).start().await;
    let mut told = Vec::new();
    for path in [
        "/missing", "/object", "/broken", "/empty", "/large", "/html", "/text", "/moved", "/endless", "/stalls",
        "/sleeps", "/zipped", "/none",
    ] {
        let error = checked(&op, &host.url("localhost", path), Trust::Operator).await.expect_err(path);
        assert_eq!(host.seen(path), 1, "{path}");
        told.push(error);
    }
    assert_eq!(host.seen("/uris"), 0, "nobody followed");
    assert_eq!(told[0], SectorError::Document(DocumentFault::Lacks(URIS[1].to_owned())));
    // An operator reads what it was, a stranger one and the same.
    assert!(told[0].detail().contains("does not list the redirect URI https://other.example/cb"));
    let details: std::collections::BTreeSet<String> = told.iter().map(SectorError::detail).collect();
    assert!(details.len() >= 5, "{details:?}");
    let shown: std::collections::BTreeSet<String> = told.iter().map(ToString::to_string).collect();
    assert_eq!(shown.len(), 1, "{shown:?}");
}

#[tokio::test]
async fn where_we_do_not_go_nobody_is_asked_for_a_sector() {
    let host = TlsHost::start(&[("/uris", json(&all()))]).await;
    let untrusted = TlsHost::start(&[("/uris", json(&all()))]).await;
    let op = reaching(&host.authority()).start().await;
    for uri in [
        host.url("127.0.0.2", "/uris"),
        host.url("[::ffff:127.0.0.1]", "/uris"),
        "https://169.254.169.254/uris".to_owned(),
        "https://10.255.255.1/uris".to_owned(),
        "https://no-such-host.invalid/uris".to_owned(),
        untrusted.url("localhost", "/uris"),
        format!("http://localhost:{}/uris", host.port),
    ] {
        let told = checked(&op, &uri, Trust::Operator).await.expect_err(&uri);
        assert!(matches!(told, SectorError::Unfetched(_)), "{uri}: {told:?}");
    }
    // What operators may, strangers may not: another port than 443, and a network of ours even there.
    for uri in [host.url("localhost", "/uris"), "https://localhost/uris".to_owned(), "https://127.0.0.1/".to_owned()] {
        let told = checked(&op, &uri, Trust::Stranger).await.expect_err(&uri);
        let forbidden =
            matches!(told, SectorError::Unfetched(outbound::Error::Address | outbound::Error::Forbidden(_)));
        assert!(forbidden, "{uri}: {told:?}");
    }
    assert_eq!((host.seen("/uris"), untrusted.seen("/uris")), (0, 0));
}

#[tokio::test]
async fn what_stands_behind_a_name_counts_at_each_check() {
    // The host agrees today and not tomorrow: each check asks it anew.
    let (good, bad) =
        (TlsHost::start(&[("/uris", json(&all()))]).await, TlsHost::start(&[("/uris", json("[]"))]).await);
    let relay = Relay::to(&good).await;
    let file = authorities(&[&good, &bad]);
    let op = reaching(file.path()).start().await;
    assert_eq!(checked(&op, &relay.url("/uris"), Trust::Operator).await, Ok(()));
    relay.turn(&bad);
    assert!(checked(&op, &relay.url("/uris"), Trust::Operator).await.is_err());
}

#[tokio::test]
async fn a_name_that_leads_inside_between_two_looks_is_not_followed_there() {
    let host = TlsHost::start(&[("/uris", json(&all()))]).await;
    let op = reaching(&host.authority()).start().await;
    let (allowed, inside): (IpAddr, IpAddr) = (Ipv4Addr::LOCALHOST.into(), [127, 0, 0, 2].into());
    let uri = host.url("localhost", "/uris");
    let looked = async |answers: Vec<Vec<IpAddr>>| {
        let names = Arc::new(Turning::new(answers));
        let outbound = Outbound::new(&op.app.config.outbound).expect("a client").with_names(names.clone());
        (sector::check(&outbound, &client(&uri), Trust::Operator).await, names.left())
    };
    // One look-up for one request, and what it gave is what is checked and connected to.
    assert_eq!(looked(vec![vec![allowed], vec![inside], vec![inside]]).await, (Ok(()), 2));
    let (told, _) = looked(vec![vec![inside], vec![allowed]]).await;
    assert!(matches!(told, Err(SectorError::Unfetched(outbound::Error::Forbidden(_)))), "{told:?}");
    assert_eq!(host.seen("/uris"), 1);
}

#[tokio::test]
async fn the_doctor_tells_which_document_does_not_bear_out_what_was_declared() {
    let host = TlsHost::start(&[("/good", json(&all())), ("/bad", json("[]"))]).await;
    let op = reaching(&host.authority()).start().await;
    for name in ["good", "bad"] {
        let uri = host.url("localhost", &format!("/{name}"));
        op.apply(&format!(
            "realm: main\nclients:\n  - client_id: {name}\n    client_secret: \"pair-secret-0123456789\"\n    \
             redirect_uris: [\"{}\", \"{}\"]\n    subject_type: pairwise\n    sector_identifier_uri: \"{uri}\"\n",
            URIS[0], URIS[1]
        ))
        .await;
    }
    let checks = examine(&op.app).await;
    let found = |name: &str| {
        let check = checks.iter().find(|check| check.name == format!("sector of {name} in main"));
        check.unwrap_or_else(|| panic!("{checks:?}")).found.clone()
    };
    assert!(matches!(found("good"), Found::Well(_)), "{:?}", found("good"));
    let Found::Odd { what, remedy } = found("bad") else { panic!("{:?}", found("bad")) };
    assert!(what.contains("/bad does not list the redirect URI https://app.example/cb"), "{what}");
    assert!(remedy.contains("JSON array"), "{remedy}");
}
