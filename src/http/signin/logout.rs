//! `POST /logout/confirm`: the person's yes to signing out.

use std::sync::Arc;

use axum::body::Body;
use http::Response;

use super::{Provenance, accounts, browser, provenance};
use crate::domain::protocol::logout::{Decision, Then};
use crate::domain::protocol::params::Params;
use crate::domain::protocol::ui_locales;
use crate::http::extract::call::{Call, as_query};
use crate::http::render::redirect;
use crate::http::signed_out::{self, Onward};
use crate::service::signin::form::{self, Binding};
use crate::service::{Error, logout};

/// Answers `POST`.
///
/// # Errors
/// When the session cannot be ended.
pub async fn post(call: Arc<Call>) -> Result<Response<Body>, Error> {
    let form = call.form().await?;
    let query = as_query(form.get("request").unwrap_or("").as_bytes());
    // Where the person left off: the same question again, or the signed-out page.
    let again = || redirect::see_other(&format!("{}?{query}", call.ctx.site.path("/logout")));
    let accounts = accounts(&call).await?;
    let params = Params::parse(query.as_bytes())?;
    let asked = logout::decide(&call.app, &call.ctx, &params, &accounts).await?;
    let (Some(browser), Some(person)) = (browser(&call), &asked.person) else { return Ok(again()) };
    let binding = Binding { form: "logout", browser, flow: None, signed_in: Some(person) };
    if provenance(&call) != Provenance::Ours || !form::check(&call.app, &call.ctx, binding, form.get("csrf")) {
        return Ok(again());
    }
    if form.get("action") == Some("stay") {
        return Ok(redirect::see_other(&call.ctx.site.path("/")));
    }
    let then = match asked.decision {
        Decision::Ask { then, .. } | Decision::EndNow { then, .. } | Decision::AlreadyOut(then) => then,
        Decision::ErrorPage(_) => Then::SignedOutPage,
    };
    let locales = ui_locales::of(&params);
    let onward = Onward { then: &then, client: asked.client.as_deref(), locales: &locales };
    signed_out::end_and_go(&call, (accounts, person), onward).await
}
