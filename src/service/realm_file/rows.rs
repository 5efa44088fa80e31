//! Writes roles, groups, clients and resources, and knows under which ids names now stand.

use std::collections::HashMap;

use crate::domain::model::audit::AuditKind;
use crate::domain::model::client::{AuthMethod, Client, ClientOrigin};
use crate::domain::model::group::Group;
use crate::domain::model::ids::{ClientKey, GroupId, ResourceId, RoleId, ScopeId};
use crate::domain::model::realm::Realm;
use crate::domain::model::resource::Resource;
use crate::domain::model::role::Role;
use crate::domain::model::scope::Scope;
use crate::domain::realm_file::{
    Act, Change, RoleRef, SecretChange, StoredRealm, WantedClient, WantedGroup, WantedResource, WantedRole, WantedScope,
};
use crate::service::App;
use crate::service::admin::Scribe;
use crate::service::admin::client::{self, SecretAtRest};
use crate::store::{Error, Tx, repo};

/// Writes one realm's objects.
pub(super) struct Writer<'a> {
    app: &'a App,
    realm: &'a Realm,
    pub(super) scribe: Scribe<'a>,
    stored: &'a StoredRealm,
    clients: HashMap<String, ClientKey>,
    roles: HashMap<RoleRef, RoleId>,
    groups: HashMap<String, GroupId>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(app: &'a App, realm: &'a Realm, scribe: Scribe<'a>, stored: &'a StoredRealm) -> Self {
        let clients: HashMap<_, _> =
            stored.clients.iter().map(|client| (client.client_id.clone(), client.key)).collect();
        let by_key: HashMap<_, _> = stored.clients.iter().map(|client| (client.key, &client.client_id)).collect();
        let roles = stored
            .roles
            .iter()
            .map(|role| {
                let client = role.client.and_then(|key| by_key.get(&key).map(|name| (*name).clone()));
                (RoleRef { client, name: role.name.clone() }, role.id)
            })
            .collect();
        let groups = stored.groups.iter().map(|group| (group.path.clone(), group.id)).collect();
        Self { app, realm, scribe, stored, clients, roles, groups }
    }

    /// The ids of roles by name. The plan has checked that they exist.
    pub(super) fn role_ids(&self, names: &[RoleRef]) -> Result<Vec<RoleId>, Error> {
        names.iter().map(|name| self.roles.get(name).copied().ok_or_else(|| gone("role", &name.name))).collect()
    }

    /// The ids of groups by path.
    pub(super) fn group_ids(&self, paths: &[String]) -> Result<Vec<GroupId>, Error> {
        paths.iter().map(|path| self.groups.get(path).copied().ok_or_else(|| gone("group", path))).collect()
    }

    /// Clients, and new roles without their composites: what others point at must stand before.
    pub(super) async fn make_rows_for_roles(&mut self, tx: &mut Tx, acts: &[Act]) -> Result<(), Error> {
        for act in acts {
            if let Change::PutClient(wanted) = &act.change {
                self.put_client(tx, wanted).await?;
            }
        }
        for act in acts {
            if let Change::PutRole(wanted) = &act.change
                && wanted.id.is_none()
            {
                let id = RoleId::from_uuid(self.scribe.id("role"));
                let role = self.role(id, wanted, Vec::new())?;
                repo::role::upsert(tx, &role).await?;
                self.roles.insert(wanted.role.clone(), id);
            }
        }
        Ok(())
    }

    fn role(&self, id: RoleId, wanted: &WantedRole, composites: Vec<RoleId>) -> Result<Role, Error> {
        let client = match &wanted.role.client {
            None => None,
            Some(name) => Some(*self.clients.get(name).ok_or_else(|| gone("client", name))?),
        };
        let (name, description) = (wanted.role.name.clone(), wanted.description.clone());
        Ok(Role { realm: self.realm.id, id, client, name, description, composites })
    }

    pub(super) async fn put_role(&self, tx: &mut Tx, wanted: &WantedRole) -> Result<(), Error> {
        if wanted.id.is_none() && wanted.composites.is_empty() {
            return Ok(());
        }
        let id = *self.roles.get(&wanted.role).ok_or_else(|| gone("role", &wanted.role.name))?;
        let role = self.role(id, wanted, self.role_ids(&wanted.composites)?)?;
        repo::role::upsert(tx, &role).await
    }

    pub(super) async fn put_group(&mut self, tx: &mut Tx, wanted: &WantedGroup) -> Result<(), Error> {
        let id = wanted.id.unwrap_or_else(|| GroupId::from_uuid(self.scribe.id("group")));
        let parent = match wanted.parent() {
            None => None,
            Some(path) => Some(*self.groups.get(path).ok_or_else(|| gone("group", path))?),
        };
        let group = Group {
            realm: self.realm.id,
            id,
            parent,
            name: wanted.name().to_owned(),
            path: wanted.path.clone(),
            roles: self.role_ids(&wanted.roles)?,
        };
        repo::group::upsert(tx, &group).await?;
        self.groups.insert(wanted.path.clone(), id);
        Ok(())
    }

    pub(super) async fn put_resource(&self, tx: &mut Tx, wanted: &WantedResource) -> Result<(), Error> {
        let resource = Resource {
            realm: self.realm.id,
            id: wanted.id.unwrap_or_else(|| ResourceId::from_uuid(self.scribe.id("resource"))),
            identifier: wanted.identifier.clone(),
            display_name: wanted.display_name.clone(),
            scopes: wanted.scopes.clone(),
            introspection_clients: wanted.introspection_clients.clone(),
        };
        if wanted.id.is_some() {
            repo::resource::update(tx, &resource).await
        } else {
            repo::resource::insert(tx, &resource).await
        }
    }

    pub(super) async fn put_scope(&self, tx: &mut Tx, wanted: &WantedScope) -> Result<(), Error> {
        let scope = Scope {
            realm: self.realm.id,
            id: wanted.id.unwrap_or_else(|| ScopeId::from_uuid(self.scribe.id("scope"))),
            name: wanted.name.clone(),
            terms: wanted.terms.clone(),
        };
        if wanted.id.is_some() { repo::scope::update(tx, &scope).await } else { repo::scope::insert(tx, &scope).await }
    }

    async fn put_client(&mut self, tx: &mut Tx, wanted: &WantedClient) -> Result<(), Error> {
        let before = self.stored.clients.iter().find(|client| Some(client.key) == wanted.key);
        let row = Client {
            realm: self.realm.id,
            key: wanted.key.unwrap_or_else(|| ClientKey::from_uuid(self.scribe.id("client"))),
            client_id: wanted.client_id.clone(),
            enabled: wanted.enabled,
            created_at: before.map_or(self.scribe.now, |client| client.created_at),
            origin: ClientOrigin::Operator,
            metadata: wanted.metadata.clone(),
            secrets: before.map(|client| client.secrets.clone()).unwrap_or_default(),
        };
        let kind = if before.is_some() {
            repo::client::update(tx, &row, self.scribe.now).await?;
            if before.is_some_and(Client::is_self_registered) {
                // What did not lead anywhere for a stranger may do so for the operator.
                repo::logo::delete(tx, row.realm, row.key).await?;
            }
            AuditKind::ClientUpdated
        } else {
            repo::client::insert(tx, &row).await?;
            AuditKind::ClientCreated
        };
        self.clients.insert(wanted.client_id.clone(), row.key);
        let mut audit = self.scribe.audit(kind);
        audit.client = Some(row.key);
        repo::audit::append(tx, &audit).await?;
        let method = row.metadata.token_endpoint_auth_method;
        if method != AuthMethod::ClientSecretJwt && row.secrets.iter().any(|secret| secret.sealed.is_some()) {
            repo::client::forget_sealed(tx, row.realm, row.key).await?;
        }
        let secret = match &wanted.secret {
            SecretChange::Keep => return Ok(()),
            SecretChange::Value(secret) => client::at_rest(&self.app.sealer, self.realm, (row.key, method), secret),
            SecretChange::Hash(hash) => SecretAtRest { hash: *hash, sealed: None },
        };
        client::put_secret(tx, &self.scribe, row.key, secret, None).await
    }

    pub(super) async fn delete_client(&self, tx: &mut Tx, key: ClientKey) -> Result<(), Error> {
        let mut audit = self.scribe.audit(AuditKind::ClientDeleted);
        audit.client = Some(key);
        repo::audit::append(tx, &audit).await?;
        repo::client::delete(tx, self.realm.id, key, self.scribe.now).await
    }
}

/// A name that the plan has seen and the writer has not: a fault of this program.
fn gone(kind: &str, name: &str) -> Error {
    Error::Other(format!("the {kind} {name} is planned for but has no row"))
}
