//! Tests over the whole room: what a person writes, what she is told, what is planned.

mod responses;
mod scopes;
mod signing;
mod toy;

use proptest::prelude::*;

use super::*;
use crate::model::client::{Client, ClientMetadata, ClientSecret};
use crate::model::secret::{Secret, SecretHash};
use crate::protocol::subject::PairwiseKey;
use toy::Toy;

const EXAMPLE: &str = r#"
realm: main
display_name: Example
settings:
  registration: { enabled: false }
  password_policy: { min_length: 10 }
  sessions: { idle: 30m, absolute: 12h, remember_me: 30d }
  tokens: { access: 10m, refresh_reuse_grace: 10s }
  keys: { algorithms: [RS256, ES256], access_token_alg: RS256 }
roles:
  - { name: editor, description: "Edits: everything" }
  - { name: chief, composites: [editor, { client: web, name: admin }] }
  - { name: admin, client: web }
groups:
  - name: staff
    roles: [editor]
    groups: [ { name: night-shift } ]
users:
  - username: alice
    email: alice@example.com
    email_verified: true
    given_name: Alice
    address: { street_address: "Main Street 1\nBackyard", country: "no" }
    password: { value: "correct horse battery" }
    groups: [staff, /staff/night-shift]
    roles: [chief, { client: web, name: admin }]
    administrator: instance
  - username: "0123"
    sub: zero
    enabled: false
clients:
  - client_id: web
    client_name: Web shop
    client_secret: "web-shop-secret"
    token_endpoint_auth_method: client_secret_basic
    redirect_uris: [ "https://app.example.com/callback" ]
    post_logout_redirect_uris: [ "https://app.example.com/" ]
    grant_types: [ authorization_code, refresh_token, client_credentials ]
    response_types: [ code ]
    scope: "openid profile email offline_access"
    consent: skip
    access_token_format: opaque
    resources: [ "https://api.example.com" ]
    service_account_roles: [ editor ]
  - client_id: spa
    token_endpoint_auth_method: none
    redirect_uris: [ "https://spa.example.com/" ]
resources: [ { identifier: "https://api.example.com", scopes: [write, read], introspection_clients: [web] } ]
"#;

fn one(text: &str) -> DeclaredRealm {
    match parse("realm.yaml", text) {
        Ok(mut realms) => realms.remove(0),
        Err(faults) => panic!("{}", lines(&faults)),
    }
}

fn lines(faults: &[Fault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn faults(text: &str) -> String {
    lines(&parse("f.yaml", text).expect_err("no fault was found"))
}

fn hash(secret: &Secret) -> SecretHash {
    let mut bytes = [0; 32];
    for (to, from) in bytes.iter_mut().zip(secret.expose().bytes()) {
        *to = from;
    }
    SecretHash(bytes)
}

fn holds(client: &Client, secret: &Secret) -> bool {
    client.secrets.first().is_some_and(|newest| newest.hash == hash(secret))
}

fn planned(stored: &StoredRealm, text: &str, prune: bool) -> Result<Vec<Act>, String> {
    let options = Options { prune, holds: &holds };
    plan(stored, &one(text), options).map(|plan| plan.acts).map_err(|faults| lines(&faults))
}

struct Shown;

impl ExportedSecrets for Shown {
    fn password(&self, _user: &StoredUser, _phc: &str) -> String {
        "dwx1:pass".to_owned()
    }
    fn client_secret(&self, _client: &Client, _secret: &ClientSecret) -> String {
        "dwx1:client".to_owned()
    }
    fn pairwise_key(&self, _key: &PairwiseKey) -> String {
        "dwx1:pairwise".to_owned()
    }
}

#[test]
fn the_example_is_applied_once_and_then_changes_nothing() {
    let mut toy = Toy::new();
    let told = toy.apply(EXAMPLE, false);
    assert_eq!(
        told,
        [
            "create realm main",
            "create resource https://api.example.com",
            "create client web",
            "create client spa",
            "create role editor",
            "create role chief",
            "create role admin of client web",
            "create group /staff",
            "create group /staff/night-shift",
            "create user alice",
            "create user 0123",
        ]
    );
    assert_eq!(toy.apply(EXAMPLE, false), Vec::<String>::new());
    assert_eq!(toy.apply(EXAMPLE, true), Vec::<String>::new());
    let alice = &toy.stored.users[0];
    assert_eq!(alice.user.claims.address.as_ref().unwrap().country.as_deref(), Some("no"));
    assert_eq!(toy.stored.realm.as_ref().unwrap().settings.tokens.access.as_secs(), 600);
}

#[test]
fn an_export_changes_nothing_and_holds_no_secret() {
    let mut toy = Toy::new();
    toy.apply(EXAMPLE, false);
    let text = export(&toy.stored, None);
    assert_eq!(planned(&toy.stored, &text, true), Ok(Vec::new()), "{text}");
    for secret in ["correct horse", "web-shop-secret", "argon2id", "password:"] {
        assert!(!text.contains(secret), "{secret} in\n{text}");
    }
    let mut copy = Toy::new();
    copy.apply(&text, false);
    assert_eq!(export(&copy.stored, None), text);
    let with = export(&toy.stored, Some(&Shown));
    assert!(
        with.contains("client_secret_encrypted: \"dwx1:client\"") && with.contains("encrypted: \"dwx1:pass\""),
        "{with}"
    );
}

#[test]
fn what_is_left_out_is_kept_and_null_is_the_default() {
    let mut toy = Toy::new();
    toy.apply(EXAMPLE, false);
    toy.apply("realm: main\nclients: [{client_id: web, client_name: null, access_token_format: null}]", false);
    let web = toy.stored.clients.iter().find(|client| client.client_id == "web").unwrap();
    assert_eq!(web.metadata.client_name, None);
    assert_eq!(web.metadata.access_token_format, ClientMetadata::default().access_token_format);
    assert_eq!(web.metadata.redirect_uris, ["https://app.example.com/callback"]);
    assert!(holds(web, &Secret::from("web-shop-secret")));
    let told = toy.apply("realm: main\nsettings: {tokens: {access: null}}", false);
    assert_eq!(told, ["update realm main"]);
    assert_eq!(toy.stored.realm.as_ref().unwrap().settings.tokens.access.as_secs(), 300);
    assert_eq!(toy.stored.realm.as_ref().unwrap().settings.password_policy.min_length, 10);
}

#[test]
fn a_password_value_counts_only_at_creation_and_is_never_shown() {
    let mut toy = Toy::new();
    toy.apply(EXAMPLE, false);
    let other = EXAMPLE.replace("correct horse battery", "another long password");
    assert_eq!(toy.apply(&other, false), Vec::<String>::new());
    let changed = EXAMPLE.replace("web-shop-secret", "another-secret");
    let acts = planned(&toy.stored, &changed, false).unwrap();
    let shown = format!("{acts:?}");
    assert!(shown.contains("client_secret") && !shown.contains("another-secret"), "{shown}");
    let short = EXAMPLE.replace("correct horse battery", "short");
    assert!(planned(&Toy::new().stored, &short, false).unwrap_err().contains("min_length asks for 10"));
}

#[test]
fn a_new_address_is_not_verified_by_the_old_one() {
    let mut toy = Toy::new();
    toy.apply(EXAMPLE, false);
    toy.apply("realm: main\nusers: [{username: ALICE, email: new@example.com}]", false);
    let alice = toy.stored.users.iter().find(|user| user.user.username == "ALICE").unwrap();
    assert!(!alice.user.claims.email_verified);
    assert_eq!(toy.stored.users.len(), 2);
}

#[test]
fn pruning_spares_people_unless_the_file_has_them() {
    let mut toy = Toy::new();
    toy.apply(EXAMPLE, false);
    let told = toy.apply("realm: main\nclients: [{client_id: spa}]", true);
    assert_eq!(
        told,
        [
            "delete group /staff/night-shift",
            "delete group /staff",
            "delete role editor",
            "delete role chief",
            "delete role admin of client web",
            "delete client web",
            "delete resource https://api.example.com",
        ]
    );
    assert_eq!(toy.stored.users.len(), 2);
    let told = toy.apply("realm: main\nclients: [{client_id: spa}]\nusers: [{username: alice}]", true);
    assert_eq!(told, ["delete user 0123"]);
}

#[test]
fn every_fault_is_told_with_its_place() {
    let text = "realm: main\nclients:\n  - client_id: web\n    redirect_uri: [\"https://a.example/\"]\n    logo_uri: http://a.example/\n    grant_types: [password_grant]\n    client_secret: short\n  - client_id: web\nusers:\n  - username: a\n    birthdate: tomorrow\n    password: { value: a, hash: b }\n    administrator: root\n  - usernam: b\nsettings:\n  tokens: { access: 2h, code: 61s, refresh_reuse_grace: 31s }\n  keys: { algorithms: [ES256], rsa_bits: 1024, announce: 1s }\n  password_policy: { min_length: 7 }\n  registration: { enabled: yes }\nidentity_providers: []\n";
    let told = faults(text);
    for line in [
        "f.yaml:4: client web: redirect_uri: unknown field; did you mean redirect_uris?",
        "f.yaml:5: client web: logo_uri: http://a.example/ must begin with https://",
        "f.yaml:6: client web: grant_types: password_grant is not supported; allowed are authorization_code, implicit, refresh_token, client_credentials",
        "f.yaml:7: client web: client_secret: a secret has 8 to 255",
        "f.yaml:8: client web: client_id: declared twice, first on line 3",
        "f.yaml:11: user a: birthdate: tomorrow is not a birthday",
        "f.yaml:12: user a: password: write exactly one of",
        "f.yaml:13: user a: administrator: allowed are instance",
        "f.yaml:14: user: usernam: unknown field; did you mean username?",
        "f.yaml:14: user: username: required",
        "f.yaml:16: realm main: settings.tokens.access: 2h is out of range; allowed is 1s to 1h",
        "f.yaml:16: realm main: settings.tokens.code: 1m1s is out of range",
        "f.yaml:16: realm main: settings.tokens.refresh_reuse_grace: 31s is out of range; allowed is 0s to 30s",
        "f.yaml:17: realm main: settings.keys.algorithms: RS256 must be among them",
        "f.yaml:17: realm main: settings.keys.rsa_bits: 1024 is not allowed; one of 2048, 3072, 4096",
        "f.yaml:17: realm main: settings.keys.announce: 1s is out of range; allowed is 1m to",
        "f.yaml:18: realm main: settings.password_policy.min_length: 7 is not a whole number from 8 to 256",
        "f.yaml:19: realm main: settings.registration.enabled: yes is neither true nor false",
        "f.yaml:20: realm main: identity_providers: external identity providers are not built yet",
    ] {
        assert!(told.contains(line), "missing: {line}\nin\n{told}");
    }
}

#[test]
fn a_secret_never_appears_in_a_fault() {
    let told = faults(
        "realm: main\nusers: [{username: a, password: {hash: hunter2hunter2, secret_ref: x}}, {username: b, password: {hash: hunter2hunter2}}]\nclients: [{client_id: w, client_secret: hunt2}]",
    );
    assert!(!told.contains("hunt"), "{told}");
}

#[test]
fn references_are_checked() {
    let stored = StoredRealm::default();
    let told = planned(
        &stored,
        "realm: other\nroles: [{name: a, composites: [b, x]}, {name: b, composites: [a]}, {name: c, client: nope}]\ngroups: [{path: /x/y, roles: [aa]}]\nusers:\n  - {username: u, groups: [grp], roles: [a], sub: web, administrator: instance}\n  - {username: v, email: U@Example.com, email_verified: true}\n  - {username: u@example.com}\nclients: [{client_id: web, redirect_uris: [\"https://a.example/\"], resources: [\"urn:x\"]}, {client_id: p, token_endpoint_auth_method: none, client_secret: 12345678, redirect_uris: [\"https://a.example/\"]}]\nresources: [{identifier: \"urn:y\", introspection_clients: [wib]}]",
        false,
    )
    .unwrap_err();
    for line in [
        "role a: composites: there is no role x",
        "role a: composites: brings itself along",
        "role c: client: there is no client nope",
        "group /x/y: path: there is no group /x",
        "group /x/y: roles: there is no role aa; did you mean a?",
        "user u: groups: there is no group /grp",
        "user u: sub: is the client_id of a client",
        "user u: administrator: instance is only for users of the realm main",
        "user u@example.com: username: its name or verified e-mail already means the user v",
        "client web: resources: there is no resource urn:x; did you mean urn:y?",
        "client p: client_secret: a public client",
        "resource urn:y: introspection_clients: there is no client wib; did you mean web?",
    ] {
        assert!(told.contains(line), "missing: {line}\nin\n{told}");
    }
}

#[test]
fn unresolved_secrets_are_refused() {
    let told = planned(&StoredRealm::default(), "realm: main\nusers: [{username: a, password: {secret_ref: \"env:DOORWARD_SECRET_A\"}}]\nclients: [{client_id: w, secret_ref: \"file:/etc/x\", redirect_uris: [\"https://a.example/\"]}]", false).unwrap_err();
    assert_eq!(told.matches("was not resolved").count(), 2, "{told}");
    assert!(
        faults("realm: main\nclients: [{client_id: w, secret_ref: \"env:HOME\"}]")
            .contains("must begin with DOORWARD_SECRET_")
    );
}

#[test]
fn json_is_read_too_and_a_realm_stands_once() {
    let realm = one(
        "{\n\t\"realm\": \"main\",\n\t\"enabled\": true,\n\t\"clients\": [{\"client_id\": \"a/b\", \"redirect_uris\": [\"https:\\/\\/a.example/\"]}]\n}\n",
    );
    assert_eq!(realm.clients.unwrap()[0].client_id, "a/b");
    assert!(
        faults("realm: a\n---\nrealm: a\n").contains("f.yaml:3: realm a: realm: declared twice, first in f.yaml:1")
    );
    assert_eq!(parse("f", "realm: a\n---\nrealm: b\n").unwrap().len(), 2);
    assert!(faults("").contains("declares no realm"));
    assert!(faults("[]").contains("expected a mapping"));
    assert!(faults("a: [").contains("not YAML"));
    assert!(faults(&"#".repeat(MAX_FILE_BYTES + 1)).contains("larger than 8 MiB"));
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z0-9:#&*!|>'\"%@`{}\\[\\], \\\\.-]{1,20}",
        "[^\\p{Cc}]{1,12}",
        Just("null".to_owned()),
        Just("~".to_owned()),
        Just("1e3".to_owned())
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_text_is_parsed_or_refused(text in any::<String>()) {
        let _ = parse("x", &text);
    }

    #[test]
    fn a_damaged_file_is_parsed_or_refused(at in 0..EXAMPLE.len(), with in "[\\PC\n]{0,3}", cut in 0usize..6) {
        let mut text = EXAMPLE.to_owned();
        text.replace_range(at..(at + cut).min(EXAMPLE.len()), &with);
        if let Ok(realms) = parse("x", &text) {
            for realm in realms {
                let _ = plan(&StoredRealm::default(), &realm, Options { prune: false, holds: &holds });
            }
        }
    }

    #[test]
    fn an_export_of_anything_changes_nothing(
        title in text(), name in text(), description in text(), street in "[^\\p{Cc}]{1,9}\n[^\\p{Cc}]{1,9}",
        verified in any::<bool>(), enabled in any::<bool>(), age in 0u64..1000,
    ) {
        let mut toy = Toy::new();
        toy.apply(EXAMPLE, false);
        toy.stored.realm.as_mut().unwrap().display_name = Some(title);
        toy.stored.roles[0].description = Some(description);
        let user = &mut toy.stored.users[0];
        user.user.enabled = enabled;
        user.user.claims.given_name = Some(name.clone());
        user.user.claims.email_verified = verified;
        user.user.claims.address.as_mut().unwrap().street_address = Some(street);
        let client = &mut toy.stored.clients[0];
        client.enabled = enabled;
        client.metadata.client_name = Some(name);
        client.metadata.default_max_age = Some(age);
        let text = export(&toy.stored, None);
        prop_assert_eq!(planned(&toy.stored, &text, true), Ok(Vec::new()), "{}", text);
    }
}
