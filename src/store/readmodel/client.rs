//! Clients with their live secrets' hashes, by key; and which key a `client_id` stands for.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use quick_cache::Equivalent;

use super::ReadModels;
use super::model::Model;
use crate::domain::model::client::Client;
use crate::domain::model::ids::{ClientKey, RealmId};
use crate::store::{Error, repo};

const MOST: usize = 4096;

pub(super) struct Clients {
    pub(super) by_key: Model<(RealmId, ClientKey), Client>,
    /// A hint only: what it leads to is believed when it bears the name that was asked for.
    names: Model<(RealmId, Box<str>), ClientKey>,
}

impl Clients {
    pub(super) fn new() -> Self {
        Self { by_key: Model::new("client", MOST), names: Model::new("client_name", MOST) }
    }

    pub(super) fn clear(&self) {
        self.by_key.clear();
        self.names.clear();
    }
}

/// A name that is only asked for, not kept.
struct Asked<'a>(RealmId, &'a str);

impl Hash for Asked<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.0, self.1).hash(state);
    }
}

impl Equivalent<(RealmId, Box<str>)> for Asked<'_> {
    fn equivalent(&self, key: &(RealmId, Box<str>)) -> bool {
        self.0 == key.0 && self.1 == &*key.1
    }
}

impl ReadModels {
    /// The client with this `client_id`.
    pub async fn client(&self, realm: RealmId, client_id: &str) -> Result<Option<Arc<Client>>, Error> {
        let clients = &self.inner.clients;
        let asked = Asked(realm, client_id);
        if let Some(key) = self.kept(&clients.names, &asked)
            && let Some(client) = self.client_by_key(realm, *key).await?
            && client.client_id == client_id
        {
            return Ok(Some(client));
        }
        let ticket = clients.names.ticket(&asked, self.monotonic());
        let found = repo::client::find_by_client_id(&self.inner.read, realm, client_id).await?;
        let Some(found) = found else { return Ok(None) };
        let key = found.key;
        clients.names.keep((realm, client_id.into()), ticket, &Arc::new(key));
        if self.is_fresh() {
            // Under its key it is kept by a load of its own: the ticket that was taken stands for the name only.
            self.client_by_key(realm, key).await
        } else {
            Ok(Some(Arc::new(found)))
        }
    }

    /// The client with this key.
    pub async fn client_by_key(&self, realm: RealmId, key: ClientKey) -> Result<Option<Arc<Client>>, Error> {
        let model = &self.inner.clients.by_key;
        if let Some(client) = self.kept(model, &(realm, key)) {
            return Ok(Some(client));
        }
        self.load(model, (realm, key), repo::client::find(&self.inner.read, realm, key)).await
    }
}
