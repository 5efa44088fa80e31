//! `/register/{client_id}` (RFC 7592 section 2): a client looks after its registration.

use std::sync::Arc;

use axum::body::Body;
use http::{Response, StatusCode};

use super::{document, registration};
use crate::http::extract::bearer::bearer;
use crate::http::extract::call::Call;
use crate::service::Error;
use crate::service::register::manage;

/// The client that the address names. Ours need no escapes.
fn client_id(call: &Call) -> &str {
    call.path().rsplit('/').next().unwrap_or_default()
}

/// Answers `GET`.
///
/// # Errors
/// The challenges of RFC 6750 section 3.
pub async fn get(call: Arc<Call>) -> Result<Response<Body>, Error> {
    let token = bearer(&call)?;
    let answer = manage::read(&call.app, &call.ctx, client_id(&call), token.as_deref()).await?;
    Ok(registration(StatusCode::OK, &answer))
}

/// Answers `PUT`.
///
/// # Errors
/// The refusals of RFC 7591 section 3.2.2, the challenges of RFC 6750 section 3.
pub async fn put(call: Arc<Call>) -> Result<Response<Body>, Error> {
    let token = bearer(&call)?;
    let body = document(&call).await?;
    let answer = manage::update(&call.app, &call.ctx, client_id(&call), token.as_deref(), &body).await?;
    Ok(registration(StatusCode::OK, &answer))
}

/// Answers `DELETE`.
///
/// # Errors
/// The challenges of RFC 6750 section 3.
pub async fn delete(call: Arc<Call>) -> Result<Response<Body>, Error> {
    let token = bearer(&call)?;
    manage::delete(&call.app, &call.ctx, client_id(&call), token.as_deref()).await?;
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    Ok(response)
}
