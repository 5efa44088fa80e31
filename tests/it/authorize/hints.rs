//! B-08: hints name a person and prove nothing.

use std::time::Duration;

use super::assert_refused;
use crate::kit::browser::Browser;
use crate::kit::flow::{Client, NATIVE, WEB, authorize, code_answer, id_claims, text, tokens};
use crate::kit::op::{Op, PASSWORD};

const BOBS: &str = "bob has a long password";

async fn id_token_of_alice(op: &Op, client: Client) -> String {
    text(&tokens(op, &mut op.browser(), client, "openid").await, "id_token").to_owned()
}

async fn bob(op: &Op) -> Browser<'_> {
    let mut browser = op.browser();
    browser.get(&authorize(WEB, "openid", &[])).await;
    browser.sign_in("bob", BOBS).await;
    browser
}

async fn is_still_signed_in(browser: &mut Browser<'_>) {
    let answer = browser.get(&authorize(WEB, "openid", &[("prompt", "none")])).await;
    assert!(answer.location_param("code").is_some(), "{}", answer.location());
}

#[tokio::test]
async fn a_hint_of_another_person_signs_nobody_in_and_nobody_out() {
    let op = Op::start().await;
    let hint = id_token_of_alice(&op, WEB).await;
    let mut browser = bob(&op).await;
    let cookie = browser.cookie("session");
    let silent = authorize(WEB, "openid", &[("prompt", "none"), ("id_token_hint", &hint)]);
    let answer = browser.get(&silent).await;
    assert_refused(&answer, WEB.redirect_uri, "login_required", "bob is there, alice is named");
    assert_eq!(browser.cookie("session"), cookie);
    is_still_signed_in(&mut browser).await;
    // Nobody there at all: the hint is no credential.
    let answer = op.browser().get(&silent).await;
    assert_refused(&answer, WEB.redirect_uri, "login_required", "nobody is there, alice is named");

    // Without prompt: asked, with alice's name.
    let login = browser.get(&authorize(WEB, "openid", &[("id_token_hint", &hint)])).await;
    assert_eq!(browser.form("login-submit").value("username").as_deref(), Some("alice"));
    assert!(!login.page().text.contains("Confirm it\u{2019}s you"), "it is another person: {}", login.page().text);
    let answer = browser.sign_in("alice", PASSWORD).await;
    let claims = id_claims(&op, WEB, &answer).await;
    let answer = code_answer(&mut browser, WEB, "openid", &[("prompt", "none"), ("id_token_hint", &hint)]).await;
    assert_eq!(id_claims(&op, WEB, &answer).await["sub"], claims["sub"]);
}

#[tokio::test]
async fn who_signs_in_although_another_is_named_gets_an_error_and_no_loop() {
    let op = Op::start().await;
    let hint = id_token_of_alice(&op, WEB).await;
    let mut browser = op.browser();
    browser.get(&authorize(WEB, "openid", &[("id_token_hint", &hint)])).await;
    let answer = browser.sign_in("bob", BOBS).await;
    assert_refused(&answer, WEB.redirect_uri, "login_required", "bob signed in");
    is_still_signed_in(&mut browser).await;
}

#[tokio::test]
async fn an_expired_hint_still_names_its_person() {
    let op = Op::start().await;
    let hint = id_token_of_alice(&op, WEB).await;
    op.advance(Duration::from_secs(3 * 86_400)).await;
    let mut browser = op.browser();
    browser.get(&authorize(WEB, "openid", &[("id_token_hint", &hint)])).await;
    assert_eq!(browser.form("login-submit").value("username").as_deref(), Some("alice"));
    let first = browser.sign_in("alice", PASSWORD).await;
    let answer = browser.get(&authorize(WEB, "openid", &[("prompt", "none"), ("id_token_hint", &hint)])).await;
    let (first, second) = (id_claims(&op, WEB, &first).await, id_claims(&op, WEB, &answer).await);
    assert_eq!((&first["sub"], &first["auth_time"]), (&second["sub"], &second["auth_time"]));
}

#[tokio::test]
async fn what_is_no_id_token_of_ours_for_this_client_is_refused() {
    let op = Op::start().await;
    let elsewhere = Op::builder().public_url("http://localhost:9090").start().await;
    let own = id_token_of_alice(&op, WEB).await;
    let mut altered = own.clone();
    let last = altered.pop().expect("a signature");
    altered.push(if last == 'A' { 'E' } else { 'A' });
    let access = text(&tokens(&op, &mut op.browser(), WEB, "openid").await, "access_token").to_owned();
    let unsigned = format!("{}.{}.", "eyJhbGciOiJub25lIn0", own.split('.').nth(1).expect("a payload"));
    let mut browser = bob(&op).await;
    for (what, hint) in [
        ("another client's", id_token_of_alice(&op, NATIVE).await),
        ("another issuer's", id_token_of_alice(&elsewhere, WEB).await),
        ("altered", altered),
        ("unsigned", unsigned),
        ("an access token", access),
        ("garbage", "garbage".to_owned()),
        ("dots", "...".to_owned()),
    ] {
        for prompt in ["none", ""] {
            let answer = browser.get(&authorize(WEB, "openid", &[("prompt", prompt), ("id_token_hint", &hint)])).await;
            assert_refused(&answer, WEB.redirect_uri, "invalid_request", what);
        }
    }
    is_still_signed_in(&mut browser).await;
}

#[tokio::test]
async fn a_login_hint_only_fills_in_the_name() {
    let op = Op::start().await;
    let long = "x".repeat(5000);
    for (hint, shown) in [
        ("a@x<script>", "a@x<script>"),
        ("\"><img src=x onerror=alert(1)>", "\"><img src=x onerror=alert(1)>"),
        ("alice", "alice"),
        ("nobody@example.com", "nobody@example.com"),
        ("\u{202e}ecila", ""),
        (long.as_str(), ""),
    ] {
        let mut browser = op.browser();
        let answer = browser.get(&authorize(WEB, "openid", &[("login_hint", hint)])).await;
        assert_eq!(answer.status, 200);
        assert_eq!(browser.form("login-submit").value("username").as_deref(), Some(shown), "{hint}");
        assert!(!answer.body.contains("<script>") && !answer.body.contains("<img src=x"), "{}", answer.body);
        // Nothing of it stands in an address.
        assert!(!answer.url.contains("hint"), "{}", answer.url);
    }
    // Silence says nothing about a person either.
    for hint in ["alice", "nobody"] {
        let answer = op.browser().get(&authorize(WEB, "openid", &[("login_hint", hint), ("prompt", "none")])).await;
        assert_refused(&answer, WEB.redirect_uri, "login_required", hint);
    }
    // It is no wish to sign in as somebody else: who is there goes on.
    let mut browser = bob(&op).await;
    let answer = browser.get(&authorize(WEB, "openid", &[("login_hint", "alice")])).await;
    assert!(answer.location_param("code").is_some(), "{}", answer.location());
}
