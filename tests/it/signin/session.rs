//! The session's cookies: a secret that changes, a device it belongs to, a tag before any look-up.

use std::time::Duration;

use doorward::domain::model::audit::AuditKind;
use doorward::domain::model::ids::SessionId;
use doorward::entropy::{self, SeededEntropy};
use doorward::service::session::cookie_text::SessionCookie;

use crate::kit::browser::Browser;
use crate::kit::flow::{WEB, authorize, code};
use crate::kit::op::{Op, PASSWORD};
use crate::kit::rows::{db_audit, db_realm, db_sessions};

async fn is_signed_in(browser: &mut Browser<'_>) -> bool {
    let answer = browser.get(&authorize(WEB, "openid", &[("prompt", "none")])).await;
    answer.location_param("code").is_some()
}

#[tokio::test]
async fn a_new_proof_changes_the_secret_and_the_old_one_is_dead_at_once() {
    let op = Op::start().await;
    let mut browser = op.browser();
    code(&mut browser, WEB, "openid").await;
    let mut thief = op.browser();
    thief.steal(&browser, "session");
    thief.steal(&browser, "device");
    thief.steal(&browser, "browser");
    assert!(is_signed_in(&mut thief).await, "all cookies together are the browser");
    let old = browser.cookie("session");
    browser.get(&authorize(WEB, "openid", &[("prompt", "login")])).await;
    browser.sign_in("alice", PASSWORD).await;
    assert_ne!(browser.cookie("session"), old);
    assert!(is_signed_in(&mut browser).await);
    assert!(!is_signed_in(&mut thief).await, "the old secret");
    assert_eq!(db_sessions(&op, "alice").await.len(), 1);
}

#[tokio::test]
async fn a_session_cookie_on_another_device_counts_as_signed_out_there_and_the_session_goes_on() {
    let op = Op::start().await;
    let mut browser = op.browser();
    code(&mut browser, WEB, "openid").await;
    let mut thief = op.browser();
    thief.steal(&browser, "session");
    assert_eq!(db_audit(&op, Some(AuditKind::SessionMisused)).await.len(), 0);
    assert!(!is_signed_in(&mut thief).await, "no device at all");
    // A device of his own does not help.
    let mut second = op.browser();
    second.get(&authorize(WEB, "openid", &[])).await;
    second.sign_in("bob", "bob has a long password").await;
    second.forget("session");
    second.steal(&browser, "session");
    assert!(!is_signed_in(&mut second).await, "another device");
    let events = db_audit(&op, Some(AuditKind::SessionMisused)).await;
    assert_eq!(events.len(), 2);
    let session = db_sessions(&op, "alice").await.remove(0);
    assert!(events.iter().all(|event| event.session == Some(session.id) && event.user == Some(session.user)));
    assert!(session.ended.is_none());
    assert!(is_signed_in(&mut browser).await, "where it belongs it goes on");
}

#[tokio::test]
async fn ten_thousand_random_cookies_cost_no_query_and_are_nobody() {
    let op = Op::start().await;
    let mut browser = op.browser();
    code(&mut browser, WEB, "openid").await;
    let name = |part: &str| {
        let names = browser.cookie_names();
        names.into_iter().map(|(name, _)| name).find(|name| name.contains(part)).expect("a cookie")
    };
    let (session, device, tie) = (name("session"), name("device"), name("browser"));
    let genuine = browser.cookie("session").expect("a session");
    let realm = db_realm(&op).await;
    let nobody = op.get("/", &[]).await;
    assert_eq!(nobody.status, 200);
    // From here on every query fails; what the realm's own page needs is in the read models.
    op.app.store.close().await;

    let random = SeededEntropy::new(7);
    let text = |length: usize| -> String {
        const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        let bytes: [u8; 90] = entropy::bytes(&random, "forged");
        bytes[..length].iter().map(|byte| char::from(LETTERS[usize::from(byte & 63)])).collect()
    };
    for round in 0..10_000usize {
        let forged = match round % 3 {
            // One letter of a genuine one is another.
            0 => {
                let at = round / 3 % genuine.len();
                let other = if genuine.as_bytes()[at] == b'A' { "Q" } else { "A" };
                format!("{}{other}{}", &genuine[..at], &genuine[at + 1..])
            }
            1 => text(genuine.len()),
            _ => text(round % 90),
        };
        let cookies = format!("{session}={forged}; {device}={forged}; {tie}={forged}");
        let answer = op.get("/", &[("cookie", &cookies)]).await;
        assert_eq!(answer.status, 200, "{forged}: {}", answer.body);
        assert!(!answer.body.contains("alice"), "{forged}");
    }
    // The counter-check: a genuine tag does lead to a look-up, which fails here.
    let unknown = SessionCookie { id: SessionId::from_bytes([9; 16]), secret: [9; 16] }.to_text(&op.app.sealer, realm);
    let answer = op.get("/", &[("cookie", &format!("{session}={unknown}"))]).await;
    assert_eq!(answer.status, 503, "{}", answer.body);
}

#[tokio::test]
async fn only_browser_requests_move_the_idle_time() {
    let op = Op::start().await;
    let mut browser = op.browser();
    code(&mut browser, WEB, "openid").await;
    for _ in 0..3 {
        op.advance(Duration::from_secs(20 * 60)).await;
        assert!(is_signed_in(&mut browser).await, "used every 20 minutes");
    }
    op.advance(Duration::from_secs(31 * 60)).await;
    assert!(!is_signed_in(&mut browser).await, "unused for longer than 30 minutes");
    // However busy, it ends.
    code(&mut browser, WEB, "openid").await;
    for _ in 0..35 {
        op.advance(Duration::from_secs(20 * 60)).await;
        assert!(is_signed_in(&mut browser).await);
    }
    op.advance(Duration::from_secs(20 * 60)).await;
    assert!(!is_signed_in(&mut browser).await, "12 hours");
}
