//! Errors of clients that registered themselves (`security-design` rule 31; RFC 9700 section 4.11.2): while nobody
//! is signed in they stay on a page, since anybody could have registered the address.

use serde_json::json;

use super::{app, app_with, as_client, open, registered, set};
use crate::kit::browser::Answer;
use crate::kit::flow::{Client, WEB, authorize, tokens};
use crate::kit::op::Op;

/// Requests that are refused before anybody signs in.
const REFUSED: [&[(&str, &str)]; 5] = [
    &[("prompt", "none")],
    &[("scope", "")],
    &[("code_challenge", "")],
    &[("response_type", "token")],
    &[("prompt", "none"), ("response_mode", "form_post")],
];

#[track_caller]
fn stays(answer: &Answer) {
    assert_eq!(answer.status, 400, "{}", answer.body);
    assert!(answer.header("location").is_none() && answer.header("refresh").is_none());
    assert!(!answer.page().has_id("form-post-submit"), "{}", answer.body);
    assert!(!answer.page().links().iter().any(|link| link.contains("fresh.example")), "no way there: {}", answer.body);
    assert!(answer.page().text.contains("not_returned"), "{}", answer.page().text);
    answer.page().check(answer);
}

async fn client(op: &Op) -> Client {
    as_client(&registered(op, &app()).await)
}

#[tokio::test]
async fn without_a_sign_in_nobody_is_sent_to_a_stranger() {
    let op = open().await;
    let client = client(&op).await;
    for extra in REFUSED {
        let answer = op.browser().get(&authorize(client, "openid", extra)).await;
        stays(&answer);
        assert!(answer.page().text.contains("error_description"), "its developer reads why: {}", answer.page().text);
        let other = op.browser().get(&authorize(WEB, "openid", extra)).await;
        assert!(!other.body.contains("not_returned"), "an operator's client gets its answer");
    }
    let mut browser = op.browser();
    browser.get(&authorize(client, "openid", &[])).await;
    stays(&browser.submit("login-cancel", &[]).await);
}

#[tokio::test]
async fn who_is_signed_in_comes_back() {
    let op = open().await;
    let client = client(&op).await;
    let mut browser = op.browser();
    tokens(&op, &mut browser, WEB, "openid").await;
    for (extra, error) in REFUSED.iter().take(4).zip([
        "consent_required",
        "invalid_scope",
        "invalid_request",
        "unsupported_response_type",
    ]) {
        let answer = browser.get(&authorize(client, "openid", extra)).await;
        assert!(answer.location().starts_with("https://fresh.example/cb"), "{extra:?}: {}", answer.body);
        assert!(answer.location().contains(error), "{extra:?}: {}", answer.location());
    }
    browser.get(&authorize(client, "openid", &[])).await;
    let denied = browser.submit("consent-deny", &[]).await;
    assert_eq!(denied.location_param("error").as_deref(), Some("access_denied"));
}

#[tokio::test]
async fn a_realm_for_conformance_runs_may_let_them_go() {
    let op = open().await;
    set(&op, "redirect_errors: true").await;
    let client = client(&op).await;
    let answer = op.browser().get(&authorize(client, "openid", &[("prompt", "none")])).await;
    assert_eq!(answer.location_param("error").as_deref(), Some("login_required"));
    let mut browser = op.browser();
    browser.get(&authorize(client, "openid", &[])).await;
    let cancelled = browser.submit("login-cancel", &[]).await;
    assert_eq!(cancelled.location_param("error").as_deref(), Some("access_denied"));
    // A wrong address is nobody's, whatever is switched on.
    let wrong = op.browser().get(&authorize(client, "openid", &[("redirect_uri", "https://evil.example/")])).await;
    assert!(wrong.status == 400 && wrong.header("location").is_none());
}

#[tokio::test]
async fn confidential_ones_need_pkce_as_the_realm_says() {
    let op = open().await;
    set(&op, "redirect_errors: true").await;
    let confidential = client(&op).await;
    let public = json!({ "token_endpoint_auth_method": "none" });
    let public = as_client(&registered(&op, &app_with(&public)).await);
    let without = [("code_challenge", ""), ("code_challenge_method", "")];
    let asked = async |client| {
        let answer = op.browser().get(&authorize(client, "openid", &without)).await;
        answer.page().has_id("login-submit")
    };
    assert!(!asked(confidential).await && !asked(public).await);
    // What the suite's realm sets: it sends no code challenge.
    op.apply("realm: main\nsettings: { clients: { require_pkce: false } }\n").await;
    assert!(asked(confidential).await);
    assert!(!asked(public).await, "a public client always");
}

/// OpenID Connect Core 4: where the person cannot be sent back, she may begin anew at the application.
#[tokio::test]
async fn a_page_without_a_way_back_offers_where_the_application_begins() {
    let op = open().await;
    let begin = "https://app.example/login?from=idp";
    op.apply(&format!("realm: main\nclients:\n  - {{ client_id: web, initiate_login_uri: \"{begin}\" }}\n")).await;
    let wrong = [("redirect_uri", "https://app.example/elsewhere")];
    let page = op.browser().get(&authorize(WEB, "openid", &wrong)).await.page();
    let link = page.attribute("back", "href").expect("a way back");
    assert_eq!(link, format!("{begin}&iss=http%3A%2F%2Flocalhost%3A8080"));
    // A stranger's word is not offered.
    let made = registered(&op, &app_with(&json!({ "initiate_login_uri": "https://fresh.example/login" }))).await;
    let page = op.browser().get(&authorize(as_client(&made), "openid", &wrong)).await.page();
    assert!(page.text.contains("redirect_uri_mismatch") && !page.has_id("back"), "{}", page.text);
}
