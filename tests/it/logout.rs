//! RP-initiated logout: the conformance plan's modules by name, behaviour case B-35, `security-design`
//! rule 6, and what an ended session means for tokens, cookies, rows and other services.

mod conformance;
mod wishes;

use doorward::clock::Clock;
use doorward::domain::model::event::EventKind;
use doorward::domain::model::ids::SessionId;
use doorward::domain::model::session::EndReason;
use doorward::store::repo;
use http::Method;
use serde_json::{Value, json};

use crate::kit::browser::{Answer, Browser};
use crate::kit::flow::{ASKER, WEB, authorize, decode, introspect, refresh, text, tokens, userinfo};
use crate::kit::op::Op;

const OUT: &str = "https://app.example/out";
/// 128 characters, as the conformance suite sends them.
const STATE: &str = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-._~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV-._~";

fn logout(pairs: &[(&str, &str)]) -> String {
    format!("/logout?{}", form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish())
}

async fn is_signed_in(browser: &mut Browser<'_>) -> bool {
    let answer = browser.get(&authorize(WEB, "openid", &[("prompt", "none")])).await;
    match answer.location_param("error").as_deref() {
        None => answer.location_param("code").is_some(),
        Some("login_required") => false,
        Some(other) => panic!("{other}"),
    }
}

/// A browser signed in at the web client, and its tokens.
async fn signed_in(op: &Op) -> (Browser<'_>, Value) {
    let mut browser = op.browser();
    let tokens = tokens(op, &mut browser, WEB, "openid profile").await;
    (browser, tokens)
}

/// What a relying party's logout leads to, a question answered with yes.
async fn through(browser: &mut Browser<'_>, pairs: &[(&str, &str)]) -> Answer {
    let answer = browser.get(&logout(pairs)).await;
    if answer.page().has_id("logout-yes") { browser.submit("logout-yes", &[]).await } else { answer }
}

fn goes_back(answer: &Answer, to: &str) {
    assert_eq!(answer.status, 303, "{}", answer.body);
    assert_eq!(answer.location(), to);
}

fn stays(answer: &Answer) {
    assert!(!answer.status.is_redirection(), "no redirect: {}", answer.status);
    assert!(answer.header("location").is_none());
    assert!(!answer.body.contains("http-equiv"), "no other way of sending on either");
}

#[tokio::test]
async fn a_hint_of_another_session_asks_and_a_yes_leads_back() {
    let op = Op::start().await;
    let (_, elsewhere) = signed_in(&op).await;
    let (mut browser, _) = signed_in(&op).await;
    let pairs = [("id_token_hint", text(&elsewhere, "id_token")), ("post_logout_redirect_uri", OUT), ("state", "a+b")];
    let asked = browser.get(&logout(&pairs)).await;
    assert!(asked.page().has_id("logout-yes"), "rule 6: {}", asked.body);
    let csp = asked.header("content-security-policy").expect("a policy");
    assert!(csp.contains("form-action 'self' https://app.example"), "the browser lets the redirect pass: {csp}");
    let stayed = browser.submit("logout-stay", &[]).await;
    assert_eq!(stayed.status, 200);
    assert!(is_signed_in(&mut browser).await, "a no is a no");
    browser.get(&logout(&pairs)).await;
    goes_back(&browser.submit("logout-yes", &[]).await, &format!("{OUT}?state=a%2Bb"));
    assert!(!is_signed_in(&mut browser).await);
}

#[tokio::test]
async fn a_hint_of_another_person_asks() {
    let op = Op::start().await;
    let (_, alices) = signed_in(&op).await;
    let mut browser = op.browser();
    browser.get(&authorize(WEB, "openid", &[])).await;
    browser.sign_in("bob", "bob has a long password").await;
    let asked = browser.get(&logout(&[("id_token_hint", text(&alices, "id_token"))])).await;
    assert!(asked.page().has_id("logout-yes") && asked.page().text.contains("bob"), "{}", asked.body);
    assert!(is_signed_in(&mut browser).await);
}

#[tokio::test]
async fn with_the_session_gone_the_person_is_sent_back_all_the_same() {
    let op = Op::start().await;
    let (mut browser, got) = signed_in(&op).await;
    op.advance(std::time::Duration::from_secs(2 * 86_400)).await;
    assert!(!is_signed_in(&mut browser).await);
    let pairs = [("id_token_hint", text(&got, "id_token")), ("post_logout_redirect_uri", OUT), ("state", "a+b")];
    goes_back(&browser.get(&logout(&pairs)).await, &format!("{OUT}?state=a%2Bb"));
    goes_back(&op.browser().get(&logout(&pairs)).await, &format!("{OUT}?state=a%2Bb"));
}

#[tokio::test]
async fn state_comes_back_byte_for_byte() {
    let op = Op::start().await;
    let (_, got) = signed_in(&op).await;
    let long = "x".repeat(2_000);
    for state in ["a+b", "n+eBY2D%2F==&x=1 \u{e9}", "\u{1f511}#?", "\"><script>", "%", &long] {
        let pairs = [("id_token_hint", text(&got, "id_token")), ("post_logout_redirect_uri", OUT), ("state", state)];
        let answer = op.browser().get(&logout(&pairs)).await;
        assert_eq!(answer.location_param("state").as_deref(), Some(state));
        assert!(answer.location().starts_with(&format!("{OUT}?state=")), "{}", answer.location());
    }
}

#[tokio::test]
async fn a_request_that_contradicts_itself_is_an_error_page_and_nothing_happens() {
    let op = Op::start().await;
    let (mut browser, got) = signed_in(&op).await;
    let hint = text(&got, "id_token");
    let cases: [&[(&str, &str)]; 5] = [
        &[("id_token_hint", hint), ("client_id", "asker")],
        &[("id_token_hint", hint), ("client_id", "nobody")],
        &[("id_token_hint", hint), ("id_token_hint", hint)],
        &[("id_token_hint", hint), ("state", "a"), ("state", "b"), ("post_logout_redirect_uri", OUT)],
        &[("id_token_hint", hint), ("post_logout_redirect_uri", OUT), ("post_logout_redirect_uri", OUT)],
    ];
    for pairs in cases {
        let answer = browser.get(&logout(pairs)).await;
        assert_eq!(answer.status, 400, "{pairs:?}");
        assert!(is_signed_in(&mut browser).await, "{pairs:?}");
    }
}

#[tokio::test]
async fn a_form_from_another_site_becomes_a_get_first() {
    let op = Op::start().await;
    let (mut browser, got) = signed_in(&op).await;
    let fields =
        [("id_token_hint", text(&got, "id_token")), ("post_logout_redirect_uri", OUT), ("state", "a+b \u{e9}")];
    let elsewhere = [("origin", "https://app.example"), ("sec-fetch-site", "cross-site")];
    // A Lax cookie does not come along; a browser that sends it all the same gains nothing.
    let handed = op.post("/logout", &fields, &elsewhere).await;
    assert_eq!(handed.status, 303, "{}", handed.body);
    assert!(handed.headers.get("set-cookie").is_none());
    let owned: Vec<(String, String)> = fields.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    let with_cookie = browser.send(Method::POST, "/logout", Some(&owned), &elsewhere).await;
    assert_eq!(with_cookie.status, 303);
    assert!(with_cookie.location().starts_with("/logout?"), "{}", with_cookie.location());
    assert!(is_signed_in(&mut browser).await, "nothing happened yet");
    let target = op.resolve("http://localhost:8080/logout", handed.location());
    let answer = browser.get(&target).await;
    assert_eq!(answer.location_param("state").as_deref(), Some("a+b \u{e9}"));
    assert!(!is_signed_in(&mut browser).await);
}

#[tokio::test]
async fn a_form_from_another_site_that_is_no_form_is_refused_and_never_a_fault_of_ours() {
    let op = Op::start().await;
    for body in ["state=a\nb", "state=\u{e9}", "a=%zz&state=%", "\u{0}", &"x".repeat(70_000)] {
        let request = http::Request::builder()
            .method("POST")
            .uri("/logout")
            .header("host", "localhost:8080")
            .header("content-type", "application/x-www-form-urlencoded")
            .header("origin", "https://app.example")
            .body(body.to_owned().into())
            .expect("a request");
        let answer = op.send(request).await;
        assert!(answer.status.is_redirection() || answer.status.is_client_error(), "{body:.20}: {}", answer.status);
    }
    let answer = op.post("/logout", &[], &[("content-type", "application/json")]).await;
    assert!(answer.status.is_client_error() || answer.status.is_redirection(), "{}", answer.status);
}

#[tokio::test]
async fn a_yes_counts_only_from_the_page_that_asked() {
    let op = Op::start().await;
    let (mut browser, _) = signed_in(&op).await;
    let (mut other, _) = signed_in(&op).await;
    other.get("/logout").await;
    let foreign = other.form("logout-yes").value("csrf").expect("a token");
    browser.get("/logout").await;
    let form = browser.form("logout-yes").filled("logout-yes", &[]);
    let own = [("origin", "http://localhost:8080"), ("sec-fetch-site", "same-origin")];
    let cross = [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")];
    let with = |csrf: &str| -> Vec<(String, String)> {
        form.iter().map(|(n, v)| (n.clone(), if n == "csrf" { csrf.to_owned() } else { v.clone() })).collect()
    };
    for (fields, headers) in [
        (form.clone(), &cross[..]),
        (form.clone(), &[]),
        (with(""), &own),
        (with("AAAA"), &own),
        (with(&foreign), &own),
    ] {
        let answer = browser.send(Method::POST, "/logout/confirm", Some(&fields), headers).await;
        let asked_again = browser.follow(answer).await;
        assert!(asked_again.page().has_id("logout-yes"), "{}", asked_again.body);
        assert!(is_signed_in(&mut browser).await);
    }
    browser.get("/logout").await;
    let first = browser.form("logout-yes").filled("logout-yes", &[]);
    browser.submit("logout-yes", &[]).await;
    // A second press and Back end on the page that says so.
    let second = browser.send(Method::POST, "/logout/confirm", Some(&first), &own).await;
    let second = browser.follow(second).await;
    assert!(second.page().text.contains("signed out"), "{}", second.body);
}

#[tokio::test]
async fn online_tokens_die_with_the_session_and_offline_ones_live() {
    let op = Op::start().await;
    let beside = Op::builder().beside(&op).start().await;
    let mut browser = op.browser();
    let online = tokens(&op, &mut browser, WEB, "openid profile").await;
    let offline = tokens(&op, &mut browser, WEB, "openid offline_access").await;
    browser.get(&logout(&[("id_token_hint", text(&online, "id_token"))])).await;
    beside.poll().await;
    for node in [&op, &beside] {
        assert_eq!(introspect(node, WEB, text(&online, "access_token")).await, json!({ "active": false }));
        assert_eq!(userinfo(node, text(&online, "access_token")).await.status, 401);
        let dead = refresh(node, WEB, text(&online, "refresh_token")).await;
        assert_eq!((dead.status.as_u16(), text(&dead.json(), "error")), (400, "invalid_grant"));
        assert_eq!(introspect(node, WEB, text(&offline, "access_token")).await["active"], true);
    }
    let alive = refresh(&beside, WEB, text(&offline, "refresh_token")).await;
    assert_eq!(alive.status, 200, "{}", alive.body);
}

/// Name, value and attributes of a cookie that an answer sets.
fn cookie<'a>(answer: &'a Answer, part: &str) -> (&'a str, &'a str, Vec<&'a str>) {
    let mut found = answer.headers.get_all("set-cookie").iter().map(|value| value.to_str().expect("ASCII"));
    let text = found.find(|text| text.split('=').next().is_some_and(|name| name.contains(part))).expect("a cookie");
    let mut pieces = text.split("; ");
    let (name, value) = pieces.next().and_then(|pair| pair.split_once('=')).expect("a pair");
    let mut attributes: Vec<&str> = pieces.filter(|piece| !piece.starts_with("Max-Age")).collect();
    attributes.sort_unstable();
    (name, value, attributes)
}

#[tokio::test]
async fn the_cookie_goes_as_it_came_and_the_row_keeps_time_and_reason() {
    let op = Op::start().await;
    let mut browser = op.browser();
    browser.get(&authorize(WEB, "openid", &[])).await;
    let entered =
        browser.submit_once("login-submit", &[("username", "alice"), ("password", crate::kit::op::PASSWORD)]).await;
    let code = entered.location_param("code").expect("a code");
    let got = crate::kit::flow::redeem(&op, WEB, &code).await.json();
    let claims = decode(text(&got, "id_token")).1;
    op.advance(std::time::Duration::from_secs(60)).await;
    let left = browser.get(&logout(&[("id_token_hint", text(&got, "id_token"))])).await;
    let (set, cleared) = (cookie(&entered, "-session-"), cookie(&left, "-session-"));
    assert_eq!((set.0, set.2), (cleared.0, cleared.2));
    assert_eq!(cleared.1, "");
    assert_eq!(browser.cookie("-session-"), None);
    assert!(browser.cookie("-device-").is_some(), "the browser stays known");

    let realm = op.db_realm("main").await.id;
    let sid: SessionId = text(&claims, "sid").parse().expect("a session id");
    let row = repo::session::find(&op.app.store.read(), realm, sid).await.expect("the store").expect("the row");
    let ended = row.ended.expect("it ended");
    assert_eq!((ended.at, ended.reason), (op.clock.now(), EndReason::Logout));
    let events = repo::outbox::list_unsent(&op.app.store.read(), realm, 100).await.expect("the store");
    let told: Vec<_> = events.iter().filter(|event| event.kind == EventKind::SessionRevoked).collect();
    assert_eq!(told.len(), 1, "once");
    assert_eq!(told[0].sub, text(&claims, "sub"));
    assert_eq!(told[0].kind.as_str(), "identity.session.revoked");
    assert_eq!(
        serde_json::from_str::<Value>(&told[0].data).expect("JSON"),
        json!({ "sid": sid.to_string(), "reason": "logout" })
    );
    // Asking again ends nothing twice and tells nobody twice.
    browser.get(&logout(&[("id_token_hint", text(&got, "id_token"))])).await;
    let events = repo::outbox::list_unsent(&op.app.store.read(), realm, 100).await.expect("the store");
    assert_eq!(events.iter().filter(|event| event.kind == EventKind::SessionRevoked).count(), 1);
}

#[tokio::test]
async fn the_other_sessions_of_the_person_go_on() {
    let op = Op::start().await;
    let (mut here, got) = signed_in(&op).await;
    let (mut there, _) = signed_in(&op).await;
    here.get(&logout(&[("id_token_hint", text(&got, "id_token"))])).await;
    assert!(!is_signed_in(&mut here).await);
    assert!(is_signed_in(&mut there).await);
}

#[tokio::test]
async fn a_client_that_was_deleted_or_disabled_gets_nobody_back() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let got = tokens(&op, &mut browser, ASKER, "openid").await;
    op.apply("realm: main\nclients:\n  - { client_id: asker, enabled: false }\n").await;
    let pairs = [("id_token_hint", text(&got, "id_token")), ("post_logout_redirect_uri", "https://asker.example/out")];
    let answer = browser.get(&logout(&pairs)).await;
    stays(&answer);
    assert!(!is_signed_in(&mut browser).await, "signed out all the same");
}
