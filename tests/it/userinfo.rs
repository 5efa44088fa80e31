//! Userinfo (OpenID Connect Core 5.3, RFC 6750; behaviour case B-22; `security` rows 45, 50 and 51).

use std::time::Duration;

use serde_json::{Value, json};

use crate::kit::browser::Answer;
use crate::kit::flow::{NATIVE, WEB, authorize_at, code, post_as, redeem, text, userinfo};
use crate::kit::op::{Op, PASSWORD, REALM};
use crate::kit::token::{
    db_delete_user, db_disable, db_user, given, names, refused, signed_in, signed_in_with, verified,
};

const FORM: &str = "application/x-www-form-urlencoded";

/// The claims of a token with this scope.
async fn claims(op: &Op, scope: &str) -> Value {
    let tokens = signed_in_with(op, &mut op.browser(), scope).await;
    good(&userinfo(op, text(&tokens, "access_token")).await)
}

#[track_caller]
fn good(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    answer.json()
}

/// A challenge of RFC 6750 section 3; `None`: the bare one.
#[track_caller]
fn challenged(answer: &Answer, status: u16, error: Option<&str>) {
    assert_eq!(answer.status, status, "{}", answer.body);
    let challenge = answer.header("www-authenticate").expect("a challenge");
    match error {
        Some(error) => assert!(challenge.starts_with(&format!("Bearer error=\"{error}\"")), "{challenge}"),
        None => assert_eq!(challenge, "Bearer"),
    }
    assert_eq!(answer.header("cache-control"), Some("no-store"));
}

#[tokio::test]
async fn get_and_both_kinds_of_post_give_the_same() {
    let op = Op::start().await;
    let tokens = signed_in(&op).await;
    let access = text(&tokens, "access_token");
    let bearer = format!("Bearer {access}");
    let body = format!("access_token={access}");
    let want = good(&userinfo(&op, access).await);
    for (method, headers, body) in [
        ("POST", &[("authorization", &*bearer)][..], ""),
        ("POST", &[("authorization", &bearer), ("content-type", FORM)], ""),
        ("POST", &[("content-type", FORM)], &*body),
        ("POST", &[("content-type", "application/x-www-form-urlencoded; charset=UTF-8")], &body),
        ("POST", &[("content-type", "Application/X-WWW-Form-Urlencoded")], &body),
        ("GET", &[("authorization", &bearer), ("accept", "application/jwt")], ""),
        ("GET", &[("authorization", &bearer), ("accept", "text/html")], ""),
        ("GET", &[("authorization", &format!("bearer {access}"))], ""),
        ("GET", &[("authorization", &format!("BEARER   {access} "))], ""),
    ] {
        assert_eq!(good(&op.raw(method, "/userinfo", headers, body).await), want, "{method} {headers:?}");
    }
    let head = op.raw("HEAD", "/userinfo", &[("authorization", &bearer)], "").await;
    assert_eq!((head.status.as_u16(), head.body.as_str()), (200, ""));
}

#[tokio::test]
async fn profile_gives_all_fourteen_claims_with_their_types() {
    let op = Op::start().await;
    let got = claims(&op, "openid profile").await;
    let user = db_user(&op, "alice").await;
    let want = json!({
        "sub": user.sub, "name": "Alice Adams", "given_name": "Alice", "family_name": "Adams",
        "middle_name": "Ann", "nickname": "Ally", "preferred_username": "alice",
        "profile": "https://example.com/alice", "picture": "https://example.com/alice.png",
        "website": "https://example.com/", "gender": "female", "birthdate": "1985-02-03",
        "zoneinfo": "Europe/Berlin", "locale": "en-GB", "updated_at": user.updated_at.as_secs(),
    });
    assert_eq!(got, want);
}

#[tokio::test]
async fn each_scope_gives_its_own_claims_and_no_more() {
    let op = Op::start().await;
    let sub = db_user(&op, "alice").await.sub;
    for (scope, want) in [
        ("openid", json!({})),
        ("openid email", json!({ "email": "alice@example.com", "email_verified": true })),
        ("openid phone", json!({ "phone_number": "+49 30 901820", "phone_number_verified": true })),
        (
            "openid address",
            json!({ "address": {
                "formatted": "Torstrasse 1\n10119 Berlin\nGermany", "street_address": "Torstrasse 1",
                "locality": "Berlin", "region": "Berlin", "postal_code": "10119", "country": "Germany",
            } }),
        ),
        ("openid roles", json!({ "roles": ["editor", "reader"] })),
        ("openid groups", json!({ "groups": ["/staff"] })),
    ] {
        let mut want = want;
        want["sub"] = json!(sub);
        assert_eq!(claims(&op, scope).await, want, "{scope}");
    }
    let all = claims(&op, "phone groups openid roles address email profile").await;
    assert_eq!(names(&all).len(), 22);
}

#[tokio::test]
async fn a_person_without_claims_gives_none_that_are_blank() {
    let op = Op::start().await;
    let mut browser = op.browser();
    browser.get(&crate::kit::flow::authorize(WEB, "openid profile email address phone", &[])).await;
    let answer = browser.sign_in("bob", "bob has a long password").await;
    let tokens = given(&redeem(&op, WEB, &answer.location_param("code").expect("a code")).await);
    let got = good(&userinfo(&op, text(&tokens, "access_token")).await);
    assert_eq!(names(&got), ["preferred_username", "sub", "updated_at"], "{got}");
}

#[tokio::test]
async fn it_tells_what_is_so_now_not_what_was_so_at_the_sign_in() {
    let op = Op::start().await;
    let tokens = signed_in(&op).await;
    op.apply("realm: main\nusers:\n  - { username: alice, nickname: Lisa }\n").await;
    let got = good(&userinfo(&op, text(&tokens, "access_token")).await);
    assert_eq!((text(&got, "nickname"), text(&got, "given_name")), ("Lisa", "Alice"));
}

#[tokio::test]
async fn without_any_token_the_challenge_is_bare() {
    let op = Op::start().await;
    challenged(&op.get("/userinfo", &[]).await, 401, None);
    challenged(&op.raw("POST", "/userinfo", &[], "").await, 401, None);
    challenged(&op.post("/userinfo", &[("other", "x")], &[]).await, 401, None);
    challenged(&op.post("/userinfo", &[("access_token", "")], &[]).await, 401, None);
    for header in ["Bearer", "Bearer ", "Basic d2ViOng=", "Token x", ""] {
        challenged(&op.get("/userinfo", &[("authorization", header)]).await, 401, None);
    }
}

#[tokio::test]
async fn a_token_in_the_address_or_in_two_places_is_refused() {
    let op = Op::start().await;
    let tokens = signed_in(&op).await;
    let access = text(&tokens, "access_token");
    let bearer = format!("Bearer {access}");
    let query = format!("/userinfo?access_token={access}");
    challenged(&op.get(&query, &[]).await, 400, Some("invalid_request"));
    challenged(&op.get(&query, &[("authorization", &bearer)]).await, 400, Some("invalid_request"));
    challenged(&op.post(&query, &[], &[]).await, 400, Some("invalid_request"));
    let fields = [("access_token", access)];
    challenged(&op.post("/userinfo", &fields, &[("authorization", &bearer)]).await, 400, Some("invalid_request"));
    challenged(&op.post("/userinfo", &[fields[0], fields[0]], &[]).await, 400, Some("invalid_request"));
    let twice = [("authorization", &*bearer), ("authorization", &*bearer)];
    challenged(&op.get("/userinfo", &twice).await, 400, Some("invalid_request"));
}

#[tokio::test]
async fn another_body_than_a_form_is_refused() {
    let op = Op::start().await;
    let tokens = signed_in(&op).await;
    let access = text(&tokens, "access_token");
    for (media, body) in [
        ("application/json", json!({ "access_token": access }).to_string()),
        ("text/plain", format!("access_token={access}")),
        ("multipart/form-data; boundary=b", "--b--".to_owned()),
    ] {
        let answer = op.raw("POST", "/userinfo", &[("content-type", media)], &body).await;
        challenged(&answer, 400, Some("invalid_request"));
    }
    let answer = op.raw("POST", "/userinfo", &[("content-type", FORM)], &"a".repeat(70_000)).await;
    assert_eq!((answer.status.as_u16(), &answer.json()["error"]), (413, &json!("invalid_request")));
    assert_eq!(answer.header("www-authenticate"), None, "no token was looked at");
}

#[tokio::test]
async fn only_a_live_access_token_of_this_realm_with_openid_is_let_in() {
    let op = Op::start().await;
    op.apply(&REALM.replacen("realm: main", "realm: other", 1)).await;
    let tokens = signed_in(&op).await;
    let access = text(&tokens, "access_token").to_owned();
    for other in [text(&tokens, "id_token"), text(&tokens, "refresh_token"), "x", "a.b.c", "dwa_x"] {
        challenged(&userinfo(&op, other).await, 401, Some("invalid_token"));
    }
    challenged(&userinfo(&op, &"A".repeat(20_000)).await, 401, Some("invalid_token"));
    // The other realm's own token works there and nowhere else.
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
    let theirs = given(&post_as(&op, WEB, "/realms/other/token", &fields).await);
    let theirs = text(&theirs, "access_token");
    let there = |token: &str| {
        let (op, header) = (&op, format!("Bearer {token}"));
        async move { op.get("/realms/other/userinfo", &[("authorization", &header)]).await }
    };
    good(&there(theirs).await);
    challenged(&userinfo(&op, theirs).await, 401, Some("invalid_token"));
    challenged(&there(&access).await, 401, Some("invalid_token"));
    op.advance(Duration::from_secs(300)).await;
    challenged(&userinfo(&op, &access).await, 401, Some("invalid_token"));
}

#[tokio::test]
async fn a_token_without_openid_has_too_little_scope() {
    let op = Op::start().await;
    let tokens = signed_in_with(&op, &mut op.browser(), "profile").await;
    challenged(&userinfo(&op, text(&tokens, "access_token")).await, 403, Some("insufficient_scope"));
}

#[tokio::test]
async fn nobody_is_told_about_who_is_disabled_or_gone() {
    for delete in [false, true] {
        let op = Op::start().await;
        let tokens = signed_in(&op).await;
        if delete {
            db_delete_user(&op).await;
        } else {
            db_disable(&op).await;
        }
        challenged(&userinfo(&op, text(&tokens, "access_token")).await, 401, Some("invalid_token"));
    }
}

#[tokio::test]
async fn its_sub_is_the_id_tokens_for_a_public_client_too() {
    let op = Op::start().await;
    let code = code(&mut op.browser(), NATIVE, "openid").await;
    let tokens = given(&redeem(&op, NATIVE, &code).await);
    let got = good(&userinfo(&op, text(&tokens, "access_token")).await);
    assert_eq!(got["sub"], verified(&op, text(&tokens, "id_token")).await.1["sub"]);
}

#[tokio::test]
async fn other_methods_are_named_as_refused() {
    let op = Op::start().await;
    for method in ["PUT", "DELETE", "PATCH"] {
        let answer = op.raw(method, "/userinfo", &[], "").await;
        assert_eq!((answer.status.as_u16(), answer.header("allow")), (405, Some("GET, HEAD, POST")), "{method}");
    }
    let tokens = signed_in(&op).await;
    // An access token is no client authentication.
    let bearer = format!("Bearer {}", text(&tokens, "access_token"));
    refused(&op.post("/introspect", &[("token", "x")], &[("authorization", &bearer)]).await, 401, "invalid_client");
}

#[tokio::test]
async fn what_roles_and_groups_give_is_told_as_it_is_now_on_every_node() {
    // `security-design` rule 19: what is kept in memory goes with every change that it depends on.
    let op = Op::start().await;
    let other = Op::builder().beside(&op).start().await;
    let tokens = signed_in_with(&op, &mut op.browser(), "openid roles groups").await;
    let access = text(&tokens, "access_token");
    for (change, roles, groups) in [
        ("display_name: Acme", json!(["editor", "reader"]), json!(["/staff"])),
        ("groups: [{ name: staff, roles: [] }]", json!(["editor"]), json!(["/staff"])),
        ("roles: [{ name: editor, composites: [reader] }]", json!(["editor", "reader"]), json!(["/staff"])),
        ("users: [{ username: alice, groups: [] }]", json!(["editor", "reader"]), json!([])),
        ("users: [{ username: alice, roles: [] }]", json!([]), json!([])),
    ] {
        op.apply(&format!("realm: main\n{change}\n")).await;
        other.poll().await;
        for node in [&op, &other] {
            let got = good(&userinfo(node, access).await);
            assert_eq!((&got["roles"], &got["groups"]), (&roles, &groups), "after {change}");
        }
    }
}
