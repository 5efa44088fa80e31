//! After a sign-out in the browser: the cookies go, and the person goes on, by way of a page where clients
//! are told in frames (Front-Channel Logout 1.0 section 3). Shared by the endpoint and the page that asks.
//!
//! Of the page's headers only `frame-src` differs, and names what is framed. `Cross-Origin-Opener-Policy` is
//! about windows and stays; an embedder policy, which would keep clients' pages out, is not sent.

use axum::body::Body;
use http::{Response, StatusCode};

use super::cookies::Cookie;
use super::extract::call::Call;
use super::page::{Back, SignedOutPage, clean_title};
use super::render::{page, redirect};
use super::session_state;
use super::signin::{session_cookie, set_cookie};
use crate::domain::model::client::Client;
use crate::domain::protocol::frontchannel_logout::Frame;
use crate::domain::protocol::logout::Then;
use crate::service::session::accounts::Accounts;
use crate::service::session::bind::SignedIn;
use crate::service::{Error, frontchannel_logout, logout};

/// Where the person goes.
#[derive(Clone, Copy)]
pub struct Onward<'a> {
    /// Back, or nowhere.
    pub then: &'a Then,
    /// The client that asked.
    pub client: Option<&'a Client>,
    /// The languages that it wished for.
    pub locales: &'a [String],
}

/// Ends the session and goes on. Who is to be told in frames is found first: when that cannot be read,
/// nothing has happened, and the person can try again.
///
/// # Errors
/// When the session cannot be ended, or its clients cannot be read.
pub async fn end_and_go(
    call: &Call,
    (mut accounts, person): (Accounts, &SignedIn),
    onward: Onward<'_>,
) -> Result<Response<Body>, Error> {
    let frames = frontchannel_logout::frames(&call.app, &call.ctx, person.session.id).await?;
    logout::end(&call.app, &call.ctx, person).await?;
    accounts.remove(person.session.id);
    Ok(go(call, onward, frames, &accounts))
}

/// Goes on after the end; the cookies name who is left, or go with the last one.
#[must_use]
pub fn go(call: &Call, onward: Onward<'_>, frames: Vec<Frame>, left: &Accounts) -> Response<Body> {
    let mut response = match onward.then {
        Then::Redirect(uri) if frames.is_empty() => redirect::see_other(uri),
        _ => shown(call, onward, frames),
    };
    if call.cookie(Cookie::Session).is_some() {
        set_cookie(&mut response, Some(session_cookie(call, left)));
    }
    session_state::follow(call, left, &mut response);
    response
}

fn shown(call: &Call, onward: Onward<'_>, mut frames: Vec<Frame>) -> Response<Body> {
    let title = || clean_title(onward.client.map_or("", Client::title));
    let back = |uri: &String| Some(Back { title: title(), href: uri.clone() });
    for frame in &mut frames {
        frame.title = clean_title(&frame.title);
    }
    let mut chrome = page::chrome(call, onward.locales);
    if !frames.is_empty() {
        // The same page in another language would have nobody left to tell.
        chrome.languages.clear();
    }
    let done = SignedOutPage {
        chrome,
        is_passing: matches!(onward.then, Then::Redirect(_)),
        back: match onward.then {
            Then::Redirect(uri) | Then::Offer(uri) => back(uri),
            Then::SignedOutPage => None,
        },
        sign_in_href: None,
        frames,
    };
    let mut origins: Vec<&str> = done.frames.iter().map(|frame| frame.origin.as_str()).collect();
    origins.sort_unstable();
    origins.dedup();
    page::framing(call, StatusCode::OK, &done, &[], &origins)
}
