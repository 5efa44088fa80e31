//! Many tabs, Back, double submit, stale forms, long lunches: B-38 and B-39. Never a dead end.

use std::time::Duration;

use crate::kit::browser::{Answer, Browser};
use crate::kit::flow::{ASKER, WEB, authorize, code, id_claims};
use crate::kit::op::{Op, PASSWORD};
use crate::kit::rows::db_sessions;

fn state_of(answer: &Answer) -> Option<String> {
    assert!(answer.location_param("code").is_some(), "{} {}", answer.location(), answer.body);
    answer.location_param("state")
}

/// Opens `/authorize` in a tab: what stands there.
async fn tab(browser: &mut Browser<'_>, state: &str) -> Answer {
    let answer = browser.get(&authorize(WEB, "openid", &[("state", state)])).await;
    assert!(answer.page().has_id("login-submit"), "{}", answer.body);
    answer
}

/// Goes to a tab and sends its form.
async fn sign_in_at(browser: &mut Browser<'_>, tab: &Answer) -> Answer {
    browser.at = Some(tab.clone());
    browser.sign_in("alice", PASSWORD).await
}

#[tokio::test]
async fn sixty_tabs_fit_and_the_oldest_gives_way_to_a_page_with_a_way_on() {
    let op = Op::start().await;
    for filler in ["", &"x".repeat(3_000)] {
        let mut browser = op.browser();
        let mut tabs = Vec::new();
        for number in 0..61 {
            op.advance_only(Duration::from_millis(5));
            tabs.push(tab(&mut browser, &format!("{number}{filler}")).await);
        }
        assert_eq!(browser.cookie_names().len(), 1, "one small cookie: {:?}", browser.cookie_names());

        let gone = browser.get(&tabs[0].url).await;
        assert_eq!(gone.status, 400, "{}", gone.body);
        assert!(gone.page().text.contains("sign_in_expired") && gone.page().has_id("onward"), "{}", gone.body);
        let onward = gone.page().attribute("onward", "href").expect("a way on");
        assert_eq!(browser.get(&op.resolve(&gone.url, &onward)).await.status, 200);
        // Its form too.
        let gone = sign_in_at(&mut browser, &tabs[0]).await;
        assert!(gone.status == 400 && gone.page().has_id("onward"), "{}", gone.body);
        assert_eq!(browser.cookie("session"), None);

        let answer = sign_in_at(&mut browser, &tabs[1]).await;
        assert_eq!(state_of(&answer), Some(format!("1{filler}")));
        // All the others go on with the session, each to its own.
        for number in [2, 30, 60] {
            let answer = browser.get(&tabs[number].url).await;
            assert_eq!(state_of(&answer), Some(format!("{number}{filler}")));
        }
        assert_eq!(browser.cookie_names().len(), 3, "{:?}", browser.cookie_names());
    }
}

#[tokio::test]
async fn a_tab_overtaken_by_another_goes_on_with_the_session_to_its_own_end() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let (one, two) = (tab(&mut browser, "s1").await, tab(&mut browser, "s2").await);
    let answer = sign_in_at(&mut browser, &two).await;
    assert_eq!(state_of(&answer).as_deref(), Some("s2"));
    let answer = sign_in_at(&mut browser, &one).await;
    assert_eq!(state_of(&answer).as_deref(), Some("s1"));
    assert_eq!(db_sessions(&op, "alice").await.len(), 1, "one session");
    // Even with nothing typed: there is nothing to ask any more.
    let mut browser = op.browser();
    let (one, two) = (tab(&mut browser, "s1").await, tab(&mut browser, "s2").await);
    sign_in_at(&mut browser, &two).await;
    browser.at = Some(one);
    let answer = browser.submit("login-submit", &[]).await;
    assert_eq!(state_of(&answer).as_deref(), Some("s1"));
}

#[tokio::test]
async fn tabs_opened_before_either_answer_arrived_each_come_to_their_own_end() {
    // Neither request brought a cookie, so each answer set one and the later replaced the earlier.
    let op = Op::start().await;
    let mut browser = op.browser();
    let one = tab(&mut browser, "s1").await;
    browser.forget("browser");
    let two = tab(&mut browser, "s2").await;
    let answer = sign_in_at(&mut browser, &two).await;
    assert_eq!(state_of(&answer).as_deref(), Some("s2"));
    let answer = sign_in_at(&mut browser, &one).await;
    assert_eq!(state_of(&answer).as_deref(), Some("s1"));
    let answer = browser.get(&one.url).await;
    assert_eq!(state_of(&answer).as_deref(), Some("s1"), "and by reloading");
    assert_eq!(db_sessions(&op, "alice").await.len(), 1, "one session");
}

#[tokio::test]
async fn a_sign_in_waits_over_night_and_then_says_so() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let (one, two) = (tab(&mut browser, "s1").await, tab(&mut browser, "s2").await);
    op.advance(Duration::from_secs(23 * 3600)).await;
    let answer = sign_in_at(&mut browser, &one).await;
    assert_eq!(state_of(&answer).as_deref(), Some("s1"));
    let answer = sign_in_at(&mut browser, &two).await;
    assert_eq!(state_of(&answer).as_deref(), Some("s2"));

    let mut browser = op.browser();
    let (one, two) = (tab(&mut browser, "s1").await, tab(&mut browser, "s2").await);
    op.advance(Duration::from_secs(25 * 3600)).await;
    for late in [&one, &two] {
        let gone = sign_in_at(&mut browser, late).await;
        assert_eq!(gone.status, 400, "{}", gone.body);
        let page = gone.page();
        assert!(
            page.text.contains("This sign-in has ended") && page.text.contains("Nothing was changed"),
            "{}",
            page.text
        );
        let onward = page.attribute("onward", "href").expect("a way on");
        assert_eq!(browser.get(&op.resolve(&gone.url, &onward)).await.status, 200);
        assert_eq!(browser.get(&late.url).await.status, 400);
    }
    assert_eq!(browser.cookie("session"), None, "a late form signs nobody in");
    // The client's own link works again in the same browser.
    let fresh = tab(&mut browser, "s3").await;
    assert_eq!(state_of(&sign_in_at(&mut browser, &fresh).await).as_deref(), Some("s3"));
}

#[tokio::test]
async fn back_and_submit_again_go_on_with_the_session() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let page = tab(&mut browser, "s1").await;
    let mut codes = Vec::new();
    for _ in 0..3 {
        let answer = sign_in_at(&mut browser, &page).await;
        assert_eq!(state_of(&answer).as_deref(), Some("s1"));
        codes.push(answer.location_param("code"));
    }
    let answer = browser.get(&page.url).await;
    assert_eq!(state_of(&answer).as_deref(), Some("s1"), "Back reloads the page");
    codes.dedup();
    assert_eq!(codes.len(), 3, "each answer has a code of its own");
    assert_eq!(db_sessions(&op, "alice").await.len(), 1, "one session");
    id_claims(&op, WEB, &answer).await;
}

#[tokio::test]
async fn back_to_a_demanded_sign_in_asks_again_and_comes_to_its_end() {
    let op = Op::start().await;
    let mut browser = op.browser();
    code(&mut browser, WEB, "openid").await;
    let page = browser.get(&authorize(WEB, "openid", &[("prompt", "login"), ("state", "s1")])).await;
    assert_eq!(state_of(&sign_in_at(&mut browser, &page).await).as_deref(), Some("s1"));
    // The form is of before the new proof; nothing is checked with it, and nothing is lost.
    let again = sign_in_at(&mut browser, &page).await;
    assert_eq!(again.status, 422, "{}", again.body);
    assert_eq!(browser.form("login-submit").value("username").as_deref(), Some("alice"));
    assert_eq!(state_of(&browser.sign_in("alice", PASSWORD).await).as_deref(), Some("s1"));
}

#[tokio::test]
async fn two_presses_that_cross_both_come_to_the_same_end() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let page = tab(&mut browser, "s1").await;
    // The second press leaves before the answer to the first brought its cookies.
    let mut second = op.browser();
    second.steal(&browser, "browser");
    let first = sign_in_at(&mut browser, &page).await;
    let second = sign_in_at(&mut second, &page).await;
    for answer in [&first, &second] {
        assert_eq!(state_of(answer).as_deref(), Some("s1"));
        id_claims(&op, WEB, answer).await;
    }
    assert_eq!(live(&op, "alice").await, 1, "one session");
}

/// How many of a person's sessions live.
async fn live(op: &Op, person: &str) -> usize {
    db_sessions(op, person).await.iter().filter(|session| session.ended.is_none()).count()
}

/// Another tab of the browser, which stands on its own page and has the cookies of this moment.
fn beside<'a>(op: &'a Op, browser: &Browser<'_>, tab: &Answer) -> Browser<'a> {
    let mut other = op.browser();
    other.steal(browser, "");
    other.at = Some(tab.clone());
    other
}

#[tokio::test]
async fn first_sign_ins_that_cross_in_two_tabs_are_one_session_on_one_device() {
    let op = Op::start().await;
    let node = Op::builder().beside(&op).start().await;
    // In one process, on two nodes, and in a browser that is known from before.
    for (second_at, is_known) in [(&op, false), (&node, false), (&op, true)] {
        let mut browser = op.browser();
        if is_known {
            code(&mut browser, WEB, "openid").await;
            browser.get("/logout").await;
            browser.submit("logout-yes", &[]).await;
            op.advance(Duration::from_secs(5)).await;
        }
        let before = db_sessions(&op, "alice").await.len();
        let lives = live(&op, "alice").await;
        let (one, two) = (tab(&mut browser, "s1").await, tab(&mut browser, "s2").await);
        let (mut first, mut second) = (beside(&op, &browser, &one), beside(second_at, &browser, &two));
        op.advance(Duration::from_secs(60)).await;
        node.poll().await;
        let (here, there) = tokio::join!(first.sign_in("alice", PASSWORD), second.sign_in("alice", PASSWORD));
        assert_eq!((state_of(&here).as_deref(), state_of(&there).as_deref()), (Some("s1"), Some("s2")));
        assert_eq!(db_sessions(&op, "alice").await.len(), before + 1, "one session");
        assert_eq!(live(&op, "alice").await, lives + 1);
        // Whichever answer came last, the browser has its cookies, and they are the same.
        for part in ["session", "device", "browser"] {
            assert!(first.cookie(part).is_some() && first.cookie(part) == second.cookie(part), "{part}");
        }
        let (here, there) = (id_claims(&op, WEB, &here).await, id_claims(second_at, WEB, &there).await);
        assert_eq!((&here["sid"], &here["auth_time"]), (&there["sid"], &there["auth_time"]));
        let silent = authorize(WEB, "openid", &[("prompt", "none")]);
        assert!(first.get(&silent).await.location_param("code").is_some());
        // It ends once and for all.
        first.get("/logout").await;
        first.submit("logout-yes", &[]).await;
        node.poll().await;
        assert_eq!(second.get(&silent).await.location_param("error").as_deref(), Some("login_required"));
    }
}

#[tokio::test]
async fn the_wish_of_either_crossing_tab_to_stay_signed_in_counts() {
    for (first_stays, second_stays) in [(true, false), (false, true), (true, true), (false, false)] {
        let op = Op::start().await;
        let mut browser = op.browser();
        let (one, two) = (tab(&mut browser, "s1").await, tab(&mut browser, "s2").await);
        let (mut first, mut second) = (beside(&op, &browser, &one), beside(&op, &browser, &two));
        for (tab, stays) in [(&mut first, first_stays), (&mut second, second_stays)] {
            let mut fill = vec![("username", "alice"), ("password", PASSWORD)];
            fill.extend(stays.then_some(("remember", "on")));
            let answer = tab.submit("login-submit", &fill).await;
            assert!(state_of(&answer).is_some());
        }
        assert_eq!(first.cookie("session"), second.cookie("session"));
        let sessions = db_sessions(&op, "alice").await;
        assert_eq!(sessions.len(), 1);
        assert_eq!(sessions[0].remembered, first_stays || second_stays, "{first_stays} {second_stays}");
        let silent = authorize(WEB, "openid", &[("prompt", "none")]);
        assert!(first.get(&silent).await.location_param("code").is_some(), "both tabs' cookies are good");
    }
}

#[tokio::test]
async fn what_crosses_is_the_same_person_in_the_same_browser_at_the_same_time() {
    let op = Op::start().await;
    // Two people: each has a session of her own, and the browser keeps the one of the last answer.
    let mut browser = op.browser();
    let (one, two) = (tab(&mut browser, "s1").await, tab(&mut browser, "s2").await);
    let (mut alice, mut bob) = (beside(&op, &browser, &one), beside(&op, &browser, &two));
    alice.sign_in("alice", PASSWORD).await;
    bob.sign_in("bob", "bob has a long password").await;
    assert_ne!(alice.cookie("session"), bob.cookie("session"));
    assert_ne!(alice.cookie("device"), bob.cookie("device"), "nothing is shared with another person");
    // Another browser with the same browser cookie and a device of its own.
    let mut thief = op.browser();
    code(&mut thief, WEB, "openid").await;
    thief.forget("session");
    thief.forget("browser");
    thief.steal(&browser, "browser");
    let begun = tab(&mut thief, "s3").await;
    sign_in_at(&mut thief, &begun).await;
    assert_ne!(thief.cookie("session"), alice.cookie("session"));
    assert_ne!(thief.cookie("device"), alice.cookie("device"));
    // Signed out and in again within the minute: a new session, and the old one stays ended.
    let old = alice.cookie("session");
    alice.get("/logout").await;
    alice.submit("logout-yes", &[]).await;
    let lives = live(&op, "alice").await;
    let again = tab(&mut alice, "s4").await;
    assert_eq!(state_of(&sign_in_at(&mut alice, &again).await).as_deref(), Some("s4"));
    assert_ne!(alice.cookie("session"), old);
    assert_eq!(live(&op, "alice").await, lives + 1);
    // A form that was on its way while the session it would share was ended gets one of its own.
    let mut browser = op.browser();
    let (one, two) = (tab(&mut browser, "s5").await, tab(&mut browser, "s6").await);
    let (mut first, mut late) = (beside(&op, &browser, &one), beside(&op, &browser, &two));
    first.sign_in("alice", PASSWORD).await;
    first.get("/logout").await;
    first.submit("logout-yes", &[]).await;
    assert_eq!(state_of(&late.sign_in("alice", PASSWORD).await).as_deref(), Some("s6"));
    assert_ne!(late.cookie("session"), first.cookie("session"));
    let silent = authorize(WEB, "openid", &[("prompt", "none")]);
    assert!(late.get(&silent).await.location_param("code").is_some());
}

#[tokio::test]
async fn a_form_of_before_another_persons_sign_in_is_shown_again() {
    let op = Op::start().await;
    let mut browser = op.browser();
    code(&mut browser, WEB, "openid").await;
    // Tab one asks alice for consent; in tab two bob's account becomes the present one.
    let consent = browser.get(&authorize(ASKER, "openid profile", &[("state", "s1")])).await;
    assert!(consent.page().has_id("consent-allow") && consent.page().text.contains("alice"), "{}", consent.body);
    browser.get(&authorize(WEB, "openid", &[("prompt", "login")])).await;
    browser.sign_in("bob", "bob has a long password").await;
    browser.at = Some(consent);
    let again = browser.submit("consent-allow", &[]).await;
    assert!(again.page().has_id("choose-1") && again.page().has_id("choose-2"), "whose is it? {}", again.body);
    let asked = browser.submit("choose-1", &[]).await;
    assert!(asked.page().has_id("consent-allow") && asked.page().text.contains("bob"), "{}", asked.page().text);
    // It was not taken for bob, nor for alice.
    let silent = browser.get(&authorize(ASKER, "openid profile", &[("prompt", "none")])).await;
    assert_eq!(silent.location_param("error").as_deref(), Some("consent_required"));
    let mut alice = op.browser();
    code(&mut alice, WEB, "openid").await;
    let silent = alice.get(&authorize(ASKER, "openid profile", &[("prompt", "none")])).await;
    assert_eq!(silent.location_param("error").as_deref(), Some("consent_required"));
}

#[tokio::test]
async fn a_sign_in_survives_a_restart_of_the_server() {
    let op = Op::start().await;
    let (page, cookie_name, cookie) = {
        let mut browser = op.browser();
        let page = tab(&mut browser, "s1").await;
        let (name, _) = browser.cookie_names().remove(0);
        (page, name, browser.cookie("browser").expect("a cookie"))
    };
    let op = op.restart().await;
    let form = page.page().form_with("login-submit").expect("a form");
    let fields = form.filled("login-submit", &[("username", "alice"), ("password", PASSWORD)]);
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let cookie = format!("{cookie_name}={cookie}");
    let headers = [("origin", "http://localhost:8080"), ("sec-fetch-site", "same-origin"), ("cookie", &cookie)];
    let answer = op.post("/login", &fields, &headers).await;
    assert_eq!(state_of(&answer).as_deref(), Some("s1"));
}
