//! `GET /demo/start`: sends the person to the authorization endpoint with PKCE, state and nonce.

use std::sync::Arc;

use aws_lc_rs::digest;
use axum::body::Body;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::Response;

use super::state::{self, DemoState};
use super::{CLIENT_ID, SCOPE};
use crate::entropy;
use crate::http::extract::call::Call;
use crate::http::render::redirect;
use crate::http::signin::set_cookie;
use crate::service::Error;

/// Answers `GET`.
///
/// # Errors
/// None.
pub async fn get(call: Arc<Call>) -> Result<Response<Body>, Error> {
    let random = || URL_SAFE_NO_PAD.encode(entropy::bytes::<32>(&*call.app.entropy, "demo"));
    let (own_state, nonce, verifier) = (random(), random(), random());
    let challenge = URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, verifier.as_bytes()));
    let site = &call.ctx.site;
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("response_type", "code")
        .append_pair("client_id", CLIENT_ID)
        .append_pair("redirect_uri", &site.url("/demo/callback"))
        .append_pair("scope", SCOPE)
        .append_pair("state", &own_state)
        .append_pair("nonce", &nonce)
        .append_pair("code_challenge", &challenge)
        .append_pair("code_challenge_method", "S256")
        .finish();
    let mut response = redirect::see_other(&format!("{}?{query}", site.url("/authorize")));
    set_cookie(&mut response, Some(state::keep(&call, &DemoState::Pending { state: own_state, nonce, verifier })));
    Ok(response)
}
