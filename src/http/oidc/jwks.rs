//! `GET /.well-known/jwks.json` (RFC 7517): announced, active and retired keys. A relying party may
//! never keep it longer than a new key is published before it signs (B-25).

use std::sync::Arc;

use axum::body::Body;
use http::Response;
use http::header::HeaderValue;

use crate::domain::protocol::key_schedule;
use crate::http::extract::call::Call;
use crate::http::render::ready;
use crate::service::Error;

/// Answers `GET`.
///
/// # Errors
/// When the keys cannot be read.
pub async fn get(call: Arc<Call>) -> Result<Response<Body>, Error> {
    let jwks = call.app.keys.jwks(call.ctx.realm.id, call.ctx.now).await?;
    let etag = HeaderValue::from_str(&jwks.etag).map_err(|error| Error::Internal(error.to_string()))?;
    let caching = format!("public, max-age={}", key_schedule::max_age(&call.ctx.realm.settings.keys).as_secs());
    Ok(ready::document(call.headers(), jwks.bytes.clone(), &etag, "application/json", &caching))
}
