//! When clients that registered themselves were last used: written down by the first token that a client gets
//! and then once an hour at most, so that the hot path pays nothing. What an operator registered is not counted.

use std::fmt;
use std::sync::Arc;

use quick_cache::sync::Cache;

use crate::context::Ctx;
use crate::domain::model::client::Client;
use crate::domain::model::ids::{ClientKey, RealmId};
use crate::domain::model::timestamp::Timestamp;
use crate::domain::protocol::registration::MARK_EVERY;
use crate::service::{App, Error};
use crate::store::repo;

/// Clients whose mark is known here. Whoever falls out is written down once more than needed.
const KEPT: usize = 4096;

/// What this process has written down. Cheap to clone.
#[derive(Clone)]
pub struct LastUses(Arc<Cache<(RealmId, ClientKey), Timestamp>>);

impl fmt::Debug for LastUses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LastUses")
    }
}

impl Default for LastUses {
    fn default() -> Self {
        Self(Arc::new(Cache::new(KEPT)))
    }
}

/// The client got a token. A mark that cannot be written is tried again with the next one.
pub async fn note(app: &App, ctx: &Ctx, client: &Client) {
    if !client.is_self_registered() {
        return;
    }
    let (marks, place) = (&app.last_uses.0, (client.realm, client.key));
    if marks.get(&place).is_some_and(|marked| ctx.now.since(marked) < MARK_EVERY) {
        return;
    }
    marks.insert(place, ctx.now);
    if let Err(error) = write(app, ctx, client).await {
        marks.remove(&place);
        tracing::warn!(client = client.client_id, %error, "the use of a client could not be written down");
    }
}

async fn write(app: &App, ctx: &Ctx, client: &Client) -> Result<(), Error> {
    let mut tx = app.store.begin().await?;
    repo::registration::note_use(&mut tx, client.realm, client.key, ctx.now).await?;
    Ok(tx.commit().await?)
}
