//! Which names exist once the plan is done: what may be pointed at. Names of what is stored, by id.

use std::collections::BTreeSet;

use super::Options;
use crate::realm_file::declared::{DeclaredRealm, Listed, RoleRef};
use crate::realm_file::fault::{Faults, nearest, shown};
use crate::realm_file::stored::{Names, StoredRealm};

pub(super) struct Known<'a> {
    pub(super) options: Options<'a>,
    pub(super) names: Names,
    pub(super) roles: BTreeSet<RoleRef>,
    pub(super) groups: BTreeSet<String>,
    pub(super) clients: BTreeSet<String>,
    pub(super) resources: BTreeSet<String>,
}

impl<'a> Known<'a> {
    /// Declared names, and stored ones unless they are pruned.
    pub(super) fn of(
        stored: &StoredRealm,
        declared: &DeclaredRealm,
        options: Options<'a>,
        faults: &mut Faults,
    ) -> Self {
        let names = Names::of(stored);
        let mut known = Self {
            options,
            roles: declared.roles.iter().flatten().map(|role| role.role.clone()).collect(),
            groups: declared.groups.iter().flatten().map(|group| group.path.clone()).collect(),
            clients: declared.clients.iter().flatten().map(|client| client.client_id.clone()).collect(),
            resources: declared.resources.iter().flatten().map(|resource| resource.identifier.clone()).collect(),
            names,
        };
        if !options.prune {
            known.clients.extend(stored.clients.iter().map(|client| client.client_id.clone()));
            known.roles.extend(stored.roles.iter().filter_map(|role| known.names.role(role.id).cloned()));
            known.groups.extend(stored.groups.iter().map(|group| group.path.clone()));
            known.resources.extend(stored.resources.iter().map(|resource| resource.identifier.clone()));
        }
        let registered = stored.clients.iter().filter(|client| client.is_self_registered());
        known.clients.extend(registered.map(|client| client.client_id.clone()));
        for role in declared.roles.iter().flatten() {
            if let Some(client) = role.role.client.as_ref().filter(|client| !known.clients.contains(*client)) {
                faults.object("role", &role.role.name);
                faults.add(role.line, "client", missing("client", client, &known.clients));
            }
        }
        known
    }

    /// Reports the roles that do not exist.
    pub(super) fn check_roles(&self, list: &Listed<RoleRef>, field: &str, faults: &mut Faults) {
        for role in list.items.iter().filter(|role| !self.roles.contains(role)) {
            let message = match &role.client {
                Some(client) => format!("there is no role {} of client {}", shown(&role.name), shown(client)),
                None => missing(
                    "role",
                    &role.name,
                    self.roles.iter().filter(|role| role.client.is_none()).map(|role| &role.name),
                ),
            };
            faults.add(list.line, field, message);
        }
    }

    /// Reports the names that are not in `among`.
    pub(super) fn check(
        kind: &str,
        list: &[String],
        among: &BTreeSet<String>,
        (line, field): (usize, &str),
        faults: &mut Faults,
    ) {
        for name in list.iter().filter(|name| !among.contains(*name)) {
            faults.add(line, field, missing(kind, name, among));
        }
    }

    /// Stored roles of an object, without those that go.
    pub(super) fn kept(&self, roles: Vec<RoleRef>) -> Vec<RoleRef> {
        roles.into_iter().filter(|role| self.roles.contains(role)).collect()
    }
}

/// "There is no such thing", with the nearest name.
pub(super) fn missing<'a>(kind: &str, name: &str, among: impl IntoIterator<Item = &'a String>) -> String {
    match nearest(name, among.into_iter().map(String::as_str)) {
        Some(near) => format!("there is no {kind} {}; did you mean {near}?", shown(name)),
        None => format!("there is no {kind} {}, neither stored nor in this file", shown(name)),
    }
}
