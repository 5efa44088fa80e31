//! A document of a realm file: the realm itself and what belongs to it.

use std::collections::BTreeMap;

use url::Url;

use super::declared::{DeclaredPairwiseKey, DeclaredRealm};
use super::fault::{Fault, Faults};
use super::fields::{Field, Form, entries, line_of_text, overlay, text};
use super::node::{Entry, Kind, Node, Unreadable, read};
use super::roles::required;
use super::text::{is_loopback, realm_name};
use super::users::encrypted;
use super::{MAX_FILE_BYTES, clients, groups, resources, roles, scopes, settings, users};
use crate::model::realm::{MAIN_REALM, RealmSettings};

const TABLE: &[Field] = &[
    Field::new("realm", Form::Own),
    Field::new("display_name", Form::Checked(display_name)),
    Field::new("enabled", Form::Bool),
    Field::new("issuer", Form::Checked(issuer)),
    Field::new("settings", Form::Own),
    Field::new("pairwise_key_encrypted", Form::Own),
    Field::new("roles", Form::Own),
    Field::new("groups", Form::Own),
    Field::new("users", Form::Own),
    Field::new("clients", Form::Own),
    Field::new("resources", Form::Own),
    Field::new("scopes", Form::Own),
    Field::new("identity_providers", Form::Not("external identity providers are not built yet; leave the field out")),
];

/// Reads a file of one or several realms, YAML documents or JSON. All its faults are collected.
pub fn parse(file_name: &str, text: &str) -> Result<Vec<DeclaredRealm>, Vec<Fault>> {
    let mut faults = Faults::new(file_name);
    if text.len() > MAX_FILE_BYTES {
        faults.add(0, "", format!("larger than {} MiB: split it", MAX_FILE_BYTES / 1024 / 1024));
        return Err(faults.into_list());
    }
    let realms: Vec<_> = match read(text) {
        Ok(documents) => documents.iter().filter_map(|node| document(file_name, node, &mut faults)).collect(),
        Err(Unreadable { line, message }) => {
            faults.add(line, "", message);
            Vec::new()
        }
    };
    if realms.is_empty() && faults.is_empty() {
        faults.add(0, "", "declares no realm; the least is a line such as realm: main");
    }
    if !faults.is_empty() {
        return Err(faults.into_list());
    }
    let repeated = check_set(&realms);
    if repeated.is_empty() { Ok(realms) } else { Err(repeated) }
}

/// The faults of several documents taken together: a realm may be declared once.
#[must_use]
pub fn check_set(realms: &[DeclaredRealm]) -> Vec<Fault> {
    let mut seen: BTreeMap<&str, &DeclaredRealm> = BTreeMap::new();
    let mut list = Vec::new();
    for realm in realms {
        match seen.get(realm.name.as_str()) {
            Some(first) => list.push(Fault {
                file: realm.file.clone(),
                line: realm.line,
                object: format!("realm {}", realm.name),
                field: "realm".to_owned(),
                message: format!("declared twice, first in {}:{}", first.file, first.line),
            }),
            None => {
                seen.insert(&realm.name, realm);
            }
        }
    }
    list
}

/// The realms that nobody could reach: whatever comes to the host of `public_url` is the realm main's.
#[must_use]
pub fn check_reachable(realms: &[DeclaredRealm], public_url: &str) -> Vec<Fault> {
    let host = |url: &str| Url::parse(url).ok().and_then(|url| Some((url.host_str()?.to_owned(), url.port())));
    let wrong = |realm: &DeclaredRealm| {
        let issuer = realm.fields.get("issuer")?.as_str()?;
        (realm.name != MAIN_REALM && host(issuer) == host(public_url)).then(|| Fault {
            file: realm.file.clone(),
            line: realm.fields.line("issuer").unwrap_or(realm.line),
            object: format!("realm {}", realm.name),
            field: "issuer".to_owned(),
            message: format!(
                "{issuer} is the host of public_url, where only the realm main answers: name a host of its own, \
                 or leave the field out for the issuer {public_url}/realms/{}",
                realm.name
            ),
        })
    };
    realms.iter().filter_map(wrong).collect()
}

fn document(file: &str, node: &Node, faults: &mut Faults) -> Option<DeclaredRealm> {
    faults.object("realm", node.text_of("realm"));
    let found = entries(node, TABLE, "", faults)?;
    let name = required(&found, node.line, "realm", realm_name, faults).unwrap_or_default();
    faults.object("realm", &name);
    let mut realm = DeclaredRealm {
        file: file.to_owned(),
        line: found.get("realm").map_or(node.line, |entry| entry.line),
        fields: overlay(&found, TABLE, "", faults),
        name,
        ..DeclaredRealm::default()
    };
    let is_stated = |entry: &&&Entry| !matches!(entry.value.kind, Kind::Null);
    if let Some(entry) = found.get("issuer").filter(is_stated).filter(|_| realm.name == MAIN_REALM) {
        faults.add(entry.line, "issuer", "the issuer of the realm main is public_url itself; leave the field out");
    }
    if let Some(entry) = found.get("settings") {
        declared_settings(entry, &mut realm, faults);
    }
    realm.pairwise_key = found.get("pairwise_key_encrypted").and_then(|entry| {
        let text = text(&entry.value, encrypted, "pairwise_key_encrypted", faults)?;
        Some((entry.line, DeclaredPairwiseKey::Encrypted(text)))
    });
    let name = realm.name.clone();
    realm.roles = section("roles", &found, &name, faults, roles::read);
    realm.groups = section("groups", &found, &name, faults, groups::read);
    realm.users = section("users", &found, &name, faults, users::read);
    realm.clients = section("clients", &found, &name, faults, clients::read);
    realm.resources = section("resources", &found, &name, faults, resources::read);
    realm.scopes = section("scopes", &found, &name, faults, scopes::read);
    Some(realm)
}

fn section<T>(
    field: &str,
    found: &BTreeMap<&str, &Entry>,
    realm: &str,
    faults: &mut Faults,
    read: fn(&Node, &mut Faults) -> Vec<T>,
) -> Option<Vec<T>> {
    let entry = found.get(field)?;
    faults.object("realm", realm);
    Some(read(&entry.value, faults))
}

fn declared_settings(entry: &Entry, realm: &mut DeclaredRealm, faults: &mut Faults) {
    let Some(found) = entries(&entry.value, settings::TABLE, "settings", faults) else { return };
    realm.settings = overlay(&found, settings::TABLE, "settings", faults);
    // With the fields that are declared now; the plan asks again with the stored ones.
    let Some(wanted) = realm.settings.over(&RealmSettings::default()) else { return };
    for crossed in settings::crossed(&wanted) {
        if crossed.fields.iter().all(|field| realm.settings.has(field)) {
            crossed.report(&realm.settings, entry.line, faults);
        }
    }
}

fn display_name(text: &str) -> Result<String, String> {
    line_of_text(text, 100)
}

/// An issuer of its own is a whole origin: cookies and paths of two realms must not share one.
fn issuer(text: &str) -> Result<String, String> {
    let wrong = || "an issuer of its own is a whole origin such as https://login.example.com".to_owned();
    let url = Url::parse(text).map_err(|_| wrong())?;
    let secure = url.scheme() == "https" || (url.scheme() == "http" && is_loopback(&url));
    if secure && url.origin().ascii_serialization() == text { Ok(text.to_owned()) } else { Err(wrong()) }
}
