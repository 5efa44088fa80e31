//! `apply` and `export`: declared and stored made equal, all or nothing, and told in a plan.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::kit::op::{PASSWORD, REALM, SECRET};
use crate::kit::process::{Doorward, Refused};

/// What an `apply` printed on both streams.
fn applied(server: &Doorward, text: &str, more: &[&str]) -> String {
    let output = server.command_given(&[&["apply", "-"], more].concat(), text);
    let refused = Refused::read(&output);
    assert_eq!(refused.status, Some(0), "{}", refused.said);
    refused.said
}

#[tokio::test]
async fn applying_twice_changes_nothing_the_second_time() {
    let server = Doorward::prepare().await;
    let said = applied(&server, REALM, &[]);
    for line in ["realm main", "+ create user alice", "+ create client web", "+ create role editor", "0 deleted"] {
        assert!(said.contains(line), "{line} in:\n{said}");
    }
    for secret in [PASSWORD, SECRET] {
        assert!(!said.contains(secret), "a plan shows no secrets:\n{said}");
    }
    assert!(applied(&server, REALM, &[]).contains("Nothing to do"));
    let output = server.command_given(&["apply", "-", "--json"], REALM);
    let plan: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(plan["written"], false);

    let changed = REALM.replace("client_name: Web shop", "client_name: Web store");
    let said = applied(&server, &changed, &[]);
    assert!(said.contains("~ update client web") && said.contains("client_name: Web shop -> Web store"), "{said}");
    assert!(said.contains("0 created, 1 updated, 0 deleted"), "{said}");
}

#[tokio::test]
async fn tokens_through_the_browser_are_warned_of_at_every_look() {
    let mut server = Doorward::prepare().await;
    let legacy = "realm: main\nsettings: { clients: { front_channel_tokens: true } }\nclients:\n  - client_id: old\n    \
                  redirect_uris: [\"https://old.example/cb\"]\n    grant_types: [implicit]\n    \
                  response_types: [id_token token]\n";
    for _ in 0..2 {
        let said = applied(&server, legacy, &[]);
        for line in [
            "realm main: settings.clients.front_channel_tokens: is on: applications",
            "client old: response_types: has id_token token: tokens pass",
        ] {
            assert!(said.contains(line), "{line} in:\n{said}");
        }
    }
    let output = server.command_given(&["apply", "-", "--json"], legacy);
    let plan: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(plan["realms"][0]["warnings"].as_array().map(Vec::len), Some(2), "{plan}");
    let said = server.command_ok(&["doctor"]);
    assert!(said.contains("front_channel_tokens is on") && said.contains("Move them to response_type code"), "{said}");
    server.start().await;
    assert!(server.log().contains("settings.clients.front_channel_tokens is on"), "{}", server.log());
}

#[tokio::test]
async fn what_is_probably_not_meant_is_warned_of_and_done() {
    let server = Doorward::prepare().await;
    applied(&server, REALM, &[]);
    let text = "realm: main\nclients:\n  - client_id: web\n    scope: openid orders:read\n";
    let said = applied(&server, text, &[]);
    assert!(said.contains("warning: ") && said.contains("client web: scope: there is no scope orders:read"), "{said}");
    assert!(said.contains("0 created, 1 updated, 0 deleted"), "{said}");
    let said = applied(&server, &format!("{text}scopes: [{{ name: orders:read, consent: {{ en: See }} }}]\n"), &[]);
    assert!(!said.contains("warning") && said.contains("+ create scope orders:read"), "{said}");
}

#[tokio::test]
async fn a_dry_run_writes_nothing() {
    let server = Doorward::prepare().await;
    let said = applied(&server, REALM, &["--dry-run"]);
    assert!(said.contains("+ create user alice") && said.contains("Nothing was written"), "{said}");
    let listed = server.command(&["user", "list"]);
    assert!(!String::from_utf8_lossy(&listed.stdout).contains("alice"));
    assert!(applied(&server, REALM, &[]).contains("+ create user alice"), "still to be done");
}

#[tokio::test]
async fn pruning_deletes_what_is_not_declared_and_only_then() {
    let server = Doorward::prepare().await;
    applied(&server, REALM, &[]);
    let without = REALM.replace("  - username: bob\n    password: { value: \"bob has a long password\" }\n", "");
    let without = without
        .replace("  - { name: editor, description: May edit }\n", "")
        .replace("    roles: [editor]\n", "    roles: []\n");
    assert_ne!(without, REALM);
    let said = applied(&server, &without, &[]);
    assert!(!said.contains("- delete"), "{said}");
    let said = applied(&server, &without, &["--prune", "--dry-run"]);
    assert!(said.contains("- delete user bob") && said.contains("- delete role editor"), "{said}");
    assert!(server.command_ok(&["user", "list"]).contains("bob"));
    let said = applied(&server, &without, &["--prune"]);
    assert!(said.contains("2 deleted"), "{said}");
    assert!(!server.command_ok(&["user", "list"]).contains("bob"));
    assert!(applied(&server, &without, &["--prune"]).contains("Nothing to do"));
}

#[tokio::test]
async fn a_wrong_file_is_told_with_line_object_and_field_and_nothing_is_half_done() {
    let server = Doorward::prepare().await;
    applied(&server, REALM, &[]);
    let before = server.command_ok(&["export"]);
    // A good user before, and three mistakes of different kinds after it.
    let text = "realm: main\nusers:\n  - username: carol\n    email: carol@example.com\n\
                clients:\n  - client_id: shop\n    redirect_uri: [ \"https://shop.example/cb\" ]\n\
                \x20 - client_id: till\n    redirect_uris: [ \"http://shop.example/cb#part\" ]\n    grant_types: [ guess ]\n";
    let file = server.folder().join("broken.yaml");
    std::fs::write(&file, text).expect("written");
    let refused = Refused::read(&server.command(&["apply", &file.to_string_lossy()]));
    refused.says(
        78,
        &[
            "nothing was changed",
            "broken.yaml:7: client shop: redirect_uri: ",
            "redirect_uris",
            "broken.yaml:9: client till: redirect_uris",
            "broken.yaml:10: client till: grant_types",
        ],
    );
    assert_eq!(server.command_ok(&["export"]), before);

    // What only the database can tell: a name that is another user's.
    let taken = "realm: main\nusers:\n  - username: carol\n  - username: dave\n    email: alice@example.com\n    email_verified: true\n";
    std::fs::write(&file, taken).expect("written");
    let refused = Refused::read(&server.command(&["apply", &file.to_string_lossy()]));
    refused.says(78, &["broken.yaml:4", "user dave", "e-mail", "user alice"]);
    assert_eq!(server.command_ok(&["export"]), before, "carol was not made either");

    let broken = "realm: main\nusers: [ { username: carol\n";
    std::fs::write(&file, broken).expect("written");
    Refused::read(&server.command(&["apply", &file.to_string_lossy()])).says(78, &["broken.yaml:"]);
    Refused::read(&server.command(&["apply", "/nowhere/realm.yaml"]))
        .says(78, &["/nowhere/realm.yaml", "cannot be opened"]);
}

#[tokio::test]
async fn secrets_come_from_the_environment_or_a_file_and_only_from_allowed_ones() {
    let mut server = Doorward::prepare().await;
    let text = "realm: main\nclients:\n  - client_id: shop\n    secret_ref: env:DOORWARD_SECRET_SHOP\n\
                \x20   grant_types: [ client_credentials ]\n    response_types: []\n    redirect_uris: []\n";
    let refused = Refused::read(&server.command_given(&["apply", "-"], text));
    refused.says(78, &["client shop", "DOORWARD_SECRET_SHOP"]);
    server.set("DOORWARD_SECRET_SHOP", "shop-secret-0123456789abcdef");
    applied(&server, text, &[]);
    assert!(applied(&server, text, &[]).contains("Nothing to do"));
    let other = text.replace("DOORWARD_SECRET_SHOP", "HOME");
    Refused::read(&server.command_given(&["apply", "-"], &other)).says(78, &["client shop", "DOORWARD_SECRET_"]);
}

#[tokio::test]
async fn applying_an_export_changes_nothing() {
    let server = Doorward::prepare().await;
    applied(&server, REALM, &[]);
    let exported = server.command_ok(&["export", "--realm", "main"]);
    assert!(exported.starts_with("realm: main\n"), "{exported}");
    for secret in [PASSWORD, SECRET, "argon2", "bob has a long password"] {
        assert!(!exported.contains(secret), "{secret} in:\n{exported}");
    }
    let said = applied(&server, &exported, &["--prune"]);
    assert!(said.contains("Nothing to do"), "{said}");
    // Into a file, and back from it.
    let file = server.folder().join("main.yaml");
    server.command_ok(&["export", "--output", &file.to_string_lossy()]);
    assert_eq!(std::fs::read_to_string(&file).expect("written").trim(), exported.trim());
    Refused::read(&server.command(&["export", "--realm", "nowhere"])).says(1, &["there is no realm nowhere", "main"]);
}

#[tokio::test]
async fn an_export_with_secrets_is_encrypted_private_and_never_overwrites() {
    let server = Doorward::prepare().await;
    applied(&server, REALM, &[]);
    let (file, phrase) = (server.folder().join("secret.yaml"), server.folder().join("phrase"));
    let name = file.to_string_lossy().into_owned();
    Refused::read(&server.command(&["export", "--with-secrets", "--output", &name])).says(2, &["--passphrase-file"]);
    std::fs::write(&phrase, "short\n").expect("written");
    let arguments = ["export", "--with-secrets", "--passphrase-file", &phrase.to_string_lossy(), "--output", &name];
    Refused::read(&server.command(&arguments)).says(78, &["--passphrase-file", "12"]);
    assert!(!file.exists(), "nothing half made is left");
    std::fs::write(&phrase, "a passphrase that is long\n").expect("written");
    server.command_ok(&arguments);
    assert_eq!(file.metadata().expect("written").permissions().mode() & 0o777, 0o600);
    let text = std::fs::read_to_string(&file).expect("readable");
    for secret in [PASSWORD, SECRET, "$argon2", "a passphrase that is long"] {
        assert!(!text.contains(secret), "{secret} in:\n{text}");
    }
    Refused::read(&server.command(&arguments)).says(1, &["secret.yaml", "does not exist"]);
    let back = ["apply", &name, "--passphrase-file", &phrase.to_string_lossy()];
    let refused = Refused::read(&server.command(&back));
    assert_eq!(refused.status, Some(0), "{}", refused.said);
    assert!(refused.said.contains("Nothing to do"), "{}", refused.said);
    std::fs::write(&phrase, "another passphrase, also long\n").expect("written");
    assert_ne!(server.command(&back).status.code(), Some(0));
}
