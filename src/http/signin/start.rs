//! `GET /login/start`: takes over a request that came to `/authorize` by POST, once. The POST may
//! have come from anywhere and carried no cookie of ours; this GET binds the browser.

use std::sync::Arc;

use axum::body::Body;
use http::{Response, StatusCode};

use crate::http::begin;
use crate::http::extract::call::Call;
use crate::http::page::Fault;
use crate::http::render::page;
use crate::service::Error;
use crate::service::authorize::start;

/// Answers `GET`.
///
/// # Errors
/// When facts cannot be read.
pub async fn get(call: Arc<Call>) -> Result<Response<Body>, Error> {
    let taken = match call.page_param("request") {
        Some(handle) => start::take_over(&call.app, &call.ctx, &handle).await?,
        None => None,
    };
    match taken {
        Some(query) => begin::begin(&call, &query).await,
        None => Ok(page::fault(&call, StatusCode::BAD_REQUEST, Fault::FlowGone, "handover_gone", Vec::new())),
    }
}
