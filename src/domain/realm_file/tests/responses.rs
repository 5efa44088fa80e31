//! Response types: what goes with which grants, and what whoever registers them is told.

use super::*;
use crate::model::response_type::ResponseType;

/// A client with these grants and response types.
fn client(grants: &str, types: &str) -> String {
    format!(
        "realm: main\nclients:\n  - client_id: old\n    redirect_uris: [\"https://old.example/cb\"]\n    \
         grant_types: [{grants}]\n    response_types: [{types}]\n"
    )
}

/// What is wrong with a file, whether it shows when it is read or when it is planned.
fn told(text: &str) -> String {
    match parse("f.yaml", text) {
        Err(faults) => lines(&faults),
        Ok(_) => planned(&StoredRealm::default(), text, false).expect_err("no fault was found"),
    }
}

/// What there is to say of a file that is fine.
fn warned(stored: &StoredRealm, text: &str) -> Vec<String> {
    let planned = plan(stored, &one(text), Options { prune: false, holds: &holds }).map_err(|faults| lines(&faults));
    planned
        .unwrap()
        .warnings
        .into_iter()
        .map(|each| format!("{}: {}: {}", each.object, each.field, each.message))
        .collect()
}

#[test]
fn each_response_type_is_kept_in_one_spelling_and_exported() {
    let mut toy = Toy::new();
    let text = client("authorization_code, implicit", "code, id_token code, token id_token");
    assert_eq!(toy.apply(&text, false), ["create realm main", "create client old"]);
    let expected = [ResponseType::Code, ResponseType::CodeIdToken, ResponseType::IdTokenToken];
    assert_eq!(toy.stored.clients[0].metadata.response_types, expected);
    assert_eq!(toy.apply(&text, false), Vec::<String>::new());
    let exported = export(&toy.stored, None);
    assert!(exported.contains("code id_token"), "{exported}");
    assert_eq!(planned(&toy.stored, &exported, true), Ok(Vec::new()));
}

#[test]
fn response_types_and_grants_go_together() {
    for (grants, types, want) in [
        ("authorization_code", "code, id_token", "the response type id_token needs implicit in grant_types"),
        ("authorization_code", "code, code id_token", "the response type code id_token needs implicit in grant_types"),
        ("implicit", "code id_token", "the response type code id_token needs authorization_code in grant_types"),
        ("implicit", "code, code token", "the response type code token needs authorization_code in grant_types"),
        ("authorization_code, implicit", "code", "implicit needs a response type such as id_token"),
        ("authorization_code, implicit", "id_token", "authorization_code needs a response type such as code"),
        ("authorization_code", "", "authorization_code needs a response type such as code"),
        ("client_credentials", "token", "the response type token needs implicit in grant_types"),
        ("authorization_code", "none", "is not supported; allowed are code, id_token, code id_token, token"),
        ("authorization_code, implicit", "code id_token, id_token code", "code id_token stands in the list twice"),
    ] {
        let told = told(&client(grants, types));
        assert!(told.contains(want), "{grants} {types}: {told}");
    }
    let none = client("implicit", "id_token").replace("\"https://old.example/cb\"", "");
    let told = told(&none);
    assert!(told.contains("implicit needs at least one redirect URI"), "{told}");
}

#[test]
fn whoever_registers_more_than_code_is_warned_each_time() {
    let mut toy = Toy::new();
    let plain = client("authorization_code", "code");
    assert_eq!(warned(&toy.stored, &plain), Vec::<String>::new());
    let text = client("authorization_code, implicit", "code, code token");
    let told = warned(&toy.stored, &text);
    assert!(
        matches!(told.as_slice(), [one] if one.starts_with("client old: response_types: has code token")
        && one.contains("are refused while settings.clients.front_channel_tokens is false")),
        "{told:?}"
    );
    toy.apply(&text, false);
    assert_eq!(warned(&toy.stored, &text), told, "also when nothing changes");
    let on = format!("{text}settings: {{ clients: {{ front_channel_tokens: true }} }}\n");
    let told = warned(&toy.stored, &on);
    assert!(
        matches!(told.as_slice(), [client, realm] if realm.starts_with("realm main: settings.clients.front_channel_tokens: is on")
        && client.starts_with("client old:") && !client.contains("are refused")),
        "{told:?}"
    );
}
