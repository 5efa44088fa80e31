//! The modules about sectors, with what the suite would register in a realm file: an operator's word counts,
//! and the check that registration makes is asked beside it.

use doorward::domain::model::client::{ClientMetadata, SubjectType};
use doorward::outbound::Trust;
use doorward::service::sector;

use super::{FIRST, Suite};
use crate::kit::flow::text;
use crate::kit::op::Op;
use crate::kit::tls_host::{Behaviour, TlsHost};

fn registered(uri: &str) -> String {
    format!(
        "realm: main\nclients:\n  - {{ client_id: first, subject_type: pairwise, sector_identifier_uri: \"{uri}\" }}\n"
    )
}

async fn suite_with(host: &TlsHost) -> Suite {
    let op = Op::builder()
        .env("DOORWARD_OUTBOUND__ALLOW_NETWORKS", "127.0.0.1/32")
        .env("DOORWARD_OUTBOUND__CA_FILE", host.authority().to_str().expect("a path"))
        .start()
        .await;
    op.apply(super::CLIENTS).await;
    Suite { op, mode: "query" }
}

async fn is_borne_out(suite: &Suite, uri: &str) -> bool {
    let client = ClientMetadata {
        subject_type: SubjectType::Pairwise,
        sector_identifier_uri: Some(uri.to_owned()),
        redirect_uris: vec![FIRST.redirect_uri.to_owned()],
        ..ClientMetadata::default()
    };
    sector::check(&suite.op.app.outbound, &client, Trust::Operator).await.is_ok()
}

#[tokio::test]
async fn oidcc_registration_sector_uri() {
    let list = format!("[\"{}\"]", FIRST.redirect_uri);
    let host = TlsHost::start(&[("/sector.json", Behaviour::sends("application/json", list.as_bytes()))]).await;
    let suite = suite_with(&host).await;
    let discovered = suite.op.get("/.well-known/openid-configuration", &[]).await.json();
    let types = discovered["subject_types_supported"].as_array().expect("a list");
    assert!(types.iter().any(|known| known == "pairwise"), "{types:?}");
    let uri = host.url("localhost", "/sector.json");
    assert!(is_borne_out(&suite, &uri).await);
    let public = suite.tokens(&mut suite.op.browser(), &[]).await.1;
    suite.op.apply(&registered(&uri)).await;
    let (tokens, claims) = suite.tokens(&mut suite.op.browser(), &[]).await;
    assert_ne!(text(&claims, "sub"), text(&public, "sub"));
    suite.userinfo(&tokens, &claims).await;
}

#[tokio::test]
async fn oidcc_registration_sector_bad() {
    let list = b"[\"https://elsewhere.example/cb\"]";
    let host = TlsHost::start(&[("/sector.json", Behaviour::sends("application/json", list))]).await;
    let suite = suite_with(&host).await;
    assert!(!is_borne_out(&suite, &host.url("localhost", "/sector.json")).await);
    assert_eq!(host.seen("/sector.json"), 1, "it was fetched and checked");
}
