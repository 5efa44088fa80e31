//! `session_state` of an authorization answer, and the cookie from which our frame computes it again (Session
//! Management 1.0 sections 2 and 3.2). Nothing of it where the realm does not offer it.

use axum::body::Body;
use http::Response;
use http::header::{HeaderValue, SET_COOKIE};

use super::cookies::Cookie;
use super::extract::call::Call;
use crate::domain::protocol::session_management;
use crate::entropy;
use crate::service::session::accounts::Accounts;
use crate::service::session::browser_state;

/// Who is signed in in this browser, as far as an answer knows.
#[derive(Clone, Copy)]
pub enum Seen<'a> {
    /// Nobody looked.
    Unseen,
    /// These people, or nobody.
    Accounts(&'a Accounts),
}

impl Seen<'_> {
    /// Whether an answer knows of nobody.
    #[must_use]
    pub fn is_nobody(self) -> bool {
        match self {
            Self::Unseen => true,
            Self::Accounts(accounts) => accounts.is_empty(),
        }
    }
}

/// What an answer says of the session.
pub struct Told {
    /// `session_state`.
    pub session_state: String,
    /// Brings the browser's cookie in line, where it is not.
    pub cookie: Option<HeaderValue>,
}

/// What an answer to a client at this redirect URI says; `None` where the realm does not offer it.
#[must_use]
pub fn tell(call: &Call, seen: Seen<'_>, client_id: &str, redirect_uri: &str) -> Option<Told> {
    if !call.ctx.realm.settings.logout.session_management {
        return None;
    }
    let presented = call.cookie(Cookie::BrowserState);
    let now = match seen {
        Seen::Accounts(accounts) => browser_state::of(&call.app, &call.ctx, accounts).map(|state| (state, accounts)),
        Seen::Unseen => None,
    };
    let (state, cookie) = match now {
        Some((state, accounts)) => {
            let cookie = (presented.as_deref() != Some(state.as_str())).then(|| set(call, accounts, &state));
            (state, cookie)
        }
        // All sessions are over. Those that did not come along (in a frame of another site) may still live.
        None if matches!(seen, Seen::Accounts(_)) && call.cookie(Cookie::Session).is_some() => {
            (String::new(), presented.map(|_| Cookie::BrowserState.clear(&call.ctx.site)))
        }
        None => (presented.unwrap_or_default(), None),
    };
    let salt = entropy::bytes(&*call.app.entropy, "session_state");
    Some(Told { session_state: session_management::session_state(client_id, redirect_uri, &state, salt), cookie })
}

/// Brings the cookie in line when somebody has just signed in or out, unless the answer does already.
pub fn follow(call: &Call, accounts: &Accounts, response: &mut Response<Body>) {
    let state =
        browser_state::of(&call.app, &call.ctx, accounts).filter(|_| call.ctx.realm.settings.logout.session_management);
    let Some(state) = state else {
        if call.cookie(Cookie::BrowserState).is_some() {
            response.headers_mut().append(SET_COOKIE, Cookie::BrowserState.clear(&call.ctx.site));
        }
        return;
    };
    let name = Cookie::BrowserState.name(&call.ctx.site);
    let is_set =
        |value: &HeaderValue| value.as_bytes().strip_prefix(name.as_bytes()).is_some_and(|rest| rest.starts_with(b"="));
    if !response.headers().get_all(SET_COOKIE).iter().any(is_set) {
        response.headers_mut().append(SET_COOKIE, set(call, accounts, &state));
    }
}

/// It stays as long as the cookie of the sessions.
fn set(call: &Call, accounts: &Accounts, state: &str) -> HeaderValue {
    Cookie::BrowserState.set(&call.ctx.site, state, accounts.lifetime(call.ctx.now))
}
