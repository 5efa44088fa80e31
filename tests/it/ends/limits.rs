//! Idle, absolute and remember-me limits of sessions, in authorization, refresh, introspection and userinfo.

use std::time::Duration;

use crate::kit::flow::{ASKER, OPAQUE, WEB, authorize, introspect, post_as, redeem, refresh};
use crate::kit::op::{Op, PASSWORD, REALM};

use super::{Held, is_signed_in};

const MINUTE: Duration = Duration::from_mins(1);

/// Idle 10 minutes, absolute an hour, remembered two hours; access tokens that outlive the idle limit.
async fn start() -> Op {
    let settings = "settings:\n  sessions: { idle: 10m, absolute: 1h, remember_me: 2h }\n  tokens: { access: 1h }\n";
    Op::builder().realm(&REALM.replace("settings:\n", settings)).start().await
}

#[tokio::test]
async fn an_idle_session_ends_in_every_place_that_gives_something() {
    for client in [WEB, OPAQUE, ASKER] {
        let op = start().await;
        let mut browser = op.browser();
        let held = Held::get(&op, &mut browser, client, "openid").await;
        // Browser requests move the idle time; the limit itself is still within.
        for _ in 0..2 {
            op.advance(MINUTE * 10).await;
            assert!(is_signed_in(&mut browser).await, "{}: within the limit", client.id);
        }
        assert!(held.is_live(&op).await);
        op.advance(MINUTE * 10 + Duration::from_secs(1)).await;
        assert!(!is_signed_in(&mut browser).await, "{}", client.id);
        held.assert_dead(&op, "idle").await;
        let login = browser.get(&authorize(client, "openid", &[])).await;
        assert!(login.page().has_id("login-submit"), "she is asked again, not refused: {}", login.body);
    }
}

#[tokio::test]
async fn refreshing_in_the_background_keeps_no_session_alive() {
    let op = start().await;
    let mut browser = op.browser();
    let held = Held::get(&op, &mut browser, WEB, "openid").await;
    op.advance(MINUTE * 6).await;
    let answer = refresh(&op, WEB, &held.refresh).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let held = Held::read(WEB, &answer.json());
    assert!(held.is_live(&op).await, "asking does not count either");
    op.advance(MINUTE * 6).await;
    held.assert_dead(&op, "twelve minutes without the browser").await;
    assert!(!is_signed_in(&mut browser).await);
}

#[tokio::test]
async fn what_is_granted_for_offline_use_outlives_the_session() {
    let op = start().await;
    let mut browser = op.browser();
    let held = Held::get(&op, &mut browser, WEB, "openid email offline_access").await;
    op.advance(MINUTE * 61).await;
    assert!(!is_signed_in(&mut browser).await);
    let answer = refresh(&op, WEB, &held.refresh).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let held = Held::read(WEB, &answer.json());
    assert!(held.is_live(&op).await);
    // Asked for less: the token does not say that it is of an offline grant, and is one all the same.
    let fields = [("grant_type", "refresh_token"), ("refresh_token", held.refresh.as_str()), ("scope", "openid email")];
    let answer = post_as(&op, WEB, "/token", &fields).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let narrow = Held::read(WEB, &answer.json());
    assert_eq!(introspect(&op, WEB, &narrow.access).await["active"], true);
}

#[tokio::test]
async fn the_absolute_limit_holds_however_busy_the_session_is() {
    let op = start().await;
    let mut browser = op.browser();
    let held = Held::get(&op, &mut browser, WEB, "openid").await;
    for _ in 0..6 {
        op.advance(MINUTE * 9).await;
        assert!(is_signed_in(&mut browser).await);
    }
    op.advance(Duration::from_secs(5 * 60 + 59)).await;
    assert!(is_signed_in(&mut browser).await, "59 minutes and 59 seconds");
    let code = crate::kit::flow::code(&mut browser, WEB, "openid").await;
    op.advance(Duration::from_secs(1)).await;
    assert!(!is_signed_in(&mut browser).await, "one hour");
    held.assert_dead(&op, "one hour").await;
    let answer = redeem(&op, WEB, &code).await;
    assert_eq!(answer.status, 400, "a code of a session that is over: {}", answer.body);
}

#[tokio::test]
async fn a_remembered_session_has_limits_of_its_own() {
    let op = start().await;
    let mut browser = op.browser();
    browser.get(&authorize(WEB, "openid", &[])).await;
    let remember = [("username", "alice"), ("password", PASSWORD), ("remember", "on")];
    let answer = browser.submit_once("login-submit", &remember).await;
    let cookies: Vec<&str> =
        answer.headers.get_all("set-cookie").iter().map(|value| value.to_str().expect("ASCII")).collect();
    let session = cookies.iter().find(|cookie| cookie.contains("session")).expect("the session's cookie");
    assert!(session.contains("Max-Age=7200"), "{session}");
    let held = Held::read(WEB, &redeem(&op, WEB, &answer.location_param("code").expect("a code")).await.json());
    op.advance(MINUTE * 119).await;
    assert!(is_signed_in(&mut browser).await, "no idle limit but this one");
    let refreshed = refresh(&op, WEB, &held.refresh).await;
    assert_eq!(refreshed.status, 200, "{}", refreshed.body);
    op.advance(MINUTE).await;
    assert!(!is_signed_in(&mut browser).await, "two hours");
    Held::read(WEB, &refreshed.json()).assert_dead(&op, "two hours").await;
}

#[tokio::test]
async fn a_session_that_is_not_remembered_lasts_as_long_as_the_browser_and_no_longer_than_its_limits() {
    let op = start().await;
    let mut browser = op.browser();
    browser.get(&authorize(WEB, "openid", &[])).await;
    let answer = browser.submit_once("login-submit", &[("username", "alice"), ("password", PASSWORD)]).await;
    let cookies = answer.headers.get_all("set-cookie").iter().map(|value| value.to_str().expect("ASCII"));
    let session = cookies.filter(|cookie| cookie.contains("session")).collect::<Vec<_>>();
    assert!(!session.is_empty() && session.iter().all(|cookie| !cookie.contains("Max-Age")), "{session:?}");

    // Where the realm remembers nobody, nobody is asked, and who insists is not remembered.
    let op = Op::builder()
        .realm(&REALM.replace("settings:\n", "settings:\n  sessions: { remember_me: 0s }\n"))
        .start()
        .await;
    let mut browser = op.browser();
    let page = browser.get(&authorize(WEB, "openid", &[])).await;
    assert!(!page.body.contains("name=\"remember\""), "{}", page.body);
}
