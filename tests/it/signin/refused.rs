//! A refused sign-in looks the same, whatever the reason.

use crate::kit::browser::{Answer, Browser};
use crate::kit::flow::{WEB, authorize};
use crate::kit::op::{Op, PASSWORD};
use crate::kit::rows::{db_audit, db_sessions};

/// The page without what differs from one request to the next.
fn plain(answer: &Answer, name: &str) -> String {
    let form = answer.page().form_with("login-submit").expect("the form again");
    assert_eq!(form.value("username").as_deref(), Some(name), "the name is kept");
    assert_eq!(form.value("password").as_deref(), Some(""), "the password is not");
    let body = answer.body.replace(answer.header("x-request-id").expect("an id"), "ID");
    let body = body.replace(&form.value("csrf").expect("a token"), "CSRF");
    let escaped = if name.is_empty() { "value=\"\"".to_owned() } else { format!("value=\"{name}\"") };
    body.replacen(&format!("inputmode=\"email\" {escaped}"), "NAME", 1)
}

fn headers(answer: &Answer) -> Vec<(String, String)> {
    let all = answer.headers.iter().filter(|(name, _)| *name != "x-request-id");
    let mut all: Vec<_> =
        all.map(|(name, value)| (name.to_string(), value.to_str().expect("ASCII").to_owned())).collect();
    all.sort();
    all
}

#[tokio::test]
async fn unknown_wrong_disabled_empty_and_none_are_refused_alike() {
    let op = Op::start().await;
    let mut browser = op.browser();
    browser.get(&authorize(WEB, "openid", &[])).await;
    let mut first: Option<(String, Vec<(String, String)>)> = None;
    for (name, password) in [
        ("alice", "not the password at all"),
        ("alice", ""),
        ("nobody", PASSWORD),
        ("nobody", ""),
        ("disabled", PASSWORD),
        ("disabled", "wrong"),
        ("nopass", PASSWORD),
        ("nopass", ""),
        ("no\u{200b}body", PASSWORD),
        (")(uid=*", PASSWORD),
        ("alice", " correct horse battery"),
        ("alice", "Correct horse battery"),
    ] {
        let before = db_audit(&op, None).await.len();
        let answer = browser.sign_in(name, password).await;
        assert_eq!(answer.status, 422, "{name} {password}");
        assert!(answer.header("set-cookie").is_none(), "{name} {password}");
        let now = (plain(&answer, name), headers(&answer));
        let first = first.get_or_insert_with(|| now.clone());
        assert_eq!(now.0, first.0, "{name} {password}: the same page");
        let sized = |pairs: &[(String, String)]| -> Vec<(String, String)> {
            pairs.iter().filter(|(name, _)| name != "content-length").cloned().collect()
        };
        assert_eq!(sized(&now.1), sized(&first.1), "{name} {password}: the same headers");
        assert_eq!(db_audit(&op, None).await.len(), before + 1, "{name} {password}: one event");
    }
    assert_eq!(db_sessions(&op, "alice").await.len(), 0);
    // And the same form still works with the right one.
    let answer = browser.sign_in("alice", PASSWORD).await;
    assert!(answer.location_param("code").is_some(), "{}", answer.location());
}

#[tokio::test]
async fn a_refusal_is_said_in_words_at_the_field() {
    let op = Op::start().await;
    let mut browser = op.browser();
    browser.get(&authorize(WEB, "openid", &[])).await;
    let answer = browser.sign_in("alice", "wrong").await;
    let page = answer.page();
    assert!(page.text.contains("The name or password is not right."), "{}", page.text);
    assert_eq!(page.attribute("password", "aria-invalid").as_deref(), Some("true"));
    assert!(page.tags.iter().any(|(_, attributes)| attributes.contains(&("role".to_owned(), "alert".to_owned()))));
    // The tick is kept too.
    let answer =
        browser.submit("login-submit", &[("username", "alice"), ("password", "wrong"), ("remember", "on")]).await;
    assert!(answer.page().attribute("remember", "checked").is_some());
}

async fn typed(browser: &mut Browser<'_>, name: &str, password: &str) -> u16 {
    browser.get(&authorize(WEB, "openid", &[])).await;
    browser.sign_in(name, password).await.status.as_u16()
}

#[tokio::test]
async fn long_and_strange_names_and_passwords_are_refused_and_no_more() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let (name, password) = ("n".repeat(20_000), "p".repeat(15_000));
    assert_eq!(typed(&mut browser, &name[..300], PASSWORD).await, 422);
    assert_eq!(typed(&mut browser, "alice", &password).await, 422);
    assert_eq!(typed(&mut browser, "\u{0}", "\u{0}").await, 422);
    // What no field takes at all is no server error either.
    assert!((400..500).contains(&typed(&mut browser, &name, PASSWORD).await));
}
