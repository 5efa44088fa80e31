//! Answers of the authorization endpoint, good or bad, in the response mode that was asked for: by
//! redirect (RFC 6749 section 4.1.2) or by a form that posts itself (Form Post Response Mode). Each
//! carries `iss` (RFC 9207) and `state` as it came.

use axum::body::Body;
use http::header::HeaderValue;
use http::{Response, StatusCode};

use crate::domain::model::client::Client;
use crate::domain::protocol::authorize::request::{AuthorizeRequest, ErrorRedirect, ResponseMode};
use crate::domain::protocol::authorize::response::{Answer, Given, parameters};
use crate::domain::protocol::redirect_uri;
use crate::domain::protocol::refusal::Refusal;
use crate::http::extract::call::Call;
use crate::http::page::{FormPostPage, clean_title};
use crate::http::render::note::Note;
use crate::http::render::{page, redirect, target};

/// What the client asked for, or why it cannot be given after all.
#[must_use]
pub fn outcome(
    call: &Call,
    request: &AuthorizeRequest,
    client: &Client,
    outcome: &Result<Given, Refusal>,
) -> Response<Body> {
    let answer = match outcome {
        Ok(given) => Answer::Given(given),
        Err(refusal) => Answer::Refused(refusal),
    };
    established(call, request, client, answer)
}

/// A refusal once a request was established.
#[must_use]
pub fn refusal(call: &Call, request: &AuthorizeRequest, client: &Client, refusal: &Refusal) -> Response<Body> {
    established(call, request, client, Answer::Refused(refusal))
}

fn established(call: &Call, request: &AuthorizeRequest, client: &Client, answer: Answer<'_>) -> Response<Body> {
    let to = To {
        uri: &request.redirect_uri,
        mode: request.response_mode,
        state: request.state.as_deref(),
        locales: &request.ui_locales,
    };
    let reason = match answer {
        Answer::Given(_) => None,
        Answer::Refused(refusal) => Some(refusal.reason),
    };
    let mut response = send(call, &to, client.title(), answer);
    response.extensions_mut().insert(Note { client: Some(client.client_id.clone()), reason });
    response
}

/// A refusal by the table of checks; `locales` are the languages that the request wished for.
#[must_use]
pub fn error(call: &Call, error: &ErrorRedirect, title: &str, locales: &[String]) -> Response<Body> {
    let to = To { uri: &error.redirect_uri, mode: error.response_mode, state: error.state.as_deref(), locales };
    let mut response = send(call, &to, title, Answer::Refused(&error.refusal));
    response.extensions_mut().insert(Note { client: None, reason: Some(error.refusal.reason) });
    response
}

struct To<'a> {
    uri: &'a str,
    mode: ResponseMode,
    state: Option<&'a str>,
    locales: &'a [String],
}

fn send(call: &Call, to: &To<'_>, title: &str, answer: Answer<'_>) -> Response<Body> {
    let fields = parameters(answer, to.state, &call.ctx.site.issuer);
    match to.mode {
        ResponseMode::Query => redirect::see_other(&redirect_uri::append(to.uri, &fields)),
        ResponseMode::Fragment => redirect::see_other(&redirect_uri::append_fragment(to.uri, &fields)),
        ResponseMode::FormPost => {
            let form = FormPostPage {
                chrome: page::chrome(call, to.locales),
                action: to.uri.to_owned(),
                fields: fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
                client_title: clean_title(title),
            };
            let target = target::csp_source(to.uri);
            let mut response = page::html(call, StatusCode::OK, &form, &[&target]);
            response.headers_mut().insert(http::header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
            response
        }
    }
}
