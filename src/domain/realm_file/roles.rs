//! `roles:` of a realm file, and how other objects name a role: `editor` for one of the realm,
//! `{ client: web, name: editor }` for one of a client.

use std::collections::{BTreeMap, BTreeSet};

use super::declared::{DeclaredRole, Listed, RoleRef, Said};
use super::fault::{Faults, shown};
use super::fields::{Field, Form, entries, line_of_text, text};
use super::node::{Entry, Kind, Node};
use super::text as check;

const TABLE: &[Field] = &[
    Field::new("name", Form::Own),
    Field::new("client", Form::Own),
    Field::new("description", Form::Own),
    Field::new("composites", Form::Own),
];

const REFERENCE: &[Field] = &[Field::new("name", Form::Own), Field::new("client", Form::Own)];

/// Roles at most in one list.
const MAX_ROLES: usize = 10_000;

/// Reads `roles:`.
pub(super) fn read(node: &Node, faults: &mut Faults) -> Vec<DeclaredRole> {
    let mut roles = Vec::new();
    let mut seen = BTreeMap::new();
    for node in objects(node, "roles", faults) {
        faults.object("role", node.text_of("name"));
        let Some(found) = entries(node, TABLE, "", faults) else { continue };
        let Some(role) = reference(&found, node.line, faults) else { continue };
        faults.object("role", &role.to_string());
        let description = found.get("description").and_then(|entry| optional(entry, long, faults));
        let composites = found.get("composites").and_then(|entry| references(&entry.value, "composites", faults));
        if let Some(first) = seen.insert(role.clone(), node.line) {
            faults.add(node.line, "name", format!("declared twice, first on line {first}"));
        }
        roles.push(DeclaredRole { line: node.line, role, description, composites });
    }
    roles
}

/// The entries of a list of objects.
pub(super) fn objects<'a>(node: &'a Node, field: &str, faults: &mut Faults) -> &'a [Node] {
    match &node.kind {
        Kind::List(items) => items,
        Kind::Null => &[],
        _ => {
            faults.add(node.line, field, format!("expected a list of mappings, found {}", node.what()));
            &[]
        }
    }
}

/// A text that `null` unsets.
pub(super) fn optional(entry: &Entry, check: super::fields::Check, faults: &mut Faults) -> Option<Said<String>> {
    match entry.value.kind {
        Kind::Null => Some(Said::Nothing),
        _ => text(&entry.value, check, &entry.key, faults).map(Said::Value),
    }
}

/// A text of some lines' length.
pub(super) fn long(text: &str) -> Result<String, String> {
    line_of_text(text, 1_000)
}

/// A required text.
pub(super) fn required(
    found: &BTreeMap<&str, &Entry>,
    line: usize,
    name: &str,
    check: super::fields::Check,
    faults: &mut Faults,
) -> Option<String> {
    let Some(entry) = found.get(name) else {
        faults.add(line, name, "required");
        return None;
    };
    text(&entry.value, check, name, faults)
}

fn reference(found: &BTreeMap<&str, &Entry>, line: usize, faults: &mut Faults) -> Option<RoleRef> {
    let name = required(found, line, "name", check::name, faults)?;
    let client = match found.get("client") {
        Some(entry) => Some(text(&entry.value, check::client_id, "client", faults)?),
        None => None,
    };
    Some(RoleRef { client, name })
}

/// A list of role names.
pub(super) fn references(node: &Node, field: &str, faults: &mut Faults) -> Option<Listed<RoleRef>> {
    let Kind::List(nodes) = &node.kind else {
        faults.add(node.line, field, format!("expected a list of roles such as [editor], found {}", node.what()));
        return None;
    };
    if nodes.len() > MAX_ROLES {
        faults.add(node.line, field, format!("{} entries; at most {MAX_ROLES} are allowed", nodes.len()));
        return None;
    }
    let mut items = BTreeSet::new();
    for node in nodes {
        let role = match &node.kind {
            Kind::Map(_) => {
                entries(node, REFERENCE, field, faults).and_then(|found| reference(&found, node.line, faults))
            }
            _ => text(node, check::name, field, faults).map(|name| RoleRef { client: None, name }),
        };
        let Some(role) = role else { continue };
        if items.contains(&role) {
            faults.add(node.line, field, format!("{} stands in the list twice", shown(&role.to_string())));
        }
        items.insert(role);
    }
    Some(Listed { line: node.line, items: items.into_iter().collect() })
}
