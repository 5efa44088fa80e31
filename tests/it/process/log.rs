//! The log: one JSON line under 300 bytes for each request, found by the id that the answer carried,
//! and nothing secret on either stream in a whole sign-in.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::kit::browser::Answer;
use crate::kit::flow::{self, WEB};
use crate::kit::op::{PASSWORD, SECRET};
use crate::kit::process::Doorward;
use crate::kit::visitor::{Visitor, get, introspect, post_as, redeem, refresh};

fn id(answer: &Answer) -> String {
    answer.header("x-request-id").expect("every answer has an id").to_owned()
}

#[tokio::test]
async fn each_request_leaves_one_short_line_with_its_id_and_nothing_secret() {
    let mut server = Doorward::running().await;
    let issuer = server.issuer();
    let mut answers = Vec::new();
    let mut secrets = vec![PASSWORD.to_owned(), SECRET.to_owned(), "planted".to_owned(), flow::VERIFIER.to_owned()];

    // A whole sign-in, with wrong turns, and secrets planted wherever a stranger can put some.
    let mut visitor = Visitor::new(&issuer);
    let extra = [("state", "planted-state"), ("nonce", "planted-nonce"), ("login_hint", "planted-hint")];
    answers.push(visitor.open(&flow::authorize(WEB, "openid profile offline_access", &extra)).await);
    let wrong = [("username", "planted-name"), ("password", "planted-password")];
    answers.push(visitor.submit("login-submit", &wrong).await);
    let back = visitor.sign_in().await;
    let code = back.location_param("code").expect("a code");
    answers.push(back);
    secrets.push(code.clone());
    secrets.extend(visitor.cookies());
    let given = redeem(&issuer, WEB, &code).await;
    let tokens = given.json();
    answers.push(given);
    let text = |name: &str| tokens[name].as_str().expect("a token").to_owned();
    for name in ["access_token", "id_token", "refresh_token"] {
        secrets.push(text(name));
    }
    answers.push(refresh(&issuer, WEB, &text("refresh_token")).await);
    answers.push(refresh(&issuer, WEB, "planted-refresh-token").await);
    introspect(&issuer, WEB, &text("access_token")).await;
    let bearer = format!("Bearer {}", text("access_token"));
    answers.push(get(&format!("{issuer}/userinfo"), &[("authorization", &bearer)]).await);
    answers.push(get(&format!("{issuer}/userinfo"), &[("authorization", "Bearer planted-token")]).await);
    answers.push(get(&format!("{issuer}/planted-path?planted=1"), &[("user-agent", "planted-agent")]).await);
    answers.push(get(&format!("{issuer}/setup/planted-link"), &[("referer", "https://planted.example/")]).await);
    answers.push(get(&format!("{issuer}/authorize?client_id=planted-client&planted=1"), &[]).await);
    answers.push(post_as(&issuer, WEB, "/token", &[("grant_type", "planted-grant")]).await);
    answers.push(visitor.open(&format!("/logout?id_token_hint={}", text("id_token"))).await);

    assert!(server.terminate().await.success(), "ended calmly, so everything is written");
    let log = server.log();
    let mut lines: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in log.lines().filter(|line| line.starts_with("{\"ts\":")) {
        assert!(line.len() < 300, "{} bytes: {line}", line.len());
        let entry: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        for name in ["ts", "level", "request_id", "method", "route", "status", "ms"] {
            assert!(!entry[name].is_null(), "{name} in {line}");
        }
        lines.entry(entry["request_id"].as_str().expect("text").to_owned()).or_default().push(entry);
    }
    for answer in &answers {
        let found = lines.get(&id(answer)).unwrap_or_else(|| panic!("no line for {} {}", answer.status, answer.url));
        assert_eq!(found.len(), 1, "one line for {}: {found:?}", answer.url);
        assert_eq!(found[0]["status"], answer.status.as_u16(), "{}", answer.url);
    }
    let entry = &lines[&id(&answers[3])][0];
    assert_eq!(
        (&entry["method"], &entry["route"], &entry["realm"]),
        (&"POST".into(), &"/token".into(), &"main".into())
    );
    for secret in secrets {
        assert!(!log.contains(&secret), "{secret} in:\n{log}");
    }
    assert!(!log.contains('?'), "a query, or what came of a stranger's signs:\n{log}");
}

#[tokio::test]
async fn an_error_page_shows_the_reference_that_finds_its_line() {
    let mut server = Doorward::running().await;
    let answer = Visitor::new(&server.issuer()).open("/authorize?client_id=nobody").await;
    assert_eq!(answer.status, 400);
    let id = id(&answer);
    assert!(answer.page().text.contains(&id), "{id} on the page:\n{}", answer.body);
    assert!(server.terminate().await.success());
    let log = server.log();
    let line = log.lines().find(|line| line.contains(&id)).expect("its line");
    assert!(line.contains("\"reason\":\"client_unknown\"") || line.contains("\"reason\":\"client"), "{line}");
}
