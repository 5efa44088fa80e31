//! Scopes of a realm's own: granted like any other, asked for in words that people understand, listed in
//! discovery, gone when they are taken away.

use serde_json::{Value, json};

use crate::kit::browser::Answer;
use crate::kit::flow::{ASKER, Client, authorize, code_answer, decode, introspect, redeem, text};
use crate::kit::op::{Op, PASSWORD};
use crate::kit::token::given;

const SCOPES: &str = r#"
realm: main
scopes:
  - name: orders
    consent: { en: "See your orders", de: "Ihre Bestellungen sehen" }
    description: { en: "Not how you paid", de: "Nicht, wie Sie bezahlt haben" }
  - name: returns
    consent: { en: "Send things back" }
  - { name: silent, listed: false }
  - { name: read, consent: { en: "Read your articles" } }
resources:
  - { identifier: "https://api.example", display_name: "The <i>articles</i>" }
clients:
  - client_id: asker
    scope: "openid profile offline_access orders returns silent read"
    resources: [ "https://api.example" ]
"#;

async fn start() -> Op {
    let op = Op::start().await;
    op.apply(SCOPES).await;
    op
}

/// The consent page for a request.
async fn asked(op: &Op, scope: &str, extra: &[(&str, &str)]) -> Answer {
    let mut browser = op.browser();
    browser.get(&authorize(ASKER, scope, extra)).await;
    let answer = browser.sign_in("alice", PASSWORD).await;
    assert!(answer.page().has_id("consent-allow"), "{} {}", answer.status, answer.body);
    answer
}

async fn granted(op: &Op, client: Client, scope: &str, extra: &[(&str, &str)]) -> Value {
    let answer = code_answer(&mut op.browser(), client, scope, extra).await;
    given(&redeem(op, client, &answer.location_param("code").unwrap_or_else(|| panic!("{}", answer.location()))).await)
}

#[tokio::test]
async fn people_are_asked_in_their_language_in_the_realms_else_in_any_else_by_name() {
    let op = start().await;
    let page = asked(&op, "openid orders returns silent", &[]).await.page().text;
    for words in
        ["See your orders", "Not how you paid", "Send things back", "Use the permission \u{201c}silent\u{201d}"]
    {
        assert!(page.contains(words), "{words}: {page}");
    }
    let german = asked(&op, "openid orders returns silent", &[("ui_locales", "de")]).await;
    let page = german.page().text;
    for words in
        ["Ihre Bestellungen sehen", "Nicht, wie Sie bezahlt haben", "Send things back", "\u{201e}silent\u{201c}"]
    {
        assert!(page.contains(words), "{words}: {page}");
    }
    // A screen reader is told that this one is English.
    assert!(german.body.contains("<span dir=\"auto\" lang=\"en\">Send things back"), "{}", german.body);
    assert!(!german.body.contains("lang=\"de\">Ihre Bestellungen"), "{}", german.body);
}

#[tokio::test]
async fn a_resource_is_named_by_its_title_with_the_host_that_it_really_is() {
    let op = start().await;
    let answer = asked(&op, "openid read", &[("resource", "https://api.example")]).await;
    let page = answer.page().text;
    for words in ["Read your articles", "Act for you at \u{201c}The <i>articles</i>\u{201d}", "api.example"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!answer.body.contains("<i>articles"), "text, not markup");
    op.apply("realm: main\nresources: [{ identifier: \"https://api.example\", display_name: null }]\n").await;
    let page = asked(&op, "openid read", &[("resource", "https://api.example")]).await.page().text;
    assert!(page.contains("Act for you at \u{201c}api.example\u{201d}"), "{page}");
}

#[tokio::test]
async fn a_scope_of_the_realms_own_is_granted_told_and_remembered() {
    let op = start().await;
    let tokens = granted(&op, ASKER, "openid orders returns", &[]).await;
    assert_eq!(text(&tokens, "scope"), "openid orders returns");
    let access = text(&tokens, "access_token");
    assert_eq!(decode(access).1["scope"], "openid orders returns");
    assert_eq!(introspect(&op, ASKER, access).await["scope"], "openid orders returns");
    // For a resource as well: it is nobody else's.
    let tokens = granted(&op, ASKER, "openid orders read", &[("resource", "https://api.example")]).await;
    assert_eq!(text(&tokens, "scope"), "openid orders read");
    // Allowed once, asked no more.
    let mut browser = op.browser();
    browser.get(&authorize(ASKER, "openid orders", &[])).await;
    let answer = browser.sign_in("alice", PASSWORD).await;
    assert!(answer.location_param("code").is_some(), "{}", answer.body);
}

#[tokio::test]
async fn what_nobody_declares_is_left_out_and_alone_refused() {
    let op = start().await;
    op.apply("realm: main\nclients:\n  - { client_id: asker, scope: \"openid orders ordres\" }\n").await;
    let tokens = granted(&op, ASKER, "openid ordres orders", &[]).await;
    assert_eq!(text(&tokens, "scope"), "openid orders");
    let mut browser = op.browser();
    let answer = browser.get(&authorize(ASKER, "ordres", &[])).await;
    assert_eq!(answer.location_param("error").as_deref(), Some("invalid_scope"));
    // Words for a resource's scope do not set it free for a client that may not go there.
    op.apply("realm: main\nclients:\n  - { client_id: asker, scope: \"openid orders read\", resources: [] }\n").await;
    let tokens = granted(&op, ASKER, "openid read orders", &[]).await;
    assert_eq!(text(&tokens, "scope"), "openid orders");
}

#[tokio::test]
async fn discovery_lists_the_realms_own_scopes_as_they_are_now_on_every_node() {
    let op = start().await;
    let other = Op::builder().beside(&op).start().await;
    let own = |document: Value| -> Vec<Value> {
        let list = document["scopes_supported"].as_array().expect("a list").clone();
        list.into_iter()
            .filter(|scope| ["orders", "returns", "silent", "read"].iter().any(|own| scope == own))
            .collect()
    };
    for (change, want) in [
        ("display_name: Acme", json!(["orders", "read", "returns"])),
        ("scopes: [{ name: silent, listed: true }]", json!(["orders", "read", "returns", "silent"])),
        ("scopes: [{ name: orders, listed: false }]", json!(["read", "returns", "silent"])),
    ] {
        op.apply(&format!("realm: main\n{change}\n")).await;
        other.poll().await;
        for node in [&op, &other] {
            let found = own(node.get("/.well-known/openid-configuration", &[]).await.json());
            assert_eq!(json!(found), want, "{change}");
        }
    }
}

#[tokio::test]
async fn a_scope_that_is_taken_away_is_gone_at_once() {
    let op = start().await;
    granted(&op, ASKER, "openid orders", &[]).await;
    let realm = crate::kit::op::REALM.replace("\"openid profile email offline_access\"", "\"openid orders\"");
    op.apply_whole(&realm).await;
    let tokens = granted(&op, ASKER, "openid orders", &[]).await;
    assert_eq!(text(&tokens, "scope"), "openid", "not declared any more");
}

#[tokio::test]
async fn hostile_words_stand_on_the_page_as_text() {
    let op = start().await;
    op.apply(
        "realm: main\nscopes:\n  - name: orders\n    consent: { en: \"<b>All</b> \\u202Eyours\" }\n    description: { en: \
         \"<script>alert(1)</script>\" }\n",
    )
    .await;
    let answer = asked(&op, "openid orders", &[]).await;
    for forbidden in ["<b>All", "\u{202e}", "<script>alert"] {
        assert!(!answer.body.contains(forbidden), "{forbidden}: {}", answer.body);
    }
    assert!(answer.page().text.contains("<b>All</b> yours"), "{}", answer.page().text);
}
