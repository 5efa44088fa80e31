//! Resources.

use super::compare::Differences;
use super::known::Known;
use super::{Act, Change, Object, Verb, WantedResource};
use crate::realm_file::declared::{DeclaredRealm, Listed, Said};
use crate::realm_file::fault::Faults;
use crate::realm_file::stored::StoredRealm;

pub(super) fn plan(
    stored: &StoredRealm,
    declared: &DeclaredRealm,
    known: &Known<'_>,
    acts: &mut Vec<Act>,
    faults: &mut Faults,
) {
    for resource in declared.resources.iter().flatten() {
        faults.object("resource", &resource.identifier);
        if let Some(list) = &resource.introspection_clients {
            Known::check("client", &list.items, &known.clients, (list.line, "introspection_clients"), faults);
        }
        let before = stored.resources.iter().find(|before| before.identifier == resource.identifier);
        let title = before.and_then(|before| before.display_name.as_ref());
        let scopes = before.map(|before| sorted(&before.scopes)).unwrap_or_default();
        let clients = before.map(|before| sorted(&before.introspection_clients)).unwrap_or_default();
        let or = |list: &Option<Listed<String>>, before: &Vec<String>| {
            list.as_ref().map_or_else(|| before.clone(), |list| sorted(&list.items))
        };
        let kept = clients.iter().filter(|client| known.clients.contains(*client)).cloned().collect();
        let wanted = WantedResource {
            id: before.map(|before| before.id),
            identifier: resource.identifier.clone(),
            display_name: resource.display_name.as_ref().map_or(title, Said::value).cloned(),
            scopes: or(&resource.scopes, &scopes),
            introspection_clients: or(&resource.introspection_clients, &kept),
        };
        let mut differences = Differences::default();
        differences.field("display_name", title, wanted.display_name.as_ref());
        differences.list("scopes", &scopes, &wanted.scopes);
        differences.list("introspection_clients", &clients, &wanted.introspection_clients);
        if before.is_none() || !differences.0.is_empty() {
            acts.push(Act {
                verb: if before.is_some() { Verb::Update } else { Verb::Create },
                object: Object::Resource,
                name: resource.identifier.clone(),
                fields: differences.0,
                change: Change::PutResource(wanted),
            });
        }
    }
}

fn sorted(list: &[String]) -> Vec<String> {
    let mut list = list.to_vec();
    list.sort();
    list
}
