//! Authorization requests by POST from anywhere: no cookie comes along, none is set, nothing is lost.

use http::Method;

use super::{assert_on_page, assert_refused};
use crate::kit::browser::Answer;
use crate::kit::flow::{ASKER, WEB, authorize, code, id_claims};
use crate::kit::op::{Op, PASSWORD};

const CROSS_SITE: [(&str, &str); 2] = [("origin", "https://app.example"), ("sec-fetch-site", "cross-site")];

/// The request's parameters as a form, posted by a page of the client: SameSite keeps our cookies away.
async fn post(op: &Op, url: &str) -> Answer {
    let (path, query) = url.split_once('?').expect("a query");
    let pairs: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let fields: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let answer = op.post(path, &fields, &CROSS_SITE).await;
    assert!(answer.header("set-cookie").is_none(), "a POST from elsewhere sets no cookie");
    answer
}

#[tokio::test]
async fn a_request_by_post_goes_on_as_a_get() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let handed = post(&op, &authorize(WEB, "openid", &[("state", "s &+%2B\u{e9}")])).await;
    assert_eq!(handed.status, 303);
    assert!(op.is_ours(&op.resolve(&handed.url, handed.location())), "{}", handed.location());
    assert!(!handed.location().contains("state"), "the request stays here: {}", handed.location());
    let login = browser.get(&op.resolve(&handed.url, handed.location())).await;
    assert!(login.page().has_id("login-submit"), "{}", login.body);
    let answer = browser.sign_in("alice", PASSWORD).await;
    assert_eq!(answer.location_param("state").as_deref(), Some("s &+%2B\u{e9}"));
    id_claims(&op, WEB, &answer).await;
}

#[tokio::test]
async fn who_is_signed_in_is_known_again_after_a_post() {
    let op = Op::start().await;
    let mut browser = op.browser();
    code(&mut browser, WEB, "openid").await;
    let handed = post(&op, &authorize(WEB, "openid", &[("prompt", "none")])).await;
    let answer = browser.get(&op.resolve(&handed.url, handed.location())).await;
    assert!(answer.location_param("code").is_some(), "{}", answer.location());
    // The hand-over works once; afterwards there is a page with a way on.
    let again = browser.get(&op.resolve(&handed.url, handed.location())).await;
    assert_on_page(&again, "sign_in_expired", "again");
    assert!(again.page().has_id("onward"), "{}", again.body);
}

#[tokio::test]
async fn a_post_is_checked_like_a_get() {
    let op = Op::start().await;
    let follow = async |url: &str| {
        let handed = post(&op, url).await;
        op.browser().get(&op.resolve(&handed.url, handed.location())).await
    };
    let answer = follow(&authorize(WEB, "openid", &[("redirect_uri", "https://evil.example/")])).await;
    assert_on_page(&answer, "redirect_uri_mismatch", "by POST");
    assert!(answer.page().text.contains("https://evil.example/"), "{}", answer.page().text);
    let answer = follow(&authorize(ASKER, "openid", &[("response_type", "none")])).await;
    assert_refused(&answer, ASKER.redirect_uri, "unsupported_response_type", "by POST");
}

#[tokio::test]
async fn bytes_that_an_address_cannot_hold_are_not_changed_on_the_way() {
    let op = Op::start().await;
    let mut browser = op.browser();
    code(&mut browser, WEB, "openid").await;
    let (_, good) = authorize(WEB, "openid", &[("state", "")])
        .split_once('?')
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .expect("a query");
    for (state, expected) in [(&b"a\xc3\xa9 b"[..], Some("a\u{e9} b")), (b"\xff", None), (b"a#b<\"", Some("a#b<\""))] {
        let mut body = good.clone().into_bytes();
        body.extend_from_slice(b"&state=");
        body.extend_from_slice(state);
        let request = http::Request::post("/authorize")
            .header("host", "localhost:8080")
            .header("content-type", "application/x-www-form-urlencoded; charset=UTF-8")
            .body(body.into())
            .expect("a request");
        let handed = op.send(request).await;
        assert_eq!(handed.status, 303, "{}", handed.body);
        let answer = browser.get(handed.location()).await;
        assert_eq!(answer.location_param("state").as_deref(), expected, "{}", answer.location());
        let error = answer.location_param("error");
        assert_eq!(error.as_deref(), if expected.is_some() { None } else { Some("invalid_request") });
    }
}

#[tokio::test]
async fn what_is_no_form_is_refused_on_a_page() {
    let op = Op::start().await;
    for (media, body) in [("application/json", "{}"), ("text/plain", "client_id=web"), ("multipart/form-data", "x")] {
        let request = http::Request::post("/authorize").header("host", "localhost:8080").header("content-type", media);
        let answer = op.send(request.body(body.into()).expect("a request")).await;
        assert_eq!(answer.status, 400, "{media}");
        assert!(answer.header("set-cookie").is_none());
    }
    let long = "a".repeat(70_000);
    let answer = op.post("/authorize", &[("state", &long)], &[]).await;
    assert_eq!(answer.status, 413);
    assert!(answer.page().text.contains("too large"), "{}", answer.page().text);
}

#[tokio::test]
async fn a_made_up_hand_over_leads_nowhere() {
    let op = Op::start().await;
    for handle in ["", "x", "AAAAAAAAAAAAAAAAAAAAAA", "../../x"] {
        let answer = op.browser().send(Method::GET, &format!("/login/start?request={handle}"), None, &[]).await;
        assert_on_page(&answer, "sign_in_expired", handle);
    }
}
