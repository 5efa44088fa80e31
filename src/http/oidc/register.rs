//! `POST /register` (RFC 7591 section 3): a client registers itself.

use std::sync::Arc;

use axum::body::Body;
use http::{Response, StatusCode};

use super::{document, registration};
use crate::http::extract::bearer::bearer;
use crate::http::extract::call::Call;
use crate::service::Error;
use crate::service::register::create;

/// Answers `POST`.
///
/// # Errors
/// The refusals of RFC 7591 section 3.2.2, the challenges of RFC 6750 section 3.
pub async fn post(call: Arc<Call>) -> Result<Response<Body>, Error> {
    let token = bearer(&call)?;
    let body = document(&call).await?;
    let answer = create::create(&call.app, &call.ctx, token.as_deref(), &body).await?;
    Ok(registration(StatusCode::CREATED, &answer))
}
