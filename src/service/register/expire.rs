//! Clients that registered themselves and are not used go (B-34; RFC 7591 section 5).

use crate::domain::model::audit::{Actor, AuditKind};
use crate::domain::model::ids::ClientKey;
use crate::domain::model::realm::Realm;
use crate::domain::model::timestamp::Timestamp;
use crate::domain::protocol::registration::{self, Overdue};
use crate::service::admin::Scribe;
use crate::service::{App, Error};
use crate::store::repo;

/// Clients in one turn: what is beyond waits for the next.
const MOST: u64 = 1000;

/// Deletes what is overdue in a realm; how many clients that were.
///
/// # Errors
/// When the database does not answer; the next turn goes on.
pub async fn overdue(app: &App, realm: &Realm, now: Timestamp) -> Result<usize, Error> {
    let overdue = registration::overdue(&realm.settings.client_registration, now);
    let found = repo::registration::list_overdue(&app.store.read(), realm.id, overdue, MOST).await?;
    let mut count = 0;
    for client in found {
        count += usize::from(one(app, realm, client, (overdue, now)).await?);
    }
    Ok(count)
}

async fn one(app: &App, realm: &Realm, client: ClientKey, (overdue, now): (Overdue, Timestamp)) -> Result<bool, Error> {
    let mut tx = app.store.begin().await?;
    if !repo::registration::retire(&mut tx, realm.id, client, overdue).await? {
        return Ok(false);
    }
    let mut scribe = Scribe::operator(app, realm.id, now);
    scribe.actor = Actor::System;
    let mut audit = scribe.audit(AuditKind::ClientExpired);
    audit.client = Some(client);
    repo::audit::append(&mut tx, &audit).await?;
    repo::client::delete(&mut tx, realm.id, client, now).await?;
    tx.commit().await?;
    Ok(true)
}
