//! The `claims` parameter (OpenID Connect Core 5.5): single claims where they were asked for, as far as client
//! and person allow.

use serde_json::{Value, json};

use crate::kit::browser::Answer;
use crate::kit::flow::{
    ASKER, Client, OPAQUE, WEB, authorize, code, code_answer, decode, redeem, refresh, text, userinfo,
};
use crate::kit::op::{Op, PASSWORD};
use crate::kit::token::{given, names};

/// Alice signs in; what the token endpoint gave.
async fn tokens(op: &Op, client: Client, scope: &str, claims: &str) -> Value {
    let answer = code_answer(&mut op.browser(), client, scope, &[("claims", claims)]).await;
    let code = answer.location_param("code").unwrap_or_else(|| panic!("no code: {}", answer.location()));
    given(&redeem(op, client, &code).await)
}

async fn info(op: &Op, tokens: &Value) -> Value {
    let answer = userinfo(op, text(tokens, "access_token")).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()
}

fn id_token(tokens: &Value) -> Value {
    decode(text(tokens, "id_token")).1
}

const WISH: &str = r#"{"userinfo":{"name":{"essential":true},"phone_number":null,"address":null},
    "id_token":{"email":null,"roles":null,"auth_time":{"essential":true},"sub":null}}"#;

#[tokio::test]
async fn claims_are_delivered_where_they_were_asked_for_and_nowhere_else() {
    let op = Op::start().await;
    let tokens = tokens(&op, WEB, "openid", WISH).await;
    let info = info(&op, &tokens).await;
    assert_eq!(names(&info), ["address", "name", "phone_number", "sub"]);
    assert_eq!((text(&info, "name"), text(&info, "phone_number")), ("Alice Adams", "+49 30 901820"));
    let claims = id_token(&tokens);
    assert_eq!((text(&claims, "email"), &claims["roles"]), ("alice@example.com", &json!(["editor", "reader"])));
    for absent in ["name", "address", "email_verified", "groups"] {
        assert!(claims.get(absent).is_none(), "{absent}: {claims}");
    }
    assert!(claims["auth_time"].is_i64());
    assert_eq!(text(&tokens, "scope"), "openid", "no scope is granted by it");
}

#[tokio::test]
async fn they_live_as_long_as_the_grant() {
    let op = Op::start().await;
    let first = tokens(&op, WEB, "openid offline_access", WISH).await;
    let next = given(&refresh(&op, WEB, text(&first, "refresh_token")).await);
    assert_eq!(names(&info(&op, &next).await), ["address", "name", "phone_number", "sub"]);
    assert_eq!(text(&id_token(&next), "email"), "alice@example.com");
    // What the person changes is what is given.
    op.apply("realm: main\nusers: [ { username: alice, name: Alice Brown } ]").await;
    assert_eq!(text(&info(&op, &next).await, "name"), "Alice Brown");
    // What the client may no longer have is not.
    op.apply("realm: main\nclients: [ { client_id: web, scope: openid offline_access phone } ]").await;
    assert_eq!(names(&info(&op, &next).await), ["phone_number", "sub"]);
    let next = given(&refresh(&op, WEB, text(&next, "refresh_token")).await);
    assert!(id_token(&next).get("email").is_none());
}

#[tokio::test]
async fn a_scope_and_a_claim_of_it_give_it_once() {
    let op = Op::start().await;
    let wish = r#"{"userinfo":{"name":null,"email":null},"id_token":{"name":null}}"#;
    let tokens = tokens(&op, WEB, "openid profile", wish).await;
    let answer = userinfo(&op, text(&tokens, "access_token")).await;
    assert_eq!(answer.body.matches("\"name\"").count(), 1, "{}", answer.body);
    assert_eq!(text(&answer.json(), "email"), "alice@example.com");
    assert!(answer.json().get("email_verified").is_none());
    assert_eq!(text(&id_token(&tokens), "name"), "Alice Adams");
}

#[tokio::test]
async fn opaque_tokens_and_signed_userinfo_carry_them_too() {
    let op = Op::start().await;
    op.apply("realm: main\nclients: [ { client_id: opaque, userinfo_signed_response_alg: RS256 } ]").await;
    let tokens = tokens(&op, OPAQUE, "openid", WISH).await;
    let answer = userinfo(&op, text(&tokens, "access_token")).await;
    assert_eq!(answer.header("content-type"), Some("application/jwt"));
    let (_, claims) = decode(&answer.body);
    // Phone and address are not registered for this client.
    assert_eq!(names(&claims), ["aud", "iss", "name", "sub"]);
}

#[tokio::test]
async fn an_id_token_from_the_authorization_endpoint_has_its_claims_too() {
    let op = Op::start().await;
    op.apply(
        "realm: main\nclients:\n  - client_id: web\n    grant_types: [ authorization_code, implicit ]\n    \
         response_types: [ code, code id_token ]\n",
    )
    .await;
    let mut browser = op.browser();
    code(&mut browser, WEB, "openid").await;
    let hybrid = [("response_type", "code id_token"), ("claims", WISH)];
    let answer = browser.get(&authorize(WEB, "openid", &hybrid)).await;
    let (_, fragment) = answer.location().split_once('#').expect("a fragment");
    let given = |name| {
        let mut fields = form_urlencoded::parse(fragment.as_bytes());
        fields.find(|(own, _)| own == name).map(|(_, value)| value.into_owned()).expect(name)
    };
    let (_, first) = decode(&given("id_token"));
    assert_eq!(text(&first, "email"), "alice@example.com");
    assert!(first.get("name").is_none(), "asked of userinfo: {first}");
    let tokens = given_tokens(&op, &given("code")).await;
    assert_eq!(text(&id_token(&tokens), "email"), "alice@example.com");
    assert_eq!(names(&info(&op, &tokens).await), ["address", "name", "phone_number", "sub"]);
}

async fn given_tokens(op: &Op, code: &str) -> Value {
    given(&redeem(op, WEB, code).await)
}

#[tokio::test]
async fn a_missing_claim_is_no_error() {
    let op = Op::start().await;
    let wish = r#"{"userinfo":{"name":{"essential":true},"name#de":null,"http://x.example/y":{"essential":true}},
        "id_token":{"email":{"value":"other@example.com"}}}"#;
    let mut browser = op.browser();
    browser.get(&authorize(WEB, "openid", &[("claims", wish)])).await;
    let answer = browser.sign_in("bob", "bob has a long password").await;
    let tokens = given(&redeem(&op, WEB, &answer.location_param("code").expect("a code")).await);
    assert_eq!(names(&info(&op, &tokens).await), ["sub"]);
    assert!(id_token(&tokens).get("email").is_none());
}

#[tokio::test]
async fn the_person_is_asked_as_for_the_scope_and_the_answer_is_remembered() {
    let op = Op::start().await;
    let mut browser = op.browser();
    code(&mut browser, ASKER, "openid").await;
    let wish = [("claims", r#"{"userinfo":{"email":null}}"#)];
    let silent = [wish[0], ("prompt", "none")];
    let refused = browser.get(&authorize(ASKER, "openid", &silent)).await;
    assert_eq!(refused.location_param("error").as_deref(), Some("consent_required"));
    let page = browser.get(&authorize(ASKER, "openid", &wish)).await.page();
    assert!(page.text.contains("See your email address"), "{}", page.text);
    let answer = browser.submit("consent-allow", &[]).await;
    let tokens = given(&redeem(&op, ASKER, &answer.location_param("code").expect("a code")).await);
    assert_eq!(names(&info(&op, &tokens).await), ["email", "sub"]);
    let answer = browser.get(&authorize(ASKER, "openid", &silent)).await;
    assert!(answer.location_param("code").is_some(), "{}", answer.location());
    // Not registered for this client, so neither asked for nor given.
    let wish = [("claims", r#"{"userinfo":{"phone_number":{"essential":true}}}"#), ("prompt", "none")];
    let answer = browser.get(&authorize(ASKER, "openid", &wish)).await;
    let tokens = given(&redeem(&op, ASKER, &answer.location_param("code").expect("a code")).await);
    assert_eq!(names(&info(&op, &tokens).await), ["sub"]);
}

/// What a client is told.
fn error(answer: &Answer) -> Option<String> {
    answer.location_param("error")
}

#[tokio::test]
async fn a_sub_by_value_is_that_person_or_nobody() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let first = code_answer(&mut browser, WEB, "openid", &[]).await;
    let tokens = given(&redeem(&op, WEB, &first.location_param("code").expect("a code")).await);
    let alice = id_token(&tokens)["sub"].clone();
    let wish = |sub: &Value| json!({"id_token": {"sub": {"value": sub}}}).to_string();
    let (own, other) = (wish(&alice), wish(&json!("somebody-else")));
    let answer = browser.get(&authorize(WEB, "openid", &[("claims", &own), ("prompt", "none")])).await;
    assert!(answer.location_param("code").is_some(), "{}", answer.location());
    let answer = browser.get(&authorize(WEB, "openid", &[("claims", &other), ("prompt", "none")])).await;
    assert_eq!(error(&answer).as_deref(), Some("login_required"));
    let answer = browser.get(&authorize(WEB, "openid", &[("claims", &other)])).await;
    assert!(answer.page().has_id("login-submit"), "{}", answer.body);
    assert_eq!(error(&browser.sign_in("alice", PASSWORD).await).as_deref(), Some("login_required"));
    // Two who cannot both be meant.
    let hint = text(&tokens, "id_token");
    let answer = browser.get(&authorize(WEB, "openid", &[("claims", &other), ("id_token_hint", hint)])).await;
    assert_eq!(error(&answer).as_deref(), Some("invalid_request"));
}

#[tokio::test]
async fn an_essential_acr_out_of_reach_is_refused_and_a_voluntary_one_is_not() {
    let op = Op::start().await;
    let wish = |essential: bool, value: &str| {
        json!({"id_token": {"acr": {"essential": essential, "values": [value]}}}).to_string()
    };
    let mut browser = op.browser();
    for prompt in ["", "none"] {
        let claims = wish(true, "aal2");
        let answer = browser.get(&authorize(WEB, "openid", &[("claims", &claims), ("prompt", prompt)])).await;
        assert_eq!(error(&answer).as_deref(), Some("unmet_authentication_requirements"), "{}", answer.location());
    }
    for (essential, value) in [(false, "aal2"), (true, "aal1")] {
        let answer = code_answer(&mut browser, WEB, "openid", &[("claims", &wish(essential, value))]).await;
        let tokens = given(&redeem(&op, WEB, &answer.location_param("code").expect("a code")).await);
        assert_eq!(text(&id_token(&tokens), "acr"), "aal1");
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_by_redirect() {
    let op = Op::start().await;
    for claims in ["x", "[]", r#"{"userinfo":{"name":true}}"#, r#"{"userinfo":{},"userinfo":{"name":null}}"#] {
        let answer = op.browser().get(&authorize(WEB, "openid", &[("claims", claims)])).await;
        assert!(answer.location().starts_with(WEB.redirect_uri), "{claims}");
        assert_eq!(error(&answer).as_deref(), Some("invalid_request"), "{claims}");
        assert_eq!(answer.location_param("state").as_deref(), Some("st"));
    }
}
