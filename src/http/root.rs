//! `GET /`: for people who type the issuer's address.

use std::sync::Arc;

use axum::body::Body;
use http::{Response, StatusCode};

use super::extract::call::Call;
use super::page::HomePage;
use super::render::page;
use super::signin;
use crate::service::Error;

/// Answers `GET`.
///
/// # Errors
/// When the session cannot be read.
pub async fn get(call: Arc<Call>) -> Result<Response<Body>, Error> {
    let site = &call.ctx.site;
    let signed_in = signin::signed_in(&call).await?;
    let mut chrome = page::chrome(&call, &[]);
    chrome.sign_out = signed_in.is_some().then(|| site.path("/logout"));
    let home = HomePage {
        chrome,
        issuer: site.issuer.clone(),
        discovery_href: site.path("/.well-known/openid-configuration"),
        demo_href: (call.app.config.dev && site.main).then(|| site.path("/demo")),
        person: signed_in.map(|signed_in| signed_in.user.user.username.clone()),
    };
    Ok(page::html(&call, StatusCode::OK, &home, &[]))
}
