//! B-34: how clients that registered themselves live and go, and how many there can be.

use std::time::Duration;

use doorward::clock::Clock;
use doorward::domain::model::audit::AuditKind;
use doorward::service::realm_file::{self, Input, Mode, Secrets};
use doorward::tasks::expire_clients;
use serde_json::{Value, json};

use super::{
    OPEN, app, app_with, as_client, call, call_from, challenged, db_client, managed, open, refused, register,
    registered, set,
};
use crate::kit::flow::{Client, WEB, authorize, redeem, refresh, text, tokens};
use crate::kit::op::Op;
use crate::kit::rows::db_audit;

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);

async fn expire(op: &Op) -> usize {
    let count = expire_clients::run_once(&op.app, op.clock.now()).await.expect("the store answers");
    op.poll().await;
    count
}

#[tokio::test]
async fn a_thousand_registrations_from_one_address_make_few_clients() {
    let op = Op::start().await;
    op.apply(
        "realm: main\nsettings: { client_registration: { enabled: true, require_initial_access_token: false } }\n",
    )
    .await;
    let one = |port: u16| {
        json!({
            "redirect_uris": [format!("http://127.0.0.1:{port}/callback")],
            "grant_types": ["authorization_code"], "code_challenge_methods_supported": ["S256"], "x": { "y": [1] },
        })
    };
    let mut made = Vec::new();
    for number in 0..1000 {
        let answer = register(&op, &one(10_000 + number)).await;
        if answer.status == 201 {
            made.push(answer.json());
            continue;
        }
        refused(&answer, 429, "temporarily_unavailable", "too many requests from this address");
        let header = |name| answer.header(name).and_then(|value| value.parse::<u64>().ok());
        let wait = header("retry-after").expect("Retry-After");
        assert!((1..=3600).contains(&wait) && header("ratelimit-reset") == Some(wait), "{:?}", answer.headers);
        assert_eq!((header("ratelimit-limit"), header("ratelimit-remaining")), (Some(20), Some(0)));
    }
    assert_eq!(made.len(), 20);
    assert_eq!(made[0]["token_endpoint_auth_method"], "client_secret_basic");
    assert_eq!(made[0]["grant_types"], json!(["authorization_code"]));
    assert_eq!(made[0].get("x"), None);
    // Others are not hindered; a household is one.
    let from = async |address: &str| {
        let from = address.parse().expect("an address");
        call_from(&op, from, ("POST", "/register"), None, Some(&one(1))).await.status.as_u16()
    };
    assert_eq!(from("192.0.2.1").await, 201);
    for number in 0..20 {
        assert_eq!(from(&format!("2001:db8:1:2::{number}")).await, 201);
    }
    assert_eq!(from("2001:db8:1:2:ffff::1").await, 429);
    assert_eq!(from("2001:db8:1:3::1").await, 201);
    // Updates count as well.
    let (path, token) = managed(&op, &made[0]);
    assert_eq!(call(&op, "PUT", path, Some(token), Some(&one(1))).await.status, 429);
    assert_eq!(call(&op, "GET", path, Some(token), None).await.status, 200);
    op.advance(HOUR).await;
    assert_eq!(register(&op, &one(1)).await.status, 201);
    // The next run of the program has another port, and that is the same client.
    let client = Client { redirect_uri: "http://127.0.0.1:51004/callback", ..as_client(&made[0]) };
    assert!(tokens(&op, &mut op.browser(), client, "openid").await.get("id_token").is_some());
    // Nobody came with the others: they go by themselves.
    op.advance(DAY).await;
    assert_eq!(expire(&op).await, 20 + 22 - 1);
    op.advance(Duration::from_secs(1)).await;
    assert_eq!(expire(&op).await, 1, "an hour younger");
}

#[tokio::test]
async fn a_client_that_is_not_used_goes_and_one_that_is_stays() {
    let op = open().await;
    let (used, unused) = (registered(&op, &app()).await, registered(&op, &app()).await);
    let tried = registered(&op, &app()).await;
    let got = tokens(&op, &mut op.browser(), as_client(&used), "openid offline_access").await;
    // A sign-in that brought no token is no use.
    op.browser().get(&authorize(as_client(&tried), "openid", &[])).await;
    op.advance(DAY - Duration::from_secs(1)).await;
    assert_eq!(expire(&op).await, 0);
    op.advance(Duration::from_secs(2)).await;
    assert_eq!(expire(&op).await, 2);
    assert_eq!(db_audit(&op, Some(AuditKind::ClientExpired)).await.len(), 2);
    for gone in [&unused, &tried] {
        assert!(db_client(&op, text(gone, "client_id")).await.is_none());
        let client = as_client(gone);
        refused(&refresh(&op, client, "x").await, 401, "invalid_client", "client authentication failed");
        refused(&redeem(&op, client, "x").await, 401, "invalid_client", "client authentication failed");
        let page = op.browser().get(&authorize(client, "openid", &[])).await;
        assert!(page.page().text.contains("it may have expired: register again"), "{}", page.page().text);
        let (path, token) = managed(&op, gone);
        challenged(&call(&op, "GET", path, Some(token), None).await);
    }
    assert_eq!(refresh(&op, as_client(&used), text(&got, "refresh_token")).await.status, 200);
}

#[tokio::test]
async fn an_idle_client_goes_after_its_time_and_each_token_begins_it_anew() {
    let op = open().await;
    set(&op, "idle_for: 10d").await;
    let made = registered(&op, &app()).await;
    let client = as_client(&made);
    let mut got = tokens(&op, &mut op.browser(), client, "openid offline_access").await;
    for _ in 0..3 {
        op.advance(9 * DAY).await;
        assert_eq!(expire(&op).await, 0);
        let answer = refresh(&op, client, text(&got, "refresh_token")).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        got = answer.json();
    }
    op.advance(10 * DAY + 2 * HOUR).await;
    assert_eq!(expire(&op).await, 1);
    refused(&refresh(&op, client, text(&got, "refresh_token")).await, 401, "invalid_client", "");
    assert!(db_client(&op, WEB.id).await.is_some(), "an operator's clients have no such end");
}

#[tokio::test]
async fn a_use_is_written_down_once_an_hour() {
    let op = open().await;
    let made = registered(&op, &app()).await;
    let client = as_client(&made);
    let mark = async || {
        let query = "select coalesce(last_used_at, 0) from client where client_id = ";
        op.db.number(&format!("{query}'{}'", text(&made, "client_id"))).await
    };
    assert_eq!(mark().await, 0);
    let got = tokens(&op, &mut op.browser(), client, "openid offline_access").await;
    let first = mark().await;
    assert_eq!(first, op.clock.now().as_micros());
    op.advance(HOUR / 2).await;
    let got = refresh(&op, client, text(&got, "refresh_token")).await.json();
    assert_eq!(mark().await, first, "no write on each request");
    op.advance(HOUR / 2).await;
    refresh(&op, client, text(&got, "refresh_token")).await;
    assert_eq!(mark().await, op.clock.now().as_micros());
}

#[tokio::test]
async fn an_operator_may_adopt_a_client() {
    let op = open().await;
    let (made, other) = (registered(&op, &app()).await, registered(&op, &app()).await);
    let id = text(&made, "client_id");
    // Nothing but the name: that alone makes it his.
    op.apply(&format!("realm: main\nclients:\n  - client_id: {id}\n    consent: skip\n")).await;
    op.poll().await;
    let stored = db_client(&op, id).await.expect("the client");
    assert!(!stored.is_self_registered() && stored.metadata.client_name.as_deref() == Some("Fresh app"));
    let (path, token) = managed(&op, &made);
    challenged(&call(&op, "GET", path, Some(token), None).await);
    challenged(&call(&op, "DELETE", path, Some(token), None).await);
    // Its secret goes on working, and nobody is asked any more.
    assert!(tokens(&op, &mut op.browser(), as_client(&made), "openid").await.get("id_token").is_some());
    op.advance(400 * DAY).await;
    assert_eq!(expire(&op).await, 1, "only the other one");
    assert!(db_client(&op, id).await.is_some() && db_client(&op, text(&other, "client_id")).await.is_none());
}

#[tokio::test]
async fn a_realm_file_neither_holds_nor_prunes_what_registered_itself() {
    let op = open().await;
    let made = registered(&op, &app_with(&json!({ "client_name": "Stays" }))).await;
    let realm = op.db_realm("main").await;
    let text_of = realm_file::export(&op.app, &realm, Secrets::Left).await.expect("an export");
    assert!(!text_of.contains("Stays") && text_of.contains("client_registration"), "{text_of}");
    let realms = doorward::domain::realm_file::parse("export.yaml", &text_of).expect("it reads");
    let input = Input { realms, prune: true, mode: Mode::DryRun };
    let report = realm_file::apply(&op.app, &input).await.expect("a plan");
    assert!(report.plans.iter().all(|plan| plan.acts.is_empty()), "{:?}", report.plans);
    op.apply_whole(&format!("{OPEN}clients: []\nroles: []\ngroups: []\nresources: []\n")).await;
    assert!(db_client(&op, WEB.id).await.is_none(), "it was pruned");
    assert!(db_client(&op, text(&made, "client_id")).await.is_some(), "it was not");
}

#[tokio::test]
async fn realms_do_not_know_each_others_clients() {
    let op = Op::builder().realm(&format!("{}\n---\nrealm: other\n", crate::kit::op::REALM)).start().await;
    op.apply(OPEN).await;
    op.apply(&OPEN.replace("realm: main", "realm: other")).await;
    let made: Value = registered(&op, &app()).await;
    let (path, token) = managed(&op, &made);
    challenged(&call(&op, "GET", &format!("/realms/other{path}"), Some(token), None).await);
    let there = call(&op, "POST", "/realms/other/register", None, Some(&app())).await.json();
    assert!(text(&there, "registration_client_uri").starts_with("http://localhost:8080/realms/other/register/cli_"));
}
