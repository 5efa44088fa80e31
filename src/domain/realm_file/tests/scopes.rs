//! Scopes of a realm's own: what is written, planned, told and exported; clients that name what nobody declares.

use super::toy::Toy;
use super::{faults, holds, one};
use crate::realm_file::{Options, plan, scopes, settings};

const SCOPES: &str = r#"
realm: main
scopes:
  - name: orders:read
    consent: { en: "See your orders", de: "Ihre Bestellungen sehen" }
    description: { en: "Not how you paid" }
  - { name: jokes, listed: false }
"#;

fn warnings(toy: &Toy, file: &str, prune: bool) -> Vec<String> {
    let plan = plan(&toy.stored, &one(file), Options { prune, holds: &holds }).unwrap();
    plan.warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn a_text_may_be_given_in_each_language_of_the_pages() {
    let rows: Vec<&str> = scopes::CONSENT.iter().map(|row| row.name).collect();
    assert_eq!(rows, settings::LANGUAGES);
}

#[test]
fn scopes_are_made_changed_and_pruned_and_their_export_changes_nothing() {
    let mut toy = Toy::new();
    assert_eq!(toy.apply(SCOPES, false), ["create realm main", "create scope orders:read", "create scope jokes"]);
    assert!(toy.apply(SCOPES, false).is_empty());
    let text = crate::realm_file::export(&toy.stored, None);
    assert!(toy.apply(&text, true).is_empty(), "{text}");
    let told = toy.apply("realm: main\nscopes: [{ name: orders:read, consent: { de: null } }]", false);
    assert_eq!(told, ["update scope orders:read"]);
    let orders = |toy: &Toy| toy.stored.scopes.iter().find(|scope| scope.name == "orders:read").unwrap().terms.clone();
    assert_eq!(orders(&toy).consent.keys().collect::<Vec<_>>(), ["en"], "what is left out stays");
    assert_eq!(orders(&toy).description.len(), 1);
    let told = toy.apply("realm: main\nscopes: [{ name: jokes, listed: null }]", true);
    assert_eq!(told, ["update scope jokes", "delete scope orders:read"]);
}

#[test]
fn a_wrong_scope_is_told_with_what_is_allowed() {
    for (scope, words) in [
        ("{ name: openid }", "is there in every realm"),
        ("{ name: \"a b\" }", "is not a scope"),
        ("{ consent: { en: x } }", "required"),
        ("{ name: x, consent: \"See\" }", "expected a mapping"),
        ("{ name: x, consent: { fr: \"Voir\" } }", "allowed are en, de"),
        ("{ name: x, consent: { en: \"\" } }", "empty"),
        ("{ name: x, claims: [email] }", "unknown field"),
        ("{ name: x }, { name: x }", "declared twice"),
    ] {
        let told = faults(&format!("realm: main\nscopes: [ {scope} ]"));
        assert!(told.contains(words), "{scope}: {told}");
    }
}

#[test]
fn a_client_that_names_a_scope_which_exists_nowhere_is_pointed_at() {
    let mut toy = Toy::new();
    toy.apply(SCOPES, false);
    let file = "realm: main\nresources: [{ identifier: \"https://api.example\", scopes: [write] }]\nclients:\n  - \
                client_id: web\n    redirect_uris: [\"https://a.example/\"]\n    scope: openid jokes write \
                orders:raed\n";
    let told = warnings(&toy, file, false);
    let [told] = told.as_slice() else { panic!("{told:?}") };
    assert!(told.contains("realm.yaml:6") && told.contains("client web"), "{told}");
    assert!(told.contains("no scope orders:raed") && told.contains("did you mean orders:read?"), "{told}");
    // What is pruned in the same breath is not there any more.
    assert_eq!(warnings(&toy, file, true).len(), 2, "{:?}", warnings(&toy, file, true));
    // A client that the file does not name is not looked at.
    toy.apply(file, false);
    assert!(warnings(&toy, "realm: main", false).is_empty());
}
