//! The stored realm in the form of a realm file, in a fixed order: a plan made of it is empty.
//! A password itself is never known; hashes and client secrets appear only encrypted.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::declared::RoleRef;
use super::stored::{Names, StoredRealm, StoredUser};
use super::write::Out;
use crate::model::client::{Client, ClientMetadata, ClientSecret};
use crate::model::realm::RealmSettings;
use crate::model::scope::ScopeTerms;
use crate::model::user::StandardClaims;
use crate::protocol::subject::PairwiseKey;

/// Encrypts what `export --with-secrets` adds.
pub trait ExportedSecrets {
    /// A user's PHC string, as `dwx1:…`.
    fn password(&self, user: &StoredUser, phc: &str) -> String;
    /// A client's newest live secret, as `dwx1:…`.
    fn client_secret(&self, client: &Client, secret: &ClientSecret) -> String;
    /// The key of the realm's pairwise subs, as `dwx1:…`.
    fn pairwise_key(&self, key: &PairwiseKey) -> String;
}

/// Client fields that are written even where they equal the default: what a client is.
const ALWAYS: [&str; 4] = ["token_endpoint_auth_method", "grant_types", "response_types", "scope"];

/// Writes a realm. Empty when `stored` has none.
#[must_use]
pub fn export(stored: &StoredRealm, secrets: Option<&dyn ExportedSecrets>) -> String {
    let Some(realm) = &stored.realm else { return String::new() };
    let names = Names::of(stored);
    let mut top = vec![("realm".to_owned(), Out::from(realm.name.as_str()))];
    optional(&mut top, "display_name", realm.display_name.as_ref());
    if !realm.enabled {
        top.push(("enabled".to_owned(), Out::Raw("false".to_owned())));
    }
    optional(&mut top, "issuer", realm.issuer.as_ref());
    section(&mut top, "settings", differing(&realm.settings, &RealmSettings::default(), &[]));
    if let (Some(secrets), Some(key)) = (secrets, &stored.pairwise_key) {
        top.push(("pairwise_key_encrypted".to_owned(), Out::Text(secrets.pairwise_key(key))));
    }
    list(&mut top, "roles", roles(stored, &names));
    list(&mut top, "groups", groups(stored, &names));
    list(&mut top, "resources", resources(stored));
    list(&mut top, "scopes", scopes(stored));
    list(&mut top, "clients", clients(stored, secrets));
    list(&mut top, "users", users(stored, &names, secrets));
    let mut text = String::new();
    Out::Map(top).block(0, &mut text);
    text
}

type Fields = Vec<(String, Out)>;

fn optional(fields: &mut Fields, name: &str, value: Option<&String>) {
    if let Some(value) = value {
        fields.push((name.to_owned(), Out::Text(value.clone())));
    }
}

fn section(fields: &mut Fields, name: &str, inner: Fields) {
    if !inner.is_empty() {
        fields.push((name.to_owned(), Out::Map(inner)));
    }
}

fn list(fields: &mut Fields, name: &str, items: BTreeMap<String, Fields>) {
    if !items.is_empty() {
        fields.push((name.to_owned(), Out::List(items.into_values().map(Out::Map).collect())));
    }
}

/// The fields of `value` that differ from `default`, nested ones too, and those that are always told.
fn differing<T: Serialize>(value: &T, default: &T, always: &[&str]) -> Fields {
    match (serde_json::to_value(value), serde_json::to_value(default)) {
        (Ok(Value::Object(value)), Ok(Value::Object(default))) => difference(&value, &default, always),
        _ => Vec::new(),
    }
}

fn difference(
    value: &serde_json::Map<String, Value>,
    default: &serde_json::Map<String, Value>,
    always: &[&str],
) -> Fields {
    let mut fields = Vec::new();
    for (name, value) in value {
        let default = default.get(name);
        match (value, default) {
            (Value::Null, _) => {}
            (Value::Object(value), Some(Value::Object(default))) => {
                section(&mut fields, name, difference(value, default, &[]));
            }
            _ if Some(value) != default || always.contains(&name.as_str()) => {
                fields.push((name.clone(), Out::from_json(value)));
            }
            _ => {}
        }
    }
    fields
}

fn texts(fields: &mut Fields, name: &str, mut texts: Vec<String>) {
    if !texts.is_empty() {
        texts.sort();
        fields.push((name.to_owned(), Out::Flow(texts.into_iter().map(Out::Text).collect())));
    }
}

fn references(fields: &mut Fields, name: &str, roles: &[RoleRef]) {
    if roles.is_empty() {
        return;
    }
    let items: Vec<Out> = roles
        .iter()
        .map(|role| match &role.client {
            None => Out::Text(role.name.clone()),
            Some(client) => Out::Map(vec![
                ("client".to_owned(), Out::Text(client.clone())),
                ("name".to_owned(), Out::Text(role.name.clone())),
            ]),
        })
        .collect();
    let all_texts = roles.iter().all(|role| role.client.is_none());
    fields.push((name.to_owned(), if all_texts { Out::Flow(items) } else { Out::List(items) }));
}

fn roles(stored: &StoredRealm, names: &Names) -> BTreeMap<String, Fields> {
    let mut items = BTreeMap::new();
    for role in &stored.roles {
        let Some(name) = names.role(role.id) else { continue };
        if stored.clients.iter().any(|client| Some(client.key) == role.client && client.is_self_registered()) {
            continue;
        }
        let mut fields = vec![("name".to_owned(), Out::Text(name.name.clone()))];
        optional(&mut fields, "client", name.client.as_ref());
        optional(&mut fields, "description", role.description.as_ref());
        references(&mut fields, "composites", &names.roles(&role.composites));
        items.insert(format!("{}\0{}", name.client.as_deref().unwrap_or_default(), name.name), fields);
    }
    items
}

fn groups(stored: &StoredRealm, names: &Names) -> BTreeMap<String, Fields> {
    let mut items = BTreeMap::new();
    for group in &stored.groups {
        let mut fields = vec![("path".to_owned(), Out::Text(group.path.clone()))];
        references(&mut fields, "roles", &names.roles(&group.roles));
        items.insert(group.path.clone(), fields);
    }
    items
}

fn resources(stored: &StoredRealm) -> BTreeMap<String, Fields> {
    let mut items = BTreeMap::new();
    for resource in &stored.resources {
        let mut fields = vec![("identifier".to_owned(), Out::Text(resource.identifier.clone()))];
        optional(&mut fields, "display_name", resource.display_name.as_ref());
        texts(&mut fields, "scopes", resource.scopes.clone());
        texts(&mut fields, "introspection_clients", resource.introspection_clients.clone());
        items.insert(resource.identifier.clone(), fields);
    }
    items
}

fn scopes(stored: &StoredRealm) -> BTreeMap<String, Fields> {
    let mut items = BTreeMap::new();
    for scope in &stored.scopes {
        let mut fields = vec![("name".to_owned(), Out::Text(scope.name.clone()))];
        fields.extend(differing(&scope.terms, &ScopeTerms::default(), &[]));
        items.insert(scope.name.clone(), fields);
    }
    items
}

fn clients(stored: &StoredRealm, secrets: Option<&dyn ExportedSecrets>) -> BTreeMap<String, Fields> {
    let mut items = BTreeMap::new();
    for client in stored.clients.iter().filter(|client| !client.is_self_registered()) {
        let mut fields = vec![("client_id".to_owned(), Out::Text(client.client_id.clone()))];
        if !client.enabled {
            fields.push(("enabled".to_owned(), Out::Raw("false".to_owned())));
        }
        let has_secret = client.metadata.token_endpoint_auth_method.has_secret();
        if let (Some(secrets), Some(newest), true) = (secrets, client.secrets.first(), has_secret) {
            let text = secrets.client_secret(client, newest);
            fields.push(("client_secret_encrypted".to_owned(), Out::Text(text)));
        }
        fields.extend(differing(&client.metadata, &ClientMetadata::default(), &ALWAYS));
        items.insert(client.client_id.clone(), fields);
    }
    items
}

fn users(stored: &StoredRealm, names: &Names, secrets: Option<&dyn ExportedSecrets>) -> BTreeMap<String, Fields> {
    let mut items = BTreeMap::new();
    for user in &stored.users {
        let account = &user.user;
        let mut fields = vec![
            ("username".to_owned(), Out::Text(account.username.clone())),
            ("sub".to_owned(), Out::Text(account.sub.clone())),
        ];
        if !account.enabled {
            fields.push(("enabled".to_owned(), Out::Raw("false".to_owned())));
        }
        fields.extend(differing(&account.claims, &StandardClaims::default(), &[]));
        if let (Some(secrets), Some(phc)) = (secrets, &user.phc) {
            let text = secrets.password(user, phc);
            section(&mut fields, "password", vec![("encrypted".to_owned(), Out::Text(text))]);
        }
        texts(&mut fields, "groups", names.groups(&user.groups));
        references(&mut fields, "roles", &names.roles(&user.roles));
        if let Some(power) = user.powers.first() {
            fields.push(("administrator".to_owned(), Out::from(power.as_str())));
        }
        items.insert(account.username.clone(), fields);
    }
    items
}
