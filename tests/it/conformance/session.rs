//! Sessions: `prompt`, `max_age`, hints.

use std::time::Duration;

use super::{FIRST, LONG_STATE, PLANS, Suite, auth_time};
use crate::kit::flow::text;

#[tokio::test]
async fn oidcc_prompt_login() {
    let mut suite = Suite::start().await;
    for mode in PLANS {
        suite.mode = mode;
        let mut browser = suite.op.browser();
        let (_, before) = suite.tokens(&mut browser, &[]).await;
        suite.op.advance(Duration::from_secs(1)).await;
        let url = suite.request(FIRST, &[("prompt", "login")]);
        let page = browser.get(&url).await;
        assert!(page.page().has_id("login-submit"), "asked again: {}", page.body);
        let answer = suite.go_on(&mut browser, page).await;
        let (_, after) = suite.redeem(FIRST, &suite.success(FIRST, &answer)["code"]).await;
        assert!(auth_time(&after) > auth_time(&before));
        assert_eq!(after["sub"], before["sub"]);
    }
}

#[tokio::test]
async fn oidcc_prompt_none_not_logged_in() {
    let mut suite = Suite::start().await;
    for mode in PLANS {
        suite.mode = mode;
        let url = suite.request(FIRST, &[("prompt", "none"), ("state", LONG_STATE)]);
        let allowed = ["login_required", "interaction_required", "account_selection_required", "consent_required"];
        suite.refusal(FIRST, &suite.op.browser().get(&url).await, &allowed);
    }
}

#[tokio::test]
async fn oidcc_prompt_none_logged_in() {
    let mut suite = Suite::start().await;
    for mode in PLANS {
        suite.mode = mode;
        let mut browser = suite.op.browser();
        let (_, before) = suite.tokens(&mut browser, &[]).await;
        suite.op.advance(Duration::from_secs(2)).await;
        let answer = browser.get(&suite.request(FIRST, &[("prompt", "none")])).await;
        let (_, after) = suite.redeem(FIRST, &suite.success(FIRST, &answer)["code"]).await;
        assert_eq!((&after["sub"], auth_time(&after)), (&before["sub"], auth_time(&before)));
    }
}

#[tokio::test]
async fn oidcc_max_age_1() {
    let mut suite = Suite::start().await;
    for mode in PLANS {
        suite.mode = mode;
        let mut browser = suite.op.browser();
        let (_, before) = suite.tokens(&mut browser, &[]).await;
        suite.op.advance(Duration::from_secs(2)).await;
        let page = browser.get(&suite.request(FIRST, &[("max_age", "1")])).await;
        assert!(page.page().has_id("login-submit"), "asked again: {}", page.body);
        let answer = suite.go_on(&mut browser, page).await;
        let (_, after) = suite.redeem(FIRST, &suite.success(FIRST, &answer)["code"]).await;
        assert!(auth_time(&after) > auth_time(&before));
    }
}

#[tokio::test]
async fn oidcc_max_age_10000() {
    let mut suite = Suite::start().await;
    for mode in PLANS {
        suite.mode = mode;
        let mut browser = suite.op.browser();
        let (_, before) = suite.tokens(&mut browser, &[("max_age", "15000")]).await;
        suite.op.advance(Duration::from_secs(2)).await;
        let answer = browser.get(&suite.request(FIRST, &[("max_age", "10000")])).await;
        let (_, after) = suite.redeem(FIRST, &suite.success(FIRST, &answer)["code"]).await;
        assert_eq!(auth_time(&after), auth_time(&before));
    }
}

#[tokio::test]
async fn oidcc_id_token_hint() {
    let mut suite = Suite::start().await;
    for mode in PLANS {
        suite.mode = mode;
        let mut browser = suite.op.browser();
        let (tokens, before) = suite.tokens(&mut browser, &[]).await;
        let extra = [("prompt", "none"), ("id_token_hint", text(&tokens, "id_token"))];
        let answer = browser.get(&suite.request(FIRST, &extra)).await;
        let (_, after) = suite.redeem(FIRST, &suite.success(FIRST, &answer)["code"]).await;
        assert_eq!((&after["sub"], auth_time(&after)), (&before["sub"], auth_time(&before)));
    }
}

#[tokio::test]
async fn oidcc_login_hint() {
    let mut suite = Suite::start().await;
    for mode in PLANS {
        suite.mode = mode;
        suite.tokens(&mut suite.op.browser(), &[("login_hint", "buffy@localhost:8080")]).await;
    }
}

/// Wishes that may not break a sign-in.
async fn is_taken_politely(wish: (&str, &str)) {
    let mut suite = Suite::start().await;
    for mode in PLANS {
        suite.mode = mode;
        suite.tokens(&mut suite.op.browser(), &[wish]).await;
    }
}

#[tokio::test]
async fn oidcc_ui_locales() {
    is_taken_politely(("ui_locales", "se")).await;
}

#[tokio::test]
async fn oidcc_claims_locales() {
    is_taken_politely(("claims_locales", "se")).await;
}

#[tokio::test]
async fn oidcc_display_page() {
    is_taken_politely(("display", "page")).await;
}

#[tokio::test]
async fn oidcc_display_popup() {
    is_taken_politely(("display", "popup")).await;
}

#[tokio::test]
async fn oidcc_ensure_request_with_acr_values_succeeds() {
    let mut suite = Suite::start().await;
    for mode in PLANS {
        suite.mode = mode;
        let document = suite.op.get("/.well-known/openid-configuration", &[]).await.json();
        let listed = document["acr_values_supported"].as_array().expect("a list").iter();
        let asked: Vec<&str> = listed.map(|value| value.as_str().expect("a text")).collect();
        let (_, claims) = suite.tokens(&mut suite.op.browser(), &[("acr_values", &asked.join(" "))]).await;
        assert!(asked.contains(&text(&claims, "acr")), "one of those asked for: {claims}");
    }
}
