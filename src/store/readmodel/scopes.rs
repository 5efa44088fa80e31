//! The scopes of each realm's own, whole.

use std::sync::Arc;

use super::ReadModels;
use super::model::Model;
use crate::domain::model::ids::RealmId;
use crate::domain::model::scope::Scope;
use crate::store::{Error, repo};

const MOST: usize = 1024;

pub(super) type Scopes = Model<RealmId, Vec<Scope>>;

pub(super) fn new() -> Scopes {
    Model::new("scopes", MOST)
}

impl ReadModels {
    /// The realm's own scopes.
    pub async fn scopes(&self, realm: RealmId) -> Result<Arc<Vec<Scope>>, Error> {
        let model = &self.inner.scopes;
        if let Some(scopes) = self.kept(model, &realm) {
            return Ok(scopes);
        }
        let load = async { repo::scope::list(&self.inner.read, realm).await.map(Some) };
        Ok(self.load(model, realm, load).await?.unwrap_or_default())
    }
}
