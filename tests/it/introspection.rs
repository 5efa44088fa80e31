//! Introspection (RFC 7662; behaviour case B-20; `security` row 72): who may see a token sees it, everybody
//! else reads the same two words.

use std::time::Duration;

use serde_json::{Value, json};

use crate::kit::flow::{
    API, ASKER, Client, NATIVE, STRANGER, WEB, authorize_at, code, introspect, post_as, redeem, refresh, text,
};
use crate::kit::op::{Op, PASSWORD, REALM};
use crate::kit::token::{
    db_delete_user, db_disable, db_set_password, db_user, given, names, refused, seconds, signed_in, signed_in_with,
};

fn inactive() -> Value {
    json!({ "active": false })
}

/// Alice's token at the web shop for the API.
async fn for_api(op: &Op) -> Value {
    let mut browser = op.browser();
    let url = format!("{}&resource=https%3A%2F%2Fapi.example", crate::kit::flow::authorize(WEB, "openid read", &[]));
    browser.get(&url).await;
    let answer = browser.sign_in("alice", PASSWORD).await;
    given(&redeem(op, WEB, &answer.location_param("code").expect("a code")).await)
}

#[tokio::test]
async fn its_client_and_the_server_of_its_audience_see_a_token_and_nobody_else() {
    let op = Op::start().await;
    let tokens = for_api(&op).await;
    let access = text(&tokens, "access_token");
    let now = seconds(&op);
    let sub = db_user(&op, "alice").await.sub;
    for caller in [WEB, API] {
        let seen = introspect(&op, caller, access).await;
        let expected = [
            "acr",
            "active",
            "aud",
            "auth_time",
            "client_id",
            "exp",
            "iat",
            "iss",
            "jti",
            "scope",
            "sub",
            "token_type",
        ];
        assert_eq!(names(&seen), expected, "{}", caller.id);
        assert_eq!((&seen["active"], &seen["aud"]), (&json!(true), &json!(["https://api.example", op.public_url])));
        assert_eq!((text(&seen, "sub"), text(&seen, "client_id"), text(&seen, "scope")), (&*sub, "web", "openid read"));
        assert_eq!((seen["iat"].as_i64(), seen["exp"].as_i64()), (Some(now), Some(now + 300)));
        assert_eq!((text(&seen, "iss"), text(&seen, "token_type")), (&*op.public_url, "Bearer"));
    }
    for caller in [STRANGER, ASKER] {
        assert_eq!(introspect(&op, caller, access).await, inactive(), "{}", caller.id);
    }
}

#[tokio::test]
async fn the_server_of_an_audience_sees_only_tokens_for_it() {
    let op = Op::start().await;
    let tokens = signed_in(&op).await;
    assert_eq!(introspect(&op, API, text(&tokens, "access_token")).await, inactive());
    assert_eq!(introspect(&op, WEB, text(&tokens, "access_token")).await["active"], true);
}

#[tokio::test]
async fn who_does_not_prove_itself_may_not_ask() {
    let op = Op::start().await;
    let tokens = signed_in(&op).await;
    let fields = [("token", text(&tokens, "access_token"))];
    refused(&post_as(&op, NATIVE, "/introspect", &fields).await, 401, "invalid_client");
    refused(&op.post("/introspect", &fields, &[]).await, 401, "invalid_client");
    for thief in [Client { secret: Some("guess-0123456789"), ..API }, Client { id: "nobody", ..API }] {
        refused(&post_as(&op, thief, "/introspect", &fields).await, 401, "invalid_client");
    }
    // Not even a public client its own token.
    let code = code(&mut op.browser(), NATIVE, "openid").await;
    let own = given(&redeem(&op, NATIVE, &code).await);
    let fields = [("token", text(&own, "access_token"))];
    refused(&post_as(&op, NATIVE, "/introspect", &fields).await, 401, "invalid_client");
}

#[tokio::test]
async fn a_refresh_token_is_seen_by_its_client_alone() {
    let op = Op::start().await;
    let tokens = for_api(&op).await;
    let token = text(&tokens, "refresh_token");
    let seen = introspect(&op, WEB, token).await;
    assert_eq!((&seen["active"], text(&seen, "client_id"), text(&seen, "scope")), (&json!(true), "web", "openid read"));
    assert!(seen.get("token_type").is_none(), "it is no token for a resource: {seen}");
    assert!(seen["exp"].as_i64().unwrap() > seconds(&op));
    for caller in [API, STRANGER, ASKER] {
        assert_eq!(introspect(&op, caller, token).await, inactive(), "{}", caller.id);
    }
    // Looking uses nothing up, and a spent one is not active.
    let next = given(&refresh(&op, WEB, token).await);
    op.advance(Duration::from_secs(11)).await;
    assert_eq!(introspect(&op, WEB, token).await, inactive());
    assert_eq!(introspect(&op, WEB, text(&next, "refresh_token")).await["active"], true, "and asking ended nothing");
    given(&refresh(&op, WEB, text(&next, "refresh_token")).await);
}

#[tokio::test]
async fn what_is_no_token_of_ours_is_inactive_whatever_it_is() {
    let op = Op::start().await;
    op.apply(&REALM.replacen("realm: main", "realm: other", 1)).await;
    let mut browser = op.browser();
    browser.get(&authorize_at("/realms/other", WEB, "openid", &[])).await;
    let answer = browser.sign_in("alice", PASSWORD).await;
    let code = answer.location_param("code").expect("a code");
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", &*code),
        ("redirect_uri", WEB.redirect_uri),
        ("code_verifier", crate::kit::flow::VERIFIER),
    ];
    let foreign = given(&post_as(&op, WEB, "/realms/other/token", &fields).await);
    let own = signed_in(&op).await;
    let long = "A".repeat(60_000);
    let dots = ".".repeat(60_000);
    for token in [
        text(&foreign, "access_token"),
        text(&foreign, "refresh_token"),
        text(&own, "id_token"),
        "x",
        " ",
        "a.b.c",
        "dwa_",
        "dwr_000000",
        "null",
        "\u{fc}\0\n",
        "e30.e30.e30",
        &long,
        &dots,
    ] {
        let answer = post_as(&op, WEB, "/introspect", &[("token", token)]).await;
        assert_eq!(answer.status, 200, "{} of {} bytes", answer.body, token.len());
        assert_eq!(
            (answer.header("content-type"), answer.header("cache-control")),
            (Some("application/json"), Some("no-store"))
        );
        assert_eq!(answer.json(), inactive());
    }
    // Longer than any body that is read (B-20 sends 100 kB): it is not looked at, and nothing is told of it.
    let answer = post_as(&op, WEB, "/introspect", &[("token", &"A".repeat(100_000))]).await;
    refused(&answer, 413, "invalid_request");
}

#[tokio::test]
async fn a_hint_changes_nothing() {
    let op = Op::start().await;
    let tokens = signed_in(&op).await;
    for (name, hint) in [
        ("access_token", "refresh_token"),
        ("access_token", "access_token"),
        ("refresh_token", "access_token"),
        ("refresh_token", "foo"),
    ] {
        let fields = [("token", text(&tokens, name)), ("token_type_hint", hint)];
        let answer = post_as(&op, WEB, "/introspect", &fields).await;
        assert_eq!(answer.json()["active"], true, "{name} {hint}");
    }
}

#[tokio::test]
async fn a_token_ends_with_its_time_its_person_and_its_session() {
    let op = Op::start().await;
    let tokens = for_api(&op).await;
    op.advance(Duration::from_secs(299)).await;
    assert_eq!(introspect(&op, API, text(&tokens, "access_token")).await["active"], true);
    op.advance(Duration::from_secs(1)).await;
    assert_eq!(introspect(&op, API, text(&tokens, "access_token")).await, inactive());
    for ending in ["logout", "password", "disable", "delete"] {
        let op = Op::start().await;
        let mut browser = op.browser();
        let tokens = signed_in_with(&op, &mut browser, "openid").await;
        match ending {
            "logout" => {
                browser.get("/logout").await;
                browser.submit("logout-yes", &[]).await;
            }
            "password" => db_set_password(&op, "another long password").await,
            "disable" => db_disable(&op).await,
            _ => db_delete_user(&op).await,
        }
        for name in ["access_token", "refresh_token"] {
            assert_eq!(introspect(&op, WEB, text(&tokens, name)).await, inactive(), "{ending} {name}");
        }
    }
}

#[tokio::test]
async fn the_request_must_be_a_post_with_a_token() {
    let op = Op::start().await;
    refused(&post_as(&op, WEB, "/introspect", &[]).await, 400, "invalid_request");
    refused(&post_as(&op, WEB, "/introspect", &[("token", "")]).await, 400, "invalid_request");
    refused(&post_as(&op, WEB, "/introspect", &[("token", "x"), ("token", "y")]).await, 400, "invalid_request");
    for method in ["GET", "HEAD", "PUT", "OPTIONS"] {
        let answer = op.raw(method, "/introspect?token=x", &[], "").await;
        assert_eq!((answer.status.as_u16(), answer.header("allow")), (405, Some("POST")), "{method}");
    }
}
