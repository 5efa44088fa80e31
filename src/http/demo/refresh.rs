//! `POST /demo/refresh`: new tokens by the refresh token.

use std::sync::Arc;

use axum::body::Body;
use http::Response;

use super::relying_party;
use super::state::{self, DemoState};
use super::{CLIENT_ID, home};
use crate::http::extract::call::Call;
use crate::http::render::redirect;
use crate::http::signin::{Provenance, browser, provenance, set_cookie};
use crate::service::Error;
use crate::service::signin::form::{self, Binding};

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
            fresh.refreshes = tokens.refreshes + 1;
            fresh.id_token = fresh.id_token.or(tokens.id_token);
            let mut response = back;
            set_cookie(&mut response, Some(state::keep(&call, &DemoState::SignedIn(fresh))));
            Ok(response)
        }
        Err(error) => Ok(home::signed_in(&call, &tokens, Some(error)).await),
    }
}

/// Whether the form came from the demo's own page.
///
/// # Errors
/// When the form cannot be read.
pub async fn is_genuine(call: &Call) -> Result<bool, Error> {
    let form = call.form().await?;
    let Some(browser) = browser(call) else { return Ok(false) };
    let binding = Binding { form: "demo", browser, flow: None, signed_in: None };
    let csrf = form.one("csrf").ok().flatten();
    Ok(provenance(call) == Provenance::Ours && form::check(&call.app, &call.ctx, binding, csrf))
}
