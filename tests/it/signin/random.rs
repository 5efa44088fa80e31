//! Tags are checked before anything is looked up (`security-design` rule 7).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use doorward::entropy::{self, SystemEntropy};
use openidconnect::reqwest::{Client, Method, redirect};

use crate::kit::flow::{WEB, authorize};
use crate::kit::op::PASSWORD;
use crate::kit::process::Doorward;
use crate::kit::visitor;

/// Requests, each of which brings four or five random tokens.
const ROUNDS: usize = 2_500;
/// What loops in the background may send meanwhile.
const NOISE: u64 = 50;

/// Random, but of the right version and length: only the tag can tell.
fn token<const N: usize>() -> String {
    let mut bytes: [u8; N] = entropy::bytes(&SystemEntropy, "test");
    bytes[0] = 1;
    URL_SAFE_NO_PAD.encode(bytes)
}

async fn statements(server: &Doorward) -> u64 {
    let text = visitor::get(&format!("{}/metrics", server.management()), &[]).await.body;
    let counts = ["read", "write", "batch"].map(|what| {
        let name = format!("doorward_store_statements_total{{for=\"{what}\"}} ");
        let line = text.lines().find_map(|line| line.strip_prefix(&name));
        line.map_or(0, |count| count.trim().parse::<u64>().expect("a whole number"))
    });
    counts.iter().sum()
}

#[tokio::test]
async fn ten_thousand_random_cookies_handles_and_form_tokens_cost_no_query() {
    let server = Doorward::running().await;
    let issuer = server.issuer();
    let client = Client::builder().redirect(redirect::Policy::none()).no_proxy().build().expect("a client");
    let begun = client.get(format!("{issuer}{}", authorize(WEB, "openid", &[]))).send().await.expect("an answer");
    let set = begun.headers()["set-cookie"].to_str().expect("ASCII");
    let browser = set.split('=').next().expect("a name");
    let [session, device] = ["session", "device"].map(|kind| browser.replace("-browser-", &format!("-{kind}-")));
    let silent = authorize(WEB, "openid", &[("prompt", "none"), ("nonce", ""), ("state", "x")]);

    // What is read once is read before.
    let ask = async |round: usize| {
        let flow = token::<33>();
        let (method, path, form) = match round % 50 {
            0 => (Method::GET, silent.clone(), None),
            at if at % 4 == 1 => (Method::GET, "/".to_owned(), None),
            at if at % 4 == 2 => (Method::GET, format!("/login?flow={flow}"), None),
            at if at % 4 == 3 => (Method::GET, format!("/login/start?request={flow}"), None),
            _ => (Method::POST, "/login".to_owned(), Some(token::<16>())),
        };
        let cookies = format!("{session}={}; {device}={}; {browser}={}", token::<49>(), token::<49>(), token::<33>());
        let mut request = client.request(method, format!("{issuer}{path}")).header("cookie", cookies);
        request = request.header("accept", "text/html");
        if let Some(csrf) = form {
            let fields = [("csrf", csrf.as_str()), ("flow", &flow), ("username", "alice"), ("password", PASSWORD)];
            let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
            request = request
                .header("content-type", "application/x-www-form-urlencoded")
                .header("origin", &issuer)
                .header("sec-fetch-site", "same-origin")
                .body(body);
        }
        let answer = request.send().await.expect("the server answers");
        let status = answer.status().as_u16();
        assert!(matches!(status, 200 | 303 | 400), "{path}: {status}");
        if status == 303 {
            let location = answer.headers()["location"].to_str().expect("ASCII");
            assert!(location.contains("error=login_required"), "{location}");
        }
    };
    for round in 0..50 {
        ask(round).await;
    }
    let before = statements(&server).await;
    for round in 0..ROUNDS {
        ask(round).await;
    }
    let sent = statements(&server).await - before;
    assert!(sent < NOISE, "{sent} statements for {ROUNDS} requests");

    // The counter counts: a handle with a genuine tag is looked up.
    let location = begun.headers()["location"].to_str().expect("ASCII").to_owned();
    let before = statements(&server).await;
    for _ in 0..NOISE {
        client.get(format!("{issuer}{location}")).send().await.expect("an answer");
    }
    assert!(statements(&server).await - before >= NOISE);
}
