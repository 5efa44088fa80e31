//! No POST signs anybody in without the browser's cookie, the form's token and proof that it comes
//! from a page of ours (`security-design` rule 5).

use http::Method;

use crate::kit::browser::{Answer, Browser};
use crate::kit::flow::{ASKER, WEB, authorize, code};
use crate::kit::op::{Op, PASSWORD};
use crate::kit::rows::db_sessions;

const OURS: [(&str, &str); 2] = [("origin", "http://localhost:8080"), ("sec-fetch-site", "same-origin")];
const RIGHT: [(&str, &str); 2] = [("username", "alice"), ("password", PASSWORD)];

/// The fields of the page it stands on, filled in rightly.
fn right(browser: &Browser<'_>) -> Vec<(String, String)> {
    browser.form("login-submit").filled("login-submit", &RIGHT)
}

/// A fresh form with the name, and no session.
async fn assert_nothing_happened(op: &Op, browser: &Browser<'_>, answer: &Answer, status: u16, what: &str) {
    assert_eq!(answer.status, status, "{what}: {}", answer.body);
    assert_eq!(browser.cookie("session"), None, "{what}");
    assert_eq!(browser.form("login-submit").value("username").as_deref(), Some("alice"), "{what}: the name is kept");
    assert_eq!(db_sessions(op, "alice").await.len(), 0, "{what}");
}

#[tokio::test]
async fn a_missing_or_foreign_token_gets_a_fresh_form() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let url = authorize(WEB, "openid", &[]);
    browser.get(&url).await;
    let other_flow = browser.form("login-submit").value("csrf").expect("a token");
    let mut other = op.browser();
    other.get(&url).await;
    let other_browser = other.form("login-submit").value("csrf").expect("a token");
    browser.get(&url).await;
    let own = browser.form("login-submit").value("csrf").expect("a token");
    let longer = format!("{own}A");
    for token in ["", "x", &other_flow, &other_browser, &longer, &own[1..]] {
        let mut fields = right(&browser);
        fields.retain(|(name, _)| name != "csrf");
        if !token.is_empty() {
            fields.push(("csrf".to_owned(), token.to_owned()));
        }
        let answer = browser.send(Method::POST, "/login", Some(&fields), &OURS).await;
        assert_nothing_happened(&op, &browser, &answer, 422, token).await;
    }
    // Sent twice: as if there were none.
    let mut fields = right(&browser);
    fields.push(("csrf".to_owned(), own));
    let answer = browser.send(Method::POST, "/login", Some(&fields), &OURS).await;
    assert_nothing_happened(&op, &browser, &answer, 422, "twice").await;
    // The fresh form works.
    let answer = browser.sign_in("alice", PASSWORD).await;
    assert!(answer.location_param("code").is_some(), "{}", answer.location());
}

#[tokio::test]
async fn a_form_from_elsewhere_is_forbidden() {
    let op = Op::start().await;
    for headers in [
        &[("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")][..],
        &[("origin", "null"), ("sec-fetch-site", "cross-site")],
        &[("origin", "http://localhost:8080"), ("sec-fetch-site", "cross-site")],
        &[("origin", "http://localhost:8080"), ("sec-fetch-site", "same-site")],
        &[("origin", "https://evil.example"), ("sec-fetch-site", "same-origin")],
        &[("origin", "https://evil.example")],
        &[("origin", "http://localhost:8081")],
        &[("origin", "http://localhost:8080.evil.example")],
        &[("origin", "null")],
        &[("sec-fetch-site", "cross-site")],
    ] {
        let mut browser = op.browser();
        browser.get(&authorize(WEB, "openid", &[])).await;
        let fields = right(&browser);
        let answer = browser.send(Method::POST, "/login", Some(&fields), headers).await;
        assert_nothing_happened(&op, &browser, &answer, 403, &format!("{headers:?}")).await;
    }
    // Nothing said at all proves nothing.
    let mut browser = op.browser();
    browser.get(&authorize(WEB, "openid", &[])).await;
    let fields = right(&browser);
    let answer = browser.send(Method::POST, "/login", Some(&fields), &[]).await;
    assert_nothing_happened(&op, &browser, &answer, 422, "nothing said").await;
    // What browsers really send from our pages: Origin null under no-referrer, or our own.
    for headers in
        [&[("origin", "null"), ("sec-fetch-site", "same-origin")][..], &[("origin", "http://localhost:8080")]]
    {
        let mut browser = op.browser();
        browser.get(&authorize(WEB, "openid", &[])).await;
        let fields = right(&browser);
        let answer = browser.send(Method::POST, "/login", Some(&fields), headers).await;
        assert!(answer.location_param("code").is_some(), "{headers:?}: {} {}", answer.status, answer.body);
    }
}

#[tokio::test]
async fn a_cross_site_form_without_cookies_signs_nobody_in() {
    // Login CSRF: the attacker's own flow and token, posted in the victim's browser. SameSite keeps the
    // victim's cookies away, and the attacker's are not there.
    let op = Op::start().await;
    let mut attacker = op.browser();
    attacker.get(&authorize(WEB, "openid", &[])).await;
    let fields = attacker
        .form("login-submit")
        .filled("login-submit", &[("username", "bob"), ("password", "bob has a long password")]);
    let mut victim = op.browser();
    let headers = [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")];
    let answer = victim.send(Method::POST, "/login", Some(&fields), &headers).await;
    assert_eq!(answer.status, 403, "{}", answer.body);
    assert_eq!(victim.cookie("session"), None);
    assert_eq!(db_sessions(&op, "bob").await.len(), 0);
    let shown = victim.form("login-submit");
    assert_eq!(shown.value("username").as_deref(), Some("bob"), "the name is kept");
    assert_ne!(shown.value("flow"), attacker.form("login-submit").value("flow"), "a request of its own");
    // The same request, a form of its own: whoever sits there may still sign in.
    let answer = victim.sign_in("alice", PASSWORD).await;
    assert!(answer.location_param("code").is_some(), "{} {}", answer.status, answer.body);

    // Said nothing at all: no proof, so the form once more.
    let mut silent = op.browser();
    let answer = silent.send(Method::POST, "/login", Some(&fields), &[]).await;
    assert_eq!(answer.status, 422, "{}", answer.body);
    assert_eq!((silent.cookie("session"), db_sessions(&op, "bob").await.len()), (None, 0));
}

#[tokio::test]
async fn other_forms_from_elsewhere_are_forbidden_too_without_cookies() {
    let op = Op::start().await;
    let mut attacker = op.browser();
    attacker.get(&authorize(ASKER, "openid profile", &[])).await;
    attacker.sign_in("alice", PASSWORD).await;
    let fields = attacker.form("consent-allow").filled("consent-allow", &[]);
    let headers = [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")];
    let answer = op.browser().send(Method::POST, "/consent", Some(&fields), &headers).await;
    assert_eq!(answer.status, 403, "{}", answer.body);
    assert!(answer.header("set-cookie").is_none() && answer.page().text.contains("form_rejected"), "{}", answer.body);
    let silent = attacker.get(&authorize(ASKER, "openid profile", &[("prompt", "none")])).await;
    assert_eq!(silent.location_param("error").as_deref(), Some("consent_required"), "nothing was allowed");
}

#[tokio::test]
async fn a_lost_cookie_gets_a_fresh_form_with_the_name_that_works() {
    let op = Op::start().await;
    let mut browser = op.browser();
    browser.get(&authorize(WEB, "openid", &[("state", "the one")])).await;
    browser.forget("browser");
    let answer = browser.sign_in("alice", PASSWORD).await;
    assert_nothing_happened(&op, &browser, &answer, 422, "lost").await;
    assert!(answer.page().text.contains("did not send our cookie"), "{}", answer.page().text);
    let answer = browser.sign_in("alice", PASSWORD).await;
    assert_eq!(answer.location_param("state").as_deref(), Some("the one"));
    assert!(answer.location_param("code").is_some(), "{}", answer.location());

    // Cookies switched off altogether: never a dead end, never a session.
    let mut browser = op.browser();
    browser.get(&authorize(WEB, "openid", &[])).await;
    for _ in 0..3 {
        browser.forget("");
        let answer = browser.sign_in("alice", PASSWORD).await;
        assert_eq!(answer.status, 422);
        assert_eq!(browser.form("login-submit").value("username").as_deref(), Some("alice"));
    }
    // A value that is not ours is as good as none.
    let mut browser = op.browser();
    browser.get(&authorize(WEB, "openid", &[])).await;
    browser.set_cookie("browser", "AAAA");
    assert_eq!(browser.sign_in("alice", PASSWORD).await.status, 422);
    assert!(browser.sign_in("alice", PASSWORD).await.location_param("code").is_some());
}

#[tokio::test]
async fn a_lost_browser_cookie_does_not_ask_who_is_signed_in_for_a_password_twice() {
    let op = Op::start().await;
    let mut browser = op.browser();
    code(&mut browser, WEB, "openid").await;
    browser.get(&authorize(WEB, "openid", &[("prompt", "login"), ("state", "again")])).await;
    browser.forget("browser");
    let answer = browser.sign_in("alice", PASSWORD).await;
    assert_eq!(answer.status, 422, "{}", answer.body);
    let answer = browser.sign_in("alice", PASSWORD).await;
    assert_eq!(answer.location_param("state").as_deref(), Some("again"), "{} {}", answer.status, answer.body);
}

#[tokio::test]
async fn a_sign_in_belongs_to_the_browser_that_began_it() {
    // Session fixation: the attacker begins, the victim finishes on a link with the attacker's handle.
    let op = Op::start().await;
    let mut attacker = op.browser();
    let begun = attacker.get(&authorize(WEB, "openid", &[])).await;
    let attackers_page = attacker.at.clone();
    let mut victim = op.browser();
    let own = victim.get(&begun.url).await;
    assert_ne!(own.url, begun.url, "a flow of its own");
    let answer = victim.sign_in("alice", PASSWORD).await;
    assert!(answer.location_param("code").is_some(), "{}", answer.location());
    // The attacker's own flow knows nothing of it.
    attacker.at = attackers_page;
    let answer = attacker.get(&begun.url).await;
    assert!(answer.status == 200 && answer.page().has_id("login-submit"), "{} {}", answer.status, answer.body);
    assert_eq!(attacker.cookie("session"), None);

    // The victim's cookies with the attacker's handle in the form: begun again, nothing taken over.
    let mut victim = op.browser();
    victim.get(&authorize(WEB, "openid", &[])).await;
    let mut fields = right(&victim);
    let handle = attacker.form("login-submit").value("flow").expect("a handle");
    for (name, value) in &mut fields {
        if name == "flow" {
            handle.clone_into(value);
        }
    }
    let answer = victim.send(Method::POST, "/login", Some(&fields), &OURS).await;
    assert_eq!(answer.status, 422);
    assert_ne!(victim.form("login-submit").value("flow"), Some(handle));
    assert_eq!(victim.cookie("session"), None);
}

#[tokio::test]
async fn cookies_of_before_the_sign_in_are_no_session_after_it() {
    let op = Op::start().await;
    let mut browser = op.browser();
    browser.get(&authorize(WEB, "openid", &[])).await;
    let planted = browser.cookie("browser").expect("the browser's cookie");
    browser.sign_in("alice", PASSWORD).await;
    let session = browser.cookie("session").expect("a session");
    assert_ne!(session, planted);
    // Each sign-in in a new browser has a session of its own.
    let mut second = op.browser();
    code(&mut second, WEB, "openid").await;
    assert_ne!(second.cookie("session").expect("a session"), session);
}

#[tokio::test]
async fn two_cookies_of_one_name_are_none() {
    let op = Op::start().await;
    let mut browser = op.browser();
    code(&mut browser, WEB, "openid").await;
    let pairs: Vec<String> = ["session", "device", "browser"]
        .iter()
        .map(|part| {
            let (name, _) = browser.cookie_names().into_iter().find(|(name, _)| name.contains(part)).expect("a cookie");
            format!("{name}={}", browser.cookie(part).expect("a value"))
        })
        .collect();
    let silent = authorize(WEB, "openid", &[("prompt", "none")]);
    let once = op.get(&silent, &[("cookie", &pairs.join("; "))]).await;
    assert!(once.location_param("code").is_some(), "{}", once.location());
    let twice = format!("{}; {}", pairs.join("; "), pairs[0]);
    let answer = op.get(&silent, &[("cookie", &twice)]).await;
    assert_eq!(answer.location_param("error").as_deref(), Some("login_required"), "{}", answer.location());
}
