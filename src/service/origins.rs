//! Which web origins may call token, userinfo and revocation by script: those of the realm's clients,
//! from their redirect URIs and `web_origins`. A preflight carries no client, so the set is the realm's.
//! A redirect URI on a loopback host leaves its port free (RFC 8252 section 7.3), so its origin does too.

use crate::domain::model::ids::RealmId;
use crate::domain::protocol::redirect_uri::loopback_origins;
use crate::service::{App, Error};

/// Whether `origin` belongs to a client of the realm.
///
/// # Errors
/// When the clients cannot be read.
pub async fn is_allowed(app: &App, realm: RealmId, origin: &str) -> Result<bool, Error> {
    // The set writes `*` for a free port; no origin has one.
    if origin == "null" || origin.contains('*') || origin.len() > 300 {
        return Ok(false);
    }
    let origins = app.store.models().origins(realm).await?;
    Ok(origins.contains(origin) || loopback_origins(origin).is_some_and(|any_port| origins.contains(&any_port)))
}
