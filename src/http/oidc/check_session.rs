//! `GET /session/check`: the frame from which clients learn that the sign-in in this browser changed (Session
//! Management 1.0 section 3.2). Anybody may frame it; there is nothing on it but its script, which answers
//! whoever asks with a state that it was given for its own origin.

use std::sync::Arc;

use askama::Template;
use axum::body::Body;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};

use crate::http::cookies::Cookie;
use crate::http::extract::call::Call;
use crate::http::layer::headers::Framable;
use crate::http::page::assets;
use crate::service::Error;

const POLICY: &str = "default-src 'none'; script-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors *";

#[derive(Template)]
#[template(path = "check_session.html")]
struct Frame {
    script: String,
    cookie: String,
}

/// Answers `GET`.
///
/// # Errors
/// `NotFound` where the realm does not offer it.
pub async fn get(call: Arc<Call>) -> Result<Response<Body>, Error> {
    if !call.ctx.realm.settings.logout.session_management {
        return Err(Error::NotFound);
    }
    let site = &call.ctx.site;
    let frame = Frame {
        script: format!("{}{}", site.static_base, assets::asset("js/check-session.js")),
        cookie: Cookie::BrowserState.name(site),
    };
    let text = frame.render().map_err(|error| Error::Internal(error.to_string()))?;
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = StatusCode::OK;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    // The same for everybody. A realm that no longer offers it is believed soon.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"));
    response.extensions_mut().insert(Framable);
    Ok(response)
}
