//! The first administrator: a link in a file that only this user reads, good once (`security-design` rule 30).

use std::os::unix::fs::PermissionsExt;

use crate::kit::process::Doorward;
use crate::kit::visitor::{Visitor, get};

fn link(server: &Doorward) -> String {
    let path = server.data_dir().join("setup-link");
    assert_eq!(path.metadata().expect("the link's file").permissions().mode() & 0o777, 0o600);
    std::fs::read_to_string(path).expect("the link").trim().to_owned()
}

#[tokio::test]
async fn the_set_up_link_stands_in_its_file_works_once_and_is_never_logged() {
    let mut server = Doorward::running().await;
    let issuer = server.issuer();
    let old = link(&server);
    assert!(old.starts_with(&format!("{issuer}/setup/")), "{old}");
    assert!(old.len() >= issuer.len() + "/setup/".len() + 43, "256 bits: {old}");
    server.crash_and_restart().await;
    let link = link(&server);
    assert_ne!(link, old);
    assert_eq!(get(&old, &[]).await.status, 404, "a new link ends the one before");

    let mut visitor = Visitor::new(&issuer);
    // Looking does not spend it, and a bad password does not either.
    for _ in 0..2 {
        assert!(visitor.open(&link).await.page().has_id("username"));
    }
    let button = submit_id(&visitor.open(&link).await);
    let short = visitor.submit(&button, &[("username", "root"), ("password", "short")]).await;
    assert_eq!(short.status, 422, "{}", short.body);
    let mut second = Visitor::new(&issuer);
    second.open(&link).await;
    let done = visitor.submit(&button, &[("username", "root"), ("password", "a long enough password")]).await;
    assert_eq!(done.status, 200, "{}", done.body);
    let late = second.submit(&button, &[("username", "thief"), ("password", "a long enough password")]).await;
    assert_eq!(late.status, 404, "{}", late.body);
    assert_eq!(get(&link, &[]).await.status, 404);

    let shown = server.command_ok(&["user", "show", "root", "--json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
    assert_eq!(shown["powers"], serde_json::json!(["instance"]));
    assert!(!server.command_ok(&["user", "list", "--json"]).contains("thief"));

    // There was an administrator: never another link, not even after she is gone.
    server.command_ok(&["user", "disable", "root"]);
    server.crash_and_restart().await;
    assert!(!server.data_dir().join("setup-link").exists(), "no link that works, no file");
    let log = server.log();
    for link in [&old, &link] {
        let token = link.rsplit('/').next().expect("a token");
        assert!(!log.contains(token), "the link is in the log:\n{log}");
    }
}

fn submit_id(answer: &crate::kit::browser::Answer) -> String {
    let page = answer.page();
    let button = page.tags.iter().find(|(name, _)| name == "button").expect("a button");
    button.1.iter().find(|(name, _)| name == "id").map(|(_, id)| id.clone()).expect("an id")
}

#[tokio::test]
async fn with_an_administrator_from_the_command_line_there_is_no_link() {
    let mut server = Doorward::prepare().await;
    server.apply(crate::kit::op::REALM);
    server.command_ok(&["user", "make-admin", "alice"]);
    server.start().await;
    assert!(!server.data_dir().join("setup-link").exists());
    assert!(!server.log().contains("set-up link"), "{}", server.log());
}
