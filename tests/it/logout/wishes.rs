//! What a logout request may wish for besides its hint: languages, a person, a client without proof.

use super::{OUT, goes_back, is_signed_in, logout, signed_in, stays, through};
use crate::kit::flow::{ASKER, WEB, decode, text, tokens};
use crate::kit::op::Op;

#[tokio::test]
async fn a_client_without_a_hint_is_offered_as_a_link_and_never_gone_to() {
    let op = Op::start().await;
    let (mut browser, _) = signed_in(&op).await;
    let pairs = [("client_id", "web"), ("post_logout_redirect_uri", OUT), ("state", "a+b")];
    let asked = browser.get(&logout(&pairs)).await;
    assert!(asked.page().has_id("logout-yes") && asked.page().text.contains("Web shop"), "{}", asked.body);
    let done = browser.submit("logout-yes", &[]).await;
    stays(&done);
    let link = format!("{OUT}?state=a%2Bb");
    assert_eq!(done.page().attribute("back", "href").as_deref(), Some(link.as_str()));
    assert!(!is_signed_in(&mut browser).await);
    // Nobody is signed in any more: the same page.
    let again = browser.get(&logout(&pairs)).await;
    stays(&again);
    assert_eq!(again.page().attribute("back", "href").as_deref(), Some(link.as_str()));
    // An address that this client did not register is not even offered.
    for client in ["asker", "web"] {
        let other = [("client_id", client), ("post_logout_redirect_uri", "https://opaque.example/out")];
        let answer = browser.get(&logout(&other)).await;
        stays(&answer);
        assert_eq!((answer.status.as_u16(), answer.page().has_id("back")), (400, false), "{client}");
    }
    let unknown = browser.get(&logout(&[("client_id", "nobody"), ("post_logout_redirect_uri", OUT)])).await;
    assert_eq!((unknown.status.as_u16(), unknown.page().has_id("back")), (200, false));
}

#[tokio::test]
async fn a_client_beside_its_own_hint_changes_nothing() {
    let op = Op::start().await;
    let (mut browser, got) = signed_in(&op).await;
    let hint = text(&got, "id_token");
    let pairs = [("client_id", "web"), ("id_token_hint", hint), ("post_logout_redirect_uri", OUT), ("state", "s")];
    goes_back(&browser.get(&logout(&pairs)).await, &format!("{OUT}?state=s"));
    assert!(!is_signed_in(&mut browser).await);
}

#[tokio::test]
async fn the_address_of_another_client_is_none_of_the_hints_client() {
    let op = Op::start().await;
    let (mut browser, got) = signed_in(&op).await;
    let pairs = [("id_token_hint", text(&got, "id_token")), ("post_logout_redirect_uri", "https://asker.example/out")];
    let answer = browser.get(&logout(&pairs)).await;
    stays(&answer);
    assert_eq!(answer.status, 400);
    assert!(
        answer.page().text.contains("post_logout_redirect_uri is not registered for this client"),
        "{}",
        answer.body
    );
    assert!(is_signed_in(&mut browser).await, "nothing happened");
}

#[tokio::test]
async fn any_client_of_the_session_may_sign_out_and_goes_back_to_its_own() {
    let op = Op::start().await;
    let (mut browser, _) = signed_in(&op).await;
    let theirs = tokens(&op, &mut browser, ASKER, "openid").await;
    let pairs =
        [("id_token_hint", text(&theirs, "id_token")), ("post_logout_redirect_uri", "https://asker.example/out")];
    goes_back(&browser.get(&logout(&pairs)).await, "https://asker.example/out");
    assert!(!is_signed_in(&mut browser).await);
}

#[tokio::test]
async fn a_logout_hint_for_somebody_else_asks_and_for_herself_changes_nothing() {
    let op = Op::start().await;
    for (hint, at_once) in [("alice", true), ("ALICE@example.com", true), ("bob", false), ("ses_0", false)] {
        let (mut browser, got) = signed_in(&op).await;
        let pairs = [("id_token_hint", text(&got, "id_token")), ("logout_hint", hint)];
        let answer = browser.get(&logout(&pairs)).await;
        assert_eq!(answer.page().has_id("logout-yes"), !at_once, "{hint}: {}", answer.body);
        assert_eq!(is_signed_in(&mut browser).await, !at_once, "{hint}");
    }
    let (mut browser, got) = signed_in(&op).await;
    let claims = decode(text(&got, "id_token")).1;
    for own in ["alice", text(&claims, "sid"), text(&claims, "sub")] {
        let asked = browser.get(&logout(&[("logout_hint", own)])).await;
        assert!(asked.page().has_id("logout-yes"), "a name proves nothing: {own}");
    }
    assert!(is_signed_in(&mut browser).await);
    let answer = browser.get(&logout(&[("logout_hint", "alice"), ("logout_hint", "bob")])).await;
    assert_eq!(answer.status, 400);
}

#[tokio::test]
async fn the_languages_that_the_application_wishes_for_are_those_of_every_page() {
    let op = Op::start().await;
    let (mut browser, got) = signed_in(&op).await;
    let asked = browser.get(&logout(&[("ui_locales", "xx de-CH en")])).await;
    assert_eq!(asked.page().lang().as_deref(), Some("de"), "{}", asked.body);
    let done = browser.submit("logout-yes", &[]).await;
    assert_eq!(done.page().lang().as_deref(), Some("de"), "after the yes too");
    assert!(done.page().text.contains("Sie sind abgemeldet"), "{}", done.body);
    let out = browser.get(&logout(&[("id_token_hint", text(&got, "id_token")), ("ui_locales", "de")])).await;
    assert_eq!(out.page().lang().as_deref(), Some("de"), "signed out before");
    for wish in ["<script>", "xx", "\u{202e}", &"x".repeat(3_000)] {
        let answer = browser.get(&logout(&[("ui_locales", wish)])).await;
        assert_eq!((answer.status.as_u16(), answer.page().lang().as_deref()), (200, Some("en")), "a wish cannot fail");
    }
}

#[tokio::test]
async fn a_form_of_our_own_origin_is_answered_like_an_address() {
    let op = Op::start().await;
    let (mut browser, got) = signed_in(&op).await;
    let fields =
        [("id_token_hint", text(&got, "id_token")), ("post_logout_redirect_uri", OUT), ("state", "a+b \u{e9}")];
    let owned: Vec<(String, String)> = fields.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    let own = [("origin", "http://localhost:8080"), ("sec-fetch-site", "same-origin")];
    let answer = browser.send(http::Method::POST, "/logout", Some(&owned), &own).await;
    assert_eq!(answer.location_param("state").as_deref(), Some("a+b \u{e9}"));
    assert!(answer.location().starts_with(OUT), "{}", answer.location());
    assert!(!is_signed_in(&mut browser).await);
}

#[tokio::test]
async fn an_altered_hint_asks_and_the_yes_leads_nowhere() {
    let op = Op::start().await;
    let (mut browser, got) = signed_in(&op).await;
    let hint = text(&got, "id_token");
    // Ours, but for another use: an access token of the same session is no ID token.
    for wrong in [format!("{hint}x"), text(&got, "access_token").to_owned()] {
        let pairs = [("id_token_hint", wrong.as_str()), ("client_id", "web"), ("post_logout_redirect_uri", OUT)];
        let asked = browser.get(&logout(&pairs)).await;
        assert!(asked.page().has_id("logout-yes") && is_signed_in(&mut browser).await, "{}", asked.body);
        let done = through(&mut browser, &pairs).await;
        stays(&done);
        assert!(!done.page().has_id("back"), "a hint that lies is not even offered a link: {}", done.body);
        crate::kit::flow::code(&mut browser, WEB, "openid").await;
    }
}
