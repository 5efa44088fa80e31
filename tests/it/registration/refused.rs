//! A registration that is refused: each fault is named, and nothing is made.

use serde_json::{Value, json};

use super::{app, app_with, db_client, open, refused, register, registered};
use crate::kit::browser::Answer;
use crate::kit::op::Op;

async fn raw(op: &Op, content_type: &str, body: &str) -> Answer {
    op.raw("POST", "/register", &[("content-type", content_type)], body).await
}

async fn db_count(op: &Op) -> usize {
    let realm = crate::kit::rows::db_realm(op).await;
    doorward::store::repo::client::list(&op.app.store.read(), realm, None, 1_000).await.expect("a list").len()
}

#[tokio::test]
async fn a_body_that_is_no_plain_json_object_is_refused() {
    let op = open().await;
    let before = db_count(&op).await;
    let good = app().to_string();
    for content_type in ["application/x-www-form-urlencoded", "text/plain", "application/jsonx", "text/json", ""] {
        refused(&raw(&op, content_type, &good).await, 400, "invalid_client_metadata", "as application/json");
    }
    refused(&op.raw("POST", "/register", &[], &good).await, 400, "invalid_client_metadata", "as application/json");
    let deep = format!("{}{}", r#"{"jwks":"#.repeat(1000), "}".repeat(1000));
    let wide = format!(r#"{{"jwks":{}{}}}"#, "[".repeat(20_000), "]".repeat(20_000));
    for (body, told) in [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[]", "must be a JSON object"),
        ("null", "must be a JSON object"),
        (
            r#"{"redirect_uris":["https://a.example/"],"redirect_uris":["https://b.example/"]}"#,
            "redirect_uris stands twice",
        ),
        (r#"{"jwks":{"keys":[{"kty":"RSA","kty":"EC"}]}}"#, "kty stands twice"),
        (deep.as_str(), "nested too deep"),
        (wide.as_str(), "nested too deep"),
        ("{\"client_name\":\"\u{0}\"}", "not JSON"),
    ] {
        refused(&raw(&op, "application/json", body).await, 400, "invalid_client_metadata", told);
    }
    let large = raw(&op, "application/json", &format!("{{\"a\":\"{}\"}}", "a".repeat(70_000))).await;
    refused(&large, 413, "invalid_request", "64 KiB");
    assert_eq!(db_count(&op).await, before);
    assert_eq!(raw(&op, "Application/JSON; charset=utf-8", &good).await.status, 201);
}

#[tokio::test]
async fn each_fault_has_the_code_of_the_standard() {
    let op = open().await;
    let before = db_count(&op).await;
    for (members, error, told) in [
        (json!({ "redirect_uris": [] }), "invalid_redirect_uri", "at least one"),
        (json!({ "redirect_uris": ["https://a.example/#x"] }), "invalid_redirect_uri", "fragment"),
        (json!({ "redirect_uris": ["http://a.example/"] }), "invalid_redirect_uri", "must use https"),
        (json!({ "redirect_uris": ["javascript:alert(1)//"] }), "invalid_redirect_uri", "javascript"),
        (json!({ "redirect_uris": ["com.example.app:/cb"] }), "invalid_redirect_uri", "public clients"),
        (json!({ "grant_types": ["client_credentials"] }), "invalid_client_metadata", "grant_types"),
        (json!({ "response_types": ["code id_token"] }), "invalid_client_metadata", "response_types"),
        (json!({ "response_types": ["token"] }), "invalid_client_metadata", "response_types"),
        (json!({ "logo_uri": "javascript:alert(1)" }), "invalid_client_metadata", "logo_uri"),
        (json!({ "initiate_login_uri": "http://a.example/" }), "invalid_client_metadata", "initiate_login_uri"),
        (json!({ "jwks_uri": "https://a.example/", "jwks": { "keys": [] } }), "invalid_client_metadata", "jwks"),
        (json!({ "client_name": "\u{202e}\"\\\u{7}" }), "invalid_client_metadata", "client_name"),
        (json!({ "scope": "admin" }), "invalid_client_metadata", "scope"),
    ] {
        refused(&register(&op, &app_with(&members)).await, 400, error, told);
    }
    assert_eq!(db_count(&op).await, before);
}

#[tokio::test]
async fn no_power_comes_with_a_registration() {
    let op = open().await;
    let answer = registered(
        &op,
        &app_with(&json!({
            "client_id": "web", "client_secret": "mine-0123456789abcdef", "consent": "skip", "require_pkce": false,
            "service_account_roles": ["editor"], "resources": ["https://api.example"], "scope": "openid roles email",
            "grant_types": ["authorization_code", "client_credentials"], "web_origins": ["https://evil.example"],
            "access_token_format": "opaque", "enabled": false, "origin": "operator", "client_name#de": "x",
            "software_statement": "eyJhbGciOiJub25lIn0.e30.",
        })),
    )
    .await;
    assert_ne!(answer["client_id"], "web");
    assert_eq!(answer["grant_types"], json!(["authorization_code"]));
    assert_eq!(answer["scope"], "openid email");
    for name in
        ["consent", "resources", "service_account_roles", "require_pkce", "software_statement", "client_name#de"]
    {
        assert_eq!(answer.get(name), None, "{name}");
    }
    let stored = db_client(&op, answer["client_id"].as_str().expect("an id")).await.expect("the client");
    assert!(stored.enabled && stored.is_self_registered());
    let metadata = serde_json::to_value(&stored.metadata).expect("JSON");
    assert_eq!(metadata["consent"], "ask");
    assert_eq!(metadata["require_pkce"], Value::Null);
    assert_eq!((&metadata["resources"], &metadata["service_account_roles"]), (&json!([]), &json!([])));
    assert_eq!((&metadata["web_origins"], &metadata["access_token_format"]), (&json!([]), &json!("jwt")));
}

#[tokio::test]
async fn a_name_that_deceives_is_shown_as_text() {
    let op = open().await;
    let hostile = "<b>Bank</b>\u{202e}knaB";
    let answer = registered(&op, &app_with(&json!({ "client_name": hostile }))).await;
    assert_eq!(answer["client_name"], hostile, "what was registered");
    let client = super::as_client(&answer);
    let page = op.browser().get(&crate::kit::flow::authorize(client, "openid", &[])).await;
    assert!(page.page().has_id("login-submit"), "{}", page.body);
    assert!(!page.body.contains("<b>Bank") && !page.body.contains('\u{202e}'), "{}", page.body);
}
