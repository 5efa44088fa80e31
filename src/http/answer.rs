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
use crate::http::session_state::{self, Seen};
use crate::http::signin::set_cookie;

/// The request that is answered.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// As checked.
    pub request: &'a AuthorizeRequest,
    /// Whose it is.
    pub client: &'a Client,
    /// Who is signed in by now.
    pub seen: Seen<'a>,
}

/// What the client asked for, or why it cannot be given after all.
#[must_use]
pub fn outcome(call: &Call, asked: Asked<'_>, outcome: &Result<Given, Refusal>) -> Response<Body> {
    let answer = match outcome {
        Ok(given) => Answer::Given(given),
        Err(refusal) => Answer::Refused(refusal),
    };
    established(call, asked, answer)
}

/// A refusal once a request was established.
#[must_use]
pub fn refusal(call: &Call, asked: Asked<'_>, refusal: &Refusal) -> Response<Body> {
    if asked.seen.is_nobody() && stays_here(call, asked.client) {
        return page::not_returned(call, asked.client, refusal);
    }
    established(call, asked, Answer::Refused(refusal))
}

/// Whether the client's errors stay on a page of ours while nobody is signed in (`security-design` rule 31):
/// otherwise anybody could register an address and have us send people there.
#[must_use]
pub fn stays_here(call: &Call, client: &Client) -> bool {
    client.is_self_registered() && !call.ctx.realm.settings.client_registration.redirect_errors
}

fn established(call: &Call, asked: Asked<'_>, answer: Answer<'_>) -> Response<Body> {
    let Asked { request, client, seen } = asked;
    let to = To {
        client: Some(client),
        seen,
        uri: &request.redirect_uri,
        mode: request.response_mode,
        state: request.state.as_deref(),
        locales: &request.ui_locales,
    };
    let reason = match answer {
        Answer::Given(_) => None,
        Answer::Refused(refusal) => Some(refusal.reason),
    };
    let mut response = send(call, &to, answer);
    response.extensions_mut().insert(Note { client: Some(client.client_id.clone()), reason });
    response
}

/// A refusal by the table of checks; `locales` are the languages that the request wished for.
#[must_use]
pub fn error(call: &Call, error: &ErrorRedirect, client: Option<&Client>, locales: &[String]) -> Response<Body> {
    let to = To {
        client,
        seen: Seen::Unseen,
        uri: &error.redirect_uri,
        mode: error.response_mode,
        state: error.state.as_deref(),
        locales,
    };
    let mut response = send(call, &to, Answer::Refused(&error.refusal));
    response.extensions_mut().insert(Note { client: None, reason: Some(error.refusal.reason) });
    response
}

struct To<'a> {
    client: Option<&'a Client>,
    seen: Seen<'a>,
    uri: &'a str,
    mode: ResponseMode,
    state: Option<&'a str>,
    locales: &'a [String],
}

fn send(call: &Call, to: &To<'_>, answer: Answer<'_>) -> Response<Body> {
    let told = to.client.and_then(|client| session_state::tell(call, to.seen, &client.client_id, to.uri));
    let (session_state, cookie) = told.map_or((None, None), |told| (Some(told.session_state), told.cookie));
    let fields = parameters(answer, to.state, &call.ctx.site.issuer, session_state);
    let mut response = match to.mode {
        ResponseMode::Query => redirect::see_other(&redirect_uri::append(to.uri, &fields)),
        ResponseMode::Fragment => redirect::see_other(&redirect_uri::append_fragment(to.uri, &fields)),
        ResponseMode::FormPost => {
            let form = FormPostPage {
                chrome: page::chrome(call, to.locales),
                action: to.uri.to_owned(),
                fields: fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
                client_title: clean_title(to.client.map_or("", Client::title)),
            };
            let target = target::csp_source(to.uri);
            let mut response = page::html(call, StatusCode::OK, &form, &[&target]);
            response.headers_mut().insert(http::header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
            response
        }
    };
    set_cookie(&mut response, cookie);
    response
}
