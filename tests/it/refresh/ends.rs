//! What ends a family: online ones end with their session, offline ones outlive it, and neither outlives
//! the account's power (`security-design` rules 1 and 4; `decisions`, "Offline").

use std::time::Duration;

use doorward::service::admin;

use crate::kit::browser::Browser;
use crate::kit::flow::{NATIVE, WEB, authorize, code, post_as, redeem, refresh, text};
use crate::kit::op::{Op, PASSWORD};
use crate::kit::token::{
    assert_alive, assert_dead, db_delete_user, db_disable, db_grant, db_realm, db_set_password, db_user, given,
    refused, signed_in, signed_in_with, works,
};

const MINUTE: Duration = Duration::from_mins(1);
const DAY: Duration = Duration::from_hours(24);

const SHORT: &str = "realm: main\nsettings: { sessions: { idle: 30m, absolute: 1h } }\n";
const FEW_DAYS: &str = "realm: main\nsettings: { tokens: { refresh_idle: 2d, refresh_absolute: 5d } }\n";

async fn log_out(browser: &mut Browser<'_>) {
    browser.get("/logout").await;
    let out = browser.submit("logout-yes", &[]).await;
    assert_eq!(out.status, 200, "{}", out.body);
}

/// Whether the browser is signed in, by a request that shows no page.
async fn is_signed_in(browser: &mut Browser<'_>) -> bool {
    let answer = browser.get(&authorize(WEB, "openid", &[("prompt", "none")])).await;
    let error = answer.location_param("error");
    assert!(matches!(error.as_deref(), None | Some("login_required")), "{error:?}");
    error.is_none()
}

#[tokio::test]
async fn a_logout_ends_what_lives_on_the_session_and_spares_what_was_granted_for_offline_use() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let online = signed_in_with(&op, &mut browser, "openid profile").await;
    let offline = signed_in_with(&op, &mut browser, "openid offline_access").await;
    let elsewhere = signed_in(&op).await;
    log_out(&mut browser).await;
    assert_dead(&op, WEB, &online).await;
    let offline = assert_alive(&op, WEB, &offline).await;
    assert_alive(&op, WEB, &elsewhere).await;
    op.advance(DAY).await;
    given(&refresh(&op, WEB, text(&offline, "refresh_token")).await);
}

#[tokio::test]
async fn an_online_family_ends_when_its_session_was_idle_too_long() {
    let op = Op::start().await;
    let online = signed_in(&op).await;
    let offline = signed_in_with(&op, &mut op.browser(), "openid offline_access").await;
    op.advance(30 * MINUTE).await;
    let online = given(&refresh(&op, WEB, text(&online, "refresh_token")).await);
    op.advance(Duration::from_secs(1)).await;
    refused(&refresh(&op, WEB, text(&online, "refresh_token")).await, 400, "invalid_grant");
    given(&refresh(&op, WEB, text(&offline, "refresh_token")).await);
}

#[tokio::test]
async fn refreshing_does_not_keep_the_browser_signed_in_and_the_browser_keeps_the_family() {
    let op = Op::start().await;
    let (mut quiet, mut busy) = (op.browser(), op.browser());
    let mut of_quiet = signed_in_with(&op, &mut quiet, "openid profile").await;
    let mut of_busy = signed_in_with(&op, &mut busy, "openid profile").await;
    for _ in 0..3 {
        op.advance(10 * MINUTE).await;
        of_quiet = given(&refresh(&op, WEB, text(&of_quiet, "refresh_token")).await);
        of_busy = given(&refresh(&op, WEB, text(&of_busy, "refresh_token")).await);
        assert!(is_signed_in(&mut busy).await);
    }
    op.advance(MINUTE).await;
    assert!(!is_signed_in(&mut quiet).await, "thirty-one minutes without the browser");
    refused(&refresh(&op, WEB, text(&of_quiet, "refresh_token")).await, 400, "invalid_grant");
    assert!(is_signed_in(&mut busy).await);
    given(&refresh(&op, WEB, text(&of_busy, "refresh_token")).await);
}

#[tokio::test]
async fn an_online_family_ends_with_the_sessions_last_hour_however_busy() {
    let op = Op::start().await;
    op.apply(SHORT).await;
    let mut browser = op.browser();
    let mut tokens = signed_in_with(&op, &mut browser, "openid profile").await;
    let offline = signed_in_with(&op, &mut browser, "openid offline_access").await;
    for _ in 0..5 {
        op.advance(11 * MINUTE).await;
        assert!(is_signed_in(&mut browser).await);
        tokens = given(&refresh(&op, WEB, text(&tokens, "refresh_token")).await);
    }
    op.advance(5 * MINUTE).await;
    assert!(!is_signed_in(&mut browser).await);
    refused(&refresh(&op, WEB, text(&tokens, "refresh_token")).await, 400, "invalid_grant");
    given(&refresh(&op, WEB, text(&offline, "refresh_token")).await);
}

#[tokio::test]
async fn a_family_that_nobody_uses_ends() {
    let op = Op::start().await;
    op.apply(FEW_DAYS).await;
    let tokens = signed_in_with(&op, &mut op.browser(), "openid offline_access").await;
    op.advance(2 * DAY).await;
    let tokens = given(&refresh(&op, WEB, text(&tokens, "refresh_token")).await);
    op.advance(2 * DAY + Duration::from_secs(1)).await;
    refused(&refresh(&op, WEB, text(&tokens, "refresh_token")).await, 400, "invalid_grant");
}

#[tokio::test]
async fn a_family_in_daily_use_ends_at_its_absolute_limit() {
    let op = Op::start().await;
    op.apply(FEW_DAYS).await;
    let first = signed_in_with(&op, &mut op.browser(), "openid offline_access").await;
    let ends = db_grant(&op, text(&first, "refresh_token")).await.expires_at;
    let mut tokens = first;
    for _ in 0..4 {
        op.advance(DAY).await;
        tokens = given(&refresh(&op, WEB, text(&tokens, "refresh_token")).await);
    }
    op.advance(DAY - Duration::from_secs(1)).await;
    tokens = given(&refresh(&op, WEB, text(&tokens, "refresh_token")).await);
    assert_eq!(db_grant(&op, text(&tokens, "refresh_token")).await.expires_at, ends, "use moves nothing");
    op.advance(Duration::from_secs(1)).await;
    refused(&refresh(&op, WEB, text(&tokens, "refresh_token")).await, 400, "invalid_grant");
}

#[tokio::test]
async fn password_change_disabling_and_deletion_end_offline_families_too_at_once() {
    for ending in ["password", "disable", "delete"] {
        for (client, scope) in [(WEB, "openid offline_access"), (WEB, "openid"), (NATIVE, "openid offline_access")] {
            let op = Op::start().await;
            let other = Op::builder().beside(&op).start().await;
            let code = code(&mut op.browser(), client, scope).await;
            let tokens = given(&redeem(&op, client, &code).await);
            assert!(works(&other, client, &tokens).await);
            match ending {
                "password" => db_set_password(&op, "another long password").await,
                "disable" => db_disable(&op).await,
                _ => db_delete_user(&op).await,
            }
            assert_dead(&op, client, &tokens).await;
            other.poll().await;
            assert_dead(&other, client, &tokens).await;
        }
    }
}

#[tokio::test]
async fn enabling_again_revives_nothing() {
    let op = Op::start().await;
    let tokens = signed_in_with(&op, &mut op.browser(), "openid offline_access").await;
    db_disable(&op).await;
    let user = db_user(&op, "alice").await;
    assert!(admin::user::switch(&op.app, &user, true).await.unwrap());
    assert_dead(&op, WEB, &tokens).await;
    let anew = signed_in(&op).await;
    assert_alive(&op, WEB, &anew).await;
}

#[tokio::test]
async fn an_administrator_ends_one_session_or_all_and_offline_use_only_when_asked() {
    let op = Op::start().await;
    let (mut one, mut two) = (op.browser(), op.browser());
    let first = signed_in_with(&op, &mut one, "openid profile").await;
    let second = signed_in_with(&op, &mut two, "openid profile").await;
    let offline = signed_in_with(&op, &mut one, "openid offline_access").await;
    let (realm, user) = (db_realm(&op).await, db_user(&op, "alice").await);
    let session = db_grant(&op, text(&first, "refresh_token")).await.session;
    assert!(admin::session::end(&op.app, &realm, session).await.unwrap());
    assert_dead(&op, WEB, &first).await;
    assert!(!is_signed_in(&mut one).await && is_signed_in(&mut two).await);
    let second = assert_alive(&op, WEB, &second).await;
    assert_eq!(admin::session::end_all(&op.app, &user, admin::session::Offline::Keep).await.unwrap(), 1);
    assert_dead(&op, WEB, &second).await;
    let offline = assert_alive(&op, WEB, &offline).await;
    admin::session::end_all(&op.app, &user, admin::session::Offline::End).await.unwrap();
    assert_dead(&op, WEB, &offline).await;
}

#[tokio::test]
async fn a_new_sign_in_of_the_same_browser_keeps_the_family_and_its_auth_time() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let tokens = signed_in_with(&op, &mut browser, "openid profile").await;
    op.advance(MINUTE).await;
    browser.get(&authorize(WEB, "openid", &[("prompt", "login")])).await;
    let answer = browser.sign_in("alice", PASSWORD).await;
    let later = given(&redeem(&op, WEB, &answer.location_param("code").expect("a code")).await);
    let refreshed = given(&refresh(&op, WEB, text(&tokens, "refresh_token")).await);
    let auth_time = |tokens| crate::kit::flow::decode(text(tokens, "id_token")).1["auth_time"].as_i64().unwrap();
    assert_eq!(auth_time(&refreshed), auth_time(&tokens), "of the sign-in that the grant was made by");
    assert_eq!(auth_time(&later), auth_time(&tokens) + 60);
}

#[tokio::test]
async fn a_disabled_client_or_realm_refreshes_nothing() {
    let op = Op::start().await;
    let tokens = signed_in_with(&op, &mut op.browser(), "openid offline_access").await;
    op.apply("realm: main\nclients:\n  - { client_id: web, enabled: false }\n").await;
    refused(&refresh(&op, WEB, text(&tokens, "refresh_token")).await, 401, "invalid_client");
    let seen = post_as(&op, crate::kit::flow::API, "/introspect", &[("token", text(&tokens, "access_token"))]).await;
    assert_eq!(seen.json(), serde_json::json!({ "active": false }));
    assert_eq!(crate::kit::flow::userinfo(&op, text(&tokens, "access_token")).await.status, 401);
    op.apply("realm: main\nclients:\n  - { client_id: web, enabled: true }\n").await;
    refused(&refresh(&op, WEB, text(&tokens, "refresh_token")).await, 400, "invalid_grant");
}
