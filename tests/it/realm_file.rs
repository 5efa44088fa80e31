//! `apply` and `export` against the store: all or nothing, idempotent, with their events; secrets only
//! where rule 28 of `security-design` lets them be.

use std::path::Path;

use doorward::clock::Clock;
use doorward::domain::model::device::Device;
use doorward::domain::model::event::EventKind;
use doorward::domain::model::ids::{DeviceId, EventId, RealmId, SessionId, UserId};
use doorward::domain::model::key::{Algorithm, KeyPhase};
use doorward::domain::model::realm::Realm;
use doorward::domain::model::secret::{Secret, SecretHash};
use doorward::domain::model::session::{Acr, Amr, EndReason, Session};
use doorward::domain::model::span::Span;
use doorward::domain::model::user::User;
use doorward::domain::realm_file::{self as file, DeclaredRealm};
use doorward::service::admin::{self, Scribe};
use doorward::service::realm_file::{Failure, Input, LocalSecrets, Mode, Passphrase, Report, Secrets, apply, export};
use doorward::store::batch::{OpenSession, Opened};
use doorward::store::repo;

use crate::kit::op::{Op, REALM};

fn declared(yaml: &str) -> Vec<DeclaredRealm> {
    file::parse("t.yaml", yaml)
        .unwrap_or_else(|faults| panic!("{}", faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")))
}

async fn applied(op: &Op, yaml: &str, prune: bool) -> Result<Report, Failure> {
    apply(&op.app, &Input { realms: declared(yaml), prune, mode: Mode::Write }).await
}

/// What an apply did, one word per act.
async fn told(op: &Op, yaml: &str, prune: bool) -> Vec<String> {
    let report = applied(op, yaml, prune).await.expect("applied");
    let acts = report.plans.iter().flat_map(|plan| &plan.acts);
    acts.map(|act| format!("{} {} {}", act.verb.as_str(), act.object.as_str(), act.name)).collect()
}

async fn realm(op: &Op, name: &str) -> Realm {
    admin::realm::find(&op.app, name).await.expect("read").expect("a realm")
}

async fn person(op: &Op, name: &str) -> User {
    admin::user::find(&op.app, &realm(op, "main").await, name).await.expect("read").expect("a person")
}

async fn events(op: &Op, realm: RealmId) -> Vec<(EventKind, UserId)> {
    let list = repo::outbox::list_unsent(&op.app.store.read(), realm, 1000).await.expect("read");
    list.into_iter().map(|event| (event.kind, event.user)).collect()
}

async fn signed_in(op: &Op, user: &User) -> SessionId {
    let now = op.clock.now();
    let id = SessionId::from_uuid(op.app.entropy.uuid("test", now));
    let device = DeviceId::from_uuid(op.app.entropy.uuid("test", now));
    let session = Session {
        realm: user.realm,
        id,
        user: user.id,
        device,
        secret_hash: SecretHash([1; 32]),
        previous_secret_hash: None,
        secret_rotated_at: now,
        auth_time: now,
        acr: Acr::Aal1,
        amr: vec![Amr::Pwd],
        credential_epoch: user.credential_epoch,
        remembered: false,
        created_at: now,
        last_seen_at: now,
        idle: Span::mins(30),
        expires_at: now.plus(Span::hours(12).get()),
        ended: None,
    };
    let device = Device {
        realm: user.realm,
        id: device,
        secret_hash: SecretHash([2; 32]),
        browser: "Firefox".to_owned(),
        system: "Linux".to_owned(),
        first_seen_at: now,
        last_seen_at: now,
    };
    let mut audit =
        Scribe::operator(&op.app, user.realm, now).audit(doorward::domain::model::audit::AuditKind::SignedIn);
    audit.id = EventId::from_uuid(op.app.entropy.uuid("test", now));
    let epoch = user.credential_epoch;
    let open = OpenSession { session, device, user_epoch: epoch, replaces: None, audit };
    assert!(matches!(op.app.store.batch().open_session(open).await, Ok(Opened::Opened)));
    id
}

async fn end_of(op: &Op, user: &User, id: SessionId) -> Option<EndReason> {
    let session = repo::session::find(&op.app.store.read(), user.realm, id).await.expect("read").expect("a session");
    session.ended.map(|ended| ended.reason)
}

#[tokio::test]
async fn what_a_client_registers_of_its_request_objects_is_exported_and_planned() {
    let op = Op::start().await;
    let main = realm(&op, "main").await;
    let uri = "https://app.example/r#47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU";
    let with = format!(
        "realm: main\nclients: [ {{ client_id: web, request_uris: [ \"{uri}\" ], request_object_signing_alg: none }} ]"
    );
    assert_eq!(told(&op, &with, false).await, ["update client web"]);
    let text = export(&op.app, &main, Secrets::Left).await.expect("exported");
    assert!(text.contains(uri) && text.contains("request_object_signing_alg: none"), "{text}");
    assert_eq!(told(&op, &text, true).await, Vec::<String>::new(), "{text}");
}

#[tokio::test]
async fn what_is_applied_is_not_applied_again_and_its_export_changes_nothing() {
    let op = Op::start().await;
    assert_eq!(told(&op, REALM, false).await, Vec::<String>::new());
    let main = realm(&op, "main").await;
    let text = export(&op.app, &main, Secrets::Left).await.expect("exported");
    assert_eq!(told(&op, &text, true).await, Vec::<String>::new(), "{text}");
    for secret in ["correct horse", "argon2id", "web-secret"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    let endpoint = "backchannel_logout_uri: \"https://app.example/bye\", backchannel_logout_session_required: true";
    let with = format!("realm: main\nclients:\n  - {{ client_id: web, {endpoint} }}\n");
    assert_eq!(told(&op, &with, false).await, ["update client web"]);
    let text = export(&op.app, &main, Secrets::Left).await.expect("exported");
    assert!(text.contains("https://app.example/bye") && text.contains("backchannel_logout_session_required: true"));
    assert_eq!(told(&op, &text, true).await, Vec::<String>::new(), "{text}");
    let endpoint = "frontchannel_logout_uri: \"https://app.example/frame\", frontchannel_logout_session_required: true";
    let settings = "settings: { logout: { front_channel: true, session_management: true } }";
    let with = format!("realm: main\n{settings}\nclients:\n  - {{ client_id: web, {endpoint} }}\n");
    assert_eq!(told(&op, &with, false).await, ["update realm main", "update client web"]);
    let main = realm(&op, "main").await;
    let text = export(&op.app, &main, Secrets::Left).await.expect("exported");
    for said in ["https://app.example/frame", "frontchannel_logout_session_required: true", "session_management: true"]
    {
        assert!(text.contains(said), "{said} in {text}");
    }
    assert_eq!(told(&op, &text, true).await, Vec::<String>::new(), "{text}");
    // The same again under another name.
    let copy = text.replacen("realm: main", "realm: copy", 1);
    let copy: String =
        copy.lines().filter(|line| !line.trim_start().starts_with("sub:")).fold(String::new(), |a, b| a + b + "\n");
    assert!(told(&op, &copy, false).await.contains(&"create user alice".to_owned()));
    assert_eq!(told(&op, &copy, true).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_new_realm_signs_at_once_and_a_new_algorithm_gets_its_key() {
    let op = Op::start().await;
    let main = realm(&op, "main").await;
    let now = op.clock.now();
    for alg in Algorithm::ALL {
        op.app.keys.signer(main.id, alg, now).await.unwrap_or_else(|error| panic!("{error}"));
    }
    told(&op, "realm: small\nsettings: { keys: { algorithms: [RS256], access_token_alg: RS256 } }", false).await;
    let small = realm(&op, "small").await;
    assert_eq!(admin::key::list(&op.app, small.id).await.expect("read").len(), 1);
    told(&op, "realm: small\nsettings: { keys: { algorithms: [RS256, ES256] } }", false).await;
    let keys = admin::key::list(&op.app, small.id).await.expect("read");
    assert!(keys.iter().any(|key| key.alg == Algorithm::ES256 && key.phase(now) == KeyPhase::Active));
}

#[tokio::test]
async fn nothing_is_written_when_something_cannot_be() {
    let op = Op::start().await;
    let yaml = "realm: main\nroles: [{name: fresh}]\nusers:\n  - {username: carol, groups: [nowhere]}\n";
    let Err(Failure::Faults(faults)) = applied(&op, yaml, false).await else { panic!("no fault") };
    assert_eq!(
        faults[0].to_string(),
        "t.yaml:4: user carol: groups: there is no group /nowhere, neither stored nor in this file"
    );
    let clash = "realm: main\nroles: [{name: fresh}]\nusers:\n  - {username: Alice@Example.com}\n";
    let Err(Failure::Faults(faults)) = applied(&op, clash, false).await else { panic!("no fault") };
    assert!(faults[0].to_string().contains("already means the user alice"), "{faults:?}");
    let main = realm(&op, "main").await;
    let roles = repo::role::list(&op.app.store.read(), main.id).await.expect("read");
    assert!(roles.iter().all(|role| role.name != "fresh"));
    let input = Input { realms: declared("realm: main\nroles: [{name: fresh}]"), prune: false, mode: Mode::DryRun };
    assert!(!apply(&op.app, &input).await.expect("planned").is_empty());
    let roles = repo::role::list(&op.app.store.read(), main.id).await.expect("read");
    assert!(roles.iter().all(|role| role.name != "fresh"));
}

#[tokio::test]
async fn disabling_a_person_ends_what_she_has_and_is_told() {
    let op = Op::start().await;
    let alice = person(&op, "alice").await;
    let session = signed_in(&op, &alice).await;
    assert_eq!(
        told(&op, "realm: main\nusers: [{username: alice, enabled: false}]", false).await,
        ["update user alice"]
    );
    assert_eq!(end_of(&op, &alice, session).await, Some(EndReason::UserDisabled));
    let after = person(&op, "alice").await;
    assert!(!after.enabled && after.credential_epoch > alice.credential_epoch);
    let told_others = events(&op, alice.realm).await;
    assert!(told_others.contains(&(EventKind::UserDisabled, alice.id)));
    assert!(told_others.contains(&(EventKind::SessionRevoked, alice.id)));
    assert!(!told_others.contains(&(EventKind::UserUpdated, alice.id)), "one change, one event");
}

#[tokio::test]
async fn a_new_password_hash_ends_what_was_signed_in_with_the_old_one() {
    let op = Op::start().await;
    let (alice, bob) = (person(&op, "alice").await, person(&op, "bob").await);
    let session = signed_in(&op, &alice).await;
    let phc = "$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHRzb21l$RdescudvJCsgt3ub+b4dWRWJTmaaJObGRdescudvJCs";
    let yaml = format!(
        "realm: main\nusers: [{{username: alice, password: {{hash: \"{phc}\"}}}}, {{username: bob, password: {{value: \"another long password\"}}}}]"
    );
    assert_eq!(told(&op, &yaml, false).await, ["update user alice"]);
    assert_eq!(end_of(&op, &alice, session).await, Some(EndReason::CredentialChanged));
    assert!(events(&op, alice.realm).await.contains(&(EventKind::PasswordChanged, alice.id)));
    assert_eq!(person(&op, "bob").await.credential_epoch, bob.credential_epoch);
    assert_eq!(told(&op, &yaml, false).await, Vec::<String>::new());
}

#[tokio::test]
async fn pruned_people_are_gone_and_others_are_told() {
    let op = Op::start().await;
    let (alice, bob) = (person(&op, "alice").await, person(&op, "bob").await);
    let text = export(&op.app, &realm(&op, "main").await, Secrets::Left).await.expect("exported");
    let at = text.find("  - username: bob").expect("bob");
    let end = text[at + 5..].find("  - username").map_or(text.len(), |next| at + 5 + next);
    let without = format!("{}{}", &text[..at], &text[end..]);
    assert_eq!(told(&op, &without, false).await, Vec::<String>::new());
    assert_eq!(told(&op, &without, true).await, ["delete user bob"]);
    assert!(events(&op, bob.realm).await.contains(&(EventKind::UserDeleted, bob.id)));
    assert!(admin::user::find(&op.app, &realm(&op, "main").await, "bob").await.expect("read").is_none());
    // A file of applications never deletes people.
    told(&op, "realm: main\nclients: []", true).await;
    assert_eq!(person(&op, "alice").await.id, alice.id);
    assert!(admin::client::list(&op.app, &realm(&op, "main").await, None, 10).await.expect("read").is_empty());
}

#[tokio::test]
async fn names_can_change_hands_in_one_file() {
    let op = Op::start().await;
    let (alice, bob) = (person(&op, "alice").await, person(&op, "bob").await);
    let yaml = "realm: main\nusers:\n  - {username: alice, email: null}\n  - {username: bob, email: alice@example.com, email_verified: true}\n";
    assert_eq!(told(&op, yaml, false).await, ["update user alice", "update user bob"]);
    assert_eq!(person(&op, "ALICE@example.com").await.id, bob.id);
    assert_eq!(person(&op, "alice").await.id, alice.id);
}

#[tokio::test]
async fn a_client_secret_is_kept_replaced_and_rotated() {
    let op = Op::start().await;
    let main = realm(&op, "main").await;
    let hash = |text: &str| admin::client::secret_hash(&op.app.sealer, &main, &Secret::from(text));
    let live = async || {
        let web = admin::client::find(&op.app, &main, "web").await.expect("read").expect("a client");
        web.secrets.iter().map(|secret| secret.hash).collect::<Vec<_>>()
    };
    assert_eq!(live().await, [hash("web-secret-0123456789abcdef")]);
    told(&op, "realm: main\nclients: [{client_id: web, client_name: Other}]", false).await;
    assert_eq!(live().await, [hash("web-secret-0123456789abcdef")]);
    told(&op, "realm: main\nclients: [{client_id: web, client_secret: another-secret}]", false).await;
    assert_eq!(live().await, [hash("another-secret")]);
    op.clock.advance(Span::secs(1).get());
    let web = admin::client::find(&op.app, &main, "web").await.expect("read").expect("a client");
    let new = admin::client::rotate_secret(&op.app, &main, &web, Some(Span::hours(1).get())).await.expect("rotated");
    assert!(new.expose().starts_with("dwc_"));
    assert_eq!(live().await, [hash(new.expose()), hash("another-secret")]);
}

#[tokio::test]
async fn powers_are_given_and_taken() {
    let op = Op::start().await;
    let alice = person(&op, "alice").await;
    let powers = async || repo::power::list(&op.app.store.read(), alice.realm).await.expect("read").len();
    told(&op, "realm: main\nusers: [{username: alice, administrator: instance}]", false).await;
    assert_eq!(powers().await, 1);
    told(&op, "realm: main\nusers: [{username: alice, given_name: Al}]", false).await;
    assert_eq!(powers().await, 1);
    told(&op, "realm: main\nusers: [{username: alice, administrator: none}]", false).await;
    assert_eq!(powers().await, 0);
}

async fn resolved(op: &Op, yaml: &str, env: &[(&str, &str)], pass: Option<&str>) -> Result<Vec<DeclaredRealm>, String> {
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let pass = pass.map(|text| Passphrase::new(Secret::from(text)).expect("a passphrase"));
    let mut secrets = LocalSecrets::new(&op.app, env, pass).await.expect("read");
    let mut realms = declared(yaml);
    let faults: Vec<_> = realms.iter_mut().flat_map(|realm| file::resolve(realm, &mut secrets)).collect();
    if faults.is_empty() {
        Ok(realms)
    } else {
        Err(faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    }
}

#[tokio::test]
async fn references_to_secrets_are_resolved_only_where_they_may_be() {
    let op = Op::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        path.display().to_string()
    };
    let good = write("good", b"secret-in-a-file\n");
    let large = write("large", &vec![b'x'; 70_000]);
    let inside = op.app.config.server.data_dir.join("inside");
    std::fs::write(&inside, "secret-in-data-dir").expect("written");
    let client = |at: &str| format!("realm: main\nclients: [{{client_id: web, secret_ref: \"{at}\"}}]");
    let env = [("DOORWARD_SECRET_WEB", "secret-in-the-environment"), ("HOME", "secret-of-another-kind")];
    assert!(resolved(&op, &client("env:DOORWARD_SECRET_WEB"), &env, None).await.is_ok());
    assert!(resolved(&op, &client(&format!("file:{good}")), &env, None).await.is_ok());
    for (at, fault) in [
        ("env:DOORWARD_SECRET_OTHER".to_owned(), "is not set"),
        (format!("file:{large}"), "at most 64 KiB"),
        (format!("file:{}", inside.display()), "lies in data_dir"),
        (format!("file:{}", folder.path().display()), "not a regular file"),
        ("file:/dev/zero".to_owned(), "not a regular file"),
        (format!("file:{}/none", folder.path().display()), "No such file"),
    ] {
        let told = resolved(&op, &client(&at), &env, None).await.expect_err(&at);
        assert!(told.contains(fault) && told.starts_with("t.yaml:2: client web: secret_ref"), "{told}");
    }
}

#[tokio::test]
async fn exported_secrets_open_with_their_passphrase_for_their_object_only() {
    const PASS: &str = "a passphrase of some length";
    let op = Op::start().await;
    let main = realm(&op, "main").await;
    let passphrase = Passphrase::new(Secret::from(PASS)).expect("a passphrase");
    let text = export(&op.app, &main, Secrets::Encrypted(passphrase)).await.expect("exported");
    assert!(text.contains("dwx1:") && !text.contains("argon2id"), "{text}");
    let realms = resolved(&op, &text, &[], Some(PASS)).await.expect("resolved");
    let input = Input { realms, prune: true, mode: Mode::Write };
    assert!(apply(&op.app, &input).await.expect("applied").is_empty());

    let told = resolved(&op, &text, &[], None).await.expect_err("no passphrase");
    assert!(told.contains("--passphrase-file"), "{told}");
    let told = resolved(&op, &text, &[], Some("another passphrase")).await.expect_err("another passphrase");
    assert!(told.contains("does not open"), "{told}");
    let swapped = text.replace("username: alice", "username: mallory");
    let told = resolved(&op, &swapped, &[], Some(PASS)).await.expect_err("another object");
    assert!(told.contains("user mallory") && !told.contains("user bob"), "{told}");
    assert!(Passphrase::new(Secret::from("short")).is_err());
    assert!(Passphrase::read(Path::new("/nowhere"), Path::new("/")).is_err());
}

#[tokio::test]
async fn administrative_acts_end_sessions() {
    let op = Op::start().await;
    let main = realm(&op, "main").await;
    let alice = person(&op, "alice").await;
    let session = signed_in(&op, &alice).await;
    assert!(admin::session::end(&op.app, &main, session).await.expect("ended"));
    assert!(!admin::session::end(&op.app, &main, session).await.expect("ended before"));
    assert_eq!(end_of(&op, &alice, session).await, Some(EndReason::EndedByAdmin));
    let session = signed_in(&op, &alice).await;
    admin::user::set_password(&op.app, &main, &alice, &Secret::from("another long password")).await.expect("set");
    assert_eq!(end_of(&op, &alice, session).await, Some(EndReason::CredentialChanged));
    let alice = person(&op, "alice").await;
    let session = signed_in(&op, &alice).await;
    let count = admin::session::end_all(&op.app, &alice, admin::session::Offline::End).await.expect("ended");
    assert_eq!((count, end_of(&op, &alice, session).await), (1, Some(EndReason::EndedByAdmin)));
    assert!(admin::user::set_password(&op.app, &main, &alice, &Secret::from("short")).await.is_err());
}

#[tokio::test]
async fn an_issuer_that_is_public_urls_own_host_is_refused_with_what_to_do() {
    for (public_url, issuer) in [
        ("http://localhost:8080", "http://localhost:8080"),
        ("https://id.example", "https://id.example"),
        ("https://id.example/sso", "https://id.example"),
        ("https://ID.example", "https://id.example"),
    ] {
        let op = Op::builder().public_url(public_url).start().await;
        let yaml = format!("realm: other\nissuer: {issuer}\n");
        for mode in [Mode::DryRun, Mode::Write] {
            let refused = apply(&op.app, &Input { realms: declared(&yaml), prune: false, mode }).await;
            let Err(Failure::Faults(faults)) = refused else { panic!("{public_url} {issuer}") };
            let [fault] = &faults[..] else { panic!("{faults:?}") };
            assert_eq!((fault.line, fault.field.as_str()), (2, "issuer"), "{fault}");
            for word in ["public_url", "/realms/other", "leave"] {
                assert!(fault.to_string().contains(word), "{fault}");
            }
        }
        assert!(admin::realm::find(&op.app, "other").await.expect("read").is_none());
        // Another port or name is another host.
        for (name, issuer) in [("third", "http://localhost:9090"), ("fourth", "https://login.example")] {
            applied(&op, &format!("realm: {name}\nissuer: {issuer}\n"), false).await.expect("applied");
        }
    }
}
