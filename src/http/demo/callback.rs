//! `GET /demo/callback`: checks state and issuer, redeems the code, checks signature and nonce.

use std::sync::Arc;

use axum::body::Body;
use http::Response;

use super::relying_party::{self, trouble};
use super::state::{self, DemoState};
use super::{CLIENT_ID, home};
use crate::http::extract::call::Call;
use crate::http::render::redirect;
use crate::http::signin::set_cookie;
use crate::service::Error;

/// Answers `GET`.
///
/// # Errors
/// None of its own: what goes wrong is shown.
pub async fn get(call: Arc<Call>) -> Result<Response<Body>, Error> {
    let param = |name: &str| call.page_param(name).unwrap_or_default();
    let Some(DemoState::Pending { state: own_state, nonce, verifier }) = state::read(&call) else {
        return Ok(home::start(&call, Some(trouble("no_request", "This browser has no request under way."))));
    };
    if param("state") != own_state || param("iss") != call.ctx.site.issuer {
        return Ok(home::start(&call, Some(trouble("state_mismatch", "The answer does not belong to our request."))));
    }
    if !param("error").is_empty() {
        return Ok(home::start(&call, Some(trouble(&param("error"), &param("error_description")))));
    }
    let redirect_uri = call.ctx.site.url("/demo/callback");
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", &*param("code")),
        ("redirect_uri", &*redirect_uri),
        ("client_id", CLIENT_ID),
        ("code_verifier", &*verifier),
    ];
    let tokens = match relying_party::token(&call, &fields).await {
        Ok(tokens) => tokens,
        Err(error) => return Ok(home::start(&call, Some(error))),
    };
    if let Err(error) = relying_party::check_signature(&call, tokens.id_token.as_deref().unwrap_or("")).await {
        return Ok(home::start(&call, Some(error)));
    }
    let said = relying_party::payload(tokens.id_token.as_deref().unwrap_or(""));
    if said.get("nonce").and_then(serde_json::Value::as_str) != Some(nonce.as_str()) {
        return Ok(home::start(&call, Some(trouble("nonce_mismatch", "The ID token does not belong to our request."))));
    }
    let mut response = redirect::see_other(&call.ctx.site.path("/demo"));
    set_cookie(&mut response, Some(state::keep(&call, &DemoState::SignedIn(tokens))));
    Ok(response)
}
