//! `groups:` of a realm file: a tree, written nested (`groups:` inside a group) or by `path`. A group
//! in which others are nested is declared by that; one that only a path goes through must be declared
//! or stored.

use std::collections::BTreeMap;

use super::declared::{DeclaredGroup, Listed};
use super::fault::{Faults, shown};
use super::fields::{Field, Form, entries, text, texts};
use super::node::Node;
use super::roles::{objects, references};
use super::text as check;

const TABLE: &[Field] = &[
    Field::new("name", Form::Own),
    Field::new("path", Form::Own),
    Field::new("roles", Form::Own),
    Field::new("groups", Form::Own),
];

/// Groups at most that a user may be in.
const MAX_MEMBERSHIPS: usize = 1_000;
/// Levels of the tree.
const MAX_LEVELS: usize = 16;

/// Reads `groups:`, sorted by path: parents come before children.
pub(super) fn read(node: &Node, faults: &mut Faults) -> Vec<DeclaredGroup> {
    let mut found = BTreeMap::new();
    level(node, "", &mut found, faults);
    found.into_values().collect()
}

fn level(node: &Node, above: &str, into: &mut BTreeMap<String, DeclaredGroup>, faults: &mut Faults) {
    for node in objects(node, "groups", faults) {
        faults.object("group", node.text_of("name"));
        let Some(found) = entries(node, TABLE, "", faults) else { continue };
        let path = match (found.get("name"), found.get("path")) {
            (Some(entry), None) => {
                text(&entry.value, check::name, "name", faults).map(|name| format!("{above}/{name}"))
            }
            (None, Some(entry)) if above.is_empty() => text(&entry.value, path, "path", faults),
            (None, Some(entry)) => {
                faults.add(entry.line, "path", "a nested group has a name; its path follows from where it stands");
                None
            }
            (Some(_), Some(entry)) => {
                faults.add(entry.line, "path", "write name or path, not both");
                None
            }
            (None, None) => {
                faults.add(node.line, "name", "required");
                None
            }
        };
        let Some(path) = path else { continue };
        faults.object("group", &path);
        if path.matches('/').count() > MAX_LEVELS {
            faults.add(node.line, "name", format!("nested more than {MAX_LEVELS} levels deep"));
            continue;
        }
        let roles = found.get("roles").and_then(|entry| references(&entry.value, "roles", faults));
        let group = DeclaredGroup { line: node.line, path: path.clone(), roles };
        if let Some(first) = into.get(&path) {
            faults.add(node.line, "name", format!("{} is declared twice, first on line {}", shown(&path), first.line));
        } else {
            into.insert(path.clone(), group);
        }
        if let Some(entry) = found.get("groups") {
            level(&entry.value, &path, into, faults);
        }
    }
}

/// A path: `/staff/editors`, or `staff/editors`.
fn path(text: &str) -> Result<String, String> {
    let inner = text.strip_prefix('/').unwrap_or(text);
    for part in inner.split('/') {
        check::name(part)?;
    }
    Ok(format!("/{inner}"))
}

/// A user's groups, as paths, sorted.
pub(super) fn memberships(node: &Node, faults: &mut Faults) -> Option<Listed<String>> {
    let mut listed = texts(node, path, MAX_MEMBERSHIPS, "groups", faults)?;
    listed.items.sort();
    Some(listed)
}
