//! Which web origins may call token, userinfo and revocation by script: those of the realm's clients,
//! from their redirect URIs and `web_origins`. A preflight carries no client, so the set is the realm's.

use crate::domain::model::ids::RealmId;
use crate::service::{App, Error};

/// Whether `origin` belongs to a client of the realm.
///
/// # Errors
/// When the clients cannot be read.
pub async fn is_allowed(app: &App, realm: RealmId, origin: &str) -> Result<bool, Error> {
    if origin == "null" || origin.len() > 300 {
        return Ok(false);
    }
    Ok(app.store.models().origins(realm).await?.contains(origin))
}
