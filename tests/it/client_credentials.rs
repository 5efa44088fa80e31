//! A client for itself (RFC 6749 section 4.4): an access token and nothing else.

use std::time::Duration;

use crate::kit::flow::{API, Client, NATIVE, STRANGER, WEB, introspect, post_as, text, userinfo};
use crate::kit::op::Op;
use crate::kit::token::{given, names, refused, seconds, verified};

const OWN: (&str, &str) = ("grant_type", "client_credentials");

const OPAQUE_SERVICE: &str = r#"
realm: main
clients:
  - client_id: api
    access_token_format: opaque
"#;

async fn ask(op: &Op, client: Client, more: &[(&str, &str)]) -> crate::kit::browser::Answer {
    post_as(op, client, "/token", &[&[OWN], more].concat()).await
}

#[tokio::test]
async fn a_client_gets_an_access_token_about_itself_and_nothing_more() {
    let op = Op::start().await;
    let tokens = given(&ask(&op, STRANGER, &[]).await);
    assert_eq!(names(&tokens), ["access_token", "expires_in", "scope", "token_type"]);
    assert_eq!((&tokens["expires_in"], text(&tokens, "scope")), (&300.into(), "read"));
    let (header, claims) = verified(&op, text(&tokens, "access_token")).await;
    assert_eq!(text(&header, "typ"), "at+jwt");
    assert_eq!(names(&claims), ["aud", "cid", "client_id", "exp", "iat", "iss", "jti", "scope", "sub"]);
    assert_eq!((text(&claims, "sub"), text(&claims, "client_id")), ("stranger", "stranger"));
    assert_eq!((text(&claims, "iss"), text(&claims, "aud")), (op.public_url.as_str(), op.public_url.as_str()));
    assert_eq!(claims["exp"].as_i64(), Some(seconds(&op) + 300));
}

#[tokio::test]
async fn what_it_gets_by_default_speaks_of_no_person() {
    let op = Op::start().await;
    let tokens = given(&ask(&op, WEB, &[]).await);
    for scope in ["openid", "profile", "email", "address", "phone", "offline_access"] {
        assert!(!text(&tokens, "scope").split(' ').any(|own| own == scope), "{tokens}");
    }
    for scope in ["openid", "openid read", "offline_access"] {
        refused(&ask(&op, WEB, &[("scope", scope)]).await, 400, "invalid_scope");
    }
}

#[tokio::test]
async fn scope_is_what_was_asked_and_registered() {
    let op = Op::start().await;
    assert_eq!(text(&given(&ask(&op, WEB, &[("scope", "read")]).await), "scope"), "read");
    for scope in ["write", "read write", "read \"", "READ"] {
        refused(&ask(&op, WEB, &[("scope", scope)]).await, 400, "invalid_scope");
    }
}

#[tokio::test]
async fn a_resource_is_named_or_left_out_and_must_be_the_clients() {
    let op = Op::start().await;
    for resource in ["https://api.example", "https://api.example/"] {
        let tokens = given(&ask(&op, WEB, &[("scope", "read"), ("resource", resource)]).await);
        let (_, claims) = verified(&op, text(&tokens, "access_token")).await;
        assert_eq!(claims["aud"], "https://api.example", "the registered spelling");
    }
    let tokens = given(&ask(&op, WEB, &[("scope", "read"), ("resource", "")]).await);
    assert_eq!(verified(&op, text(&tokens, "access_token")).await.1["aud"], op.public_url.as_str());
    for resource in ["https://nowhere.example", "https://api.example/v1", "https://api.example#f", "api.example", "x"] {
        refused(&ask(&op, WEB, &[("resource", resource)]).await, 400, "invalid_target");
    }
    // Somebody else's resource is as unknown as one that is not there.
    refused(&ask(&op, STRANGER, &[("resource", "https://api.example")]).await, 400, "invalid_target");
}

#[tokio::test]
async fn only_a_confidential_client_registered_for_it_may() {
    let op = Op::start().await;
    refused(&ask(&op, NATIVE, &[]).await, 400, "unauthorized_client");
    refused(&ask(&op, crate::kit::flow::OPAQUE, &[]).await, 400, "unauthorized_client");
    refused(&ask(&op, Client { secret: Some("guess-0123456789"), ..STRANGER }, &[]).await, 401, "invalid_client");
}

#[tokio::test]
async fn its_token_is_active_for_itself_good_for_no_userinfo_and_gone_after_five_minutes() {
    let op = Op::start().await;
    let tokens = given(&ask(&op, API, &[]).await);
    let access = text(&tokens, "access_token");
    let seen = introspect(&op, API, access).await;
    assert_eq!((&seen["active"], text(&seen, "sub"), text(&seen, "client_id")), (&true.into(), "api", "api"));
    assert_eq!(introspect(&op, STRANGER, access).await, serde_json::json!({ "active": false }));
    let answer = userinfo(&op, access).await;
    assert_eq!(answer.status, 403);
    assert!(answer.header("www-authenticate").unwrap().contains("insufficient_scope"));
    op.advance(Duration::from_secs(299)).await;
    assert_eq!(introspect(&op, API, access).await["active"], true);
    op.advance(Duration::from_secs(1)).await;
    assert_eq!(introspect(&op, API, access).await, serde_json::json!({ "active": false }));
    assert_eq!(userinfo(&op, access).await.status, 401);
}

#[tokio::test]
async fn an_opaque_one_says_the_same_by_introspection() {
    let op = Op::start().await;
    op.apply(OPAQUE_SERVICE).await;
    let tokens = given(&ask(&op, API, &[]).await);
    let access = text(&tokens, "access_token");
    assert!(access.starts_with("dwa_") && !access.contains('.'), "{access}");
    let seen = introspect(&op, API, access).await;
    assert_eq!((text(&seen, "sub"), text(&seen, "scope"), text(&seen, "token_type")), ("api", "read", "Bearer"));
    assert_eq!(userinfo(&op, access).await.status, 403);
}

#[tokio::test]
async fn it_ends_with_the_client() {
    let op = Op::start().await;
    op.apply("realm: main\nresources:\n  - { identifier: \"https://api.example\", introspection_clients: [api, stranger] }\n").await;
    let tokens = given(&ask(&op, WEB, &[("scope", "read"), ("resource", "https://api.example")]).await);
    let access = text(&tokens, "access_token");
    assert_eq!(introspect(&op, API, access).await["active"], true);
    op.apply("realm: main\nclients:\n  - { client_id: web, enabled: false }\n").await;
    assert_eq!(introspect(&op, API, access).await, serde_json::json!({ "active": false }));
}
