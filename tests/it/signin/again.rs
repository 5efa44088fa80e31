//! B-06 and B-07: a demanded sign-in is asked for once, moves `auth_time`, and ends nothing.

use std::time::Duration;

use doorward::domain::model::event::EventKind;
use serde_json::Value;

use crate::kit::flow::{NATIVE, WEB, authorize, code_answer, id_claims, redeem, refresh, text};
use crate::kit::op::{Op, PASSWORD};
use crate::kit::rows::{db_outbox, db_sessions};

fn auth_time(claims: &Value) -> i64 {
    claims["auth_time"].as_i64().unwrap_or_else(|| panic!("auth_time in {claims}"))
}

#[tokio::test]
async fn a_demanded_sign_in_is_asked_once_and_moves_auth_time() {
    for demand in [("prompt", "login"), ("max_age", "0"), ("max_age", "1")] {
        let op = Op::start().await;
        let mut browser = op.browser();
        let first = code_answer(&mut browser, WEB, "openid offline_access", &[]).await;
        let tokens = redeem(&op, WEB, &first.location_param("code").expect("a code")).await.json();
        let before = crate::kit::flow::decode(text(&tokens, "id_token")).1;
        op.advance(Duration::from_secs(2)).await;

        let login = browser.get(&authorize(WEB, "openid", &[demand])).await;
        assert!(login.page().text.contains("Confirm it\u{2019}s you"), "{demand:?}: {}", login.page().text);
        assert_eq!(browser.form("login-submit").value("username").as_deref(), Some("alice"), "{demand:?}");
        // The clock stands still: the new sign-in is 0 s old, and once is enough.
        let answer = browser.sign_in("alice", PASSWORD).await;
        assert_eq!(answer.status, 303, "{demand:?}: {}", answer.body);
        let after = id_claims(&op, WEB, &answer).await;
        assert_eq!(auth_time(&after), auth_time(&before) + 2, "{demand:?}");
        assert_eq!((&after["sid"], &after["sub"]), (&before["sid"], &before["sub"]), "{demand:?}: the session goes on");
        assert!(after["sid"].is_string());

        // Nothing ended, nobody is told that anything did, and earlier tokens live.
        let sessions = db_sessions(&op, "alice").await;
        assert!(sessions.len() == 1 && sessions[0].ended.is_none(), "{demand:?}");
        assert!(db_outbox(&op).await.iter().all(|event| event.kind != EventKind::SessionRevoked), "{demand:?}");
        let refreshed = refresh(&op, WEB, text(&tokens, "refresh_token")).await;
        assert_eq!(refreshed.status, 200, "{demand:?}: {}", refreshed.body);
        let kept = crate::kit::flow::decode(text(&refreshed.json(), "id_token")).1;
        assert_eq!(auth_time(&kept), auth_time(&before), "a grant keeps its own auth_time");
    }
}

#[tokio::test]
async fn a_wrong_password_on_the_way_changes_nothing() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let before = id_claims(&op, WEB, &code_answer(&mut browser, WEB, "openid", &[]).await).await;
    op.advance(Duration::from_secs(5)).await;
    let url = authorize(WEB, "openid", &[("prompt", "login"), ("state", "x")]);
    let login = browser.get(&url).await;
    assert_eq!(browser.sign_in("alice", "wrong").await.status, 422);
    // Nor does walking around it: the page, the consent page, the request again.
    for url in [login.url.as_str(), &login.url.replace("/login?", "/consent?"), &url] {
        let answer = browser.get(url).await;
        assert!(answer.page().has_id("login-submit"), "{url}: {} {}", answer.status, answer.body);
    }
    let silent = browser.get(&authorize(WEB, "openid", &[("prompt", "none")])).await;
    assert_eq!(auth_time(&id_claims(&op, WEB, &silent).await), auth_time(&before));
}

#[tokio::test]
async fn a_fresh_sign_in_satisfies_its_own_request_only_and_only_once() {
    let op = Op::start().await;
    let mut browser = op.browser();
    code_answer(&mut browser, WEB, "openid", &[]).await;
    op.advance(Duration::from_secs(5)).await;
    let one = browser.get(&authorize(WEB, "openid", &[("prompt", "login"), ("state", "one")])).await;
    let two = browser.get(&authorize(WEB, "openid", &[("max_age", "0"), ("state", "two")])).await;
    browser.get(&one.url).await;
    let answer = browser.sign_in("alice", PASSWORD).await;
    assert_eq!(answer.location_param("state").as_deref(), Some("one"));
    for url in [&two.url, &one.url] {
        let answer = browser.get(url).await;
        assert!(answer.page().has_id("login-submit"), "{url}: {} {}", answer.status, answer.body);
    }
    browser.get(&two.url).await;
    let answer = browser.sign_in("alice", PASSWORD).await;
    assert_eq!(answer.location_param("state").as_deref(), Some("two"), "{}", answer.body);
}

#[tokio::test]
async fn max_age_counts_from_the_sign_in_by_whole_seconds() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let first = code_answer(&mut browser, WEB, "openid", &[("max_age", "15000")]).await;
    let first = id_claims(&op, WEB, &first).await;
    op.advance(Duration::from_secs(100)).await;
    let answer = browser.get(&authorize(WEB, "openid", &[("max_age", "10000")])).await;
    let second = id_claims(&op, WEB, &answer).await;
    assert_eq!(auth_time(&first), auth_time(&second));
    let answer = browser.get(&authorize(WEB, "openid", &[("max_age", "100")])).await;
    assert!(answer.location_param("code").is_some(), "exactly as old as allowed: {}", answer.body);
    let answer = browser.get(&authorize(WEB, "openid", &[("max_age", "99")])).await;
    assert!(answer.page().has_id("login-submit"), "{}", answer.body);
}

#[tokio::test]
async fn another_person_may_sign_in_where_a_new_sign_in_is_demanded() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let alice = id_claims(&op, WEB, &code_answer(&mut browser, WEB, "openid", &[]).await).await;
    browser.get(&authorize(WEB, "openid", &[("prompt", "login")])).await;
    let answer = browser.sign_in("bob", "bob has a long password").await;
    let bob = id_claims(&op, WEB, &answer).await;
    assert!(bob["sub"] != alice["sub"] && bob["sid"] != alice["sid"]);
    // Bob's account is the present one now; alice's stays beside it.
    let sessions = db_sessions(&op, "alice").await;
    assert!(sessions.len() == 1 && sessions[0].ended.is_none(), "{sessions:?}");
    let silent = browser.get(&authorize(NATIVE, "openid", &[("prompt", "none")])).await;
    assert_eq!(id_claims(&op, NATIVE, &silent).await["sub"], bob["sub"]);
}
