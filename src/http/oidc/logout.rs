//! `/logout` (RP-Initiated Logout 1.0) by GET and POST. A hint of the current session signs out at
//! once; anything else asks. A POST from elsewhere carries no cookie, so it becomes a GET first.

use std::sync::Arc;

use axum::body::Body;
use http::{Response, StatusCode};

use crate::domain::protocol::logout::{Decision, Then};
use crate::domain::protocol::params::Params;
use crate::domain::protocol::ui_locales;
use crate::http::extract::call::Call;
use crate::http::page::{Fault, LogoutPage};
use crate::http::render::{page, redirect, target};
use crate::http::signed_out::{self, Onward};
use crate::http::signin::{Provenance, accounts, browser_or_new, provenance, set_cookie};
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
    let locales = ui_locales::of(&params);
    let accounts = accounts(call).await?;
    let asked = logout::decide(&call.app, &call.ctx, &params, &accounts).await?;
    let onward = |then| Onward { then, client: asked.client.as_deref(), locales: &locales };
    match (&asked.decision, &asked.person) {
        (Decision::ErrorPage(refusal), _) => {
            Ok(page::fault(call, StatusCode::BAD_REQUEST, Fault::LogoutRequest, refusal.reason, page::detail(refusal)))
        }
        (Decision::EndNow { then, .. }, Some(person)) => {
            signed_out::end_and_go(call, (accounts, person), onward(then)).await
        }
        (Decision::Ask { then, .. }, Some(person)) => ask(call, person, onward(then), query).await,
        (Decision::AlreadyOut(then) | Decision::EndNow { then, .. } | Decision::Ask { then, .. }, _) => {
            Ok(signed_out::go(call, onward(then), Vec::new(), &accounts))
        }
    }
}

/// Asks the person; the request is carried along.
async fn ask(call: &Call, person: &SignedIn, onward: Onward<'_>, query: String) -> Result<Response<Body>, Error> {
    let client = match onward.client {
        Some(client) => Some(page::client_header(call, client).await?),
        None => None,
    };
    let (browser, cookie) = browser_or_new(call);
    let binding = Binding { form: "logout", browser, flow: None, signed_in: Some(person) };
    let target = match onward.then {
        Then::Redirect(uri) => target::csp_source(uri),
        Then::Offer(_) | Then::SignedOutPage => String::new(),
    };
    let ask = LogoutPage {
        chrome: page::chrome(call, onward.locales),
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
