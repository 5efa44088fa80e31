//! B-07: `prompt` and `max_age`, as far as the authorization endpoint answers by itself.

use std::time::Duration;

use super::assert_refused;
use crate::kit::flow::{ASKER, WEB, authorize, code};
use crate::kit::op::{Op, PASSWORD};

#[tokio::test]
async fn prompt_none_stands_alone() {
    let op = Op::start().await;
    for prompt in ["none login", "login none", "none consent", "select_account none", "none none login"] {
        let answer = op.browser().get(&authorize(WEB, "openid", &[("prompt", prompt)])).await;
        assert_refused(&answer, WEB.redirect_uri, "invalid_request", prompt);
        assert_eq!(answer.location_param("state").as_deref(), Some("st"));
    }
    for prompt in ["create", "LOGIN", "whatever"] {
        let answer = op.browser().get(&authorize(WEB, "openid", &[("prompt", prompt)])).await;
        assert_refused(&answer, WEB.redirect_uri, "invalid_request", prompt);
    }
}

#[tokio::test]
async fn prompt_none_never_shows_a_page() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let silent = authorize(ASKER, "openid profile", &[("prompt", "none")]);

    let answer = browser.get(&silent).await;
    assert_refused(&answer, ASKER.redirect_uri, "login_required", "nobody is signed in");
    // Nothing but what the norm names.
    let (_, query) = answer.location().split_once('?').expect("a query");
    let names: Vec<String> = form_urlencoded::parse(query.as_bytes()).map(|(name, _)| name.into_owned()).collect();
    assert_eq!(names, ["error", "error_description", "state", "iss"]);

    code(&mut browser, WEB, "openid").await;
    let answer = browser.get(&silent).await;
    assert_refused(&answer, ASKER.redirect_uri, "consent_required", "consent is missing");

    code(&mut browser, ASKER, "openid profile").await;
    let answer = browser.get(&silent).await;
    assert!(answer.location_param("code").is_some(), "{}", answer.location());
    // More than was allowed asks again.
    let answer = browser.get(&authorize(ASKER, "openid profile email", &[("prompt", "none")])).await;
    assert_refused(&answer, ASKER.redirect_uri, "consent_required", "consent is too narrow");
}

#[tokio::test]
async fn prompt_none_with_a_session_too_old_needs_a_login_and_leaves_the_session() {
    let op = Op::start().await;
    let mut browser = op.browser();
    code(&mut browser, WEB, "openid").await;
    op.advance(Duration::from_secs(60)).await;
    let answer = browser.get(&authorize(WEB, "openid", &[("prompt", "none"), ("max_age", "60")])).await;
    assert!(answer.location_param("code").is_some(), "within is 0 <= age <= limit: {}", answer.location());
    op.advance(Duration::from_secs(1)).await;
    for max_age in ["60", "0"] {
        let answer = browser.get(&authorize(WEB, "openid", &[("prompt", "none"), ("max_age", max_age)])).await;
        assert_refused(&answer, WEB.redirect_uri, "login_required", max_age);
    }
    let answer = browser.get(&authorize(WEB, "openid", &[("prompt", "none")])).await;
    assert!(answer.location_param("code").is_some(), "{}", answer.location());
}

#[tokio::test]
async fn several_prompts_are_taken_in_any_order() {
    let op = Op::start().await;
    for prompt in
        ["login consent select_account", "select_account consent login", "consent  login login select_account"]
    {
        let mut browser = op.browser();
        code(&mut browser, ASKER, "openid profile").await;
        // Signed in and allowed before: the account is asked for first, then proof and consent again.
        let choice = browser.get(&authorize(ASKER, "openid profile", &[("prompt", prompt)])).await;
        assert!(choice.page().has_id("choose-1"), "{prompt}: {}", choice.body);
        browser.submit("choose-1", &[]).await;
        assert_eq!(browser.form("login-submit").value("username").as_deref(), Some("alice"), "{prompt}");
        let consent = browser.sign_in("alice", PASSWORD).await;
        assert!(consent.page().has_id("consent-allow"), "{prompt}: {}", consent.body);
        let answer = browser.submit("consent-allow", &[]).await;
        assert!(answer.location_param("code").is_some(), "{prompt}: {}", answer.location());
    }
}

#[tokio::test]
async fn max_age_is_a_whole_number_of_seconds() {
    let op = Op::start().await;
    for max_age in ["-1", "abc", "1.5", "+1", "99999999999999999999"] {
        let answer = op.browser().get(&authorize(WEB, "openid", &[("max_age", max_age)])).await;
        assert_refused(&answer, WEB.redirect_uri, "invalid_request", max_age);
    }
    let mut browser = op.browser();
    code(&mut browser, WEB, "openid").await;
    let answer = browser.get(&format!("{}&max_age=", authorize(WEB, "openid", &[]))).await;
    assert!(answer.location_param("code").is_some(), "empty is absent: {}", answer.location());
}
