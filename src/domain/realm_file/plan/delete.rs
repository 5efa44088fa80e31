//! `--prune`: what is stored and not declared goes, children before parents. Users only when the file
//! has `users:`, so that a file of applications never deletes people.

use std::collections::HashSet;

use super::known::Known;
use super::{Act, Change, Object, Verb};
use crate::model::client::Client;
use crate::realm_file::declared::DeclaredRealm;
use crate::realm_file::stored::StoredRealm;
use crate::signin::identifier::canonical;

pub(super) fn plan(stored: &StoredRealm, declared: &DeclaredRealm, known: &Known<'_>, acts: &mut Vec<Act>) {
    let mut delete = |object: Object, name: &str, change: Change| {
        acts.push(Act { verb: Verb::Delete, object, name: name.to_owned(), fields: Vec::new(), change });
    };
    if let Some(users) = &declared.users {
        let kept: HashSet<_> = users.iter().filter_map(|user| canonical(&user.username).ok()).collect();
        for user in stored.users.iter().map(|stored| &stored.user) {
            if canonical(&user.username).is_ok_and(|name| !kept.contains(&name)) {
                delete(Object::User, &user.username, Change::DeleteUser(user.id));
            }
        }
    }
    let mut groups: Vec<_> = stored.groups.iter().filter(|group| !known.groups.contains(&group.path)).collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.path.matches('/').count()));
    for group in groups {
        delete(Object::Group, &group.path, Change::DeleteGroup(group.id));
    }
    for role in &stored.roles {
        if let Some(name) = known.names.role(role.id).filter(|name| !known.roles.contains(*name)) {
            delete(Object::Role, &name.to_string(), Change::DeleteRole(role.id));
        }
    }
    // Clients that registered themselves were never declared: they have an end of their own.
    let is_kept = |client: &&Client| client.is_self_registered() || known.clients.contains(&client.client_id);
    for client in stored.clients.iter().filter(|client| !is_kept(client)) {
        delete(Object::Client, &client.client_id, Change::DeleteClient(client.key));
    }
    for resource in stored.resources.iter().filter(|resource| !known.resources.contains(&resource.identifier)) {
        delete(Object::Resource, &resource.identifier, Change::DeleteResource(resource.id));
    }
    let kept: HashSet<_> = declared.scopes.iter().flatten().map(|scope| scope.name.as_str()).collect();
    for scope in stored.scopes.iter().filter(|scope| !kept.contains(scope.name.as_str())) {
        delete(Object::Scope, &scope.name, Change::DeleteScope(scope.id));
    }
}
