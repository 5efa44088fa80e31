//! `resources:` of a realm file (RFC 8707).

use std::collections::BTreeMap;

use super::declared::DeclaredResource;
use super::fault::Faults;
use super::fields::{Field, Form, entries, texts};
use super::node::Node;
use super::roles::{long, objects, optional, required};
use super::text as check;

const TABLE: &[Field] = &[
    Field::new("identifier", Form::Own),
    Field::new("display_name", Form::Own),
    Field::new("scopes", Form::Own),
    Field::new("introspection_clients", Form::Own),
];

/// Reads `resources:`.
pub(super) fn read(node: &Node, faults: &mut Faults) -> Vec<DeclaredResource> {
    let mut resources = Vec::new();
    let mut seen = BTreeMap::new();
    for node in objects(node, "resources", faults) {
        faults.object("resource", node.text_of("identifier"));
        let Some(found) = entries(node, TABLE, "", faults) else { continue };
        let Some(identifier) = required(&found, node.line, "identifier", check::resource, faults) else { continue };
        faults.object("resource", &identifier);
        if let Some(first) = seen.insert(identifier.clone(), node.line) {
            faults.add(node.line, "identifier", format!("declared twice, first on line {first}"));
        }
        resources.push(DeclaredResource {
            line: node.line,
            display_name: found.get("display_name").and_then(|entry| optional(entry, long, faults)),
            scopes: found
                .get("scopes")
                .and_then(|entry| texts(&entry.value, check::scope_token, 1_000, "scopes", faults)),
            introspection_clients: found
                .get("introspection_clients")
                .and_then(|entry| texts(&entry.value, check::client_id, 1_000, "introspection_clients", faults)),
            identifier,
        });
    }
    resources
}
