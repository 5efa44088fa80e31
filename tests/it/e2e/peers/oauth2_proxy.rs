//! oauth2-proxy, which puts a sign-in before pages that have none, in a real browser.

use std::time::{Duration, Instant};

use super::SECRET;
use crate::kit::db;
use crate::kit::oauth2_proxy::OAuth2Proxy;
use crate::kit::process::{Doorward, pause};
use crate::kit::webdriver::{Browser, Script};

const REALM: &str = include_str!("../../../peers/oauth2-proxy/realm.yaml");

/// Asks the proxy who is signed in.
const PERSON: &str = "return fetch('/oauth2/userinfo').then((answer) => answer.json())";

async fn introduce() -> (Doorward, OAuth2Proxy) {
    let mut proxy = OAuth2Proxy::prepare();
    let mut doorward = Doorward::prepare().await;
    doorward.apply(&REALM.replace("@PORT@", &proxy.port().to_string()).replace("@SECRET@", SECRET));
    doorward.start().await;
    proxy.start(&doorward.issuer(), SECRET).await;
    (doorward, proxy)
}

async fn sign_in(browser: &Browser, proxy: &OAuth2Proxy) {
    browser.open(&proxy.address()).await;
    browser.click("form[action$='/oauth2/start'] button").await;
    browser.fill("#username", "alice").await;
    browser.fill("#password", "correct horse battery staple").await;
    browser.click("#login-submit").await;
}

/// How often the proxy was given tokens.
fn tokens_given(doorward: &Doorward) -> usize {
    doorward.log().lines().filter(|line| line.contains("\"route\":\"/token\",\"status\":200")).count()
}

#[tokio::test]
async fn a_person_sees_a_page_behind_oauth2_proxy_and_signs_out_of_both() {
    if db::on_postgres() {
        return;
    }
    let (doorward, proxy) = introduce().await;
    let browser = Browser::start(Script::On).await;
    sign_in(&browser, &proxy).await;
    browser.wait_for("#consent-allow").await;
    // The page's guard against presses that were meant for what stood there before.
    pause(Duration::from_millis(800)).await;
    browser.click("#consent-allow").await;
    browser.wait_for("#private").await;
    let person = browser.run(PERSON).await;
    assert_eq!(person["email"], "alice@example.com", "from userinfo, since ID tokens do not carry it");
    assert_eq!(person["preferredUsername"], "alice");

    // Once the cookie is older than its second, it is renewed with the refresh token at whatever request comes next.
    let (before, until) = (tokens_given(&doorward), Instant::now() + Duration::from_secs(20));
    while tokens_given(&doorward) == before {
        assert!(Instant::now() < until, "it did not refresh");
        pause(Duration::from_millis(200)).await;
        assert_eq!(browser.run(PERSON).await["email"], "alice@example.com");
    }

    // The proxy puts the ID token in the place of its word, so that nobody is asked.
    let back = format!("{}/", proxy.address());
    let logout = format!("{}/logout?id_token_hint={{id_token}}&post_logout_redirect_uri={}", doorward.issuer(), back);
    let escaped: String = form_urlencoded::byte_serialize(logout.as_bytes()).collect();
    browser.open(&format!("{}/oauth2/sign_out?rd={escaped}", proxy.address())).await;
    browser.wait_for_url(&back).await;
    // Not what the browser kept of the page.
    browser.reload().await;
    assert!(!browser.has("#private").await, "the proxy asks to sign in");
    browser.click("form[action$='/oauth2/start'] button").await;
    browser.wait_for("#username").await;
    assert!(browser.url().await.starts_with(&doorward.issuer()), "and so does the provider");
}
