//! Access tokens from the authorization endpoint, where the realm gives them.

use serde_json::json;

use super::{OLD, fields, names, start, start_with_tokens};
use crate::kit::flow::{API, authorize, code, decode, introspect, post_as, redeem, text, userinfo};
use crate::kit::op::Op;
use crate::kit::token::{given, refused};

#[tokio::test]
async fn they_come_only_where_the_realm_says_so_and_discovery_tells() {
    let op = start().await;
    let listed = async |op: &Op| {
        op.poll().await;
        op.get("/.well-known/openid-configuration", &[]).await.json()["response_types_supported"].clone()
    };
    assert_eq!(listed(&op).await, json!(["code", "id_token", "code id_token"]));
    let answer = op.browser().get(&authorize(OLD, "openid", &[("response_type", "token")])).await;
    let told = answer.fragment();
    assert_eq!(told["error"], "unsupported_response_type", "{told:?}");
    op.apply(super::TOKENS).await;
    let all = ["code", "id_token", "code id_token", "token", "id_token token", "code token", "code id_token token"];
    assert_eq!(listed(&op).await, json!(all));
}

#[tokio::test]
async fn each_type_gives_what_it_names_and_never_a_refresh_token() {
    let op = start_with_tokens().await;
    let mut browser = op.browser();
    for (kind, expected) in [
        ("token", &["access_token", "expires_in", "token_type"][..]),
        ("token id_token", &["access_token", "expires_in", "id_token", "token_type"]),
        ("code token", &["access_token", "code", "expires_in", "token_type"]),
        ("token code id_token", &["access_token", "code", "expires_in", "id_token", "token_type"]),
    ] {
        let fields = fields(&mut browser, OLD, "openid email", &[("response_type", kind)]).await;
        assert_eq!(names(&fields), expected, "{kind}");
        assert_eq!((&*fields["token_type"], &*fields["expires_in"]), ("Bearer", "300"));
        let info = userinfo(&op, &fields["access_token"]).await;
        assert_eq!(text(&given_info(&info), "email"), "alice@example.com");
        if let Some(code) = fields.get("code") {
            let tokens = given(&redeem(&op, OLD, code).await);
            assert_ne!(text(&tokens, "access_token"), fields["access_token"]);
        }
    }
}

fn given_info(answer: &crate::kit::browser::Answer) -> serde_json::Value {
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()
}

#[tokio::test]
async fn a_plain_oauth_request_gets_a_token_and_no_more() {
    let op = start_with_tokens().await;
    let wish = [("response_type", "token"), ("nonce", "")];
    let fields = fields(&mut op.browser(), OLD, "email", &wish).await;
    assert_eq!(names(&fields), ["access_token", "expires_in", "token_type"]);
    assert_eq!(userinfo(&op, &fields["access_token"]).await.status, 403, "no openid, no userinfo");
}

#[tokio::test]
async fn what_was_not_granted_is_said_and_nothing_outlives_the_session() {
    let op = start_with_tokens().await;
    let mut browser = op.browser();
    // Not known at all; and of use only with a code (Core 11), where the code alone gets it.
    for (kind, asked) in [
        ("token", "openid email unknown"),
        ("token", "openid email offline_access"),
        ("code token", "openid email offline_access"),
    ] {
        let fields = fields(&mut browser, OLD, asked, &[("response_type", kind)]).await;
        assert_eq!(fields["scope"], "openid email", "{kind} {asked}");
        let (_, claims) = decode(&fields["access_token"]);
        assert_eq!(text(&claims, "scope"), "openid email");
    }
}

#[tokio::test]
async fn their_audience_is_that_of_the_token_endpoint() {
    let op = start_with_tokens().await;
    let mut browser = op.browser();
    for resource in ["", "https://api.example"] {
        let wish = [("resource", resource)];
        let answer = super::answer(&mut browser, OLD, "openid read", &wish).await;
        let tokens = given(&redeem(&op, OLD, &answer.location_param("code").expect("a code")).await);
        let (_, back) = decode(text(&tokens, "access_token"));
        let wish = [("resource", resource), ("response_type", "token")];
        let fields = fields(&mut browser, OLD, "openid read", &wish).await;
        let (_, front) = decode(&fields["access_token"]);
        for name in ["iss", "sub", "aud", "client_id", "scope", "sid"] {
            assert_eq!(front[name], back[name], "{resource}: {name}");
        }
        assert_ne!(front["gid"], back["gid"], "an act of its own");
    }
}

#[tokio::test]
async fn they_are_looked_at_and_revoked_like_any_other() {
    let op = start_with_tokens().await;
    for format in ["jwt", "opaque"] {
        op.apply(&format!("realm: main\nclients: [{{ client_id: old, access_token_format: {format} }}]\n")).await;
        let wish = [("response_type", "token"), ("resource", "https://api.example")];
        let fields = fields(&mut op.browser(), OLD, "openid read", &wish).await;
        let token = &fields["access_token"];
        assert_eq!(introspect(&op, API, token).await["active"], true, "{format}");
        assert_eq!(post_as(&op, OLD, "/revoke", &[("token", token)]).await.status, 200);
        op.poll().await;
        assert_eq!(introspect(&op, API, token).await["active"], false, "{format}");
        assert_eq!(userinfo(&op, token).await.status, 401);
    }
}

#[tokio::test]
async fn the_token_endpoint_gives_nothing_by_that_grant() {
    let op = start_with_tokens().await;
    let code = code(&mut op.browser(), OLD, "openid").await;
    for client in [OLD, API] {
        let fields = [("grant_type", "implicit"), ("code", code.as_str())];
        refused(&post_as(&op, client, "/token", &fields).await, 400, "unsupported_grant_type");
    }
}
