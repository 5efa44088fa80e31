//! The protected resources of each realm, whole.

use std::sync::Arc;

use super::ReadModels;
use super::model::Model;
use crate::domain::model::ids::RealmId;
use crate::domain::model::resource::Resource;
use crate::store::{Error, repo};

const MOST: usize = 1024;

pub(super) type Resources = Model<RealmId, Vec<Resource>>;

pub(super) fn new() -> Resources {
    Model::new("resources", MOST)
}

impl ReadModels {
    /// The realm's resources.
    pub async fn resources(&self, realm: RealmId) -> Result<Arc<Vec<Resource>>, Error> {
        let model = &self.inner.resources;
        if let Some(resources) = self.kept(model, &realm) {
            return Ok(resources);
        }
        let load = async { repo::resource::list(&self.inner.read, realm).await.map(Some) };
        Ok(self.load(model, realm, load).await?.unwrap_or_default())
    }
}
