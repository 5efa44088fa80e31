//! Scopes of the realm's own, and clients that name scopes which nobody declares.

use std::collections::BTreeSet;

use super::compare::Differences;
use super::{Act, Change, Object, Options, Verb, WantedScope};
use crate::model::client::ClientMetadata;
use crate::protocol::scope::STANDARD;
use crate::realm_file::declared::{DeclaredRealm, DeclaredResource};
use crate::realm_file::fault::{Faults, nearest, shown};
use crate::realm_file::stored::StoredRealm;

pub(super) fn plan(stored: &StoredRealm, declared: &DeclaredRealm, acts: &mut Vec<Act>, faults: &mut Faults) {
    for scope in declared.scopes.iter().flatten() {
        faults.object("scope", &scope.name);
        let before = stored.scopes.iter().find(|before| before.name == scope.name);
        let base = before.map(|before| before.terms.clone()).unwrap_or_default();
        let Some(terms) = scope.fields.over(&base) else {
            faults.add(scope.line, "", "a fault of this program: a checked value does not fit");
            continue;
        };
        let mut differences = Differences::default();
        differences.mapping("", &base, &terms);
        let (verb, fields) = match before {
            None => (Verb::Create, differences.without_before()),
            Some(_) if differences.0.is_empty() => continue,
            Some(_) => (Verb::Update, differences.0),
        };
        let wanted = WantedScope { id: before.map(|before| before.id), name: scope.name.clone(), terms };
        let change = Change::PutScope(wanted);
        acts.push(Act { verb, object: Object::Scope, name: scope.name.clone(), fields, change });
    }
}

/// Warns of scopes in declared clients that exist nowhere: nobody will ever get them, and most are misspelt.
pub(super) fn warn(stored: &StoredRealm, declared: &DeclaredRealm, options: Options<'_>, warnings: &mut Faults) {
    let known = known(stored, declared, options);
    for client in declared.clients.iter().flatten() {
        let before = stored.clients.iter().find(|before| before.client_id == client.client_id);
        let base: ClientMetadata = before.map(|before| before.metadata.clone()).unwrap_or_default();
        let Some(metadata) = client.metadata.over(&base) else { continue };
        warnings.object("client", &client.client_id);
        let line = client.metadata.line("scope").unwrap_or(client.line);
        for scope in metadata.scope.split(' ').filter(|scope| !scope.is_empty() && !known.contains(*scope)) {
            let hint = nearest(scope, known.iter().copied()).map(|near| format!("; did you mean {near}?"));
            let hint = hint.unwrap_or_default();
            let message = format!("there is no scope {}: neither resources nor scopes declare it{hint}", shown(scope));
            warnings.add(line, "scope", message);
        }
    }
}

/// Every scope that exists once the plan is done.
fn known<'a>(stored: &'a StoredRealm, declared: &'a DeclaredRealm, options: Options<'_>) -> BTreeSet<&'a str> {
    let mut known: BTreeSet<&str> = STANDARD.into_iter().collect();
    known.extend(declared.scopes.iter().flatten().map(|scope| scope.name.as_str()));
    if !options.prune {
        known.extend(stored.scopes.iter().map(|scope| scope.name.as_str()));
    }
    let of = |identifier: &str| declared.resources.iter().flatten().find(|known| known.identifier == identifier);
    for resource in &stored.resources {
        // A list that is declared takes the stored one's place.
        let stays = of(&resource.identifier).map_or(!options.prune, |declared| declared.scopes.is_none());
        if stays {
            known.extend(resource.scopes.iter().map(String::as_str));
        }
    }
    let lists = declared.resources.iter().flatten().filter_map(|resource: &DeclaredResource| resource.scopes.as_ref());
    known.extend(lists.flat_map(|list| list.items.iter().map(String::as_str)));
    known
}
