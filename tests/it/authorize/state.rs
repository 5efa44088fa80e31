//! B-05: `state` and `nonce` come back byte for byte, whatever they hold, whatever the answer.

use crate::kit::browser::{Answer, Browser};
use crate::kit::flow::{WEB, authorize, code_answer, id_claims};
use crate::kit::op::{Op, PASSWORD};

const HARD: [&str; 5] =
    ["n+eBY2D%2F==&x=1 \u{e9}", "\"></form><script>alert(1)</script>", "&quot;&#60;\u{1f511}", " a\tb ", "%00%0a"];

/// The answer's `state`, read by a form decoder or out of the form.
fn state_of(answer: &Answer, mode: &str) -> Option<String> {
    if mode == "form_post" {
        assert_eq!(answer.status, 200, "{}", answer.body);
        return answer.page().form_with("form-post-submit").expect("the form").value("state");
    }
    let (_, query) = answer.location().split_once('?').expect("a query");
    let states: Vec<String> = form_urlencoded::parse(query.as_bytes())
        .filter(|(name, _)| name == "state")
        .map(|(_, value)| value.into())
        .collect();
    assert!(states.len() <= 1, "{}", answer.location());
    assert!(answer.location().bytes().all(|byte| byte.is_ascii_graphic()), "{}", answer.location());
    states.into_iter().next()
}

async fn success(browser: &mut Browser<'_>, state: &str, mode: &str) -> Answer {
    let answer = browser.get(&authorize(WEB, "openid", &[("state", state), ("response_mode", mode)])).await;
    if answer.page().has_id("login-submit") { browser.sign_in("alice", PASSWORD).await } else { answer }
}

#[tokio::test]
async fn a_state_comes_back_byte_for_byte() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let long: String = "n+%2F\u{e9}".chars().cycle().take(2000).collect();
    for state in HARD.iter().copied().chain([long.as_str()]) {
        for mode in ["query", "form_post"] {
            let answer = success(&mut browser, state, mode).await;
            assert_eq!(state_of(&answer, mode).as_deref(), Some(state), "{mode}");
            // Nobody is signed in in a new browser.
            let wanted = [("state", state), ("response_mode", mode), ("prompt", "none")];
            let answer = op.browser().get(&authorize(WEB, "openid", &wanted)).await;
            assert_eq!(state_of(&answer, mode).as_deref(), Some(state), "{mode}");
            // The checks themselves refuse.
            let wanted = [("state", state), ("response_mode", mode), ("max_age", "-1")];
            let answer = op.browser().get(&authorize(WEB, "openid", &wanted)).await;
            assert_eq!(state_of(&answer, mode).as_deref(), Some(state), "{mode}");
        }
    }
}

#[tokio::test]
async fn a_state_is_decoded_exactly_once() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let url = format!("{}&state=n%2BeBY2D%252F%3D%3D%26x%3D1%20%C3%A9", authorize(WEB, "openid", &[("state", "")]));
    browser.get(&url).await;
    let answer = browser.sign_in("alice", PASSWORD).await;
    assert_eq!(state_of(&answer, "query").as_deref(), Some("n+eBY2D%2F==&x=1 \u{e9}"));
    assert!(answer.location().contains("state=n%2BeBY2D%252F%3D%3D%26x%3D1%20%C3%A9"), "{}", answer.location());
}

#[tokio::test]
async fn no_state_comes_back_where_none_was_sent() {
    let op = Op::start().await;
    for url in
        [authorize(WEB, "openid", &[("state", "")]), format!("{}&state=", authorize(WEB, "openid", &[("state", "")]))]
    {
        let mut browser = op.browser();
        browser.get(&url).await;
        let answer = browser.sign_in("alice", PASSWORD).await;
        assert!(
            answer.location_param("code").is_some() && !answer.location().contains("state"),
            "{}",
            answer.location()
        );
    }
}

#[tokio::test]
async fn a_state_beyond_the_limit_is_refused_by_redirect_without_it() {
    let op = Op::start().await;
    let (most, long) = ("s".repeat(4096), "s".repeat(4097));
    let answer = success(&mut op.browser(), &most, "query").await;
    assert_eq!(state_of(&answer, "query").as_deref(), Some(most.as_str()));
    let answer = op.browser().get(&authorize(WEB, "openid", &[("state", &long)])).await;
    super::assert_refused(&answer, WEB.redirect_uri, "invalid_request", "too long");
    assert_eq!(state_of(&answer, "query"), None);
}

#[tokio::test]
async fn a_nonce_of_a_thousand_characters_is_in_the_id_token() {
    let op = Op::start().await;
    let nonce: String = "a+%2F&=\u{1f511} \u{e9}".chars().cycle().take(1000).collect();
    let answer = code_answer(&mut op.browser(), WEB, "openid", &[("nonce", &nonce)]).await;
    assert!(answer.location().len() < 2000, "the code stays short: {}", answer.location().len());
    assert_eq!(id_claims(&op, WEB, &answer).await["nonce"].as_str(), Some(nonce.as_str()));
    // None sent, none given.
    let answer = code_answer(&mut op.browser(), WEB, "openid", &[("nonce", "")]).await;
    assert!(id_claims(&op, WEB, &answer).await.get("nonce").is_none());
}
