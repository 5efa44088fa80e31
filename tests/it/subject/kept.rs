//! What a pairwise `sub` outlives: a restart, a change of anything but its sector, a move to another
//! installation with its own master key.

use doorward::domain::model::secret::Secret;
use doorward::domain::realm_file::{parse, resolve};
use doorward::service::realm_file::{Input, LocalSecrets, Mode, Passphrase, Report, Secrets, apply, export};

use super::{CLIENTS, FAR, ONE, id, known, start};
use crate::kit::flow::tokens;
use crate::kit::op::{Op, REALM};
use crate::kit::token::db_realm;

const PASS: &str = "a passphrase of some length";

async fn exported(op: &Op, secrets: Secrets) -> String {
    export(&op.app, &db_realm(op).await, secrets).await.expect("exported")
}

fn encrypted(pass: &str) -> Secrets {
    Secrets::Encrypted(Passphrase::new(Secret::from(pass)).expect("a passphrase"))
}

/// Applies a file as the command line does.
async fn applied(op: &Op, text: &str, pass: Option<&str>) -> Result<Report, String> {
    let pass = pass.map(|text| Passphrase::new(Secret::from(text)).expect("a passphrase"));
    let mut source = LocalSecrets::new(&op.app, Vec::new(), pass).await.expect("realms");
    let mut realms = parse("moved.yaml", text).expect("a good file");
    let faults: Vec<_> = realms.iter_mut().flat_map(|realm| resolve(realm, &mut source)).collect();
    if !faults.is_empty() {
        return Err(faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
    }
    apply(&op.app, &Input { realms, prune: false, mode: Mode::Write }).await.map_err(|failure| failure.to_string())
}

/// Another installation: its own database and its own master key.
async fn elsewhere() -> Op {
    let key = ("DOORWARD_MASTER_KEY", "ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=");
    Op::builder().realm("").env(key.0, key.1).seed(77).start().await
}

#[tokio::test]
async fn a_restart_and_a_change_of_names_keys_and_addresses_change_no_sub() {
    let op = start().await;
    let before = known(&op, ONE).await;
    op.apply(
        "realm: main\ndisplay_name: Other\nclients:\n  - { client_id: one, client_name: Renamed, redirect_uris: \
         [\"https://pair.example/cb\", \"https://pair.example/new\"] }\nusers:\n  - { username: alice, email: \
         new@example.com }\n",
    )
    .await;
    let op = op.restart().await;
    assert_eq!(known(&op, ONE).await, before);
}

#[tokio::test]
async fn an_export_with_secrets_carries_subs_to_another_installation() {
    let op = start().await;
    let (one, far) = (known(&op, ONE).await, known(&op, FAR).await);
    let plain = exported(&op, Secrets::Left).await;
    assert!(!plain.contains("pairwise_key"), "never in the clear: {plain}");
    let text = exported(&op, encrypted(PASS)).await;
    assert!(text.contains("\npairwise_key_encrypted: \"dwx1:"), "{text}");
    // At home it changes nothing.
    assert!(applied(&op, &text, Some(PASS)).await.expect("applied").is_empty());

    let other = elsewhere().await;
    // Secrets of clients and people stay behind where they are hashed; here they come as in the tests' realm.
    let key = text.lines().find(|line| line.starts_with("pairwise_key_encrypted")).expect("the key");
    let moved = |file: &str| format!("{}\n{key}\n", file.trim_end());
    let told = applied(&other, &moved(REALM), None).await.expect_err("no passphrase");
    assert!(told.contains("pairwise_key_encrypted") && told.contains("--passphrase-file"), "{told}");
    let told = applied(&other, &moved(REALM), Some("another passphrase")).await.expect_err("another passphrase");
    assert!(told.contains("does not open"), "{told}");
    let own = op.app.store.models().realm_by_name("main").await.expect("an answer").expect("main");
    let people = {
        let alice = crate::kit::token::db_user(&op, "alice").await;
        assert_eq!(alice.realm, own.id);
        REALM.replace("- username: alice\n", &format!("- username: alice\n    sub: {}\n", alice.sub))
    };
    applied(&other, &moved(&people), Some(PASS)).await.expect("applied");
    other.apply(CLIENTS).await;
    other.poll().await;
    assert_eq!((known(&other, ONE).await, known(&other, FAR).await), (one, far));
    assert!(applied(&other, &moved("realm: main"), Some(PASS)).await.expect("applied").is_empty());
}

#[tokio::test]
async fn a_key_is_never_replaced_by_another() {
    let (op, other) = (start().await, elsewhere().await);
    other.apply(REALM).await;
    other.apply(CLIENTS).await;
    let (here, there) = (known(&op, ONE).await, known(&other, ONE).await);
    assert_ne!(here, there, "each draws its own");
    let text = exported(&op, encrypted(PASS)).await;
    let key = text.lines().find(|line| line.starts_with("pairwise_key_encrypted")).expect("the key");
    let told = applied(&other, &format!("realm: main\n{key}\n"), Some(PASS)).await.expect_err("another key");
    assert!(told.contains("moved.yaml:2") && told.contains("would change them all"), "{told}");
    assert_eq!(known(&other, ONE).await, there);
    // The file of one realm does not open for another.
    let told = applied(&op, &format!("realm: second\n{key}\n"), Some(PASS)).await.expect_err("another realm");
    assert!(told.contains("does not open"), "{told}");
}

#[tokio::test]
async fn apply_warns_when_people_become_others_to_an_application() {
    let op = start().await;
    let before = tokens(&op, &mut op.browser(), ONE, "openid").await;
    let warnings = |report: Report| -> Vec<String> {
        report.plans.iter().flat_map(|plan| plan.warnings.iter().map(ToString::to_string)).collect()
    };
    let change = |fields: &str| format!("realm: main\nclients:\n  - {{ client_id: one, {fields} }}\n");
    let same = change("redirect_uris: [\"https://pair.example/cb\", \"https://pair.example/2\"]");
    assert_eq!(warnings(applied(&op, &same, None).await.expect("applied")), [""; 0]);
    for fields in ["sector_identifier_uri: \"https://sector.example/uris\"", "subject_type: public"] {
        let told = warnings(applied(&op, &change(fields), None).await.expect("applied"));
        let [one] = told.as_slice() else { panic!("{told:?}") };
        assert!(one.contains("client one") && one.contains("new people"), "{one}");
    }
    assert_ne!(known(&op, ONE).await, super::text(&id(&before), "sub"));
}
