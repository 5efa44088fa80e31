//! The page and what a choice does.

use std::time::Duration;

use super::{BOBS, CHOOSE, both, button, choose, listed, page, silently, subjects};
use crate::kit::flow::{ASKER, WEB, authorize, code, id_claims};
use crate::kit::op::{Op, PASSWORD};
use crate::kit::rows::db_sessions;

#[tokio::test]
async fn the_page_lists_who_is_signed_in_here_and_choosing_goes_on() {
    let op = Op::start().await;
    let (alice, bob) = subjects(&op).await;
    let mut browser = both(&op).await;
    for (word, sub) in [("alice", &alice), ("bob", &bob), ("Alice Adams", &alice)] {
        let answer = page(&mut browser, WEB, &CHOOSE).await;
        assert_eq!(answer.status, 200);
        assert!(answer.page().text.contains("Choose an account") && answer.page().text.contains("Web shop"));
        assert_eq!(listed(&answer).len(), 2, "{:?}", listed(&answer));
        assert!(listed(&answer).iter().all(|text| text.contains("Signed in")), "{:?}", listed(&answer));
        let answer = choose(&mut browser, word).await;
        assert_eq!(id_claims(&op, WEB, &answer).await["sub"], *sub);
        // Hers is the present account now.
        assert_eq!(silently(&op, &mut browser, &[]).await.expect("signed in")["sub"], *sub);
    }
    assert_eq!(db_sessions(&op, "alice").await.len() + db_sessions(&op, "bob").await.len(), 2, "nothing was opened");
}

#[tokio::test]
async fn with_nobody_here_there_is_nothing_to_choose_and_with_one_she_is_asked_all_the_same() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let answer = page(&mut browser, WEB, &CHOOSE).await;
    assert!(answer.page().has_id("login-submit"), "{}", answer.body);
    assert!(!answer.page().has_id("login-choose"), "{}", answer.body);
    let answer = browser.sign_in("alice", PASSWORD).await;
    assert!(answer.location_param("code").is_some(), "a sign-in is a choice: {}", answer.body);
    let answer = page(&mut browser, WEB, &CHOOSE).await;
    assert_eq!(listed(&answer).len(), 1);
    // Back and a second press come to the same end.
    for _ in 0..2 {
        browser.at = Some(answer.clone());
        assert!(choose(&mut browser, "alice").await.location_param("code").is_some());
    }
}

#[tokio::test]
async fn where_several_are_signed_in_an_application_that_names_none_leaves_it_to_the_person() {
    let op = Op::start().await;
    let (alice, _) = subjects(&op).await;
    let mut browser = both(&op).await;
    let answer = page(&mut browser, WEB, &[]).await;
    assert_eq!(listed(&answer).len(), 2);
    let answer = choose(&mut browser, "alice").await;
    assert_eq!(id_claims(&op, WEB, &answer).await["sub"], alice);
}

#[tokio::test]
async fn another_account_signs_in_beside_the_others() {
    let op = Op::start().await;
    let mut browser = op.browser();
    code(&mut browser, WEB, "openid").await;
    page(&mut browser, WEB, &[("prompt", "select_account"), ("login_hint", "alice")]).await;
    let login = browser.submit("another-account", &[]).await;
    assert_eq!(browser.form("login-submit").value("username").as_deref(), Some(""), "no name is offered");
    assert!(!login.page().text.contains("Confirm it"), "{}", login.page().text);
    // The way back to the list.
    let back = login.page().attribute("login-choose", "href").expect("a way back");
    assert_eq!(listed(&browser.get(&back).await).len(), 1);
    browser.submit("another-account", &[]).await;
    let answer = browser.sign_in("bob", BOBS).await;
    assert!(answer.location_param("code").is_some(), "{}", answer.body);
    let listed = listed(&page(&mut browser, WEB, &CHOOSE).await);
    assert!(listed[0].contains("bob") && listed[1].contains("alice"), "the latest first: {listed:?}");
}

#[tokio::test]
async fn whoever_is_chosen_proves_herself_where_that_is_demanded_and_nobody_else() {
    let op = Op::start().await;
    let (alice, _) = subjects(&op).await;
    for demand in [("prompt", "login select_account"), ("max_age", "5"), ("prompt", "login")] {
        let mut browser = both(&op).await;
        op.advance(Duration::from_secs(10)).await;
        let sid = |claims: &serde_json::Value| claims["sid"].clone();
        let before = silently(&op, &mut browser, &[("login_hint", "alice")]).await.expect("signed in");
        page(&mut browser, WEB, &[demand]).await;
        let login = choose(&mut browser, "alice").await;
        assert!(login.page().has_id("login-submit") && login.page().text.contains("Confirm it"), "{demand:?}");
        assert_eq!(browser.form("login-submit").value("username").as_deref(), Some("alice"));
        let claims = id_claims(&op, WEB, &browser.sign_in("alice", PASSWORD).await).await;
        assert_eq!((&claims["sub"], sid(&claims)), (&alice, sid(&before)), "her own session: {demand:?}");
        assert_ne!(claims["auth_time"], before["auth_time"]);
        assert_eq!(listed(&page(&mut browser, WEB, &CHOOSE).await).len(), 2, "bob is still there");
    }
}

#[tokio::test]
async fn consent_is_asked_of_the_account_that_was_chosen_and_never_counts_for_another() {
    let op = Op::start().await;
    let mut browser = both(&op).await;
    page(&mut browser, ASKER, &[]).await;
    let consent = choose(&mut browser, "alice").await;
    assert!(consent.page().has_id("consent-allow") && consent.page().text.contains("alice"), "{}", consent.body);
    // She would rather be bob here: chosen anew, asked anew.
    browser.submit("consent-switch", &[]).await;
    let consent = choose(&mut browser, "bob").await;
    assert!(consent.page().has_id("consent-allow") && consent.page().text.contains("bob"), "{}", consent.body);
    let answer = browser.submit("consent-allow", &[]).await;
    assert!(answer.location_param("code").is_some(), "{}", answer.body);
    page(&mut browser, ASKER, &[]).await;
    let consent = choose(&mut browser, "alice").await;
    assert!(consent.page().has_id("consent-allow"), "bob's yes is not hers: {}", consent.body);
}

#[tokio::test]
async fn cancel_tells_the_client() {
    let op = Op::start().await;
    let mut browser = both(&op).await;
    page(&mut browser, WEB, &CHOOSE).await;
    let answer = browser.submit("select-cancel", &[]).await;
    assert_eq!(answer.location_param("error").as_deref(), Some("access_denied"));
    assert_eq!(answer.location_param("state").as_deref(), Some("st"));
}

#[tokio::test]
async fn two_tabs_choose_for_themselves() {
    let op = Op::start().await;
    let (alice, bob) = subjects(&op).await;
    let mut browser = both(&op).await;
    let one = browser.get(&authorize(ASKER, "openid", &[("state", "s1")])).await;
    let two = browser.get(&authorize(WEB, "openid", &[("state", "s2")])).await;
    browser.at = Some(one);
    let consent = choose(&mut browser, "alice").await;
    browser.at = Some(two.clone());
    let answer = browser.submit(&button(&two, "bob"), &[]).await;
    assert_eq!(id_claims(&op, WEB, &answer).await["sub"], bob);
    // Tab one goes on for alice although bob's account is the present one by now.
    browser.at = Some(consent);
    let answer = browser.submit("consent-allow", &[]).await;
    assert_eq!(answer.location_param("state").as_deref(), Some("s1"));
    assert_eq!(id_claims(&op, ASKER, &answer).await["sub"], alice);
}

#[tokio::test]
async fn it_speaks_german_and_carries_no_name_out() {
    let op = Op::start().await;
    let mut browser = both(&op).await;
    browser.language = "de".to_owned();
    let answer = page(&mut browser, WEB, &CHOOSE).await;
    assert!(answer.page().text.contains("Konto auswählen") && answer.page().text.contains("Angemeldet"));
    assert!(!answer.url.contains("alice"), "{}", answer.url);
    let csp = answer.header("content-security-policy").expect("a CSP");
    assert!(csp.ends_with("form-action 'self' https://app.example"), "{csp}");
    assert_eq!(answer.header("cache-control"), Some("no-store"));
}
