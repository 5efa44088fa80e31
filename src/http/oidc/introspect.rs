//! `POST /introspect` (RFC 7662).

use std::sync::Arc;

use axum::body::Body;
use http::{Response, StatusCode};

use super::{authorization, token_parameter};
use crate::http::extract::call::Call;
use crate::http::render::note::Note;
use crate::http::render::oauth;
use crate::service::{Error, client_auth, introspect};

/// Answers `POST`.
///
/// # Errors
/// When the caller does not prove itself.
pub async fn post(call: Arc<Call>) -> Result<Response<Body>, Error> {
    let form = call.form().await?;
    let client =
        client_auth::authenticate_confidential(&call.app, &call.ctx, "/introspect", &authorization(&call)?, &form)
            .await?;
    let body = introspect::answer(&call.app, &call.ctx, &client, token_parameter(&form)?).await?;
    let mut response = oauth::json(StatusCode::OK, body);
    response.extensions_mut().insert(Note { client: Some(client.client_id.clone()), reason: None });
    Ok(response)
}
