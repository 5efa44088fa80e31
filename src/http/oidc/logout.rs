//! `/logout` (RP-Initiated Logout 1.0) by GET and POST. A hint of the current session signs out at
//! once; anything else asks. A POST from elsewhere carries no cookie, so it becomes a GET first.

use std::sync::Arc;

use axum::body::Body;
use http::{Response, StatusCode};

use crate::domain::protocol::logout::{Decision, Then};
use crate::domain::protocol::params::Params;
use crate::http::cookies::Cookie;
use crate::http::extract::call::Call;
use crate::http::page::{Back, Fault, LogoutPage, SignedOutPage, clean_title};
use crate::http::render::{page, redirect, target};
use crate::http::signin::{Provenance, browser_or_new, provenance, set_cookie, signed_in};
use crate::service::session::bind::SignedIn;
use crate::service::signin::form::{self, Binding};
use crate::service::{Error, logout};

/// Answers `GET`.
///
/// # Errors
/// When facts cannot be read.
pub async fn get(call: Arc<Call>) -> Result<Response<Body>, Error> {
    answer(&call, call.raw_query().to_owned()).await
}

/// Answers `POST`.
///
/// # Errors
/// When facts cannot be read.
pub async fn post(call: Arc<Call>) -> Result<Response<Body>, Error> {
    let body = call.form_as_query().await?;
    if provenance(&call) != Provenance::Ours {
        return Ok(redirect::see_other(&format!("{}?{body}", call.ctx.site.path("/logout"))));
    }
    answer(&call, body).await
}

async fn answer(call: &Call, query: String) -> Result<Response<Body>, Error> {
    let params = Params::parse(query.as_bytes())?;
    let signed_in = signed_in(call).await?;
    let asked = logout::decide(&call.app, &call.ctx, &params, signed_in.as_ref()).await?;
    match (asked.decision, signed_in) {
        (Decision::ErrorPage(refusal), _) => {
            Ok(page::fault(call, StatusCode::BAD_REQUEST, Fault::LogoutRequest, refusal.reason, page::detail(&refusal)))
        }
        (Decision::EndNow { then, .. }, Some(person)) => end_and_go(call, &person, &then).await,
        (Decision::Ask { then, .. }, Some(person)) => {
            let client = match &asked.client {
                Some(client) => Some(page::client_header(call, client).await?),
                None => None,
            };
            let (browser, cookie) = browser_or_new(call);
            let binding = Binding { form: "logout", browser, flow: None, signed_in: Some(&person) };
            let target = match &then {
                Then::Redirect(uri) => target::csp_source(uri),
                Then::SignedOutPage => String::new(),
            };
            let ask = LogoutPage {
                chrome: page::chrome(call, &locales(&params)),
                client,
                person: person.user.user.username.clone(),
                action: call.ctx.site.path("/logout/confirm"),
                csrf: form::token(&call.app, &call.ctx, binding),
                fields: vec![("request".to_owned(), query)],
            };
            let mut response = page::html(call, StatusCode::OK, &ask, &[&target]);
            set_cookie(&mut response, cookie);
            Ok(response)
        }
        (Decision::AlreadyOut(then) | Decision::EndNow { then, .. } | Decision::Ask { then, .. }, _) => {
            Ok(gone(call, &then))
        }
    }
}

/// Ends the session and goes on.
///
/// # Errors
/// When the session cannot be ended.
pub async fn end_and_go(call: &Call, person: &SignedIn, then: &Then) -> Result<Response<Body>, Error> {
    logout::end(&call.app, &call.ctx, person).await?;
    Ok(gone(call, then))
}

/// Goes on after the end; the session cookie goes with it.
fn gone(call: &Call, then: &Then) -> Response<Body> {
    let mut response = match then {
        Then::Redirect(uri) => redirect::see_other(uri),
        Then::SignedOutPage => {
            let done = SignedOutPage { chrome: page::chrome(call, &[]), back: None::<Back>, sign_in_href: None };
            page::html(call, StatusCode::OK, &done, &[])
        }
    };
    if call.cookie(Cookie::Session).is_some() {
        set_cookie(&mut response, Some(Cookie::Session.clear(&call.ctx.site)));
    }
    response
}

fn locales(params: &Params) -> Vec<String> {
    clean_title(params.get("ui_locales").unwrap_or("")).split(' ').map(str::to_owned).collect()
}
