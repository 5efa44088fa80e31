//! Applications name a person; the browser's accounts are not told of otherwise.

use super::{both, listed, page, silently, subjects};
use crate::kit::flow::{ASKER, Client, WEB, authorize, code, decode, id_claims, redeem, text};
use crate::kit::op::{Op, PASSWORD};

async fn id_token(op: &Op, client: Client, name: &str, password: &str) -> String {
    let mut browser = op.browser();
    browser.get(&authorize(client, "openid", &[])).await;
    let answer = browser.sign_in(name, password).await;
    let answer =
        if answer.page().has_id("consent-allow") { browser.submit("consent-allow", &[]).await } else { answer };
    let code = answer.location_param("code").expect("a code");
    text(&redeem(op, client, &code).await.json(), "id_token").to_owned()
}

#[tokio::test]
async fn silence_finds_the_present_account_or_the_one_that_is_named() {
    let op = Op::start().await;
    let (alice, bob) = subjects(&op).await;
    let mut browser = both(&op).await;
    assert_eq!(silently(&op, &mut browser, &[]).await.expect("bob")["sub"], bob);
    let hint = id_token(&op, WEB, "alice", PASSWORD).await;
    for named in [
        [("id_token_hint", hint.as_str())].as_slice(),
        &[("login_hint", "alice")],
        &[("login_hint", "ALICE@example.com")],
        // What is signed goes before what is typed.
        &[("id_token_hint", &hint), ("login_hint", "bob")],
    ] {
        assert_eq!(silently(&op, &mut browser, named).await.expect("alice")["sub"], alice, "{named:?}");
        assert_eq!(silently(&op, &mut browser, &[]).await.expect("bob")["sub"], bob, "it changes nothing");
    }
    // A part of a name, or a name that is nobody's here, picks nobody.
    for named in ["alic", "alice2", "nopass", ""] {
        let found = silently(&op, &mut browser, &[("login_hint", named)]).await.expect("bob");
        assert_eq!(found["sub"], bob, "{named}");
    }
}

#[tokio::test]
async fn a_subject_who_is_not_here_is_answered_for_by_nobody() {
    let op = Op::start().await;
    let mut browser = op.browser();
    code(&mut browser, WEB, "openid").await;
    op.apply("realm: main\nusers: [{ username: carol, password: { value: \"carol has a password\" } }]\n").await;
    let hint = id_token(&op, WEB, "carol", "carol has a password").await;
    let mut browser = both(&op).await;
    assert_eq!(silently(&op, &mut browser, &[("id_token_hint", &hint), ("login_hint", "alice")]).await, None);
    let login = page(&mut browser, WEB, &[("id_token_hint", &hint)]).await;
    assert!(login.page().has_id("login-submit"), "asked for, not chosen among others: {}", login.body);
    assert_eq!(browser.form("login-submit").value("username").as_deref(), Some("carol"));
    let answer = browser.sign_in("carol", "carol has a password").await;
    assert!(answer.location_param("code").is_some(), "{}", answer.body);
    assert_eq!(listed(&page(&mut browser, WEB, &super::CHOOSE).await).len(), 3);
}

#[tokio::test]
async fn a_client_that_knows_people_by_subs_of_its_own_is_understood() {
    let op = Op::start().await;
    op.apply("realm: main\nclients: [{ client_id: web, subject_type: pairwise }]\n").await;
    let mut browser = both(&op).await;
    let hint = id_token(&op, WEB, "alice", PASSWORD).await;
    let claims = decode(&hint).1;
    assert_ne!(claims["sub"], subjects(&op).await.0, "it is not her own");
    let found = silently(&op, &mut browser, &[("id_token_hint", &hint)]).await.expect("alice");
    assert_eq!(found["sub"], claims["sub"]);
    assert_ne!(silently(&op, &mut browser, &[]).await.expect("bob")["sub"], claims["sub"]);
    // It signs out the one that it means, though the session of the hint is another: she is asked by name.
    let asked = browser.get(&format!("/logout?id_token_hint={hint}")).await;
    assert!(asked.page().has_id("logout-yes") && asked.page().text.contains("alice"), "{}", asked.body);
}

#[tokio::test]
async fn a_named_account_goes_on_without_a_page() {
    let op = Op::start().await;
    let (alice, _) = subjects(&op).await;
    let mut browser = both(&op).await;
    let hint = id_token(&op, ASKER, "alice", PASSWORD).await;
    let answer = page(&mut browser, ASKER, &[("id_token_hint", &hint)]).await;
    assert_eq!(id_claims(&op, ASKER, &answer).await["sub"], alice);
    let answer = page(&mut browser, WEB, &[("login_hint", "alice")]).await;
    assert_eq!(id_claims(&op, WEB, &answer).await["sub"], alice);
}

#[tokio::test]
async fn silence_and_a_choice_exclude_each_other() {
    let op = Op::start().await;
    let mut browser = both(&op).await;
    let answer = page(&mut browser, WEB, &[("prompt", "none select_account")]).await;
    assert_eq!(answer.location_param("error").as_deref(), Some("invalid_request"));
}
