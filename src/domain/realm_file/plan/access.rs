//! Roles and groups.

use std::collections::{BTreeMap, BTreeSet};

use super::compare::Differences;
use super::known::Known;
use super::{Act, Change, Object, Verb, WantedGroup, WantedRole};
use crate::realm_file::declared::{DeclaredRealm, RoleRef, Said};
use crate::realm_file::fault::Faults;
use crate::realm_file::stored::StoredRealm;

pub(super) fn plan_roles(
    stored: &StoredRealm,
    declared: &DeclaredRealm,
    known: &Known<'_>,
    acts: &mut Vec<Act>,
    faults: &mut Faults,
) {
    let mut edges: BTreeMap<RoleRef, Vec<RoleRef>> = stored
        .roles
        .iter()
        .filter_map(|role| Some((known.names.role(role.id)?.clone(), known.names.roles(&role.composites))))
        .collect();
    for role in declared.roles.iter().flatten() {
        faults.object("role", &role.role.to_string());
        let before = stored.roles.iter().find(|before| known.names.role(before.id) == Some(&role.role));
        let description = before.and_then(|before| before.description.as_ref());
        let composites = before.map(|before| known.names.roles(&before.composites)).unwrap_or_default();
        if let Some(list) = &role.composites {
            known.check_roles(list, "composites", faults);
        }
        let wanted = WantedRole {
            id: before.map(|before| before.id),
            role: role.role.clone(),
            description: role.description.as_ref().map_or(description, Said::value).cloned(),
            composites: match &role.composites {
                Some(list) => list.items.clone(),
                None => known.kept(composites.clone()),
            },
        };
        edges.insert(role.role.clone(), wanted.composites.clone());
        let mut differences = Differences::default();
        differences.field("description", description, wanted.description.as_ref());
        differences.list("composites", &composites, &wanted.composites);
        if before.is_none() || !differences.0.is_empty() {
            acts.push(Act {
                verb: if before.is_some() { Verb::Update } else { Verb::Create },
                object: Object::Role,
                name: role.role.to_string(),
                fields: differences.0,
                change: Change::PutRole(wanted),
            });
        }
    }
    let rounds = in_a_round(&edges);
    for role in declared.roles.iter().flatten().filter(|role| rounds.contains(&role.role)) {
        faults.object("role", &role.role.to_string());
        let line = role.composites.as_ref().map_or(role.line, |list| list.line);
        faults.add(line, "composites", "brings itself along by way of its composites");
    }
}

/// The roles that cannot be ordered: those in a round, and those that lead into one. Leaves are taken
/// away until none is left.
fn in_a_round(edges: &BTreeMap<RoleRef, Vec<RoleRef>>) -> BTreeSet<RoleRef> {
    let mut waiting: BTreeMap<&RoleRef, usize> = edges
        .iter()
        .map(|(role, parts)| (role, parts.iter().filter(|part| edges.contains_key(*part)).count()))
        .collect();
    let mut above: BTreeMap<&RoleRef, Vec<&RoleRef>> = BTreeMap::new();
    for (role, parts) in edges {
        for part in parts {
            above.entry(part).or_default().push(role);
        }
    }
    let mut leaves: Vec<&RoleRef> = waiting.iter().filter(|(_, count)| **count == 0).map(|(role, _)| *role).collect();
    while let Some(leaf) = leaves.pop() {
        waiting.remove(leaf);
        for role in above.get(leaf).into_iter().flatten() {
            if let Some(count) = waiting.get_mut(*role) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    leaves.push(role);
                }
            }
        }
    }
    waiting.into_keys().cloned().collect()
}

pub(super) fn plan_groups(
    stored: &StoredRealm,
    declared: &DeclaredRealm,
    known: &Known<'_>,
    acts: &mut Vec<Act>,
    faults: &mut Faults,
) {
    // Sorted by depth: a parent is made before what stands below it.
    let mut groups: Vec<_> = declared.groups.iter().flatten().collect();
    groups.sort_by_key(|group| (group.path.matches('/').count(), &group.path));
    for group in groups {
        faults.object("group", &group.path);
        let before = stored.groups.iter().find(|before| before.path == group.path);
        let roles = before.map(|before| known.names.roles(&before.roles)).unwrap_or_default();
        if let Some(list) = &group.roles {
            known.check_roles(list, "roles", faults);
        }
        let wanted = WantedGroup {
            id: before.map(|before| before.id),
            path: group.path.clone(),
            roles: match &group.roles {
                Some(list) => list.items.clone(),
                None => known.kept(roles.clone()),
            },
        };
        if let Some(parent) = wanted.parent().filter(|parent| !known.groups.contains(*parent)) {
            faults.add(group.line, "path", super::known::missing("group", parent, &known.groups));
        }
        let mut differences = Differences::default();
        differences.list("roles", &roles, &wanted.roles);
        if before.is_none() || !differences.0.is_empty() {
            acts.push(Act {
                verb: if before.is_some() { Verb::Update } else { Verb::Create },
                object: Object::Group,
                name: group.path.clone(),
                fields: differences.0,
                change: Change::PutGroup(wanted),
            });
        }
    }
}
