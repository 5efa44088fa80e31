//! B-09: `offline_access`, order, repeats and unknown scopes.

use super::assert_refused;
use crate::kit::flow::{ASKER, OPAQUE, WEB, authorize, code_answer, redeem};
use crate::kit::op::Op;

#[tokio::test]
async fn order_and_repeats_do_not_matter_and_offline_access_is_asked_for() {
    for scope in ["openid offline_access email", "offline_access email openid openid unknown:x"] {
        let op = Op::start().await;
        let mut browser = op.browser();
        let answer = browser.get(&authorize(ASKER, scope, &[])).await;
        assert!(answer.page().has_id("login-submit"), "{scope}");
        let consent = browser.sign_in("alice", crate::kit::op::PASSWORD).await;
        assert!(consent.page().text.contains("while you are away"), "{scope}: {}", consent.page().text);
        let answer = browser.submit("consent-allow", &[]).await;
        let tokens = redeem(&op, ASKER, &answer.location_param("code").expect("a code")).await.json();
        assert!(tokens["refresh_token"].is_string(), "{scope}: {tokens}");
        let mut granted: Vec<&str> = tokens["scope"].as_str().unwrap_or(scope).split(' ').collect();
        granted.sort_unstable();
        assert_eq!(granted, ["email", "offline_access", "openid"], "{scope}");
        if scope.contains("unknown") {
            assert!(tokens["scope"].is_string(), "named whenever it differs: {tokens}");
        }

        // Allowed before: honoured in silence.
        let answer = browser.get(&authorize(ASKER, scope, &[("prompt", "none")])).await;
        let tokens = redeem(&op, ASKER, &answer.location_param("code").expect("a code")).await.json();
        assert!(tokens["refresh_token"].is_string(), "{scope}: {tokens}");
    }
}

#[tokio::test]
async fn offline_access_without_consent_asks_or_says_so() {
    let op = Op::start().await;
    let mut browser = op.browser();
    code_answer(&mut browser, ASKER, "openid", &[]).await;
    let answer = browser.get(&authorize(ASKER, "openid offline_access", &[("prompt", "none")])).await;
    assert_refused(&answer, ASKER.redirect_uri, "consent_required", "in silence");
    let answer = browser.get(&authorize(ASKER, "openid offline_access", &[])).await;
    assert!(answer.page().has_id("consent-allow"), "{}", answer.body);
}

#[tokio::test]
async fn a_trusted_client_gets_offline_access_without_a_question() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let answer = code_answer(&mut browser, WEB, "offline_access openid", &[]).await;
    let tokens = redeem(&op, WEB, &answer.location_param("code").expect("a code")).await.json();
    assert!(tokens["refresh_token"].is_string(), "{tokens}");
    // A client that may not ask for it does not get it, and is told.
    let answer = code_answer(&mut browser, OPAQUE, "openid offline_access", &[]).await;
    let tokens = redeem(&op, OPAQUE, &answer.location_param("code").expect("a code")).await.json();
    assert_eq!(tokens["scope"].as_str(), Some("openid"), "{tokens}");
}

#[tokio::test]
async fn nothing_known_is_invalid_scope() {
    let op = Op::start().await;
    for scope in ["unknown:x", "a\"b", "openid \u{e9}", ""] {
        let answer = op.browser().get(&authorize(WEB, scope, &[("scope", scope)])).await;
        assert_refused(&answer, WEB.redirect_uri, "invalid_scope", scope);
    }
}
