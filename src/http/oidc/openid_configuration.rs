//! `GET /.well-known/openid-configuration` (OpenID Connect Discovery 4) and
//! `/.well-known/oauth-authorization-server` (RFC 8414): one document, its bytes ready.

use std::sync::Arc;

use axum::body::Body;
use http::Response;
use http::header::HeaderValue;

use crate::http::extract::call::Call;
use crate::http::render::ready;
use crate::service::{Error, discovery};

/// Answers `GET`.
///
/// # Errors
/// When the keys cannot be read.
pub async fn get(call: Arc<Call>) -> Result<Response<Body>, Error> {
    let document = discovery::document(&call.app, &call.ctx).await?;
    let etag = HeaderValue::from_str(&document.etag).map_err(|error| Error::Internal(error.to_string()))?;
    Ok(ready::document(call.headers(), document.bytes.clone(), &etag, "application/json", "public, max-age=3600"))
}
