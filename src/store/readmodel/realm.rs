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
}

impl Realms {
    pub(super) fn new() -> Self {
        Self { by_id: Model::new(MOST), by_name: Model::new(MOST) }
    }

    pub(super) fn clear(&self) {
        self.by_id.clear();
        self.by_name.clear();
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

    /// The realm.
    pub async fn realm(&self, realm: RealmId) -> Result<Option<Arc<Realm>>, Error> {
        let model = &self.inner.realms.by_id;
        if let Some(realm) = self.kept(model, &realm) {
            return Ok(Some(realm));
        }
        self.load(model, realm, repo::realm::find(&self.inner.read, realm)).await
    }
}
