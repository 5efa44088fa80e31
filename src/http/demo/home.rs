//! `GET /demo`: the way in, or what came out.

use std::sync::Arc;

use axum::body::Body;
use http::{Response, StatusCode};

use super::state::{self, DemoState, Tokens};
use super::{CLIENT_ID, PASSWORD, USERNAME, relying_party};
use crate::http::cookies::Cookie;
use crate::http::extract::call::Call;
use crate::http::page::demo::DemoError;
use crate::http::page::{DemoSignedInPage, DemoStartPage};
use crate::http::render::page;
use crate::http::signin::{browser_or_new, set_cookie};
use crate::service::Error;
use crate::service::signin::form::{self, Binding};

/// Answers `GET`.
///
/// # Errors
/// None of its own: what goes wrong is shown.
pub async fn get(call: Arc<Call>) -> Result<Response<Body>, Error> {
    match state::read(&call) {
        Some(DemoState::SignedIn(tokens)) => Ok(signed_in(&call, &tokens, None).await),
        Some(DemoState::Pending { .. }) | None => Ok(start(&call, None)),
    }
}

/// The start page.
#[must_use]
pub fn start(call: &Call, error: Option<DemoError>) -> Response<Body> {
    let site = &call.ctx.site;
    let page = DemoStartPage {
        chrome: page::chrome(call, &[]),
        sign_in_href: site.path("/demo/start"),
        username: USERNAME.to_owned(),
        password: PASSWORD.to_owned(),
        issuer: site.issuer.clone(),
        client_id: CLIENT_ID.to_owned(),
        signed_out: call.page_param("signed_out").is_some(),
        error,
    };
    let mut response = page::html(call, StatusCode::OK, &page, &[]);
    if state::read(call).is_some() {
        set_cookie(&mut response, Some(Cookie::Demo.clear(site)));
    }
    response
}

/// The page of somebody who signed in.
pub async fn signed_in(call: &Call, tokens: &Tokens, error: Option<DemoError>) -> Response<Body> {
    let site = &call.ctx.site;
    let (userinfo, error) = match relying_party::userinfo(call, &tokens.access_token).await {
        Ok(claims) => (claims, error),
        Err(trouble) => (Vec::new(), error.or(Some(trouble))),
    };
    let id_token = tokens.id_token.as_deref().unwrap_or("");
    let person =
        relying_party::payload(id_token).get("sub").and_then(serde_json::Value::as_str).unwrap_or("").to_owned();
    let person = userinfo.iter().find(|claim| claim.name == "name").map_or(person, |claim| claim.value.clone());
    let (browser, cookie) = browser_or_new(call);
    let page = DemoSignedInPage {
        chrome: page::chrome(call, &[]),
        person,
        id_token: relying_party::decode(id_token),
        access_token: relying_party::decode(&tokens.access_token),
        refresh_token: tokens.refresh_token.clone().unwrap_or_default(),
        scope: tokens.scope.clone(),
        expires_in: tokens.expires_in,
        userinfo,
        refreshes: tokens.refreshes,
        error,
        csrf: form::token(&call.app, &call.ctx, Binding { form: "demo", browser, flow: None, signed_in: None }),
        refresh_action: site.path("/demo/refresh"),
        userinfo_action: site.path("/demo"),
        logout_action: site.path("/demo/logout"),
    };
    let mut response = page::html(call, StatusCode::OK, &page, &[]);
    set_cookie(&mut response, cookie);
    response
}
