//! `POST /demo/logout`: forgets the tokens and signs out at the provider (RP-Initiated Logout 2).

use std::sync::Arc;

use axum::body::Body;
use http::Response;

use super::state::{self, DemoState};
use super::{CLIENT_ID, is_genuine};
use crate::http::cookies::Cookie;
use crate::http::extract::call::Call;
use crate::http::render::redirect;
use crate::http::signin::set_cookie;
use crate::service::Error;

/// Answers `POST`.
///
/// # Errors
/// When the form cannot be read.
pub async fn post(call: Arc<Call>) -> Result<Response<Body>, Error> {
    let site = &call.ctx.site;
    if !is_genuine(&call).await? {
        return Ok(redirect::see_other(&site.path("/demo")));
    }
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("client_id", CLIENT_ID).append_pair("post_logout_redirect_uri", &site.url("/demo?signed_out=1"));
    if let Some(DemoState::SignedIn(tokens)) = state::read(&call)
        && let Some(id_token) = &tokens.id_token
    {
        query.append_pair("id_token_hint", id_token);
    }
    let mut response = redirect::see_other(&format!("{}?{}", site.url("/logout"), query.finish()));
    set_cookie(&mut response, Some(Cookie::Demo.clear(site)));
    Ok(response)
}
