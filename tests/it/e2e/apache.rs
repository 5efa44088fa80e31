//! A person signs in, through a real Chromium, to Debian's Apache with mod_auth_openidc: discovery, code
//! flow with PKCE S256, client_secret_basic, userinfo, RP-initiated logout. On SQLite and on PostgreSQL,
//! by `DOORWARD_TEST_DATABASE`.

use std::time::Duration;

use crate::kit::process::{Doorward, pause};
use crate::kit::services::{Apache, Registration};
use crate::kit::webdriver::{self, Browser, Script};

const CLIENT_SECRET: &str = "apache-secret-of-the-tests-0123456789";
const PASSWORD: &str = "correct horse battery staple";

/// Provider and relying party, introduced to each other; `None` where a peer is missing and allowed to be.
async fn introduce(response_mode: &str) -> Option<(Doorward, Apache)> {
    if !webdriver::is_there() || !Apache::is_there() {
        return None;
    }
    let mut apache = Apache::prepare();
    let mut doorward = Doorward::prepare().await;
    let realm = include_str!("../../peers/apache/realm.yaml")
        .replace("@PORT@", &apache.port().to_string())
        .replace("@CLIENT_SECRET@", CLIENT_SECRET);
    doorward.apply(&realm);
    doorward.start().await;
    let issuer = doorward.issuer();
    apache
        .start(&Registration { issuer: &issuer, client_id: "apache", client_secret: CLIENT_SECRET, response_mode })
        .await;
    Some((doorward, apache))
}

async fn sign_in(browser: &Browser) {
    browser.fill("#username", "alice").await;
    browser.fill("#password", PASSWORD).await;
    browser.click("#login-submit").await;
}

/// Consents, once the page's guard against presses that were meant for what stood there before is over.
async fn consent(browser: &Browser) {
    browser.wait_for("#consent-allow").await;
    pause(Duration::from_millis(800)).await;
    browser.click("#consent-allow").await;
}

async fn assert_signed_in(browser: &Browser, issuer: &str) {
    assert_eq!(browser.text("#remote-user").await, "alice");
    assert_eq!(browser.text("#claim-iss").await, issuer);
    assert_eq!(browser.text("#claim-email").await, "alice@example.com", "the email scope's claims come from userinfo");
    assert_eq!(browser.text("#claim-name").await, "Alice Adams");
    assert!(!browser.text("#claim-sub").await.is_empty());
}

#[tokio::test]
async fn a_person_signs_in_at_apache_and_out_again() {
    let Some((doorward, apache)) = introduce("query").await else { return };
    let browser = Browser::start(Script::On).await;
    let protected = format!("{}/protected/", apache.address());

    browser.open(&protected).await;
    browser.wait_for("#username").await;
    assert!(browser.url().await.starts_with(&doorward.issuer()), "the sign-in page is the provider's");
    assert!(browser.source().await.contains("Apache"), "the page says for whom");
    sign_in(&browser).await;
    consent(&browser).await;
    browser.wait_for_url(&protected).await;
    assert_signed_in(&browser, &doorward.issuer()).await;
    let subject = browser.text("#claim-sub").await;

    // Signed out at the application only: the provider's session signs in again without a question.
    for cookie in browser.cookies().await {
        assert!(cookie.http_only, "{} is readable by scripts", cookie.name);
    }
    browser.forget_cookies_named("mod_auth_openidc").await;
    browser.open(&protected).await;
    browser.wait_for("#remote-user").await;
    assert_eq!(browser.text("#claim-sub").await, subject);

    // RP-initiated logout, and back to the application's page.
    let goodbye = format!("{}/goodbye.html", apache.address());
    browser.open(&format!("{}/protected/callback?logout={}", apache.address(), escape(&goodbye))).await;
    if browser.wait_for_any(&["#goodbye", "#logout-yes"]).await == "#logout-yes" {
        browser.click("#logout-yes").await;
    }
    browser.wait_for("#goodbye").await;
    browser.open(&protected).await;
    browser.wait_for("#username").await;
}

#[tokio::test]
async fn a_wrong_password_is_told_and_the_name_is_kept_without_scripts() {
    let Some((doorward, apache)) = introduce("form_post").await else { return };
    let browser = Browser::start(Script::Off).await;
    let protected = format!("{}/protected/", apache.address());
    browser.open(&protected).await;
    browser.fill("#username", "alice").await;
    browser.fill("#password", "not the password at all").await;
    browser.click("#login-submit").await;
    // The field alone would be found on the page that is just being left.
    browser.wait_for("[role=alert], .field-error").await;
    assert_eq!(browser.value("#username").await, "alice");
    assert_eq!(browser.value("#password").await, "");
    browser.fill("#password", PASSWORD).await;
    browser.click("#login-submit").await;
    consent(&browser).await;
    // The answer comes as a form; without scripts a person sends it with its button.
    if browser.wait_for_any(&["#remote-user", "form[method=post] button"]).await != "#remote-user" {
        browser.click("form[method=post] button").await;
    }
    browser.wait_for("#remote-user").await;
    assert_signed_in(&browser, &doorward.issuer()).await;
}

#[tokio::test]
async fn a_session_survives_a_crash_of_the_provider() {
    let Some((mut doorward, apache)) = introduce("query").await else { return };
    let browser = Browser::start(Script::On).await;
    let protected = format!("{}/protected/", apache.address());
    browser.open(&protected).await;
    browser.wait_for("#username").await;

    // A pending sign-in outlives the process …
    doorward.crash_and_restart().await;
    sign_in(&browser).await;
    consent(&browser).await;
    browser.wait_for("#remote-user").await;

    // … and so does the session.
    doorward.crash_and_restart().await;
    browser.forget_cookies_named("mod_auth_openidc").await;
    browser.open(&protected).await;
    browser.wait_for("#remote-user").await;
    assert_signed_in(&browser, &doorward.issuer()).await;
    assert!(doorward.terminate().await.success(), "SIGTERM ends it calmly");
}

fn escape(url: &str) -> String {
    form_urlencoded::byte_serialize(url.as_bytes()).collect()
}
