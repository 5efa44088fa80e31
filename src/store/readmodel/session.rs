//! Sessions. Last-seen marks append no change, so the last use that is kept here may be up to a minute
//! behind: an idle end is confirmed in the database before it is believed.

use std::sync::Arc;

use super::ReadModels;
use super::model::Model;
use crate::domain::model::ids::{RealmId, SessionId};
use crate::domain::model::session::Session;
use crate::store::{Error, repo};

const MOST: usize = 32_768;

pub(super) type Sessions = Model<(RealmId, SessionId), Session>;

pub(super) fn new() -> Sessions {
    Model::new("session", MOST)
}

impl ReadModels {
    /// The session. Its last use may be behind: an idle end is confirmed in the database.
    pub async fn session(&self, realm: RealmId, session: SessionId) -> Result<Option<Arc<Session>>, Error> {
        let model = &self.inner.sessions;
        let key = (realm, session);
        if let Some(session) = self.kept(model, &key) {
            return Ok(Some(session));
        }
        self.load(model, key, repo::session::find(&self.inner.read, realm, session)).await
    }
}
