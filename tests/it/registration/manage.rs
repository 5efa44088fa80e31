//! A client looks after its registration (RFC 7592).

use doorward::domain::model::audit::{Actor, AuditKind};
use serde_json::{Value, json};

use super::{app, app_with, as_client, call, challenged, db_client, managed, open, refused, registered};
use crate::kit::flow::{WEB, authorize, introspect, post_as, redeem, refresh, text, tokens, userinfo};
use crate::kit::op::{Op, PASSWORD};
use crate::kit::rows::db_audit;

#[tokio::test]
async fn a_client_reads_what_is_registered() {
    let op = open().await;
    let made = registered(&op, &app_with(&json!({ "initiate_login_uri": "https://fresh.example/login" }))).await;
    let (path, token) = managed(&op, &made);
    let answer = call(&op, "GET", path, Some(token), None).await;
    assert_eq!((answer.status.as_u16(), answer.header("cache-control")), (200, Some("no-store")));
    let mut same = made.clone();
    // A secret is told once.
    for name in ["client_secret", "client_secret_expires_at"] {
        same.as_object_mut().expect("an object").remove(name);
    }
    assert_eq!(answer.json(), same);
}

#[tokio::test]
async fn only_the_registrations_own_token_opens_it() {
    let op = open().await;
    let (one, two) = (registered(&op, &app()).await, registered(&op, &app()).await);
    let ((path, token), (other_path, other)) = (managed(&op, &one), managed(&op, &two));
    let got = tokens(&op, &mut op.browser(), WEB, "openid").await;
    let gone = "/register/cli_00000000000000000000000000000000";
    for (path, token) in [
        (path, Some(other)),
        (other_path, Some(token)),
        (path, Some("dwg_x")),
        (path, Some(text(&got, "access_token"))),
        (path, Some(text(&one, "client_secret"))),
        (path, None),
        (gone, Some(token)),
        ("/register/web", Some(token)),
        ("/register/%63li_x", Some(token)),
    ] {
        for (method, document) in [("GET", None), ("PUT", Some(app())), ("DELETE", None)] {
            let answer = call(&op, method, path, token, document.as_ref()).await;
            challenged(&answer);
            assert_eq!(answer.json()["error"], "invalid_token", "{method} {path}");
        }
    }
    assert_eq!(call(&op, "GET", path, Some(token), None).await.status, 200, "nothing of it did any harm");
    assert_eq!(call(&op, "GET", other_path, Some(other), None).await.status, 200);
}

/// An update of a client by itself.
async fn update(op: &Op, made: &Value, members: &Value) -> crate::kit::browser::Answer {
    let (path, token) = managed(op, made);
    let mut document = app_with(members);
    if members.get("client_id").is_none() {
        document["client_id"] = made["client_id"].clone();
    }
    let answer = call(op, "PUT", path, Some(token), Some(&document)).await;
    op.poll().await;
    answer
}

#[tokio::test]
async fn an_update_replaces_everything_and_needs_the_clients_own_names() {
    let op = open().await;
    let made = registered(&op, &app_with(&json!({ "contacts": ["dev@fresh.example"], "default_max_age": 60 }))).await;
    for (members, error) in [
        (json!({ "client_id": "web" }), "invalid_client_metadata"),
        (json!({ "client_id": null }), "invalid_client_metadata"),
        (json!({ "client_secret": "another-secret-0123456789" }), "invalid_client_metadata"),
        (json!({ "client_secret": 7 }), "invalid_client_metadata"),
        (json!({ "redirect_uris": ["https://fresh.example/#x"] }), "invalid_redirect_uri"),
        (json!({ "response_types": ["token"] }), "invalid_client_metadata"),
    ] {
        refused(&update(&op, &made, &members).await, 400, error, "");
    }
    let before = db_client(&op, text(&made, "client_id")).await.expect("the client");
    assert_eq!(before.metadata.default_max_age, Some(60), "a refused update changes nothing");

    let members = json!({
        "client_secret": made["client_secret"], "client_name": "Renamed", "consent": "skip", "scope": "openid admin",
        "registration_access_token": "ignored", "client_id_issued_at": 1,
    });
    let answer = update(&op, &made, &members).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let after = answer.json();
    assert_eq!((&after["client_name"], &after["scope"]), (&json!("Renamed"), &json!("openid")));
    assert!(after.get("contacts").is_none() && after.get("default_max_age").is_none(), "{after}");
    assert_eq!(after["registration_access_token"], made["registration_access_token"], "it stays the same");
    assert_eq!(after["client_id_issued_at"], made["client_id_issued_at"]);
    assert!(after.get("client_secret").is_none(), "and so does the secret: {after}");
    let stored = db_client(&op, text(&made, "client_id")).await.expect("the client");
    assert!(stored.is_self_registered());
    assert_eq!(serde_json::to_value(stored.metadata.consent).expect("JSON"), "ask");
    assert!(tokens(&op, &mut op.browser(), as_client(&made), "openid").await.get("id_token").is_some());
    let audit = db_audit(&op, Some(AuditKind::ClientUpdated)).await;
    assert!(audit.iter().any(|event| event.actor == Actor::Client.as_str()), "{audit:?}");
}

#[tokio::test]
async fn a_secret_comes_and_goes_with_the_way_to_prove_itself() {
    let op = open().await;
    let made = registered(&op, &app()).await;
    let public = update(&op, &made, &json!({ "token_endpoint_auth_method": "none" })).await.json();
    assert!(public.get("client_secret").is_none(), "{public}");
    let stored = db_client(&op, text(&made, "client_id")).await.expect("the client");
    assert!(stored.secrets.is_empty(), "what is of no use is not kept");
    let back = update(&op, &made, &json!({})).await.json();
    assert!(back.get("client_secret").is_some_and(|secret| *secret != made["client_secret"]), "a new one: {back}");
    assert_eq!(back["client_secret_expires_at"], 0);
    assert!(tokens(&op, &mut op.browser(), as_client(&back), "openid").await.get("id_token").is_some());
    // One that signs has to be known whole: there is a new one, once.
    let signs = json!({ "token_endpoint_auth_method": "client_secret_jwt" });
    assert!(update(&op, &made, &signs).await.json().get("client_secret").is_some());
    assert!(update(&op, &made, &signs).await.json().get("client_secret").is_none());
}

#[tokio::test]
async fn people_are_asked_again_when_the_client_leads_elsewhere() {
    let op = open().await;
    let made = registered(&op, &app()).await;
    let client = as_client(&made);
    let mut browser = op.browser();
    tokens(&op, &mut browser, client, "openid profile").await;
    let asked = async |browser: &mut crate::kit::browser::Browser<'_>, uri: &str| {
        let url = authorize(client, "openid profile", &[("redirect_uri", uri)]);
        browser.get(&url).await.page().has_id("consent-allow")
    };
    assert!(!asked(&mut browser, client.redirect_uri).await, "remembered");
    let less = json!({ "tos_uri": "https://fresh.example/tos" });
    assert_eq!(update(&op, &made, &less).await.status, 200);
    assert!(!asked(&mut browser, client.redirect_uri).await, "the same to see, and the same way back");
    let more = json!({ "redirect_uris": ["https://fresh.example/cb", "https://evil.example/cb"] });
    assert_eq!(update(&op, &made, &more).await.status, 200);
    assert!(asked(&mut browser, "https://evil.example/cb").await);
}

#[tokio::test]
async fn a_deleted_client_is_gone_with_everything_it_had() {
    let op = open().await;
    let second = Op::builder().beside(&op).start().await;
    let made = registered(&op, &app()).await;
    second.poll().await;
    let client = as_client(&made);
    let mut browser = op.browser();
    let got = tokens(&op, &mut browser, client, "openid offline_access").await;
    let code = crate::kit::flow::code(&mut browser, client, "openid").await;
    let (access, again) = (text(&got, "access_token"), text(&got, "refresh_token"));
    assert_eq!(userinfo(&second, access).await.status, 200);

    let (path, token) = managed(&op, &made);
    let deleted = call(&op, "DELETE", path, Some(token), None).await;
    assert_eq!((deleted.status.as_u16(), deleted.body.as_str()), (204, ""));
    second.poll().await;
    for op in [&op, &second] {
        for (method, document) in [("GET", None), ("PUT", Some(app())), ("DELETE", None)] {
            challenged(&call(op, method, path, Some(token), document.as_ref()).await);
        }
        challenged(&userinfo(op, access).await);
        refused(&redeem(op, client, &code).await, 401, "invalid_client", "client authentication failed");
        refused(&refresh(op, client, again).await, 401, "invalid_client", "client authentication failed");
        assert_eq!(introspect(op, crate::kit::flow::API, access).await, json!({ "active": false }));
        assert_eq!(post_as(op, client, "/revoke", &[("token", again)]).await.status, 401);
        let page = op.browser().get(&authorize(client, "openid", &[])).await;
        assert_eq!(page.status, 400);
        for part in ["unknown_client", "it may have expired: register again"] {
            assert!(page.page().text.contains(part), "{part}: {}", page.page().text);
        }
    }
    let audit = db_audit(&op, Some(AuditKind::ClientDeleted)).await;
    assert!(audit.iter().any(|event| event.actor == Actor::Client.as_str()), "{audit:?}");
}

#[tokio::test]
async fn a_sign_in_under_way_ends_with_its_client() {
    let op = open().await;
    let made = registered(&op, &app()).await;
    let mut browser = op.browser();
    browser.get(&authorize(as_client(&made), "openid", &[])).await;
    let (path, token) = managed(&op, &made);
    assert_eq!(call(&op, "DELETE", path, Some(token), None).await.status, 204);
    op.poll().await;
    let answer = browser.sign_in("alice", PASSWORD).await;
    assert!(answer.status == 400 && answer.page().text.contains("unknown_client"), "{}", answer.body);
}
