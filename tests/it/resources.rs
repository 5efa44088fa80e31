//! Resources (RFC 8707; behaviour case B-19): tokens name the registered spelling, a slash alone is no difference,
//! a deeper path is, narrowing is allowed and widening is not; who may ask is the client's own list.

use serde_json::{Value, json};

use crate::kit::browser::Answer;
use crate::kit::flow::{STRANGER, VERIFIER, WEB, authorize, decode, post_as, text};
use crate::kit::op::{Op, PASSWORD};
use crate::kit::token::{given, refused};

const HOST: &str = "https://mcp.example.com";
const DEEP: &str = "https://mcp.example.com/mcp";

const RESOURCES: &str = r#"
realm: main
resources:
  - { identifier: "https://mcp.example.com", scopes: [list] }
  - { identifier: "https://mcp.example.com/mcp", scopes: [call] }
  - { identifier: "https://closed.example", scopes: [open] }
clients:
  - client_id: web
    scope: "openid profile offline_access list call open"
    resources: [ "https://mcp.example.com", "https://mcp.example.com/mcp" ]
"#;

async fn start() -> Op {
    let op = Op::start().await;
    op.apply(RESOURCES).await;
    op
}

/// A request with these resources, answered.
async fn asked(op: &Op, scope: &str, resources: &[&str]) -> Answer {
    let more: String = resources.iter().map(|uri| format!("&resource={}", encoded(uri))).collect();
    let mut browser = op.browser();
    let answer = browser.get(&format!("{}{more}", authorize(WEB, scope, &[]))).await;
    if answer.page().has_id("login-submit") { browser.sign_in("alice", PASSWORD).await } else { answer }
}

fn encoded(uri: &str) -> String {
    form_urlencoded::byte_serialize(uri.as_bytes()).collect()
}

async fn redeemed(op: &Op, answer: &Answer, resources: &[&str]) -> Answer {
    let code = answer.location_param("code").unwrap_or_else(|| panic!("{}", answer.location()));
    let mut fields = vec![
        ("grant_type", "authorization_code"),
        ("code", &*code),
        ("redirect_uri", WEB.redirect_uri),
        ("code_verifier", VERIFIER),
    ];
    fields.extend(resources.iter().map(|uri| ("resource", *uri)));
    post_as(op, WEB, "/token", &fields).await
}

async fn refreshed(op: &Op, tokens: &Value, resources: &[&str]) -> Answer {
    let mut fields = vec![("grant_type", "refresh_token"), ("refresh_token", text(tokens, "refresh_token"))];
    fields.extend(resources.iter().map(|uri| ("resource", *uri)));
    post_as(op, WEB, "/token", &fields).await
}

fn aud(tokens: &Value) -> Value {
    decode(text(tokens, "access_token")).1["aud"].clone()
}

#[tokio::test]
async fn a_slash_after_the_host_is_the_same_resource_in_its_registered_spelling() {
    let op = start().await;
    for at_authorize in [HOST, "https://mcp.example.com/"] {
        for at_token in [&[][..], &[HOST], &["https://mcp.example.com/"]] {
            let answer = asked(&op, "profile list", &[at_authorize]).await;
            let tokens = given(&redeemed(&op, &answer, at_token).await);
            assert_eq!(aud(&tokens), HOST, "{at_authorize} {at_token:?}");
        }
    }
}

#[tokio::test]
async fn a_deeper_path_is_another_resource_and_is_never_stripped() {
    let op = start().await;
    let answer = asked(&op, "profile call", &[DEEP]).await;
    assert_eq!(aud(&given(&redeemed(&op, &answer, &[]).await)), DEEP);
    for wrong in ["https://mcp.example.com/mcp/", "https://mcp.example.com/other", "https://mcp.example.com/mcp/x"] {
        let answer = asked(&op, "profile call", &[wrong]).await;
        assert_eq!(answer.location_param("error").as_deref(), Some("invalid_target"), "{wrong}");
    }
}

#[tokio::test]
async fn two_may_be_asked_for_and_the_token_request_may_narrow_to_one() {
    let op = start().await;
    let answer = asked(&op, "openid list call", &[DEEP, HOST, DEEP]).await;
    let both = given(&redeemed(&op, &answer, &[]).await);
    assert_eq!(aud(&both), json!([DEEP, HOST, op.public_url]), "and userinfo, since openid was granted");
    let answer = asked(&op, "openid list call", &[DEEP, HOST]).await;
    let one = given(&redeemed(&op, &answer, &["https://mcp.example.com/"]).await);
    assert_eq!((aud(&one), text(&one, "scope")), (json!(HOST), "openid list"), "only what is understood there");
    // The grant itself is as wide as before: each refresh chooses anew.
    let other = given(&refreshed(&op, &one, &[DEEP]).await);
    assert_eq!((aud(&other), text(&other, "scope")), (json!(DEEP), "openid call"));
    let all = given(&refreshed(&op, &other, &[]).await);
    assert_eq!(aud(&all), json!([DEEP, HOST, op.public_url]));
}

#[tokio::test]
async fn widening_and_what_is_unknown_are_refused() {
    let op = start().await;
    let answer = asked(&op, "openid list", &[HOST]).await;
    let code = answer.clone();
    refused(&redeemed(&op, &code, &[DEEP]).await, 400, "invalid_target");
    // Refused before anything was spent.
    let tokens = given(&redeemed(&op, &answer, &[]).await);
    for never in [DEEP, "https://closed.example", "https://nowhere.example"] {
        refused(&refreshed(&op, &tokens, &[never]).await, 400, "invalid_target");
        refused(&refreshed(&op, &tokens, &[HOST, never]).await, 400, "invalid_target");
    }
    given(&refreshed(&op, &tokens, &[HOST]).await);
    for unknown in ["https://nowhere.example", "https://x/#f", "https://mcp.example.com#f", "mcp.example.com", "x"] {
        let answer = asked(&op, "openid list", &[unknown]).await;
        assert_eq!(answer.location_param("error").as_deref(), Some("invalid_target"), "{unknown}");
        assert_eq!(answer.location_param("state").as_deref(), Some("st"), "by redirect");
    }
}

#[tokio::test]
async fn an_empty_one_is_as_if_it_were_absent() {
    let op = start().await;
    let answer = asked(&op, "openid profile", &[""]).await;
    let tokens = given(&redeemed(&op, &answer, &[""]).await);
    assert_eq!(aud(&tokens), op.public_url);
    let answer = asked(&op, "openid list", &[HOST, ""]).await;
    let tokens = given(&redeemed(&op, &answer, &[""]).await);
    assert_eq!(aud(&tokens), json!([HOST, op.public_url]));
}

#[tokio::test]
async fn who_may_ask_is_the_clients_list_as_it_is_now() {
    let op = start().await;
    // Somebody else's resource reads like one that is not there.
    let closed = asked(&op, "openid open", &["https://closed.example"]).await;
    assert_eq!(closed.location_param("error").as_deref(), Some("invalid_target"));
    let nowhere = asked(&op, "openid open", &["https://nowhere.example"]).await;
    assert_eq!(closed.location_param("error_description"), nowhere.location_param("error_description"));
    let fields = [("grant_type", "client_credentials"), ("resource", HOST)];
    refused(&post_as(&op, STRANGER, "/token", &fields).await, 400, "invalid_target");
    let told =
        op.try_apply("realm: main\nclients: [{ client_id: web, resources: [\"https://mcp.exmple.com\"] }]").await;
    assert!(told.expect_err("no such resource").contains("did you mean https://mcp.example.com?"));
    // Taken off the list, it is asked for in vain at once.
    let tokens = given(&redeemed(&op, &asked(&op, "openid list call", &[HOST, DEEP]).await, &[]).await);
    op.apply(&format!("realm: main\nclients: [{{ client_id: web, resources: [\"{HOST}\"] }}]\n")).await;
    let answer = asked(&op, "openid call", &[DEEP]).await;
    assert_eq!(answer.location_param("error").as_deref(), Some("invalid_target"));
    let fields =
        [("grant_type", "refresh_token"), ("refresh_token", text(&tokens, "refresh_token")), ("resource", DEEP)];
    refused(&post_as(&op, WEB, "/token", &fields).await, 400, "invalid_target");
}
