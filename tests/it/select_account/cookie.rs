//! One cookie for all of them.

use std::time::Duration;

use doorward::domain::model::session::EndReason;

use super::{BOBS, both, listed, page, silently, subjects};
use crate::kit::flow::{WEB, authorize, code, crowd, sign_in_beside};
use crate::kit::op::{Op, PASSWORD};
use crate::kit::rows::db_sessions;

#[tokio::test]
async fn five_fit_and_the_sixth_takes_the_place_of_the_one_who_was_away_longest() {
    let op = Op::start().await;
    let mut browser = both(&op).await;
    // Alice signed in first and is used last but one; bob has to go first, then she.
    page(&mut browser, WEB, &super::CHOOSE).await;
    super::choose(&mut browser, "alice").await;
    crowd(&op, &mut browser).await;
    let listed = listed(&page(&mut browser, WEB, &super::CHOOSE).await);
    assert_eq!(listed.len(), 5);
    for (at, text) in listed.iter().enumerate() {
        assert!(text.contains(&format!("guest{}", 5 - at)), "the latest first: {listed:?}");
    }
    for name in ["alice", "bob"] {
        let ended = db_sessions(&op, name).await[0].ended.expect("its place was taken");
        assert_eq!(ended.reason, EndReason::Replaced, "{name}");
    }
    assert!(browser.cookie("-session-").expect("a cookie").len() < 512, "far under 4 kB");
    // Whoever is there signs in again without crowding anybody out.
    sign_in_beside(&mut browser, "guest1", PASSWORD).await;
    let listed = super::listed(&page(&mut browser, WEB, &super::CHOOSE).await);
    assert!(listed.len() == 5 && listed[0].contains("guest1"), "{listed:?}");
}

#[tokio::test]
async fn the_cookie_of_one_account_is_what_it_always_was() {
    let op = Op::start().await;
    let mut browser = op.browser();
    code(&mut browser, WEB, "openid").await;
    let one = browser.cookie("-session-").expect("a cookie");
    assert!(!one.contains('.'), "{one}");
    sign_in_beside(&mut browser, "bob", BOBS).await;
    let two = browser.cookie("-session-").expect("a cookie");
    assert!(two.ends_with(&format!(".{one}")), "the new one stands before it: {two}");
}

#[tokio::test]
async fn the_same_person_again_keeps_her_place_and_her_old_secret_is_dead() {
    let op = Op::start().await;
    let mut browser = both(&op).await;
    let mut copy = op.browser();
    copy.steal(&browser, "");
    sign_in_beside(&mut browser, "alice", PASSWORD).await;
    assert_eq!(db_sessions(&op, "alice").await.len(), 1, "the session she has");
    assert_eq!(listed(&page(&mut browser, WEB, &super::CHOOSE).await).len(), 2);
    let left = listed(&page(&mut copy, WEB, &super::CHOOSE).await);
    assert!(left.len() == 1 && left[0].contains("bob"), "her old secret is worth nothing: {left:?}");
}

#[tokio::test]
async fn each_account_has_its_own_idle_time() {
    let op = Op::start().await;
    let (_, bob) = subjects(&op).await;
    let mut browser = both(&op).await;
    for _ in 0..4 {
        op.advance(Duration::from_mins(10)).await;
        // Looking at the list is no use of an account.
        page(&mut browser, WEB, &super::CHOOSE).await;
        assert_eq!(silently(&op, &mut browser, &[]).await.expect("bob")["sub"], bob);
    }
    let left = listed(&page(&mut browser, WEB, &super::CHOOSE).await);
    assert!(left.len() == 1 && left[0].contains("bob"), "alice has been away for 40 minutes: {left:?}");
    assert_eq!(silently(&op, &mut browser, &[("login_hint", "alice")]).await.expect("bob")["sub"], bob);
}

#[tokio::test]
async fn the_cookie_outlives_the_browser_only_where_everybody_wants_it() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let lives_on = |answer: &crate::kit::browser::Answer| {
        let mut cookies = answer.headers.get_all("set-cookie").iter().map(|value| value.to_str().expect("text"));
        cookies.find(|text| text.contains("-session-")).expect("the session cookie").contains("Max-Age")
    };
    for (name, password, remember, expected) in
        [("alice", PASSWORD, true, true), ("bob", BOBS, false, false), ("bob", BOBS, true, true)]
    {
        browser.get(&authorize(WEB, "openid", &super::CHOOSE)).await;
        if browser.at.as_ref().expect("a page").page().has_id("another-account") {
            browser.submit("another-account", &[]).await;
        }
        let mut fill = vec![("username", name), ("password", password)];
        fill.extend(remember.then_some(("remember", "on")));
        let answer = browser.submit_once("login-submit", &fill).await;
        assert_eq!(lives_on(&answer), expected, "{name} {remember}");
    }
}
