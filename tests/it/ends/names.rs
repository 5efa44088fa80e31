//! Typed names that matched nobody are never kept in clear (`security-design` rule 33): people type
//! passwords into the wrong field. And the master key belongs to its database (rule 16).

use doorward::boot::build::{self, Purpose};
use doorward::cli::Failure;
use doorward::config::{Config, LoadOptions};

use crate::kit::flow::{WEB, authorize};
use crate::kit::op::{Op, REALM};

#[tokio::test]
async fn a_typed_name_that_is_nobodys_is_stored_nowhere() {
    let op = Op::start().await;
    let mut browser = op.browser();
    browser.get(&authorize(WEB, "openid", &[])).await;
    for name in ["Planted-Name-Q7", "planted-q8@example.com", "planted password q9"] {
        let answer = browser.sign_in(name, "planted-password-q6").await;
        assert_eq!(answer.status, 422, "{}", answer.body);
    }
    // A right name with a wrong password, and a right sign-in, leave no password either.
    assert_eq!(browser.sign_in("alice", "planted-password-q6").await.status, 422);
    assert_eq!(browser.sign_in("alice", crate::kit::op::PASSWORD).await.status, 303);
    op.app.store.batch().flush().await.expect("flushed");
    assert!(op.db.holds("alice").await, "the search finds what is there");
    assert!(op.db.number("select count(*) from audit_event where kind = 'sign_in_refused'").await == 4);
    for planted in ["planted-name-q7", "planted-q8", "password q9", "planted-password-q6", crate::kit::op::PASSWORD] {
        assert!(!op.db.holds(planted).await, "{planted} stands in the database");
    }
}

#[tokio::test]
async fn secrets_of_clients_and_browsers_are_stored_nowhere() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let held = super::Held::get(&op, &mut browser, WEB, "openid offline_access").await;
    let code = crate::kit::flow::code(&mut browser, WEB, "openid").await;
    op.app.store.batch().flush().await.expect("flushed");
    let mut secrets = vec![crate::kit::op::SECRET.to_owned(), code, held.access, held.refresh, held.id];
    secrets.extend(["session", "device", "browser"].iter().filter_map(|part| browser.cookie(part)));
    assert!(secrets.len() > 6, "cookies are among them");
    for secret in secrets {
        assert!(!op.db.holds(&secret).await, "{secret} stands in the database");
    }
}

#[tokio::test]
async fn a_database_opens_with_its_own_master_key_only() {
    let op = Op::builder().realm(REALM).start().await;
    let env = [
        ("DOORWARD_DATA_DIR", op.db.folder.path().to_str().expect("a path")),
        ("DOORWARD_DATABASE__URL", op.db.url.as_str()),
        ("DOORWARD_MASTER_KEY", "YW5vdGhlciBrZXkgb2YgdGhpcnR5LXR3byBieXRlcyE="),
    ];
    let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let options = LoadOptions { path: None, dev: false, env, folder: op.db.folder.path().to_path_buf() };
    let config = Config::load(&options).expect("a good configuration");
    let failure = build::app(config, Purpose::Command).await.err().expect("refused");
    assert!(matches!(failure, Failure::Config(_)), "{failure}");
    assert!(failure.to_string().contains("not the one that this database was made with"), "{failure}");
    // Nothing was changed: the right key opens it as before.
    let op = op.restart().await;
    assert_eq!(op.get("/.well-known/jwks.json", &[]).await.status, 200);
}
