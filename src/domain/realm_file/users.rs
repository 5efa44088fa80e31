//! `users:` of a realm file: the standard claims (OpenID Connect Core 5.1), the password, groups,
//! roles, and administrative powers, which are never roles (`security-design` rule 27).

use std::collections::{BTreeMap, HashMap};

use super::declared::{DeclaredPassword, DeclaredUser, Said, SecretRef};
use super::fault::{Faults, shown};
use super::fields::{Field, Form, boolean, entries, line_of_text, overlay, text};
use super::groups::memberships;
use super::node::{Entry, Kind, Node};
use super::roles::{objects, references, required};
use super::text as check;
use crate::model::power::Power;
use crate::model::secret::Secret;
use crate::signin::identifier::canonical;

const ADDRESS: &[Field] = &[
    Field::new("formatted", Form::Lines(1_000)),
    Field::new("street_address", Form::Lines(500)),
    Field::new("locality", Form::Text(200)),
    Field::new("region", Form::Text(200)),
    Field::new("postal_code", Form::Text(40)),
    Field::new("country", Form::Text(100)),
];

const TABLE: &[Field] = &[
    Field::new("username", Form::Own),
    Field::new("sub", Form::Own),
    Field::new("enabled", Form::Own),
    Field::new("password", Form::Own),
    Field::new("groups", Form::Own),
    Field::new("roles", Form::Own),
    Field::new("administrator", Form::Own),
    Field::new("name", Form::Text(200)),
    Field::new("given_name", Form::Text(200)),
    Field::new("family_name", Form::Text(200)),
    Field::new("middle_name", Form::Text(200)),
    Field::new("nickname", Form::Text(200)),
    Field::new("profile", Form::Checked(check::https)),
    Field::new("picture", Form::Checked(check::https)),
    Field::new("website", Form::Checked(web)),
    Field::new("email", Form::Checked(email)),
    Field::new("email_verified", Form::Bool),
    Field::new("gender", Form::Text(100)),
    Field::new("birthdate", Form::Checked(check::birthdate)),
    Field::new("zoneinfo", Form::Text(100)),
    Field::new("locale", Form::Checked(check::language)),
    Field::new("phone_number", Form::Text(50)),
    Field::new("phone_number_verified", Form::Bool),
    Field::new("address", Form::Map(ADDRESS)),
    Field::new("preferred_username", Form::Not("the claim preferred_username is the username")),
    Field::new("updated_at", Form::Not("the claim updated_at is kept by the product")),
    Field::new("id", Form::Not("write sub to choose what applications know the user by")),
];

const PASSWORD: &[Field] = &[
    Field::new("value", Form::Own),
    Field::new("hash", Form::Own),
    Field::new("secret_ref", Form::Own),
    Field::new("encrypted", Form::Own),
];

fn web(text: &str) -> Result<String, String> {
    // A person's own page may well be plain http; it is only ever shown.
    let rest = text.strip_prefix("http://").map(|rest| format!("https://{rest}"));
    check::https(rest.as_deref().unwrap_or(text)).map(|_| text.to_owned())
}

/// Reads `users:`.
pub(super) fn read(node: &Node, faults: &mut Faults) -> Vec<DeclaredUser> {
    let mut users = Vec::new();
    let mut names = HashMap::new();
    let mut subs = HashMap::new();
    for node in objects(node, "users", faults) {
        faults.object("user", node.text_of("username"));
        let Some(found) = entries(node, TABLE, "", faults) else { continue };
        let Some(username) = required(&found, node.line, "username", username, faults) else { continue };
        faults.object("user", &username);
        let user = user(node.line, username, &found, faults);
        if let Some(first) = canonical(&user.username).ok().and_then(|name| names.insert(name, node.line)) {
            faults.add(node.line, "username", format!("means the same person as the one on line {first}"));
        }
        if let Some(first) = user.sub.clone().and_then(|sub| subs.insert(sub, node.line)) {
            faults.add(node.line, "sub", format!("is that of the user on line {first}"));
        }
        users.push(user);
    }
    users
}

fn user(line: usize, username: String, found: &BTreeMap<&str, &Entry>, faults: &mut Faults) -> DeclaredUser {
    DeclaredUser {
        line,
        username,
        sub: found.get("sub").and_then(|entry| text(&entry.value, check::sub, "sub", faults)),
        enabled: found.get("enabled").and_then(|entry| boolean(&entry.value, "enabled", faults)),
        claims: overlay(found, TABLE, "", faults),
        password: found.get("password").and_then(|entry| password(&entry.value, faults)),
        groups: found.get("groups").and_then(|entry| memberships(&entry.value, faults)),
        roles: found.get("roles").and_then(|entry| references(&entry.value, "roles", faults)),
        administrator: found.get("administrator").and_then(|entry| administrator(entry, faults)),
    }
}

fn username(text: &str) -> Result<String, String> {
    line_of_text(text, 255)?;
    canonical(text).map(|_| text.trim().to_owned()).map_err(|fault| fault.to_string())
}

/// An address that its owner may sign in with.
fn email(text: &str) -> Result<String, String> {
    check::email(text)?;
    canonical(text).map(|_| text.to_owned()).map_err(|fault| fault.to_string())
}

fn password(node: &Node, faults: &mut Faults) -> Option<DeclaredPassword> {
    let found = entries(node, PASSWORD, "password", faults)?;
    let mut ways = found.values();
    let (Some(entry), None) = (ways.next(), ways.next()) else {
        faults.add(node.line, "password", "write exactly one of value, hash, secret_ref, encrypted");
        return None;
    };
    let field = format!("password.{}", entry.key);
    match entry.key.as_str() {
        "value" => {
            text(&entry.value, password_value, &field, faults).map(|text| DeclaredPassword::Value(Secret::new(text)))
        }
        "hash" => text(&entry.value, phc, &field, faults).map(|text| DeclaredPassword::Hash(Secret::new(text))),
        "encrypted" => text(&entry.value, encrypted, &field, faults).map(DeclaredPassword::Encrypted),
        _ => secret_ref(&entry.value, &field, faults).map(DeclaredPassword::Ref),
    }
}

/// The hard limits on a password (`behaviour-cases` B-46); the realm's policy is asked when it is hashed.
pub(super) fn password_value(text: &str) -> Result<String, String> {
    if text.is_empty() || text.len() > 1024 || text.chars().count() > 256 {
        return Err("a password has 1 to 256 characters and at most 1024 bytes".to_owned());
    }
    Ok(text.to_owned())
}

/// A PHC string of Argon2id; imported parameters are capped (`security-design` rule 23).
pub(super) fn phc(text: &str) -> Result<String, String> {
    let wrong = "expected a PHC string such as $argon2id$v=19$m=7168,t=5,p=1$salt$hash";
    let parts: Vec<&str> = text.split('$').collect();
    let ["", "argon2id", "v=19", costs, salt, hash] = parts.as_slice() else { return Err(wrong.to_owned()) };
    let mut names = ["m=", "t=", "p="].iter();
    let mut numbers = Vec::new();
    for cost in costs.split(',') {
        let number =
            names.next().and_then(|name| cost.strip_prefix(name)).and_then(|digits| digits.parse::<u32>().ok());
        numbers.push(number.ok_or(wrong)?);
    }
    let [memory, passes, lanes] = numbers.as_slice() else { return Err(wrong.to_owned()) };
    let base64 = |part: &str, range: std::ops::RangeInclusive<usize>| {
        range.contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'))
    };
    if !base64(salt, 11..=64) || !base64(hash, 22..=86) {
        return Err(wrong.to_owned());
    }
    if !(8..=1_048_576).contains(memory) || !(1..=64).contains(passes) || !(1..=16).contains(lanes) {
        return Err("parameters out of range: m from 8 to 1048576 (KiB), t from 1 to 64, p from 1 to 16".to_owned());
    }
    if u64::from(*memory) * u64::from(*passes) > 4_194_304 {
        return Err("m times t is over 4194304: such a hash would cost seconds at each sign-in".to_owned());
    }
    Ok(text.to_owned())
}

/// What `export --with-secrets` writes.
pub(super) fn encrypted(text: &str) -> Result<String, String> {
    let body = text.strip_prefix("dwx1:").unwrap_or_default();
    let good = !body.is_empty()
        && text.len() <= 8192
        && body.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    if good { Ok(text.to_owned()) } else { Err("expected what export --with-secrets wrote: dwx1:…".to_owned()) }
}

/// `env:DOORWARD_SECRET_…` or `file:PATH` (`security-design` rule 28).
pub(super) fn secret_ref(node: &Node, field: &str, faults: &mut Faults) -> Option<SecretRef> {
    let text = text(node, |text| line_of_text(text, 4096), field, faults)?;
    if let Some(name) = text.strip_prefix("env:") {
        let tail = name.strip_prefix("DOORWARD_SECRET_").unwrap_or_default();
        if !tail.is_empty() && tail.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            return Some(SecretRef::Env(name.to_owned()));
        }
        faults.add(node.line, field, "the variable's name must begin with DOORWARD_SECRET_");
    } else if let Some(path) = text.strip_prefix("file:").filter(|path| !path.is_empty()) {
        return Some(SecretRef::File(path.to_owned()));
    } else {
        faults.add(node.line, field, format!("{} is neither env:DOORWARD_SECRET_NAME nor file:PATH", shown(&text)));
    }
    None
}

fn administrator(entry: &Entry, faults: &mut Faults) -> Option<Said<Power>> {
    match &entry.value.kind {
        Kind::Null => Some(Said::Nothing),
        Kind::Text { text, .. } if text == "none" => Some(Said::Nothing),
        Kind::Text { text, .. } if Power::from_name(text).is_some() => Power::from_name(text).map(Said::Value),
        _ => {
            faults.add(entry.line, "administrator", "allowed are instance (everything), realm (this realm only), none");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_foreign_hash_is_capped() {
        let salt = "c29tZXNhbHRzb21l";
        let hash = "RdescudvJCsgt3ub+b4dWRWJTmaaJObGRdescudvJCs";
        assert!(phc(&format!("$argon2id$v=19$m=7168,t=5,p=1${salt}${hash}")).is_ok());
        for costs in ["m=2000000,t=1,p=1", "m=1048576,t=60,p=1", "m=7168,t=5", "m=7168,t=5,p=1,x=2", "t=5,m=7168,p=1"] {
            assert!(phc(&format!("$argon2id$v=19${costs}${salt}${hash}")).is_err(), "{costs}");
        }
        assert!(phc("$2b$12$abc").is_err());
        assert!(phc("hunter2").is_err());
    }
}
