//! A registration that is taken: what comes of it, and who may make it.

use std::sync::Arc;
use std::time::Duration;

use doorward::domain::model::audit::AuditKind;
use doorward::domain::model::ids::InitialAccessTokenId;
use doorward::service::admin::initial_access_token::{self, Wanted};
use serde_json::{Value, json};

use super::{
    OPEN, app, app_with, as_client, call, challenged, db_client, managed, open, refused, register, registered, set,
};
use crate::kit::browser::Answer;
use crate::kit::flow::{authorize, redeem, refresh, text, tokens, userinfo};
use crate::kit::op::{Op, PASSWORD};
use crate::kit::rows::db_audit;
use crate::kit::signing::{RSA, claims, jwks, post_signed};
use crate::kit::token::{at_once, given};

#[tokio::test]
async fn a_client_registers_itself_and_people_sign_in_with_it() {
    let op = open().await;
    let answer = registered(&op, &app()).await;
    assert!(text(&answer, "client_id").starts_with("cli_"), "{answer}");
    assert!(text(&answer, "client_secret").starts_with("dwc_") && answer["client_secret_expires_at"] == 0);
    assert!(text(&answer, "registration_access_token").starts_with("dwg_"));
    assert_eq!(answer["token_endpoint_auth_method"], "client_secret_basic");
    let (path, token) = managed(&op, &answer);
    assert_eq!(path, format!("/register/{}", text(&answer, "client_id")));
    assert_eq!(db_audit(&op, Some(AuditKind::ClientRegistered)).await.len(), 1);

    let client = as_client(&answer);
    let mut browser = op.browser();
    browser.get(&authorize(client, "openid profile offline_access", &[])).await;
    let consent = browser.sign_in("alice", PASSWORD).await;
    let page = consent.page();
    assert!(page.has_id("unchecked"), "people read that nobody has checked it: {}", consent.body);
    for part in ["It registered itself on 2027-01-15", "Allow it only if you know fresh.example"] {
        assert!(page.text.contains(part), "{part}: {}", page.text);
    }
    let back = browser.submit("consent-allow", &[]).await;
    let got = given(&redeem(&op, client, &back.location_param("code").expect("a code")).await);
    assert_eq!(userinfo(&op, text(&got, "access_token")).await.json()["name"], "Alice Adams");
    let refreshed = given(&refresh(&op, client, text(&got, "refresh_token")).await);
    assert!(!text(&refreshed, "access_token").is_empty());
    // The token of the registration opens nothing else.
    assert_eq!(userinfo(&op, token).await.status, 401);
}

#[tokio::test]
async fn an_operators_client_carries_no_such_mark() {
    let op = open().await;
    let mut browser = op.browser();
    browser.get(&authorize(crate::kit::flow::ASKER, "openid profile", &[])).await;
    let consent = browser.sign_in("alice", PASSWORD).await;
    assert!(consent.page().has_id("consent-allow") && !consent.page().has_id("unchecked"), "{}", consent.body);
}

#[tokio::test]
async fn registration_is_not_there_until_a_realm_switches_it_on() {
    let op = Op::start().await;
    let endpoint = |document: Value| document.get("registration_endpoint").cloned();
    let metadata = async || op.get("/.well-known/openid-configuration", &[]).await.json();
    assert_eq!(endpoint(metadata().await), None);
    for (method, path) in [
        ("POST", "/register"),
        ("GET", "/register"),
        ("OPTIONS", "/register"),
        ("GET", "/register/cli_x"),
        ("PUT", "/register/cli_x"),
        ("DELETE", "/register/cli_x"),
        ("PATCH", "/register/cli_x"),
    ] {
        let answer = call(&op, method, path, None, Some(&app())).await;
        assert_eq!(answer.status, 404, "{method} {path}: {}", answer.body);
    }
    op.apply(OPEN).await;
    assert_eq!(endpoint(metadata().await), Some(json!("http://localhost:8080/register")));
    let answer = registered(&op, &app()).await;
    // Switched off again, what registered goes on working, and nobody else comes.
    set(&op, "enabled: false").await;
    assert_eq!(register(&op, &app()).await.status, 404);
    let (path, token) = managed(&op, &answer);
    assert_eq!(call(&op, "GET", path, Some(token), None).await.status, 404);
    assert!(tokens(&op, &mut op.browser(), as_client(&answer), "openid").await.get("access_token").is_some());
}

async fn initial(op: &Op, realm: &str, uses: u32) -> (InitialAccessTokenId, String) {
    let wanted = Wanted { label: "tests".to_owned(), uses, lives_for: Duration::from_secs(3600) };
    let realm = op.db_realm(realm).await;
    let (token, secret) = initial_access_token::create(&op.app, &realm, wanted).await.expect("a token");
    (token.id, secret.expose().to_owned())
}

#[tokio::test]
async fn an_initial_access_token_is_asked_for_and_used_up() {
    let op = Op::builder().realm(&format!("{}\n---\nrealm: other\n", crate::kit::op::REALM)).start().await;
    op.apply("realm: main\nsettings: { client_registration: { enabled: true } }\n").await;
    let without = register(&op, &app()).await;
    challenged(&without);
    assert_eq!(without.header("www-authenticate"), Some("Bearer"), "nothing was wrong yet");

    let (_, token) = initial(&op, "main", 2).await;
    let with = async |token: &str| call(&op, "POST", "/register", Some(token), Some(&app())).await;
    let (_, elsewhere) = initial(&op, "other", 2).await;
    let mut other = token.clone();
    other.replace_range(5..6, if &token[5..6] == "A" { "B" } else { "A" });
    for wrong in [elsewhere.as_str(), other.as_str(), "dwi_x", "x", &token[1..], &token.to_uppercase()] {
        let answer = with(wrong).await;
        challenged(&answer);
        refused(&answer, 401, "invalid_token", "the initial access token is unknown, too old or used up");
    }
    // What is refused has cost no use.
    let bad = call(&op, "POST", "/register", Some(&token), Some(&json!({ "redirect_uris": [] }))).await;
    refused(&bad, 400, "invalid_redirect_uri", "redirect_uris");
    assert_eq!(with(&token).await.status, 201);
    assert_eq!(with(&token).await.status, 201);
    challenged(&with(&token).await);

    let (_, old) = initial(&op, "main", 5).await;
    op.advance(Duration::from_secs(3600)).await;
    challenged(&with(&old).await);
    let (id, gone) = initial(&op, "main", 5).await;
    let realm = op.db_realm("main").await;
    assert!(initial_access_token::revoke(&op.app, &realm, id).await.expect("the store answers"));
    challenged(&with(&gone).await);
    assert_eq!(db_audit(&op, Some(AuditKind::InitialAccessTokenRevoked)).await.len(), 1);
    assert!(db_audit(&op, Some(AuditKind::ClientRegistrationRefused)).await.len() >= 9);
    // Nothing of it rests in the clear.
    let listed = initial_access_token::list(&op.app, &realm).await.expect("a list");
    assert!(!format!("{listed:?}").contains(&token));
}

/// So many registrations, none waiting for another.
async fn many(op: &Arc<Op>, count: usize, token: Option<&str>) -> Vec<Answer> {
    let token = token.map(str::to_owned);
    at_once(count, |_| {
        let (op, token) = (op.clone(), token.clone());
        async move { call(&op, "POST", "/register", token.as_deref(), Some(&app())).await }
    })
    .await
}

#[tokio::test]
async fn one_use_registers_one_of_many_that_come_at_once() {
    let op = open().await;
    let (_, token) = initial(&op, "main", 1).await;
    let answers = many(&Arc::new(op), 20, Some(&token)).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
    assert_eq!(answers.iter().filter(|answer| answer.status == 401).count(), 19);
}

#[tokio::test]
async fn the_quota_holds_though_many_come_at_once() {
    let op = open().await;
    set(&op, "max_clients: 5").await;
    let (op, app) = (Arc::new(op), app());
    let answers = many(&op, 30, None).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 5);
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        refused(answer, 403, "access_denied", "as many clients have registered themselves here as may");
    }
    // What goes makes room.
    let first = answers.iter().find(|answer| answer.status == 201).expect("one").json();
    let (path, token) = managed(&op, &first);
    assert_eq!(call(&op, "DELETE", path, Some(token), None).await.status, 204);
    assert_eq!(register(&op, &app).await.status, 201);
    assert_eq!(register(&op, &app).await.status, 403);
}

#[tokio::test]
async fn each_way_to_prove_itself_works_as_registered() {
    let op = open().await;
    for method in ["client_secret_basic", "client_secret_post"] {
        let answer = registered(&op, &app_with(&json!({ "token_endpoint_auth_method": method }))).await;
        let got = tokens(&op, &mut op.browser(), as_client(&answer), "openid").await;
        assert!(got.get("id_token").is_some(), "{method}");
    }
    let public = json!({
        "redirect_uris": ["com.fresh.app:/cb", "http://127.0.0.1:51004/cb"],
        "token_endpoint_auth_method": "none", "application_type": "native",
    });
    let answer = registered(&op, &public).await;
    assert!(answer.get("client_secret").is_none() && answer.get("client_secret_expires_at").is_none(), "{answer}");
    assert!(tokens(&op, &mut op.browser(), as_client(&answer), "openid").await.get("id_token").is_some());

    let keys: Value = serde_json::from_str(&jwks(&[RSA.public(None)])).expect("a set");
    let signs = app_with(&json!({ "token_endpoint_auth_method": "private_key_jwt", "jwks": keys }));
    let answer = registered(&op, &signs).await;
    assert!(answer.get("client_secret").is_none() && answer["jwks"]["keys"][0]["kty"] == "RSA", "{answer}");
    let client = as_client(&answer);
    let code = crate::kit::flow::code(&mut op.browser(), client, "openid").await;
    let assertion = RSA.sign(&json!({ "alg": "RS256" }), &claims(&op, client.id));
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", &code),
        ("redirect_uri", client.redirect_uri),
        ("code_verifier", crate::kit::flow::VERIFIER),
    ];
    given(&post_signed(&op, "/token", &assertion, &fields).await);

    let jwt = registered(&op, &app_with(&json!({ "token_endpoint_auth_method": "client_secret_jwt" }))).await;
    let stored = db_client(&op, text(&jwt, "client_id")).await.expect("the client");
    assert!(stored.secrets[0].sealed.is_some(), "it signs, so it is kept sealed");
}

#[tokio::test]
async fn scripts_of_any_origin_may_register() {
    let op = open().await;
    let asked = [
        ("origin", "http://localhost:3000"),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "content-type, authorization"),
    ];
    let preflight = op.raw("OPTIONS", "/register", &asked, "").await;
    assert_eq!((preflight.status.as_u16(), preflight.header("access-control-allow-origin")), (204, Some("*")));
    let managed = op.raw("OPTIONS", "/register/cli_x", &asked, "").await;
    assert_eq!(managed.header("access-control-allow-methods"), Some("GET, PUT, DELETE"));
    let headers = [("origin", "http://localhost:3000"), ("content-type", "application/json")];
    for (body, status) in [(app().to_string(), 201), ("{".to_owned(), 400)] {
        let answer = op.raw("POST", "/register", &headers, &body).await;
        assert_eq!(answer.status, status);
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
        assert!(answer.header("access-control-allow-credentials").is_none());
    }
}
