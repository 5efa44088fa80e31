//! `scopes:` of a realm file: scopes of the realm's own, and words for those of its resources.

use std::collections::BTreeMap;

use super::declared::DeclaredScope;
use super::fault::Faults;
use super::fields::{Field, Form, entries, overlay};
use super::node::Node;
use super::roles::{objects, required};
use super::text as check;
use crate::protocol::scope::STANDARD;

/// One row per language of the pages.
pub(super) const CONSENT: &[Field] = &[Field::new("en", Form::Text(200)), Field::new("de", Form::Text(200))];
const DESCRIPTION: &[Field] = &[Field::new("en", Form::Text(1_000)), Field::new("de", Form::Text(1_000))];

const TABLE: &[Field] = &[
    Field::new("name", Form::Own),
    Field::new("consent", Form::Map(CONSENT)),
    Field::new("description", Form::Map(DESCRIPTION)),
    Field::new("listed", Form::Bool),
];

/// Reads `scopes:`.
pub(super) fn read(node: &Node, faults: &mut Faults) -> Vec<DeclaredScope> {
    let mut scopes = Vec::new();
    let mut seen = BTreeMap::new();
    for node in objects(node, "scopes", faults) {
        faults.object("scope", node.text_of("name"));
        let Some(found) = entries(node, TABLE, "", faults) else { continue };
        let Some(name) = required(&found, node.line, "name", own, faults) else { continue };
        faults.object("scope", &name);
        if let Some(first) = seen.insert(name.clone(), node.line) {
            faults.add(node.line, "name", format!("declared twice, first on line {first}"));
        }
        scopes.push(DeclaredScope { line: node.line, fields: overlay(&found, TABLE, "", faults), name });
    }
    scopes
}

/// A scope token that means nothing yet.
fn own(text: &str) -> Result<String, String> {
    let name = check::scope_token(text)?;
    if STANDARD.contains(&text) {
        return Err(format!("{text} is there in every realm, with words of its own; choose another name"));
    }
    Ok(name)
}
