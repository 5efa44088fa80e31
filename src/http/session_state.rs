//! `session_state` of an authorization answer, and the cookie from which our frame computes it again (Session
//! Management 1.0 sections 2 and 3.2). Nothing of it where the realm does not offer it.

use axum::body::Body;
use http::Response;
use http::header::{HeaderValue, SET_COOKIE};

use super::cookies::Cookie;
use super::extract::call::Call;
use crate::domain::protocol::session_management;
use crate::entropy;
use crate::service::session::bind::SignedIn;
use crate::service::session::browser_state;

/// Who is signed in in this browser, as far as an answer knows.
#[derive(Clone, Copy)]
pub enum Seen<'a> {
    /// Nobody looked.
    Unseen,
    /// Nobody.
    Nobody,
    /// This person.
    Person(&'a SignedIn),
}

impl Seen<'_> {
    /// Whether an answer knows of nobody.
    #[must_use]
    pub const fn is_nobody(self) -> bool {
        !matches!(self, Self::Person(_))
    }
}

impl<'a> From<Option<&'a SignedIn>> for Seen<'a> {
    fn from(signed_in: Option<&'a SignedIn>) -> Self {
        signed_in.map_or(Self::Nobody, Self::Person)
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
    let (state, cookie) = match seen {
        Seen::Person(person) => {
            let state = browser_state::of(&call.app, &person.session);
            let cookie = (presented.as_deref() != Some(state.as_str())).then(|| set(call, person, &state));
            (state, cookie)
        }
        // Its session is over. One that did not come along (in a frame of another site) may still live.
        Seen::Nobody if call.cookie(Cookie::Session).is_some() => {
            (String::new(), presented.map(|_| Cookie::BrowserState.clear(&call.ctx.site)))
        }
        Seen::Nobody | Seen::Unseen => (presented.unwrap_or_default(), None),
    };
    let salt = entropy::bytes(&*call.app.entropy, "session_state");
    Some(Told { session_state: session_management::session_state(client_id, redirect_uri, &state, salt), cookie })
}

/// Sets the cookie of a person who has just signed in, unless the answer does already.
pub fn follow(call: &Call, person: &SignedIn, response: &mut Response<Body>) {
    if !call.ctx.realm.settings.logout.session_management {
        return;
    }
    let name = Cookie::BrowserState.name(&call.ctx.site);
    let is_set =
        |value: &HeaderValue| value.as_bytes().strip_prefix(name.as_bytes()).is_some_and(|rest| rest.starts_with(b"="));
    if !response.headers().get_all(SET_COOKIE).iter().any(is_set) {
        let cookie = set(call, person, &browser_state::of(&call.app, &person.session));
        response.headers_mut().append(SET_COOKIE, cookie);
    }
}

/// It stays as long as the cookie of the session.
fn set(call: &Call, person: &SignedIn, state: &str) -> HeaderValue {
    let session = &person.session;
    let max_age = session.remembered.then(|| session.expires_at.since(call.ctx.now).as_secs());
    Cookie::BrowserState.set(&call.ctx.site, state, max_age)
}
