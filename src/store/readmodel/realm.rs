//! Realms, by id and by name. A change of one realm drops them all: they are few, and a name may have moved.

use std::collections::HashMap;
use std::sync::Arc;

use super::ReadModels;
use super::model::Model;
use crate::domain::model::ids::RealmId;
use crate::domain::model::realm::Realm;
use crate::store::{Error, repo};

const MOST: usize = 1024;

pub(super) struct Realms {
    by_id: Model<RealmId, Realm>,
    by_name: Model<Box<str>, Realm>,
    /// All own hosts at once: a stranger's host is answered without a query.
    by_host: Model<(), HashMap<String, Arc<Realm>>>,
}

impl Realms {
    pub(super) fn new() -> Self {
        Self { by_id: Model::new("realm", MOST), by_name: Model::new("realm", MOST), by_host: Model::new("realm", 1) }
    }

    pub(super) fn clear(&self) {
        self.by_id.clear();
        self.by_name.clear();
        self.by_host.clear();
    }
}

impl ReadModels {
    /// The realm of this name.
    pub async fn realm_by_name(&self, name: &str) -> Result<Option<Arc<Realm>>, Error> {
        let model = &self.inner.realms.by_name;
        if let Some(realm) = self.kept(model, name) {
            return Ok(Some(realm));
        }
        let key = Box::<str>::from(name);
        self.load(model, key, repo::realm::find_by_name(&self.inner.read, name)).await
    }

    /// The realm whose own issuer stands at this host (with its port, where there is one).
    pub async fn realm_by_host(&self, host: &str) -> Result<Option<Arc<Realm>>, Error> {
        let model = &self.inner.realms.by_host;
        if let Some(hosts) = self.kept(model, &()) {
            return Ok(hosts.get(host).cloned());
        }
        let load = async {
            let realms = repo::realm::list(&self.inner.read).await?;
            let own = realms.into_iter().filter_map(|realm| {
                let host = host_of(realm.issuer.as_deref()?).to_owned();
                Some((host, Arc::new(realm)))
            });
            Ok(Some(own.collect::<HashMap<_, _>>()))
        };
        let hosts = self.load(model, (), load).await?.unwrap_or_default();
        Ok(hosts.get(host).cloned())
    }

    /// The realm.
    pub async fn realm(&self, realm: RealmId) -> Result<Option<Arc<Realm>>, Error> {
        let model = &self.inner.realms.by_id;
        if let Some(realm) = self.kept(model, &realm) {
            return Ok(Some(realm));
        }
        self.load(model, realm, repo::realm::find(&self.inner.read, realm)).await
    }
}

/// The authority of an issuer.
fn host_of(issuer: &str) -> &str {
    let rest = issuer.split_once("://").map_or(issuer, |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest)
}
