//! Answers: `iss` everywhere (B-27), the form that posts itself, no CORS.

use std::collections::HashSet;

use super::assert_refused;
use crate::kit::browser::Answer;
use crate::kit::flow::{ASKER, Client, NATIVE, WEB, authorize, code};
use crate::kit::op::{Op, PASSWORD};

fn names_of(pairs: &[(String, String)]) -> Vec<&str> {
    pairs.iter().map(|(name, _)| name.as_str()).collect()
}

/// The fields that the self-posting form would send.
fn posted(answer: &Answer, to: &str) -> Vec<(String, String)> {
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(answer.header("location").is_none());
    let form = answer.page().form_with("form-post-submit").expect("a form");
    assert_eq!(form.action, to, "nothing in query or fragment");
    form.filled("form-post-submit", &[])
}

#[tokio::test]
async fn iss_is_in_every_answer_and_announced() {
    let op = Op::start().await;
    let metadata = op.get("/.well-known/openid-configuration", &[]).await.json();
    assert_eq!(metadata["authorization_response_iss_parameter_supported"], true);
    assert_eq!(metadata["response_modes_supported"], serde_json::json!(["query", "fragment", "form_post"]));
    let issuer = metadata["issuer"].as_str().expect("an issuer").to_owned();

    for mode in ["query", "fragment", "form_post"] {
        let mut browser = op.browser();
        let iss_of = |answer: &Answer, to: &str| {
            if mode == "form_post" {
                let fields = posted(answer, to);
                assert_eq!(fields.iter().filter(|(name, _)| name == "iss").count(), 1);
                fields.into_iter().find(|(name, _)| name == "iss").map(|(_, value)| value)
            } else if mode == "fragment" {
                assert!(answer.location().starts_with(&format!("{to}#")), "{}", answer.location());
                answer.fragment().remove("iss")
            } else {
                assert_eq!(answer.location().matches("iss=").count(), 1, "{}", answer.location());
                answer.location_param("iss")
            }
        };
        let to = WEB.redirect_uri;
        let silent = browser.get(&authorize(WEB, "openid", &[("response_mode", mode), ("prompt", "none")])).await;
        assert_eq!(iss_of(&silent, to).as_ref(), Some(&issuer), "login_required");
        let scope = browser.get(&authorize(WEB, "openid", &[("response_mode", mode), ("scope", "nope")])).await;
        assert_eq!(iss_of(&scope, to).as_ref(), Some(&issuer), "invalid_scope");
        browser.get(&authorize(WEB, "openid", &[("response_mode", mode)])).await;
        let cancelled = browser.submit("login-cancel", &[]).await;
        assert_eq!(iss_of(&cancelled, to).as_ref(), Some(&issuer), "access_denied");
        browser.get(&authorize(WEB, "openid", &[("response_mode", mode)])).await;
        let success = browser.sign_in("alice", PASSWORD).await;
        assert_eq!(iss_of(&success, to).as_ref(), Some(&issuer), "success");
        browser.get(&authorize(ASKER, "openid", &[("response_mode", mode)])).await;
        let denied = browser.submit("consent-deny", &[]).await;
        assert_eq!(iss_of(&denied, ASKER.redirect_uri).as_ref(), Some(&issuer), "consent denied");
    }
}

#[tokio::test]
async fn form_post_sends_itself_and_carries_nothing_in_the_address() {
    let op = Op::start().await;
    let mut browser = op.browser();
    browser.get(&authorize(WEB, "openid", &[("response_mode", "form_post")])).await;
    let answer = browser.sign_in("alice", PASSWORD).await;
    let fields = posted(&answer, WEB.redirect_uri);
    assert_eq!(names_of(&fields), ["code", "state", "iss"]);
    let csp = answer.header("content-security-policy").expect("a CSP");
    assert!(csp.contains("form-action 'self' https://app.example"), "{csp}");
    assert!(!csp.contains("https://app.example/"), "the origin alone: {csp}");
    assert!(csp.contains("script-src 'self'"), "{csp}");
    // It is posted by a script of ours, and by a button where there is none.
    let scripts: Vec<String> = answer
        .page()
        .tags
        .iter()
        .filter(|(name, _)| name == "script")
        .filter_map(|(_, attributes)| attributes.iter().find(|(key, _)| key == "src").map(|(_, value)| value.clone()))
        .collect();
    let own = scripts.iter().find(|src| src.contains("form-post")).expect("the script");
    let script = op.get(own, &[]).await;
    assert!(script.status == 200 && script.body.contains("submit"), "{}", script.body);
    // The code is one.
    let code = &fields[0].1;
    let redeemed = crate::kit::flow::redeem(&op, WEB, code).await;
    assert_eq!(redeemed.status, 200, "{}", redeemed.body);

    // Errors come the same way, in silence too; so does an address of a program's own.
    let answer =
        op.browser().get(&authorize(NATIVE, "openid", &[("response_mode", "form_post"), ("prompt", "none")])).await;
    let fields = posted(&answer, NATIVE.redirect_uri);
    assert_eq!(names_of(&fields), ["error", "error_description", "state", "iss"]);
    assert_eq!(fields[0].1, "login_required");
    let csp = answer.header("content-security-policy").expect("a CSP");
    assert!(csp.contains("form-action 'self' http://localhost:63785"), "{csp}");
    let app = Client { redirect_uri: "com.example.app:/cb", ..NATIVE };
    let answer =
        op.browser().get(&authorize(app, "openid", &[("response_mode", "form_post"), ("prompt", "none")])).await;
    posted(&answer, "com.example.app:/cb");
    let csp = answer.header("content-security-policy").expect("a CSP");
    assert!(csp.ends_with("form-action 'self' com.example.app:"), "{csp}");
}

#[tokio::test]
async fn a_page_before_the_answer_lets_its_form_lead_to_the_client_only() {
    let op = Op::start().await;
    // Chromium checks the redirect after a form against form-action.
    let answer = op.browser().get(&authorize(WEB, "openid", &[])).await;
    let csp = answer.header("content-security-policy").expect("a CSP");
    assert!(csp.ends_with("form-action 'self' https://app.example"), "{csp}");
}

#[tokio::test]
async fn the_authorization_endpoint_is_no_address_for_scripts() {
    let op = Op::start().await;
    let url = authorize(WEB, "openid", &[]);
    let origin = [("origin", "https://app.example"), ("access-control-request-method", "GET")];
    for method in ["GET", "HEAD", "OPTIONS", "POST"] {
        let mut browser = op.browser();
        let answer = browser.send(method.parse().expect("a method"), &url, None, &origin).await;
        let cors: Vec<&str> = answer
            .headers
            .keys()
            .map(http::HeaderName::as_str)
            .filter(|name| name.starts_with("access-control"))
            .collect();
        assert!(cors.is_empty(), "{method}: {cors:?}");
        match method {
            "OPTIONS" => {
                assert_eq!(answer.status, 405);
                assert_eq!(answer.header("allow"), Some("GET, HEAD, POST"));
            }
            "HEAD" => assert!(answer.status == 303 && answer.body.is_empty(), "{} {}", answer.status, answer.body),
            _ => {}
        }
    }
    let answer = op.browser().send(http::Method::PUT, &url, None, &[]).await;
    assert_eq!(answer.status, 405);
}

#[tokio::test]
async fn a_code_is_long_and_never_the_same() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let mut seen = HashSet::new();
    for _ in 0..20 {
        let code = code(&mut browser, WEB, "openid").await;
        assert!(
            code.len() >= 32 && code.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)),
            "{code}"
        );
        assert!(seen.insert(code));
    }
}

#[tokio::test]
async fn a_page_of_ours_tells_the_client_nothing() {
    let op = Op::start().await;
    let wrong = [("redirect_uri", "https://evil.example/"), ("state", "canary-state"), ("nonce", "canary-nonce")];
    let answer = op.browser().get(&authorize(WEB, "openid", &wrong)).await;
    assert!(answer.header("location").is_none() && answer.header("refresh").is_none());
    assert!(!answer.body.contains("canary"), "{}", answer.body);
    assert!(answer.page().links().iter().all(|link| !link.contains("evil")), "{:?}", answer.page().links());
    let silent = [("redirect_uri", "https://evil.example/"), ("prompt", "none")];
    assert_eq!(op.browser().get(&authorize(WEB, "openid", &silent)).await.status, 400);
    let fine = op.browser().get(&authorize(WEB, "openid", &[("prompt", "none")])).await;
    assert_refused(&fine, WEB.redirect_uri, "login_required", "the same with the right one");
}
