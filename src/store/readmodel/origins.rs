//! The web origins of each realm's clients, whole: a preflight names no client. Origins follow from
//! redirect URIs, those on a loopback host with any port, and `web_origins`; a change of any
//! client of the realm drops its set.

use std::collections::HashSet;
use std::sync::Arc;

use super::ReadModels;
use super::model::Model;
use crate::domain::model::ids::RealmId;
use crate::domain::protocol::redirect_uri::{loopback_origins, origin_of};
use crate::store::{Error, repo};

const MOST: usize = 256;
/// Clients per query.
const PAGE: u64 = 500;

pub(super) type Origins = Model<RealmId, HashSet<String>>;

pub(super) fn new() -> Origins {
    Model::new("origins", MOST)
}

impl ReadModels {
    /// The origins that may call the realm's token, userinfo and revocation endpoints by script.
    pub async fn origins(&self, realm: RealmId) -> Result<Arc<HashSet<String>>, Error> {
        let model = &self.inner.origins;
        if let Some(origins) = self.kept(model, &realm) {
            return Ok(origins);
        }
        let load = async { self.load_origins(realm).await.map(Some) };
        Ok(self.load(model, realm, load).await?.unwrap_or_default())
    }

    async fn load_origins(&self, realm: RealmId) -> Result<HashSet<String>, Error> {
        let (mut origins, mut after) = (HashSet::new(), None);
        loop {
            let page = repo::client::list(&self.inner.read, realm, after, PAGE).await?;
            for client in page.iter().filter(|client| client.enabled) {
                origins.extend(client.metadata.web_origins.iter().cloned());
                for uri in &client.metadata.redirect_uris {
                    origins.extend(origin_of(uri));
                    origins.extend(loopback_origins(uri));
                }
            }
            match page.last() {
                Some(last) if u64::try_from(page.len()).is_ok_and(|got| got == PAGE) => after = Some(last.key),
                _ => return Ok(origins),
            }
        }
    }
}
