//! The signing keys of each realm, whole and sealed.

use std::sync::Arc;

use super::ReadModels;
use super::model::Model;
use crate::domain::model::ids::RealmId;
use crate::domain::model::key::SigningKey;
use crate::store::{Error, repo};

const MOST: usize = 1024;

pub(super) type Keys = Model<RealmId, Vec<SigningKey>>;

pub(super) fn new() -> Keys {
    Model::new("keys", MOST)
}

impl ReadModels {
    /// The realm's signing keys, sealed.
    pub async fn keys(&self, realm: RealmId) -> Result<Arc<Vec<SigningKey>>, Error> {
        let model = &self.inner.keys;
        if let Some(keys) = self.kept(model, &realm) {
            return Ok(keys);
        }
        let load = async { repo::key::list(&self.inner.read, realm).await.map(Some) };
        Ok(self.load(model, realm, load).await?.unwrap_or_default())
    }
}
