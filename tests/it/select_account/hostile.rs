//! What is shown for one account is never done for another; cookies and forms of before, of elsewhere, of others.

use http::Method;

use super::{BOBS, CHOOSE, both, button, choose, listed, page, silently, subjects};
use crate::kit::browser::Browser;
use crate::kit::flow::{ASKER, WEB, authorize, code, id_claims, sign_in_beside};
use crate::kit::op::{Op, PASSWORD};
use crate::kit::rows::db_sessions;
use crate::kit::token::{db_audit, db_set_password};
use doorward::domain::model::audit::AuditKind;
use doorward::service::admin;

const OURS: [(&str, &str); 2] = [("origin", "http://localhost:8080"), ("sec-fetch-site", "same-origin")];

/// The form of an account as it would be sent, with the fields changed.
fn form(browser: &Browser<'_>, id: &str, changes: &[(&str, &str)]) -> Vec<(String, String)> {
    let mut fields = browser.form(id).filled(id, &[]);
    for (name, value) in changes {
        for (known, kept) in &mut fields {
            if known == name {
                (*value).clone_into(kept);
            }
        }
    }
    fields
}

#[tokio::test]
async fn a_form_for_one_account_is_not_taken_for_another() {
    let op = Op::start().await;
    let mut browser = both(&op).await;
    let choice = page(&mut browser, WEB, &CHOOSE).await;
    let (alices, bobs) = (button(&choice, "alice"), button(&choice, "bob"));
    let bobs_session = browser.form(&bobs).value("account").expect("a session");
    // The token was made for alice's account.
    for changes in [
        &[("account", bobs_session.as_str())][..],
        &[("account", "ses_00000000000000000000000000000000")],
        &[("account", "")],
        &[("csrf", "")],
        &[("csrf", "AAAAAAAAAAAAAAAAAAAAAA")],
        &[("action", "another")],
        &[("action", "cancel")],
        &[("action", "")],
    ] {
        let fields = form(&browser, &alices, changes);
        let answer = browser.send(Method::POST, "/login/select-account", Some(&fields), &OURS).await;
        assert_eq!(answer.status, 422, "{changes:?}: {}", answer.body);
        assert_eq!(listed(&answer).len(), 2, "{changes:?}");
        assert!(answer.page().text.contains("Nothing was chosen yet"), "{changes:?}");
        browser.at = Some(choice.clone());
    }
    // From elsewhere it is forbidden, from another browser it is nobody's.
    let fields = form(&browser, &alices, &[]);
    let theirs = [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")];
    let answer = browser.send(Method::POST, "/login/select-account", Some(&fields), &theirs).await;
    assert_eq!(answer.status, 403, "{}", answer.body);
    let mut other = op.browser();
    code(&mut other, WEB, "openid").await;
    let answer = other.send(Method::POST, "/login/select-account", Some(&fields), &OURS).await;
    let answer = other.follow(answer).await;
    assert!(answer.header("location").is_none(), "begun again, with nothing taken over: {answer:?}");
    let answer = op.browser().send(Method::POST, "/login/select-account", Some(&fields), &theirs).await;
    assert_eq!(answer.status, 403, "{}", answer.body);
}

#[tokio::test]
async fn a_consent_shown_for_one_is_not_given_for_who_became_the_present_one() {
    let op = Op::start().await;
    let (alice, _) = subjects(&op).await;
    let mut browser = op.browser();
    code(&mut browser, WEB, "openid").await;
    let consent = page(&mut browser, ASKER, &[("state", "s1")]).await;
    assert!(consent.page().has_id("consent-allow") && consent.page().text.contains("alice"), "{}", consent.body);
    sign_in_beside(&mut browser, "bob", BOBS).await;
    browser.at = Some(consent);
    let answer = browser.submit("consent-allow", &[]).await;
    assert_eq!(listed(&answer).len(), 2, "whose yes was it? {}", answer.body);
    let consent = choose(&mut browser, "alice").await;
    assert!(consent.page().has_id("consent-allow"), "not given yet: {}", consent.body);
    let answer = browser.submit("consent-allow", &[]).await;
    assert_eq!(id_claims(&op, ASKER, &answer).await["sub"], alice);
}

#[tokio::test]
async fn an_account_that_ended_elsewhere_cannot_be_chosen_and_is_no_longer_listed() {
    for way in ["one", "password"] {
        let op = Op::start().await;
        let mut browser = both(&op).await;
        let choice = page(&mut browser, WEB, &CHOOSE).await;
        if way == "one" {
            let (realm, session) = (op.db_realm("main").await, db_sessions(&op, "alice").await[0].id);
            assert!(admin::session::end(&op.app, &realm, session).await.expect("ended"));
        } else {
            db_set_password(&op, "another horse battery").await;
        }
        op.poll().await;
        let answer = browser.submit(&button(&choice, "alice"), &[]).await;
        assert_eq!(answer.status, 422, "{way}: {}", answer.body);
        assert!(listed(&answer).len() == 1 && listed(&answer)[0].contains("bob"), "{way}: {:?}", listed(&answer));
    }
}

#[tokio::test]
async fn a_request_whose_account_ended_is_not_carried_on_by_another() {
    let op = Op::start().await;
    let mut browser = both(&op).await;
    page(&mut browser, ASKER, &[]).await;
    let consent = choose(&mut browser, "alice").await;
    assert!(consent.page().has_id("consent-allow"), "{}", consent.body);
    db_set_password(&op, "another horse battery").await;
    op.poll().await;
    let answer = browser.submit("consent-allow", &[]).await;
    assert!(
        listed(&answer).len() == 1 && listed(&answer)[0].contains("bob"),
        "bob is asked, not taken: {}",
        answer.body
    );
    assert_eq!(silently(&op, &mut browser, &[]).await, None, "alice was the present one");
}

#[tokio::test]
async fn the_cookie_on_another_device_is_worth_nothing_for_any_of_them() {
    let op = Op::start().await;
    let mut browser = both(&op).await;
    let mut thief = op.browser();
    thief.steal(&browser, "-session-");
    let answer = page(&mut thief, WEB, &[]).await;
    assert!(answer.page().has_id("login-submit"), "{}", answer.body);
    // With a device of his own as well.
    let mut thief = op.browser();
    op.apply("realm: main\nusers: [{ username: carol, password: { value: \"carol has a password\" } }]\n").await;
    thief.get(&authorize(WEB, "openid", &[])).await;
    thief.sign_in("carol", "carol has a password").await;
    let own = thief.cookie("-session-").expect("a session");
    let stolen = browser.cookie("-session-").expect("a session");
    for mixed in [stolen.clone(), format!("{own}.{stolen}"), format!("{stolen}.{own}")] {
        thief.set_cookie("-session-", &mixed);
        let list = listed(&page(&mut thief, WEB, &CHOOSE).await);
        let expected = usize::from(mixed.contains(&own));
        assert!(list.len() == expected && list.iter().all(|text| text.contains("carol")), "{list:?}");
    }
    let misused = db_audit(&op, AuditKind::SessionMisused).await;
    assert!(misused.len() >= 4, "each account is written down: {misused:?}");
    // The sessions themselves go on where they belong.
    assert_eq!(listed(&page(&mut browser, WEB, &CHOOSE).await).len(), 2);
}

#[tokio::test]
async fn what_is_no_cookie_of_ours_is_left_out_and_never_looked_up() {
    let op = Op::start().await;
    let (_, bob) = subjects(&op).await;
    let mut browser = both(&op).await;
    let good = browser.cookie("-session-").expect("a cookie");
    let (first, second) = good.split_once('.').expect("two accounts");
    for (cookie, names) in [
        (format!("{first}.garbage.{second}"), &["bob", "alice"][..]),
        (format!("{second}.{first}"), &["alice", "bob"]),
        (format!("{first}.{first}.{first}"), &["bob"]),
        (format!("garbage.{first}"), &["bob"]),
        (format!(".{first}"), &["bob"]),
        (format!("{first}.."), &["bob"]),
        // More than five are not looked at.
        (format!("x.x.x.x.x.{first}"), &[]),
        ("....".to_owned(), &[]),
        ("x".repeat(3_000), &[]),
    ] {
        browser.set_cookie("-session-", &cookie);
        let answer = page(&mut browser, WEB, &CHOOSE).await;
        let found = listed(&answer);
        assert_eq!(found.len(), names.len(), "{cookie}: {found:?}");
        assert!(found.iter().zip(names).all(|(text, name)| text.contains(name)), "{cookie}: {found:?}");
    }
    // Where what stood first is not genuine, nobody is the present one.
    for (cookie, found) in [(format!("garbage.{first}"), None), (format!(".{first}"), None), (good, Some(&bob))] {
        browser.set_cookie("-session-", &cookie);
        let claims = silently(&op, &mut browser, &[]).await;
        assert_eq!(claims.as_ref().map(|claims| &claims["sub"]), found, "{cookie}");
    }
}

#[tokio::test]
async fn a_sign_in_for_one_request_proves_nothing_for_another_account() {
    let op = Op::start().await;
    let mut browser = both(&op).await;
    // Bob proves himself in the request that demands it; then alice is chosen in it.
    page(&mut browser, ASKER, &[("prompt", "login")]).await;
    choose(&mut browser, "bob").await;
    let consent = browser.sign_in("bob", BOBS).await;
    assert!(consent.page().has_id("consent-allow") && consent.page().text.contains("bob"), "{}", consent.body);
    browser.submit("consent-switch", &[]).await;
    let login = choose(&mut browser, "alice").await;
    assert!(login.page().has_id("login-submit"), "she has to prove herself: {}", login.body);
    let consent = browser.sign_in("alice", PASSWORD).await;
    assert!(consent.page().has_id("consent-allow") && consent.page().text.contains("alice"), "{}", consent.body);
}
