//! Realms, by id and by name. A change of one realm drops them all: they are few, and a name may have moved.

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
    by_host: Model<Box<str>, Realm>,
}

impl Realms {
    pub(super) fn new() -> Self {
        Self { by_id: Model::new(MOST), by_name: Model::new(MOST), by_host: Model::new(MOST) }
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

    /// The realm whose own issuer stands at this host (with its port, where there is one). Strangers'
    /// hosts are not kept: they would be unbounded.
    pub async fn realm_by_host(&self, host: &str) -> Result<Option<Arc<Realm>>, Error> {
        let model = &self.inner.realms.by_host;
        if let Some(realm) = self.kept(model, host) {
            return Ok(Some(realm));
        }
        let load = async {
            let realms = repo::realm::list(&self.inner.read).await?;
            Ok(realms.into_iter().find(|realm| realm.issuer.as_deref().is_some_and(|issuer| host_of(issuer) == host)))
        };
        self.load(model, Box::<str>::from(host), load).await
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
