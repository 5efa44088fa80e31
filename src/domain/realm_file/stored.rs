//! What a plan and an export are made from: a realm as the store holds it.

use std::collections::HashMap;

use super::declared::RoleRef;
use crate::model::client::Client;
use crate::model::group::Group;
use crate::model::ids::{GroupId, RoleId};
use crate::model::power::Power;
use crate::model::realm::Realm;
use crate::model::resource::Resource;
use crate::model::role::Role;
use crate::model::scope::Scope;
use crate::model::user::User;
use crate::protocol::subject::PairwiseKey;

/// A realm with all that belongs to it. For a plan, `users` may hold only those that the file names.
#[derive(Debug, Clone, Default)]
pub struct StoredRealm {
    /// The realm; `None` = it does not exist yet.
    pub realm: Option<Realm>,
    /// The key of its pairwise subs, opened; `None` = none was needed yet.
    pub pairwise_key: Option<PairwiseKey>,
    /// All its roles.
    pub roles: Vec<Role>,
    /// All its groups.
    pub groups: Vec<Group>,
    /// Its users, or those of interest.
    pub users: Vec<StoredUser>,
    /// All its clients, with live secrets.
    pub clients: Vec<Client>,
    /// All its resources.
    pub resources: Vec<Resource>,
    /// All scopes of its own.
    pub scopes: Vec<Scope>,
}

/// A user with what stands in other tables.
#[derive(Clone)]
pub struct StoredUser {
    /// The account.
    pub user: User,
    /// Its groups.
    pub groups: Vec<GroupId>,
    /// Roles given to it directly.
    pub roles: Vec<RoleId>,
    /// Its administrative powers.
    pub powers: Vec<Power>,
    /// The PHC string of its password.
    pub phc: Option<String>,
}

impl std::fmt::Debug for StoredUser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoredUser").field("user", &self.user).field("groups", &self.groups).finish_non_exhaustive()
    }
}

/// Names of what is stored, by id.
#[derive(Debug)]
pub(super) struct Names {
    roles: HashMap<RoleId, RoleRef>,
    groups: HashMap<GroupId, String>,
}

impl Names {
    pub(super) fn of(stored: &StoredRealm) -> Self {
        let clients: HashMap<_, _> =
            stored.clients.iter().map(|client| (client.key, client.client_id.clone())).collect();
        let roles = stored
            .roles
            .iter()
            .filter_map(|role| {
                let client = match role.client {
                    Some(key) => Some(clients.get(&key)?.clone()),
                    None => None,
                };
                Some((role.id, RoleRef { client, name: role.name.clone() }))
            })
            .collect();
        let groups = stored.groups.iter().map(|group| (group.id, group.path.clone())).collect();
        Self { roles, groups }
    }

    pub(super) fn role(&self, id: RoleId) -> Option<&RoleRef> {
        self.roles.get(&id)
    }

    /// The roles by name, sorted.
    pub(super) fn roles(&self, ids: &[RoleId]) -> Vec<RoleRef> {
        let mut names: Vec<_> = ids.iter().filter_map(|id| self.roles.get(id).cloned()).collect();
        names.sort();
        names
    }

    /// The groups by path, sorted.
    pub(super) fn groups(&self, ids: &[GroupId]) -> Vec<String> {
        let mut paths: Vec<_> = ids.iter().filter_map(|id| self.groups.get(id).cloned()).collect();
        paths.sort();
        paths
    }
}
