//! `POST /revoke` (RFC 7009): 200 with an empty body, whether there was something to revoke or not.

use std::sync::Arc;

use axum::body::Body;
use http::Response;

use super::{authorization, token_parameter};
use crate::http::extract::call::Call;
use crate::http::render::note::Note;
use crate::service::{Error, client_auth, revoke};

/// Answers `POST`.
///
/// # Errors
/// When the caller does not prove itself, or the revocation cannot be made to last.
pub async fn post(call: Arc<Call>) -> Result<Response<Body>, Error> {
    let form = call.form().await?;
    let client = client_auth::authenticate(&call.app, &call.ctx, "/revoke", &authorization(&call)?, &form).await?;
    revoke::revoke(&call.app, &call.ctx, &client, token_parameter(&form)?).await?;
    let mut response = Response::new(Body::empty());
    response.extensions_mut().insert(Note { client: Some(client.client_id.clone()), reason: None });
    Ok(response)
}
