//! What stands on the sign-in page, and its buttons.

use crate::kit::flow::{Client, WEB, authorize};
use crate::kit::op::{Op, PASSWORD};
use crate::kit::rows::db_sessions;

const SHOP: Client = Client { id: "shop", secret: None, in_body: false, redirect_uri: "https://shop.example/cb" };

const SHOP_REALM: &str = r#"
realm: main
clients:
  - client_id: shop
    client_name: Corner shop
    token_endpoint_auth_method: none
    redirect_uris: [ "https://shop.example/cb" ]
    grant_types: [ authorization_code ]
    scope: openid
    consent: skip
    policy_uri: "https://shop.example/privacy"
    tos_uri: "https://shop.example/terms"
    client_uri: "https://shop.example/"
"#;

#[tokio::test]
async fn the_client_stands_on_the_page_with_policy_and_terms() {
    let op = Op::start().await;
    op.apply(SHOP_REALM).await;
    let answer = op.browser().get(&authorize(SHOP, "openid", &[])).await;
    let page = answer.page();
    assert!(page.text.contains("Sign in to Corner shop") && page.text.contains("Acme"), "{}", page.text);
    for link in ["https://shop.example/privacy", "https://shop.example/terms", "https://shop.example/"] {
        assert!(page.links().iter().any(|found| found == link), "{link}: {:?}", page.links());
    }
    for id in ["username", "password", "login-submit", "login-cancel", "remember"] {
        assert!(page.has_id(id), "{id}");
    }
    assert_eq!(page.attribute("username", "autocomplete").as_deref(), Some("username"));
    assert_eq!(page.attribute("password", "autocomplete").as_deref(), Some("current-password"));
    assert_eq!(page.attribute("password", "type").as_deref(), Some("password"));
    assert_eq!(page.attribute("password", "value"), None);
}

#[tokio::test]
async fn cancel_tells_the_client_and_signs_nobody_in() {
    let op = Op::start().await;
    let mut browser = op.browser();
    browser.get(&authorize(WEB, "openid", &[])).await;
    let answer = browser.submit("login-cancel", &[]).await;
    assert_eq!(answer.status, 303);
    assert!(answer.location().starts_with("https://app.example/cb?error=access_denied"), "{}", answer.location());
    assert_eq!(answer.location_param("state").as_deref(), Some("st"));
    assert_eq!(answer.location_param("iss").as_deref(), Some("http://localhost:8080"));
    assert_eq!(browser.cookie("session"), None);
}

#[tokio::test]
async fn a_name_is_found_in_any_case_and_by_address() {
    let op = Op::start().await;
    for name in ["alice", "ALICE", " alice ", "Alice@Example.com"] {
        let mut browser = op.browser();
        browser.get(&authorize(WEB, "openid", &[])).await;
        let answer = browser.sign_in(name, PASSWORD).await;
        assert_eq!(answer.status, 303, "{name}: {}", answer.body);
    }
}

#[tokio::test]
async fn keep_me_signed_in_lives_in_the_cookie_and_in_the_session() {
    let op = Op::start().await;
    let set = async |remember: bool| {
        let mut browser = op.browser();
        browser.get(&authorize(WEB, "openid", &[])).await;
        let mut fill = vec![("username", "alice"), ("password", PASSWORD)];
        fill.extend(remember.then_some(("remember", "on")));
        let answer = browser.submit_once("login-submit", &fill).await;
        let cookies =
            answer.headers.get_all("set-cookie").iter().map(|value| value.to_str().expect("ASCII").to_owned());
        let cookie = cookies.filter(|cookie| cookie.contains("session")).collect::<Vec<_>>().remove(0);
        (browser, cookie)
    };
    let day = std::time::Duration::from_secs(86_400);
    let (mut kept, cookie) = set(true).await;
    assert!(cookie.contains("Max-Age=2592000"), "30 days: {cookie}");
    let (mut plain, cookie) = set(false).await;
    assert!(!cookie.contains("Max-Age") && !cookie.contains("Expires"), "{cookie}");
    op.advance(day).await;
    let silent = authorize(WEB, "openid", &[("prompt", "none")]);
    assert_eq!(plain.get(&silent).await.location_param("error").as_deref(), Some("login_required"));
    assert!(kept.get(&silent).await.location_param("code").is_some());
    // A new sign-in of the same session does not shorten it to the browser's life.
    kept.get(&authorize(WEB, "openid", &[("prompt", "login")])).await;
    let answer = kept.submit_once("login-submit", &[("username", "alice"), ("password", PASSWORD)]).await;
    let again = answer.headers.get_all("set-cookie").iter().filter_map(|value| value.to_str().ok());
    assert!(
        again.filter(|cookie| cookie.contains("session")).all(|cookie| cookie.contains("Max-Age=25")),
        "29 days are left"
    );
    op.advance(day * 30).await;
    assert_eq!(kept.get(&silent).await.location_param("error").as_deref(), Some("login_required"));
}

#[tokio::test]
async fn who_signs_in_again_and_wants_to_stay_stays() {
    let op = Op::start().await;
    let (day, silent) = (std::time::Duration::from_secs(86_400), authorize(WEB, "openid", &[("prompt", "none")]));
    for demand in [("prompt", "login"), ("max_age", "1")] {
        let mut browser = op.browser();
        browser.get(&authorize(WEB, "openid", &[])).await;
        browser.sign_in("alice", PASSWORD).await;
        let of_before = db_sessions(&op, "alice").await;
        op.advance(std::time::Duration::from_secs(600)).await;
        browser.get(&authorize(WEB, "openid", &[demand])).await;
        let fill = [("username", "alice"), ("password", PASSWORD), ("remember", "on")];
        let answer = browser.submit_once("login-submit", &fill).await;
        assert!(answer.location_param("code").is_some(), "{demand:?}: {}", answer.body);
        let cookies = answer.headers.get_all("set-cookie").iter().filter_map(|value| value.to_str().ok());
        let session: Vec<&str> = cookies.filter(|cookie| cookie.contains("session")).collect();
        assert!(session.len() == 1 && session[0].contains("Max-Age=2592000"), "{demand:?}: 30 days: {session:?}");
        let after = db_sessions(&op, "alice").await;
        assert_eq!(after.len(), of_before.len(), "{demand:?}: the same session");
        assert_eq!(after.iter().filter(|session| session.remembered).count(), 1, "{demand:?}");
        // Longer than a session lasts that is not kept; without use for days; and to its own end.
        op.advance(day * 20).await;
        assert!(browser.get(&silent).await.location_param("code").is_some(), "{demand:?}: after 20 days");
        op.advance(day * 10 - std::time::Duration::from_secs(1)).await;
        assert!(browser.get(&silent).await.location_param("code").is_some(), "{demand:?}: a second before the end");
        op.advance(std::time::Duration::from_secs(1)).await;
        let answer = browser.get(&silent).await;
        assert_eq!(answer.location_param("error").as_deref(), Some("login_required"), "{demand:?}: after 30 days");
        op.db.run("update session set remembered = false").await;
    }
}

#[tokio::test]
async fn a_realm_may_take_the_box_off_the_page() {
    let op = Op::start().await;
    op.apply("realm: main\nsettings:\n  sessions: { remember_me: 0s }\n").await;
    let mut browser = op.browser();
    let answer = browser.get(&authorize(WEB, "openid", &[])).await;
    assert!(!answer.page().has_id("remember"));
    // Ticked all the same: it counts for nothing.
    let mut fields =
        browser.form("login-submit").filled("login-submit", &[("username", "alice"), ("password", PASSWORD)]);
    fields.push(("remember".to_owned(), "on".to_owned()));
    let ours = [("origin", "http://localhost:8080"), ("sec-fetch-site", "same-origin")];
    let answer = browser.send(http::Method::POST, "/login", Some(&fields), &ours).await;
    assert_eq!(answer.status, 303);
    let cookies = answer.headers.get_all("set-cookie").iter().filter_map(|value| value.to_str().ok());
    assert!(cookies.filter(|cookie| cookie.contains("session")).all(|cookie| !cookie.contains("Max-Age")));
}
