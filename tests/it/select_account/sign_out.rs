//! Signing out ends one account and leaves the others, and nobody takes the place of who has left.

use doorward::domain::model::session::EndReason;

use super::{CHOOSE, both, listed, page, silently, subjects};
use crate::kit::browser::Browser;
use crate::kit::flow::{WEB, id_claims, redeem, text};
use crate::kit::op::Op;
use crate::kit::rows::db_sessions;

/// Presses "Sign out" beside an account.
async fn out(browser: &mut Browser<'_>, word: &str) -> crate::kit::browser::Answer {
    let at = browser.at.clone().expect("a page");
    let button = super::button(&at, word).replace("choose", "sign-out");
    browser.submit(&button, &[]).await
}

#[tokio::test]
async fn one_signs_out_on_the_page_and_the_others_stay() {
    let op = Op::start().await;
    let (_, bob) = subjects(&op).await;
    let mut browser = both(&op).await;
    page(&mut browser, WEB, &CHOOSE).await;
    let left = out(&mut browser, "alice").await;
    assert!(listed(&left).len() == 1 && listed(&left)[0].contains("bob"), "{}", left.body);
    let ended = db_sessions(&op, "alice").await[0].ended.expect("ended");
    assert_eq!(ended.reason, EndReason::Logout);
    // The present one has not changed.
    assert_eq!(silently(&op, &mut browser, &[]).await.expect("bob")["sub"], bob);
    // The last one: the request goes on with a sign-in.
    page(&mut browser, WEB, &CHOOSE).await;
    let login = out(&mut browser, "bob").await;
    assert!(login.page().has_id("login-submit"), "{}", login.body);
    assert_eq!(browser.cookie("-session-"), None);
}

#[tokio::test]
async fn nobody_takes_the_place_of_who_signed_out() {
    let op = Op::start().await;
    let (alice, _) = subjects(&op).await;
    for way in ["page", "logout"] {
        let mut browser = both(&op).await;
        if way == "page" {
            page(&mut browser, WEB, &CHOOSE).await;
            out(&mut browser, "bob").await;
        } else {
            let asked = browser.get("/logout").await;
            assert!(asked.page().has_id("logout-yes") && asked.page().text.contains("bob"), "{}", asked.body);
            browser.submit("logout-yes", &[]).await;
        }
        assert_eq!(silently(&op, &mut browser, &[]).await, None, "{way}: bob is out, and alice is not bob");
        let named = silently(&op, &mut browser, &[("login_hint", "alice")]).await.expect("alice");
        assert_eq!(named["sub"], alice, "{way}: she is still here");
        let choice = page(&mut browser, WEB, &[]).await;
        assert!(listed(&choice).len() == 1 && listed(&choice)[0].contains("alice"), "{way}: {}", choice.body);
        let answer = super::choose(&mut browser, "alice").await;
        assert_eq!(id_claims(&op, WEB, &answer).await["sub"], alice);
        assert_eq!(silently(&op, &mut browser, &[]).await.expect("alice")["sub"], alice, "{way}");
    }
}

#[tokio::test]
async fn an_application_signs_out_the_account_that_it_means() {
    let op = Op::start().await;
    let (_, bob) = subjects(&op).await;
    let mut browser = both(&op).await;
    let answer = page(&mut browser, WEB, &[("login_hint", "alice")]).await;
    let tokens = redeem(&op, WEB, &answer.location_param("code").expect("a code")).await.json();
    let hint = text(&tokens, "id_token");
    // Alice is not the present one; the hint names her session, so she is signed out without a question.
    let url = format!("/logout?id_token_hint={hint}&post_logout_redirect_uri=https%3A%2F%2Fapp.example%2Fout&state=s");
    let gone = browser.get(&url).await;
    assert_eq!(gone.location(), "https://app.example/out?state=s");
    assert!(db_sessions(&op, "alice").await[0].ended.is_some());
    assert_eq!(silently(&op, &mut browser, &[]).await.expect("bob")["sub"], bob, "bob never noticed");
    // Again, with nobody here whom it names: she is out already. Bob is present and is asked, not signed out.
    let asked = browser.get(&url).await;
    assert!(asked.page().has_id("logout-yes") && asked.page().text.contains("bob"), "{}", asked.body);
    assert!(db_sessions(&op, "bob").await[0].ended.is_none());
}

#[tokio::test]
async fn who_has_left_already_is_sent_back_without_asking_those_who_stay() {
    let op = Op::start().await;
    let mut browser = both(&op).await;
    let answer = page(&mut browser, WEB, &[("login_hint", "bob")]).await;
    let tokens = redeem(&op, WEB, &answer.location_param("code").expect("a code")).await.json();
    let url = format!(
        "/logout?id_token_hint={}&post_logout_redirect_uri=https%3A%2F%2Fapp.example%2Fout",
        text(&tokens, "id_token")
    );
    for _ in 0..2 {
        assert_eq!(browser.get(&url).await.location(), "https://app.example/out");
    }
    assert!(db_sessions(&op, "alice").await[0].ended.is_none());
    // Without a hint somebody is left who can be signed out: she is asked by name.
    let asked = browser.get("/logout").await;
    assert!(asked.page().has_id("logout-yes") && asked.page().text.contains("alice"), "{}", asked.body);
    browser.submit("logout-yes", &[]).await;
    assert_eq!(browser.cookie("-session-"), None, "the last one takes the cookie along");
}
