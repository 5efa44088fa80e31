//! A store of the simplest kind: does what a plan says.

use std::collections::HashMap;

use uuid::Uuid;

use super::super::*;
use super::{hash, planned};
use crate::model::client::{AuthMethod, Client, ClientOrigin, ClientSecret};
use crate::model::group::Group;
use crate::model::ids::{ClientKey, ClientSecretId, GroupId, RealmId, ResourceId, RoleId, ScopeId, UserId};
use crate::model::realm::Realm;
use crate::model::resource::Resource;
use crate::model::role::Role;
use crate::model::scope::Scope;
use crate::model::timestamp::Timestamp;
use crate::model::user::User;

/// Rows in memory.
pub(super) struct Toy {
    next: u128,
    pub(super) stored: StoredRealm,
}

impl Toy {
    pub(super) fn new() -> Self {
        Self { next: 1, stored: StoredRealm::default() }
    }

    fn id(&mut self) -> Uuid {
        self.next += 1;
        Uuid::from_u128(self.next)
    }

    pub(super) fn apply(&mut self, text: &str, prune: bool) -> Vec<String> {
        let acts = planned(&self.stored, text, prune).unwrap_or_else(|faults| panic!("{faults}"));
        let told =
            acts.iter().map(|act| format!("{} {} {}", act.verb.as_str(), act.object.as_str(), act.name)).collect();
        // Rows first, so that roles may point at each other.
        for act in &acts {
            if let Change::PutRole(wanted) = &act.change
                && wanted.id.is_none()
            {
                let id = RoleId::from_uuid(self.id());
                let client = wanted.role.client.as_ref().map(|name| self.client(name));
                let name = wanted.role.name.clone();
                let realm = RealmId::from_uuid(Uuid::nil());
                self.stored.roles.push(Role { realm, id, client, name, description: None, composites: Vec::new() });
            } else if matches!(act.object, Object::Client | Object::Realm | Object::Resource) {
                self.act(&act.change);
            }
        }
        for act in &acts {
            if !matches!(act.object, Object::Client | Object::Realm | Object::Resource) {
                self.act(&act.change);
            }
        }
        told
    }

    fn client(&self, client_id: &str) -> ClientKey {
        self.stored.clients.iter().find(|client| client.client_id == client_id).unwrap().key
    }

    fn roles(&self, names: &[RoleRef]) -> Vec<RoleId> {
        let ids: HashMap<_, _> = self
            .stored
            .roles
            .iter()
            .map(|role| {
                let client = role
                    .client
                    .map(|key| self.stored.clients.iter().find(|client| client.key == key).unwrap().client_id.clone());
                (RoleRef { client, name: role.name.clone() }, role.id)
            })
            .collect();
        names.iter().map(|name| ids[name]).collect()
    }

    fn groups(&self, paths: &[String]) -> Vec<GroupId> {
        paths.iter().map(|path| self.stored.groups.iter().find(|group| group.path == *path).unwrap().id).collect()
    }

    fn act(&mut self, change: &Change) {
        let realm = RealmId::from_uuid(Uuid::nil());
        let at = Timestamp::from_secs(1);
        match change {
            Change::PutRealm(wanted) => {
                if let Some(key) = &wanted.pairwise_key {
                    self.stored.pairwise_key = Some(key.clone());
                }
                self.stored.realm = Some(Realm {
                    id: realm,
                    name: wanted.name.clone(),
                    display_name: wanted.display_name.clone(),
                    enabled: wanted.enabled,
                    issuer: wanted.issuer.clone(),
                    restore_epoch: 0,
                    pairwise_key: None,
                    settings: wanted.settings.clone(),
                });
            }
            Change::PutResource(wanted) => {
                let id = wanted.id.unwrap_or_else(|| ResourceId::from_uuid(self.id()));
                self.stored.resources.retain(|resource| resource.id != id);
                self.stored.resources.push(Resource {
                    realm,
                    id,
                    identifier: wanted.identifier.clone(),
                    display_name: wanted.display_name.clone(),
                    scopes: wanted.scopes.clone(),
                    introspection_clients: wanted.introspection_clients.clone(),
                });
            }
            Change::PutScope(wanted) => {
                let id = wanted.id.unwrap_or_else(|| ScopeId::from_uuid(self.id()));
                self.stored.scopes.retain(|scope| scope.id != id);
                self.stored.scopes.push(Scope { realm, id, name: wanted.name.clone(), terms: wanted.terms.clone() });
            }
            Change::PutClient(wanted) => {
                let key = wanted.key.unwrap_or_else(|| ClientKey::from_uuid(self.id()));
                let before = self.stored.clients.iter().find(|client| client.key == key).map(|c| c.secrets.clone());
                let signs = wanted.metadata.token_endpoint_auth_method == AuthMethod::ClientSecretJwt;
                let fresh = |hash| {
                    vec![ClientSecret {
                        id: ClientSecretId::from_uuid(Uuid::nil()),
                        hash,
                        sealed: signs.then(|| b"sealed".to_vec()),
                        created_at: at,
                        expires_at: None,
                    }]
                };
                let secrets = match &wanted.secret {
                    SecretChange::Keep => before.unwrap_or_default(),
                    SecretChange::Value(secret) => fresh(hash(secret)),
                    SecretChange::Hash(hash) => fresh(*hash),
                };
                self.stored.clients.retain(|client| client.key != key);
                self.stored.clients.push(Client {
                    realm,
                    key,
                    client_id: wanted.client_id.clone(),
                    enabled: wanted.enabled,
                    created_at: at,
                    origin: ClientOrigin::Operator,
                    metadata: wanted.metadata.clone(),
                    secrets,
                });
            }
            Change::PutRole(wanted) => {
                let [id] = self.roles(std::slice::from_ref(&wanted.role))[..] else { panic!("no row") };
                let composites = self.roles(&wanted.composites);
                let role = self.stored.roles.iter_mut().find(|role| role.id == id).unwrap();
                role.description.clone_from(&wanted.description);
                role.composites = composites;
            }
            Change::PutGroup(wanted) => {
                let id = wanted.id.unwrap_or_else(|| GroupId::from_uuid(self.id()));
                let parent = wanted.parent().map(|path| self.groups(&[path.to_owned()])[0]);
                let roles = self.roles(&wanted.roles);
                self.stored.groups.retain(|group| group.id != id);
                self.stored.groups.push(Group {
                    realm,
                    id,
                    parent,
                    name: wanted.name().to_owned(),
                    path: wanted.path.clone(),
                    roles,
                });
            }
            Change::PutUser(wanted) => self.put_user(wanted),
            Change::DeleteUser(id) => self.stored.users.retain(|user| user.user.id != *id),
            Change::DeleteGroup(id) => self.stored.groups.retain(|group| group.id != *id),
            Change::DeleteRole(id) => self.stored.roles.retain(|role| role.id != *id),
            Change::DeleteClient(key) => self.stored.clients.retain(|client| client.key != *key),
            Change::DeleteScope(id) => self.stored.scopes.retain(|scope| scope.id != *id),
            Change::DeleteResource(id) => self.stored.resources.retain(|resource| resource.id != *id),
        }
    }

    fn put_user(&mut self, wanted: &WantedUser) {
        let at = Timestamp::from_secs(1);
        let id = wanted.id.unwrap_or_else(|| UserId::from_uuid(self.id()));
        let before = self.stored.users.iter().find(|user| user.user.id == id).cloned();
        let user = StoredUser {
            user: User {
                realm: RealmId::from_uuid(Uuid::nil()),
                id,
                sub: before
                    .as_ref()
                    .map(|b| b.user.sub.clone())
                    .or_else(|| wanted.sub.clone())
                    .unwrap_or_else(|| id.to_string()),
                username: wanted.username.clone(),
                enabled: wanted.enabled,
                credential_epoch: 0,
                created_at: at,
                updated_at: at,
                claims: wanted.claims.clone(),
            },
            groups: self.groups(&wanted.groups),
            roles: self.roles(&wanted.roles),
            powers: wanted.powers.clone(),
            phc: match &wanted.password {
                PasswordChange::Keep => before.and_then(|before| before.phc),
                PasswordChange::Value(_) => Some("$argon2id$made".to_owned()),
                PasswordChange::Hash(phc) => Some(phc.expose().to_owned()),
            },
        };
        self.stored.users.retain(|user| user.user.id != id);
        self.stored.users.push(user);
    }
}
