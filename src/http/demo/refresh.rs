//! `POST /demo/refresh`: new tokens by the refresh token.

use std::sync::Arc;

use axum::body::Body;
use http::Response;

use super::relying_party;
use super::state::{self, DemoState};
use super::{CLIENT_ID, home, is_genuine};
use crate::http::extract::call::Call;
use crate::http::render::redirect;
use crate::http::signin::set_cookie;
use crate::service::Error;

/// Answers `POST`.
///
/// # Errors
/// When the form cannot be read.
pub async fn post(call: Arc<Call>) -> Result<Response<Body>, Error> {
    let back = redirect::see_other(&call.ctx.site.path("/demo"));
    if !is_genuine(&call).await? {
        return Ok(back);
    }
    let Some(DemoState::SignedIn(tokens)) = state::read(&call) else { return Ok(back) };
    let Some(refresh_token) = tokens.refresh_token.clone() else { return Ok(back) };
    let fields = [("grant_type", "refresh_token"), ("refresh_token", &*refresh_token), ("client_id", CLIENT_ID)];
    match relying_party::token(&call, &fields).await {
        Ok(mut fresh) => {
            if let Some(id_token) = &fresh.id_token
                && let Err(error) = relying_party::check_signature(&call, id_token).await
            {
                return Ok(home::signed_in(&call, &tokens, Some(error)).await);
            }
            fresh.refreshes = tokens.refreshes + 1;
            fresh.id_token = fresh.id_token.or(tokens.id_token);
            let mut response = back;
            set_cookie(&mut response, Some(state::keep(&call, &DemoState::SignedIn(fresh))));
            Ok(response)
        }
        Err(error) => Ok(home::signed_in(&call, &tokens, Some(error)).await),
    }
}
