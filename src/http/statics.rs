//! `GET /static/…`: style, scripts, pictures. Embedded; the name carries a hash of the content, so a
//! browser never asks twice.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use http::Response;
use http::header::HeaderValue;

use super::extract::call::Call;
use super::page::assets;
use super::render::ready;
use crate::service::Error;

/// Answers `GET`.
///
/// # Errors
/// `NotFound`.
pub async fn get(call: Arc<Call>) -> Result<Response<Body>, Error> {
    serve(&call, call.path())
}

/// Answers `GET /favicon.ico`: the mark.
///
/// # Errors
/// `NotFound`.
pub async fn favicon(call: Arc<Call>) -> Result<Response<Body>, Error> {
    serve(&call, assets::asset("img/mark.svg"))
}

fn serve(call: &Call, path: &str) -> Result<Response<Body>, Error> {
    let asset = assets::find(path).ok_or(Error::NotFound)?;
    let etag = HeaderValue::from_static(asset.etag);
    let caching = if asset.is_immutable { "public, max-age=31536000, immutable" } else { "public, max-age=300" };
    Ok(ready::document(call.headers(), Bytes::from_static(asset.bytes), &etag, asset.media_type, caching))
}
