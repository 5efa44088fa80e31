//! `GET /login/logo`: a client's logo from our own copy.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use http::Response;
use http::header::HeaderValue;

use crate::domain::model::ids::ClientKey;
use crate::http::extract::call::Call;
use crate::http::render::ready;
use crate::service::{Error, logo};

/// Answers `GET`.
///
/// # Errors
/// `NotFound` when there is no such client or no logo kept.
pub async fn get(call: Arc<Call>) -> Result<Response<Body>, Error> {
    let key: ClientKey = call.page_param("client").and_then(|text| text.parse().ok()).ok_or(Error::NotFound)?;
    let client = call.app.store.models().client_by_key(call.ctx.realm.id, key).await?.ok_or(Error::NotFound)?;
    let logo = logo::find(&call.app, call.ctx.realm.id, &client).await?.ok_or(Error::NotFound)?;
    let media_type = match logo.media_type.as_str() {
        "image/png" => "image/png",
        "image/jpeg" => "image/jpeg",
        "image/gif" => "image/gif",
        "image/webp" => "image/webp",
        _ => return Err(Error::NotFound),
    };
    let etag = HeaderValue::try_from(format!("\"{}\"", logo.fetched_at.as_micros()))
        .map_err(|error| Error::Internal(error.to_string()))?;
    Ok(ready::document(call.headers(), Bytes::from(logo.bytes), &etag, media_type, "public, max-age=86400"))
}
