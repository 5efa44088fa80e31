//! What the set-up form does not take.

use super::{GOOD, had_administrator, link, submit};
use crate::kit::op::Op;

#[tokio::test]
async fn the_first_administrator_gets_no_password_that_is_tried_first() {
    let op = Op::start().await;
    let link = link(&op).await;
    let mut browser = op.browser();
    browser.get(&link).await;
    for password in [
        "administrator",
        "Password-123456",
        "123456789012",
        "qwertyuiopas",
        "Doorward rocks!",
        "kim.lee is here to stay",
        "Kim.Lee@example.com",
    ] {
        let answer = submit(&mut browser, "kim.lee@example.com", password).await;
        assert_eq!(answer.status, 422, "{password}: {}", answer.body);
        assert!(answer.page().text.contains("too easy to guess"), "{password}: {}", answer.page().text);
        let form = browser.form("setup-submit");
        assert_eq!(form.value("username").as_deref(), Some("kim.lee@example.com"), "the name is kept");
        assert_eq!(form.value("password").unwrap_or_default(), "", "the password is not");
        assert!(!had_administrator(&op).await, "{password}");
    }
    let mut german = op.browser();
    "de".clone_into(&mut german.language);
    german.get(&link).await;
    let answer = submit(&mut german, "kim", "passwort2026!").await;
    assert!(answer.page().text.contains("zu leicht zu erraten"), "{}", answer.page().text);
    assert_eq!(submit(&mut browser, "kim.lee@example.com", GOOD).await.status, 200);
}
