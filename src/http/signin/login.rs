//! `/login`: the sign-in page. It works without JavaScript, in many tabs, after Back, after a lost
//! cookie and after lunch; there is always a way on.

use std::sync::Arc;

use axum::body::Body;
use http::header::{HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode};

use super::{
    Lookup, Pending, Provenance, SELECT_ACCOUNT, address, decide, go, here, pending, provenance, session_cookie,
    set_cookie,
};
use crate::domain::model::secret::Secret;
use crate::domain::model::span::Span;
use crate::domain::protocol::params::Params;
use crate::domain::protocol::refusal::{OauthCode, Refusal};
use crate::domain::signin::next_step::{Offer, Step};
use crate::http::cookies::Cookie;
use crate::http::extract::call::Call;
use crate::http::page::{LoginError, LoginNotice, LoginPage};
use crate::http::render::note::Note;
use crate::http::render::{page, target};
use crate::http::{answer, begin, session_state};
use crate::service::Error;
use crate::service::session::bind::SignedIn;
use crate::service::session::open::Brought;
use crate::service::signin::flow::{self, Fresh};
use crate::service::signin::form::{self, Binding};
use crate::service::signin::password::{self, Attempt, Outcome};
use crate::service::signin::select_account::{self as selection, Here};
use crate::service::subject::{self, Traces};

/// Answers `GET`.
///
/// # Errors
/// When facts cannot be read.
pub async fn get(call: Arc<Call>) -> Result<Response<Body>, Error> {
    let handle = call.page_param("flow");
    let mut pending = match pending(&call, handle.as_deref()).await? {
        Lookup::Pending(pending) => pending,
        Lookup::Restart { query } => return begin::begin(&call, &query).await,
        Lookup::Page(response) => return Ok(response),
    };
    let here = here(&call, &pending.client, &pending.flow).await?;
    match ask(&call, &pending, &here).await? {
        Some(offer) => {
            let shown = Shown { username: offer, ..Shown::default() };
            show(&call, &pending, &here, shown, StatusCode::OK).await
        }
        None => go(&call, &mut pending, &here).await,
    }
}

/// Answers `POST`.
///
/// # Errors
/// When facts cannot be read.
pub async fn post(call: Arc<Call>) -> Result<Response<Body>, Error> {
    let form = call.form().await?;
    let field = |name| form.one(name).ok().flatten().unwrap_or("").to_owned();
    let username: String = field("username").chars().take(256).collect();
    let mut pending = match pending(&call, Some(&field("flow"))).await? {
        Lookup::Pending(pending) => pending,
        Lookup::Restart { query } => return restart(&call, &query, username).await,
        Lookup::Page(response) => return Ok(response),
    };
    let here = here(&call, &pending.client, &pending.flow).await?;
    let remember = field("remember") == "on";
    let came_from = provenance(&call);
    let binding = Binding {
        form: "login",
        browser: pending.browser,
        flow: Some(pending.handle),
        signed_in: here.account.as_ref(),
    };
    if came_from != Provenance::Ours || !form::check(&call.app, &call.ctx, binding, Some(&field("csrf"))) {
        // Another tab may have signed in meanwhile: then there is nothing to ask any more.
        if came_from == Provenance::Ours && ask(&call, &pending, &here).await?.is_none() {
            return go(&call, &mut pending, &here).await;
        }
        let shown = Shown { username, remember, error: Some(LoginError::Stale) };
        return show(&call, &pending, &here, shown, came_from.refusal()).await;
    }
    if field("action") == "cancel" {
        let refusal = Refusal::new(OauthCode::AccessDenied, "login_cancelled", "the person cancelled the sign-in");
        return Ok(answer::refusal(&call, pending.asked(&here.accounts), &refusal));
    }
    attempt(&call, &mut pending, &here, (username, remember), &form).await
}

async fn attempt(
    call: &Call,
    pending: &mut Pending,
    here: &Here,
    (username, remember): (String, bool),
    form: &Params,
) -> Result<Response<Body>, Error> {
    let typed = form.one("password").ok().flatten().unwrap_or("");
    let device_cookie = call.cookie(Cookie::Device);
    let brought = Brought {
        browser: pending.browser,
        began: pending.flow.started_at,
        accounts: &here.accounts,
        device_cookie: device_cookie.as_deref(),
    };
    let attempt = Attempt { username: &username, password: Secret::from(typed), remember, brought };
    let opened = match password::attempt(&call.app, &call.ctx, attempt).await {
        Ok(Outcome::SignedIn(opened)) => opened,
        Ok(Outcome::Wrong) => {
            let shown = Shown { username, remember, error: Some(LoginError::Wrong) };
            return show(call, pending, here, shown, StatusCode::UNPROCESSABLE_ENTITY).await;
        }
        Err(Error::Busy { retry_after }) => {
            let error = Some(LoginError::Busy { retry_after: u64::from(retry_after) });
            let shown = Shown { username, remember, error };
            let mut response = show(call, pending, here, shown, StatusCode::SERVICE_UNAVAILABLE).await?;
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(retry_after));
            let client = Some(pending.client.client_id.clone());
            response.extensions_mut().insert(Note { client, reason: Some("busy") });
            return Ok(response);
        }
        Err(error) => return Err(error),
    };
    let site = &call.ctx.site;
    let session_cookie = session_cookie(call, &opened.accounts);
    let device_cookie = Cookie::Device.set(site, &opened.device_cookie, Some(opened.device_max_age));
    selection::choose(&mut pending.flow, opened.session.id);
    pending.flow.fresh = Some(Fresh { session: opened.session.id, auth_time: opened.session.auth_time });
    flow::save(&call.app, &call.ctx, pending.browser, pending.handle, &pending.flow).await?;
    let now = selection::here(&call.app, &call.ctx, &pending.client, &pending.flow, opened.accounts).await?;
    let mut response = go(call, pending, &now).await?;
    session_state::follow(call, &now.accounts, &mut response);
    set_cookie(&mut response, Some(session_cookie));
    set_cookie(&mut response, Some(device_cookie));
    Ok(response)
}

/// What the page shows besides the request.
#[derive(Default)]
struct Shown {
    username: String,
    remember: bool,
    error: Option<LoginError>,
}

/// Whether the password is to be asked, and with which name filled in.
async fn ask(call: &Call, pending: &Pending, here: &Here) -> Result<Option<String>, Error> {
    let signed_in = here.account.as_ref();
    Ok(match decide(call, pending, here).await? {
        Step::Password { offer: Some(Offer::Typed(name)) } => Some(name.chars().take(256).collect()),
        // The subject of an ID token hint or of the session: its name is only ever shown to this browser.
        Step::Password { offer: Some(Offer::Subject(sub)) } => {
            let known = match signed_in {
                Some(known) if is_known_by(call, pending, known, &sub).await? => Some(&known.user),
                _ => None,
            };
            match known {
                Some(known) => Some(known.user.username.clone()),
                None => Some(name_of(call, pending, &sub).await?),
            }
        }
        Step::Password { offer: None } => Some(String::new()),
        Step::SelectAccount | Step::Consent { .. } | Step::Issue { .. } | Step::Refuse(_) => None,
    })
}

/// The name behind a hint's subject. The client holds an ID token of ours about that person, so it
/// tells the client nothing that `preferred_username` would not.
async fn name_of(call: &Call, pending: &Pending, sub: &str) -> Result<String, Error> {
    let traces = Traces { session: pending.flow.request.hint_sid, ..Traces::default() };
    let found = subject::person(&call.app, &call.ctx, &pending.client, sub, traces).await?;
    Ok(found.map(|found| found.user.username.clone()).unwrap_or_default())
}

/// Whether the client knows the person by this `sub`.
async fn is_known_by(call: &Call, pending: &Pending, person: &SignedIn, sub: &str) -> Result<bool, Error> {
    Ok(subject::seen_by(&call.app, &call.ctx.realm, &pending.client, &person.user.user.sub).await? == sub)
}

async fn show(
    call: &Call,
    pending: &Pending,
    here: &Here,
    shown: Shown,
    status: StatusCode,
) -> Result<Response<Body>, Error> {
    let request = &pending.flow.request;
    let signed_in = here.account.as_ref();
    let binding = Binding { form: "login", browser: pending.browser, flow: Some(pending.handle), signed_in };
    let mut login = LoginPage::new(page::chrome(call, &request.ui_locales), call.ctx.site.path("/login"));
    if !here.accounts.is_empty() {
        login.chrome.sign_out = Some(call.ctx.site.path("/logout"));
        login.choose_href = Some(address(call, SELECT_ACCOUNT, pending.handle));
    }
    login.client = Some(page::client_header(call, &pending.client).await?);
    login.csrf = form::token(&call.app, &call.ctx, binding);
    login.flow = pending.handle.to_text(&call.app, &call.ctx);
    login.username = shown.username;
    login.remember_offered = call.ctx.realm.settings.sessions.remember_me != Span::default();
    login.remember_checked = shown.remember;
    login.error = shown.error;
    login.cancel = true;
    if let Some(person) = signed_in.filter(|_| shown.error.is_none())
        && is_confirmation(call, pending, person).await?
    {
        login.notice = Some(LoginNotice::Confirm);
    }
    let target = target::csp_source(&request.redirect_uri);
    Ok(page::html(call, status, &login, &[&target]))
}

/// Whether the person signed in is asked to prove herself again, rather than another one to sign in.
async fn is_confirmation(call: &Call, pending: &Pending, person: &SignedIn) -> Result<bool, Error> {
    match &pending.flow.request.hint_sub {
        Some(sub) => is_known_by(call, pending, person, sub).await,
        None => Ok(true),
    }
}

/// The browser's cookie did not come along: lost, replaced by another tab's, or kept back because the form
/// came from elsewhere. The same request begins again with a form of its own, the name stays filled in.
async fn restart(call: &Arc<Call>, query: &str, username: String) -> Result<Response<Body>, Error> {
    let (mut pending, cookie) = match begin::keep(call, query).await? {
        begin::Kept::Pending { pending, cookie } => (pending, cookie),
        begin::Kept::Answered(response) => return Ok(response),
    };
    let came_from = provenance(call);
    // Where only the browser's cookie is missing, who is signed in goes on, and the form is bound to her
    // all the same.
    let here = here(call, &pending.client, &pending.flow).await?;
    let mut response = if came_from == Provenance::Ours && ask(call, &pending, &here).await?.is_none() {
        go(call, &mut pending, &here).await?
    } else {
        let error = if came_from == Provenance::Ours { LoginError::NoCookie } else { LoginError::Stale };
        let shown = Shown { username, remember: false, error: Some(error) };
        show(call, &pending, &here, shown, came_from.refusal()).await?
    };
    set_cookie(&mut response, cookie);
    Ok(response)
}
