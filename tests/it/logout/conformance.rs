//! The modules of the conformance suite's RP-initiated logout plan (`conformance` section 7), by name.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;

use super::{OUT, STATE, goes_back, is_signed_in, logout, signed_in, stays, through};
use crate::kit::flow::{WEB, decode, text};
use crate::kit::house::{self, MAIN, OTHER};
use crate::kit::op::Op;

#[tokio::test]
async fn oidcc_rp_initiated_logout() {
    let op = Op::start().await;
    let (mut browser, got) = signed_in(&op).await;
    let hint = text(&got, "id_token");
    let answer =
        browser.get(&logout(&[("id_token_hint", hint), ("post_logout_redirect_uri", OUT), ("state", STATE)])).await;
    goes_back(&answer, &format!("{OUT}?state={STATE}").replace('~', "%7E"));
    assert_eq!(answer.location_param("state").as_deref(), Some(STATE));
    assert!(!is_signed_in(&mut browser).await);
}

#[tokio::test]
async fn oidcc_rp_initiated_logout_no_state() {
    let op = Op::start().await;
    let (mut browser, got) = signed_in(&op).await;
    let pairs = [("id_token_hint", text(&got, "id_token")), ("post_logout_redirect_uri", OUT)];
    goes_back(&browser.get(&logout(&pairs)).await, OUT);
    assert!(!is_signed_in(&mut browser).await);
}

#[tokio::test]
async fn oidcc_rp_initiated_logout_bad_post_logout_redirect_uri() {
    let op = Op::start().await;
    let (mut browser, got) = signed_in(&op).await;
    for uri in [
        "https://evil.example/out",
        "https://app.example/out/",
        "https://app.example/Out",
        "https://app.example/out/../out",
        "https://app.example/out#x",
        "https://app.example:443/out",
        "http://app.example/out",
        "https://app.example/cb",
        "//app.example/out",
        "javascript:alert(1)",
    ] {
        let pairs = [("id_token_hint", text(&got, "id_token")), ("post_logout_redirect_uri", uri), ("state", STATE)];
        let answer = browser.get(&logout(&pairs)).await;
        stays(&answer);
        assert_eq!(answer.status, 400, "{uri}");
    }
    assert!(is_signed_in(&mut browser).await, "nothing happened");
}

#[tokio::test]
async fn oidcc_rp_initiated_logout_query_added_to_post_logout_redirect_uri() {
    let op = Op::start().await;
    let (mut browser, got) = signed_in(&op).await;
    for uri in ["https://app.example/out?foo=bar", "https://app.example/out?"] {
        let answer =
            browser.get(&logout(&[("id_token_hint", text(&got, "id_token")), ("post_logout_redirect_uri", uri)])).await;
        stays(&answer);
        assert_eq!(answer.status, 400, "{uri}");
    }
    assert!(is_signed_in(&mut browser).await);
}

/// The hint with another header and no signature.
fn unsigned(hint: &str) -> String {
    let payload = hint.split('.').nth(1).expect("a payload");
    format!("{}.{payload}.", URL_SAFE_NO_PAD.encode(r#"{"alg":"none","typ":"JWT"}"#))
}

/// The hint with one claim changed under the old signature.
fn altered(hint: &str) -> String {
    let parts: Vec<&str> = hint.split('.').collect();
    let mut payload = decode(hint).1;
    payload["sub"] = json!("somebody-else");
    format!("{}.{}.{}", parts[0], URL_SAFE_NO_PAD.encode(payload.to_string()), parts[2])
}

#[tokio::test]
async fn oidcc_rp_initiated_logout_modified_id_token_hint() {
    let op = Op::start().await;
    let (mut browser, got) = signed_in(&op).await;
    let hint = text(&got, "id_token");
    for hint in [unsigned(hint), altered(hint), format!("{hint}x"), hint[..hint.len() - 4].to_owned(), "x".to_owned()] {
        let answer =
            through(&mut browser, &[("id_token_hint", &hint), ("post_logout_redirect_uri", OUT), ("state", STATE)])
                .await;
        stays(&answer);
        if !is_signed_in(&mut browser).await {
            crate::kit::flow::code(&mut browser, WEB, "openid").await;
        }
    }
}

#[tokio::test]
async fn oidcc_rp_initiated_logout_bad_id_token_hint() {
    let op = house::start().await;
    let mut browser = op.browser();
    let foreign = OTHER.tokens(&op, &mut op.browser(), WEB, "openid").await;
    let own = MAIN.tokens(&op, &mut browser, WEB, "openid").await;
    for hint in [text(&foreign, "id_token"), text(&own, "access_token"), text(&own, "refresh_token")] {
        let pairs = [("id_token_hint", hint), ("post_logout_redirect_uri", OUT), ("client_id", "web")];
        let answer = browser.get(&logout(&pairs)).await;
        stays(&answer);
        assert!(is_signed_in(&mut browser).await, "asked at the most");
    }
}

#[tokio::test]
async fn oidcc_rp_initiated_logout_no_id_token_hint() {
    let op = Op::start().await;
    for extra in [&[][..], &[("client_id", "web")], &[("client_id", "nobody")]] {
        let (mut browser, _) = signed_in(&op).await;
        let mut pairs = vec![("post_logout_redirect_uri", OUT), ("state", STATE)];
        pairs.extend(extra);
        let asked = browser.get(&logout(&pairs)).await;
        stays(&asked);
        assert!(is_signed_in(&mut browser).await, "a stranger's link alone signs nobody out");
        let done = through(&mut browser, &pairs).await;
        stays(&done);
        assert!(!is_signed_in(&mut browser).await);
    }
}

#[tokio::test]
async fn oidcc_rp_initiated_logout_no_params() {
    let op = Op::start().await;
    let (mut browser, _) = signed_in(&op).await;
    let asked = browser.get("/logout").await;
    assert!(asked.page().has_id("logout-yes") && asked.page().text.contains("alice"), "{}", asked.body);
    let done = browser.submit("logout-yes", &[]).await;
    stays(&done);
    assert!(done.page().text.contains("signed out"), "{}", done.body);
    assert!(!is_signed_in(&mut browser).await);
    // Nobody is signed in: the page says so and asks nothing.
    let again = browser.get("/logout").await;
    assert!(!again.page().has_id("logout-yes") && again.page().text.contains("signed out"), "{}", again.body);
}

#[tokio::test]
async fn oidcc_rp_initiated_logout_no_post_logout_redirect_uri() {
    let op = Op::start().await;
    let (mut browser, got) = signed_in(&op).await;
    let answer = through(&mut browser, &[("id_token_hint", text(&got, "id_token")), ("state", STATE)]).await;
    stays(&answer);
    assert!(answer.page().text.contains("signed out"), "{}", answer.body);
    assert!(!is_signed_in(&mut browser).await);
}

#[tokio::test]
async fn oidcc_rp_initiated_logout_only_state() {
    let op = Op::start().await;
    let (mut browser, _) = signed_in(&op).await;
    let answer = through(&mut browser, &[("state", STATE)]).await;
    stays(&answer);
    assert!(!is_signed_in(&mut browser).await);
}

#[tokio::test]
async fn oidcc_rp_initiated_logout_discovery_endpoint_verification() {
    let op = house::start().await;
    let document = op.get("/.well-known/openid-configuration", &[]).await.json();
    assert_eq!(document["end_session_endpoint"], "https://id.example/logout");
}
