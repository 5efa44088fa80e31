//! The pages of the sign-in. A page does its step and returns to the engine; [`go`] turns what the
//! engine says into an address or an answer, in one match.

pub mod consent;
pub mod login;
pub mod logo;
pub mod logout;
pub mod select_account;
pub mod start;

use std::sync::Arc;

use axum::body::Body;
use http::header::{HeaderValue, ORIGIN, SET_COOKIE};
use http::{Response, StatusCode};

use super::answer::{self, Asked};
use super::begin;
use super::cookies::Cookie;
use super::extract::call::Call;
use super::page::{AlreadySignedInPage, Fault};
use super::render::{page, redirect};
use super::session_state::Seen;
use crate::domain::model::client::Client;
use crate::domain::signin::next_step::Step;
use crate::entropy;
use crate::service::Error;
use crate::service::authorize::issue;
use crate::service::session::accounts::Accounts;
use crate::service::session::bind::{self, Presented, SignedIn};
use crate::service::session::cookie_text::BrowserCookie;
use crate::service::signin::engine::{self, Standing};
use crate::service::signin::flow::{self, Flow, FlowHandle, Found};
use crate::service::signin::select_account::{self as selection, Here};

/// Where the accounts of the browser are listed.
pub const SELECT_ACCOUNT: &str = "/login/select-account";

/// Whether the request proves that it comes from a page of ours. Browsers send `Origin: null` under
/// our referrer policy, so `Sec-Fetch-Site` speaks first (`security-design` rule 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provenance {
    /// From a page of ours.
    Ours,
    /// The browser says it comes from elsewhere.
    Elsewhere,
    /// Nothing is said: treated as not proven.
    Unproven,
}

impl Provenance {
    /// The status of the page that takes a form back: one from elsewhere is forbidden, any other is shown
    /// again to be sent once more.
    #[must_use]
    pub const fn refusal(self) -> StatusCode {
        match self {
            Self::Elsewhere => StatusCode::FORBIDDEN,
            Self::Ours | Self::Unproven => StatusCode::UNPROCESSABLE_ENTITY,
        }
    }
}

/// Where a POST comes from.
#[must_use]
pub fn provenance(call: &Call) -> Provenance {
    let header = |name: &str| call.headers().get(name).and_then(|value| value.to_str().ok());
    match (header("sec-fetch-site"), header(ORIGIN.as_str())) {
        (Some("same-origin" | "none"), None | Some("null")) => Provenance::Ours,
        (Some("same-origin" | "none"), Some(origin)) if origin == call.ctx.site.origin => Provenance::Ours,
        (None, Some(origin)) if origin == call.ctx.site.origin => Provenance::Ours,
        (None, None) => Provenance::Unproven,
        _ => Provenance::Elsewhere,
    }
}

/// The genuine browser cookie.
#[must_use]
pub fn browser(call: &Call) -> Option<BrowserCookie> {
    BrowserCookie::from_text(&call.app.sealer, call.ctx.realm.id, &call.cookie(Cookie::Browser)?)
}

/// The browser cookie, or a new one with the header that sets it.
#[must_use]
pub fn browser_or_new(call: &Call) -> (BrowserCookie, Option<HeaderValue>) {
    if let Some(known) = browser(call) {
        return (known, None);
    }
    let cookie = BrowserCookie(entropy::bytes(&*call.app.entropy, "browser"));
    let text = cookie.to_text(&call.app.sealer, call.ctx.realm.id);
    (cookie, Some(Cookie::Browser.set(&call.ctx.site, &text, None)))
}

/// Who is signed in in this browser.
///
/// # Errors
/// When the facts cannot be read.
pub async fn signed_in(call: &Call) -> Result<Option<SignedIn>, Error> {
    let (session, device) = (call.cookie(Cookie::Session), call.cookie(Cookie::Device));
    bind::current(&call.app, &call.ctx, Presented { session: session.as_deref(), device: device.as_deref() }).await
}

/// Everybody who is signed in in this browser.
///
/// # Errors
/// When the facts cannot be read.
pub async fn accounts(call: &Call) -> Result<Accounts, Error> {
    let (session, device) = (call.cookie(Cookie::Session), call.cookie(Cookie::Device));
    bind::accounts(&call.app, &call.ctx, Presented { session: session.as_deref(), device: device.as_deref() }).await
}

/// Whose request it is in this browser.
///
/// # Errors
/// When the facts cannot be read.
pub async fn here(call: &Call, client: &Client, flow: &Flow) -> Result<Here, Error> {
    selection::here(&call.app, &call.ctx, client, flow, accounts(call).await?).await
}

/// The header that makes the session cookie name these accounts.
#[must_use]
pub fn session_cookie(call: &Call, accounts: &Accounts) -> HeaderValue {
    match accounts.cookie(&call.app.sealer, call.ctx.realm.id) {
        Some(text) => Cookie::Session.set(&call.ctx.site, &text, accounts.lifetime(call.ctx.now)),
        None => Cookie::Session.clear(&call.ctx.site),
    }
}

/// A pending request that this browser began, with its client.
pub struct Pending {
    /// The browser.
    pub browser: BrowserCookie,
    /// The flow's handle.
    pub handle: FlowHandle,
    /// The flow.
    pub flow: Flow,
    /// The client, enabled.
    pub client: Arc<Client>,
}

impl Pending {
    /// The request as it is answered.
    #[must_use]
    pub fn asked<'a>(&'a self, accounts: &'a Accounts) -> Asked<'a> {
        Asked { request: &self.flow.request, client: &self.client, seen: Seen::Accounts(accounts) }
    }
}

/// What a page's `flow` parameter leads to.
pub enum Lookup {
    /// Go on.
    Pending(Box<Pending>),
    /// The flow exists, but not for this browser's cookie: the same request can begin again.
    Restart {
        /// The request as it came.
        query: String,
    },
    /// There is nothing to go on with; the page says so.
    Page(Response<Body>),
}

/// Looks a flow up.
///
/// # Errors
/// When the store cannot be read.
pub async fn pending(call: &Call, handle: Option<&str>) -> Result<Lookup, Error> {
    let gone = |fault, reason| Lookup::Page(page::fault(call, StatusCode::BAD_REQUEST, fault, reason, Vec::new()));
    let Some(handle) = handle.and_then(|text| FlowHandle::from_text(&call.app, &call.ctx, text)) else {
        return Ok(gone(Fault::FlowGone, "flow_missing"));
    };
    let browser = browser(call);
    let flow = match (flow::find(&call.app, &call.ctx, browser, handle).await?, browser) {
        (Found::Own(flow), Some(browser)) => (*flow, browser),
        (Found::Foreign { query }, _) => return Ok(Lookup::Restart { query }),
        // Another tab may have finished long ago: somebody who is signed in is not told of a failure.
        (Found::Own(_) | Found::Gone, _) => match signed_in(call).await? {
            Some(person) => return Ok(Lookup::Page(already(call, &person))),
            None => return Ok(gone(Fault::FlowGone, "flow_gone")),
        },
    };
    let (flow, browser) = flow;
    let client = call.app.store.models().client_by_key(call.ctx.realm.id, flow.client).await?;
    let Some(client) = client.filter(|client| client.enabled) else {
        return Ok(gone(Fault::UnknownClient, "client_gone"));
    };
    Ok(Lookup::Pending(Box::new(Pending { browser, handle, flow, client })))
}

/// Begins a request again whose form came without the browser's cookie; not for a form from elsewhere, which
/// nobody here sent.
///
/// # Errors
/// When facts cannot be read.
pub async fn begin_again(call: &Call, query: &str, came_from: Provenance) -> Result<Response<Body>, Error> {
    match came_from {
        Provenance::Elsewhere => {
            Ok(page::fault(call, StatusCode::FORBIDDEN, Fault::ForeignForm, "form_elsewhere", Vec::new()))
        }
        Provenance::Ours | Provenance::Unproven => begin::begin(call, query).await,
    }
}

/// Nothing is pending here any more, and the person is signed in.
fn already(call: &Call, person: &SignedIn) -> Response<Body> {
    let mut chrome = page::chrome(call, &[]);
    chrome.sign_out = Some(call.ctx.site.path("/logout"));
    let page = AlreadySignedInPage {
        chrome,
        client: None,
        person: person.user.user.username.clone(),
        continue_href: call.ctx.site.path("/"),
    };
    page::html(call, StatusCode::OK, &page, &[])
}

/// Asks the engine and goes where it says.
///
/// # Errors
/// When facts cannot be read, or an answer cannot be made.
pub async fn go(call: &Call, pending: &mut Pending, here: &Here) -> Result<Response<Body>, Error> {
    let step = decide(call, pending, here).await?;
    match (step, &here.account) {
        (Step::Issue { scope }, Some(signed_in)) => {
            let facts = issue::Facts { client: &pending.client, request: &pending.flow.request, signed_in, scope };
            let given = issue::given(&call.app, &call.ctx, facts).await?;
            let response = answer::outcome(call, pending.asked(&here.accounts), &given);
            // What was done for this request is spent; the request itself stays, so that Back and a
            // second press go on with the session instead of ending nowhere (B-39 c).
            pending.flow.fresh = None;
            pending.flow.consented = false;
            flow::save(&call.app, &call.ctx, pending.browser, pending.handle, &pending.flow).await?;
            Ok(response)
        }
        (Step::Refuse(refusal), _) => Ok(answer::refusal(call, pending.asked(&here.accounts), &refusal)),
        (step, account) => Ok(redirect::see_other(&address(call, page_of(&step, account.as_ref()), pending.handle))),
    }
}

/// What the engine says of a pending request.
///
/// # Errors
/// When facts cannot be read.
pub async fn decide(call: &Call, pending: &Pending, here: &Here) -> Result<Step, Error> {
    let signed_in = here.account.as_ref();
    let standing = Standing { client: &pending.client, flow: &pending.flow, signed_in, choose: here.choose };
    engine::decide(&call.app, &call.ctx, &standing).await
}

/// The page of a step that needs a person.
#[must_use]
pub const fn page_of(step: &Step, account: Option<&SignedIn>) -> &'static str {
    match (step, account) {
        (Step::SelectAccount, _) => SELECT_ACCOUNT,
        (Step::Consent { .. }, Some(_)) => "/consent",
        (Step::Password { .. } | Step::Issue { .. } | Step::Consent { .. } | Step::Refuse(_), _) => "/login",
    }
}

/// A page of a flow.
#[must_use]
pub fn address(call: &Call, path: &str, handle: FlowHandle) -> String {
    format!("{}?flow={}", call.ctx.site.path(path), handle.to_text(&call.app, &call.ctx))
}

/// Sets a cookie on a response.
pub fn set_cookie(response: &mut Response<Body>, cookie: Option<HeaderValue>) {
    if let Some(cookie) = cookie {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
}
