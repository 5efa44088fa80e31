//! Session Management 1.0: `session_state` in every answer of a realm that offers it, the cookie that a frame's
//! script reads, the frame itself. What the script does in a browser is in `e2e/signing_out.rs`.

use aws_lc_rs::digest::{SHA256, digest};

use crate::kit::browser::{Answer, Browser};
use crate::kit::flow::{ASKER, NATIVE, WEB, authorize, code_answer, decode, text, tokens};
use crate::kit::house;
use crate::kit::op::{Op, PASSWORD};

const OFFERED: &str = "realm: main\nsettings: { logout: { session_management: true } }\n";

async fn start() -> Op {
    let op = Op::start().await;
    op.apply(OFFERED).await;
    op
}

/// As the frame's script computes it.
fn fits(answer: &Answer, client_id: &str, origin: &str, browser: &Browser<'_>) -> bool {
    let given = answer.location_param("session_state").unwrap_or_else(|| panic!("none in {}", answer.location()));
    assert!(!given.contains(' '), "section 2");
    let (hash, salt) = given.split_once('.').expect("a salt");
    let state = browser.cookie("-state-").unwrap_or_default();
    let made = digest(&SHA256, format!("{client_id} {origin} {state} {salt}").as_bytes());
    made.as_ref().iter().map(|byte| format!("{byte:02x}")).collect::<String>() == hash
}

#[tokio::test]
async fn oidcc_session_management_discovery_endpoint_verification() {
    let op = house::start().await;
    let document = op.get("https://id.example/realms/other/.well-known/openid-configuration", &[]).await.json();
    assert!(document.get("check_session_iframe").is_none(), "off, as every realm is at first");
    op.apply("realm: other\nsettings: { logout: { session_management: true } }\n").await;
    let document = op.get("https://id.example/realms/other/.well-known/openid-configuration", &[]).await.json();
    assert_eq!(document["check_session_iframe"], "https://id.example/realms/other/session/check");
    assert!(text(&document, "end_session_endpoint").starts_with("https://"));
    assert_eq!(op.get(text(&document, "check_session_iframe"), &[]).await.status, 200);
}

#[tokio::test]
async fn oidcc_session_management_rp_initiated_logout() {
    let op = start().await;
    let mut browser = op.browser();
    let entered = code_answer(&mut browser, WEB, "openid", &[]).await;
    assert!(entered.location_param("code").is_some() && fits(&entered, "web", "https://app.example", &browser));
    let state = browser.cookie("-state-").expect("a state");
    // At another client it is another text about the same state; no other origin's.
    let other = code_answer(&mut browser, ASKER, "openid", &[]).await;
    assert_eq!(browser.cookie("-state-").as_ref(), Some(&state), "one sign-in, one state");
    assert!(fits(&other, "asker", "https://asker.example", &browser));
    assert!(
        !fits(&other, "asker", "https://app.example", &browser)
            && !fits(&other, "web", "https://asker.example", &browser)
    );
    assert_ne!(entered.location_param("session_state"), other.location_param("session_state"));

    browser.get("/logout").await;
    browser.submit("logout-yes", &[]).await;
    assert_eq!(browser.cookie("-state-"), None);
    assert!(!fits(&entered, "web", "https://app.example", &browser), "changed");
    let silent = browser.get(&authorize(WEB, "openid", &[("prompt", "none")])).await;
    assert_eq!(silent.location_param("error").as_deref(), Some("login_required"));
    assert!(
        fits(&silent, "web", "https://app.example", &browser),
        "a refusal says it too: unchanged until she signs in"
    );
}

#[tokio::test]
async fn each_sign_in_is_another_state_and_nothing_else_is() {
    let op = start().await;
    let mut browser = op.browser();
    let first = code_answer(&mut browser, WEB, "openid", &[]).await;
    let mut states = vec![browser.cookie("-state-").expect("a state")];
    for _ in 0..2 {
        let silent = browser.get(&authorize(WEB, "openid", &[("prompt", "none")])).await;
        assert!(fits(&silent, "web", "https://app.example", &browser));
        assert_ne!(silent.location_param("session_state"), first.location_param("session_state"), "salted each time");
        assert_eq!(browser.cookie("-state-"), states.last().cloned());
    }
    for (name, password) in [("alice", PASSWORD), ("bob", "bob has a long password")] {
        op.advance(std::time::Duration::from_secs(5)).await;
        browser.get(&authorize(WEB, "openid", &[("prompt", "login")])).await;
        let again = browser.sign_in(name, password).await;
        assert!(fits(&again, "web", "https://app.example", &browser), "{name}");
        assert!(!fits(&first, "web", "https://app.example", &browser), "{name}");
        let state = browser.cookie("-state-").expect("a state");
        assert!(!states.contains(&state), "{name}");
        states.push(state);
    }
}

#[tokio::test]
async fn every_kind_of_answer_says_it() {
    let op = start().await;
    let mut browser = op.browser();
    // Before anybody signed in: refused by the table of checks, refused for want of a sign-in, cancelled.
    for extra in [&[("scope", "nonsense")][..], &[("prompt", "none")], &[("response_type", "magic")]] {
        let refused = browser.get(&authorize(WEB, "openid", extra)).await;
        assert!(refused.location_param("error").is_some());
        assert!(fits(&refused, "web", "https://app.example", &browser), "{extra:?}");
    }
    browser.get(&authorize(WEB, "openid", &[])).await;
    let cancelled = browser.submit("login-cancel", &[]).await;
    assert!(fits(&cancelled, "web", "https://app.example", &browser));
    browser.get(&authorize(ASKER, "openid", &[])).await;
    browser.sign_in("alice", PASSWORD).await;
    assert!(browser.cookie("-state-").is_some(), "with the sign-in, before any answer");
    let denied = browser.submit("consent-deny", &[]).await;
    assert_eq!(denied.location_param("error").as_deref(), Some("access_denied"));
    assert!(fits(&denied, "asker", "https://asker.example", &browser));
    // After the sign-in, by the table again; and where the origin has a port of its own.
    let refused = browser.get(&authorize(WEB, "openid", &[("scope", "nonsense")])).await;
    assert!(fits(&refused, "web", "https://app.example", &browser));
    let native = code_answer(&mut browser, NATIVE, "openid", &[]).await;
    assert!(fits(&native, "native", "http://localhost:63785", &browser));
    let posted = browser.get(&authorize(WEB, "openid", &[("response_mode", "form_post")])).await;
    assert!(posted.body.contains("name=\"session_state\""), "{}", posted.body);
}

#[tokio::test]
async fn a_realm_that_does_not_offer_it_says_nothing_and_sets_nothing() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let entered = code_answer(&mut browser, WEB, "openid", &[]).await;
    assert_eq!(entered.location_param("session_state"), None);
    assert_eq!(browser.cookie("-state-"), None);
    assert_eq!(op.get("/session/check", &[]).await.status, 404);
    // Switched on, the next answer sets it; switched off again, the sign-out still takes it away.
    op.apply(OFFERED).await;
    let silent = browser.get(&authorize(WEB, "openid", &[("prompt", "none")])).await;
    assert!(fits(&silent, "web", "https://app.example", &browser) && browser.cookie("-state-").is_some());
    op.apply("realm: main\nsettings: { logout: { session_management: false } }\n").await;
    browser.get("/logout").await;
    browser.submit("logout-yes", &[]).await;
    assert_eq!(browser.cookie("-state-"), None);
}

#[tokio::test]
async fn the_cookie_opens_nothing_and_tells_nothing() {
    let op = start().await;
    let mut browser = op.browser();
    let got = tokens(&op, &mut browser, WEB, "openid").await;
    let claims = decode(text(&got, "id_token")).1;
    let state = browser.cookie("-state-").expect("a state");
    assert!(!state.contains(text(&claims, "sid")) && !state.contains(text(&claims, "sub")));
    assert_eq!(state.len(), 22, "128 bits, whatever stands behind them");
    // Another sign-in of the same person at the same second is another state.
    let mut other = op.browser();
    tokens(&op, &mut other, WEB, "openid").await;
    assert_ne!(other.cookie("-state-"), Some(state));
    let mut thief = op.browser();
    thief.steal(&browser, "-state-");
    let silent = thief.get(&authorize(WEB, "openid", &[("prompt", "none")])).await;
    assert_eq!(silent.location_param("error").as_deref(), Some("login_required"));
    // Without the session's own cookie, as in a frame on another site, the state stays as it is.
    assert_eq!(thief.cookie("-state-"), browser.cookie("-state-"));
    assert!(fits(&silent, "web", "https://app.example", &thief));
}

#[tokio::test]
async fn a_session_that_is_over_takes_its_state_along() {
    let op = start().await;
    let mut browser = op.browser();
    let entered = code_answer(&mut browser, WEB, "openid", &[]).await;
    op.advance(std::time::Duration::from_hours(13)).await;
    let silent = browser.get(&authorize(WEB, "openid", &[("prompt", "none")])).await;
    assert_eq!(silent.location_param("error").as_deref(), Some("login_required"));
    assert_eq!(browser.cookie("-state-"), None);
    assert!(fits(&silent, "web", "https://app.example", &browser));
    assert!(!fits(&entered, "web", "https://app.example", &browser), "changed");
}

#[tokio::test]
async fn the_state_stays_as_long_as_the_session_is_remembered() {
    let op = Op::builder().public_url("https://id.example/sso").start().await;
    op.apply(OFFERED).await;
    let mut browser = op.browser();
    browser.get(&authorize(WEB, "openid", &[])).await;
    let fill = [("username", "alice"), ("password", PASSWORD), ("remember", "on")];
    let entered = browser.submit_once("login-submit", &fill).await;
    let cookies: Vec<&str> =
        entered.headers.get_all("set-cookie").iter().map(|value| value.to_str().expect("ASCII")).collect();
    let state: Vec<_> = cookies.iter().filter(|text| text.contains("-state-")).collect();
    let [state] = state.as_slice() else { panic!("set once: {cookies:?}") };
    assert!(state.starts_with("__Secure-doorward-state-"), "{state}");
    assert!(state.ends_with("; Path=/sso; SameSite=None; Secure; Max-Age=2592000"), "{state}");
}

#[tokio::test]
async fn the_frame_may_stand_on_any_page_and_holds_nothing_but_its_script() {
    let op = house::start().await;
    op.apply(OFFERED).await;
    let frame = op.get("/session/check", &[]).await;
    assert_eq!((frame.status.as_u16(), frame.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert_eq!(
        frame.header("content-security-policy"),
        Some("default-src 'none'; script-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors *")
    );
    assert_eq!(frame.header("x-frame-options"), None);
    assert_eq!(frame.header("cache-control"), Some("public, max-age=300"));
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        assert_eq!(frame.header(name), Some(value), "{name}");
    }
    assert!(frame.header("set-cookie").is_none() && frame.header("strict-transport-security").is_some());
    assert!(frame.body.contains("<body></body>") && frame.body.matches("<script").count() == 1, "{}", frame.body);
    assert!(frame.body.contains("data-cookie=\"__Host-doorward-state-"), "{}", frame.body);
    let (_, rest) = frame.body.split_once("src=\"").expect("a script");
    let script = op.get(rest.split_once('"').expect("an address").0, &[]).await;
    assert_eq!((script.status.as_u16(), script.header("content-type")), (200, Some("text/javascript; charset=utf-8")));
    // Every other page keeps out of frames, this one's errors included.
    for url in ["/login", "/logout", "https://login.example/session/check"] {
        assert_eq!(op.get(url, &[("accept", "text/html")]).await.header("x-frame-options"), Some("DENY"), "{url}");
    }
}
