//! `/authorize` (RFC 6749 section 3.1, OpenID Connect Core 3.1.2): by GET, and by POST from anywhere.
//! A POST reads and sets no cookie; it keeps the request and sends the browser to a GET, since a
//! SameSite cookie does not come along with it.

use std::sync::Arc;

use axum::body::Body;
use http::Response;

use crate::http::begin::begin;
use crate::http::extract::call::Call;
use crate::http::render::redirect;
use crate::service::Error;
use crate::service::authorize::start;

/// Answers `GET`.
///
/// # Errors
/// When facts cannot be read.
pub async fn get(call: Arc<Call>) -> Result<Response<Body>, Error> {
    begin(&call, call.raw_query()).await
}

/// Answers `POST`.
///
/// # Errors
/// When the request cannot be kept.
pub async fn post(call: Arc<Call>) -> Result<Response<Body>, Error> {
    let query = call.form_as_query().await?;
    let handle = start::hand_over(&call.app, &call.ctx, &query).await?;
    Ok(redirect::see_other(&format!("{}?request={handle}", call.ctx.site.path("/login/start"))))
}
