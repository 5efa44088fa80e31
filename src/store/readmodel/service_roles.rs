//! The roles of clients' own service accounts, with those that come along as composites. Dropped with every
//! change of the realm's roles and of the client.

use std::sync::Arc;

use super::ReadModels;
use super::model::Model;
use crate::domain::model::client::Client;
use crate::domain::model::ids::{ClientKey, RealmId};
use crate::domain::model::role;
use crate::store::{Error, repo};

const MOST: usize = 4096;

pub(super) type ServiceRoles = Model<(RealmId, ClientKey), Vec<String>>;

pub(super) fn new() -> ServiceRoles {
    Model::new("service_roles", MOST)
}

impl ReadModels {
    /// The names of the realm roles that the client has for itself, sorted. What the realm has no more, it has not.
    pub async fn service_roles(&self, client: &Client) -> Result<Arc<Vec<String>>, Error> {
        let given = &client.metadata.service_account_roles;
        if given.is_empty() {
            return Ok(Arc::default());
        }
        let model = &self.inner.service_roles;
        let key = (client.realm, client.key);
        if let Some(roles) = self.kept(model, &key) {
            return Ok(roles);
        }
        // The client as it is now: the one at hand may be older than the key that is filled.
        let load = async {
            let read = &self.inner.read;
            let Some(client) = repo::client::find(read, client.realm, client.key).await? else { return Ok(None) };
            let roles = repo::role::list(read, client.realm).await?;
            Ok(Some(role::effective(&client.metadata.service_account_roles, &roles)))
        };
        Ok(self.load(model, key, load).await?.unwrap_or_default())
    }
}
