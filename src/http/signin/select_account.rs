//! `/login/select-account`: the accounts that are signed in in this browser, another one, and a way out of each.
//! Each account has a form of its own, bound to its session, person and epoch: what was shown for one is never
//! done for another.

use std::sync::Arc;

use axum::body::Body;
use http::{Response, StatusCode};

use super::{
    Lookup, Pending, Provenance, SELECT_ACCOUNT, accounts, address, begin_again, go, pending, provenance,
    session_cookie, set_cookie,
};
use crate::domain::model::ids::SessionId;
use crate::domain::protocol::claims;
use crate::domain::protocol::refusal::{OauthCode, Refusal};
use crate::domain::signin::select_account::Choice;
use crate::http::extract::call::Call;
use crate::http::page::{AccountLine, SelectAccountPage};
use crate::http::render::{page, redirect, target};
use crate::http::{answer, begin, session_state};
use crate::service::session::accounts::Accounts;
use crate::service::session::bind::SignedIn;
use crate::service::signin::form::{self, Binding};
use crate::service::signin::{flow, select_account};
use crate::service::{Error, logout};

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
    let accounts = accounts(&call).await?;
    show(&call, &mut pending, accounts, StatusCode::OK).await
}

/// Answers `POST`.
///
/// # Errors
/// When facts cannot be read.
pub async fn post(call: Arc<Call>) -> Result<Response<Body>, Error> {
    let form = call.form().await?;
    let field = |name| form.one(name).ok().flatten().unwrap_or("").to_owned();
    let came_from = provenance(&call);
    let mut pending = match pending(&call, Some(&field("flow"))).await? {
        Lookup::Pending(pending) => pending,
        Lookup::Restart { query } => return begin_again(&call, &query, came_from).await,
        Lookup::Page(response) => return Ok(response),
    };
    let accounts = accounts(&call).await?;
    let session: Option<SessionId> = field("account").parse().ok();
    let named = session.and_then(|session| accounts.of_session(session)).cloned();
    let genuine = came_from == Provenance::Ours
        && form::check(&call.app, &call.ctx, binding(&pending, named.as_ref()), Some(&field("csrf")));
    match (genuine, field("action").as_str(), named) {
        (true, "choose", Some(account)) => choose(&call, &mut pending, accounts, &account).await,
        (true, "sign_out", Some(account)) => sign_out(&call, &mut pending, accounts, &account).await,
        (true, "another", None) => {
            select_account::choose_another(&mut pending.flow);
            flow::save(&call.app, &call.ctx, pending.browser, pending.handle, &pending.flow).await?;
            Ok(redirect::see_other(&address(&call, "/login", pending.handle)))
        }
        (true, "cancel", None) => {
            let refusal = Refusal::new(OauthCode::AccessDenied, "login_cancelled", "the person cancelled the sign-in");
            Ok(answer::refusal(&call, pending.asked(&accounts), &refusal))
        }
        // The account has ended, its secret or the person's credentials have changed, or it is no form of ours.
        _ => show(&call, &mut pending, accounts, came_from.refusal()).await,
    }
}

async fn choose(
    call: &Call,
    pending: &mut Pending,
    mut accounts: Accounts,
    account: &SignedIn,
) -> Result<Response<Body>, Error> {
    select_account::choose(&mut pending.flow, account.session.id);
    flow::save(&call.app, &call.ctx, pending.browser, pending.handle, &pending.flow).await?;
    accounts.choose(account.session.id);
    let cookie = session_cookie(call, &accounts);
    let here = select_account::here(&call.app, &call.ctx, &pending.client, &pending.flow, accounts).await?;
    let mut response = go(call, pending, &here).await?;
    set_cookie(&mut response, Some(cookie));
    Ok(response)
}

/// Ends the account's session; the page shows who is left.
async fn sign_out(
    call: &Call,
    pending: &mut Pending,
    mut accounts: Accounts,
    account: &SignedIn,
) -> Result<Response<Body>, Error> {
    logout::end(&call.app, &call.ctx, account).await?;
    accounts.remove(account.session.id);
    if pending.flow.choice == Choice::Account(account.session.id) {
        select_account::reopen(&mut pending.flow);
        flow::save(&call.app, &call.ctx, pending.browser, pending.handle, &pending.flow).await?;
    }
    let mut response = redirect::see_other(&address(call, SELECT_ACCOUNT, pending.handle));
    session_state::follow(call, &accounts, &mut response);
    set_cookie(&mut response, Some(session_cookie(call, &accounts)));
    Ok(response)
}

fn binding<'a>(pending: &Pending, signed_in: Option<&'a SignedIn>) -> Binding<'a> {
    Binding { form: "select_account", browser: pending.browser, flow: Some(pending.handle), signed_in }
}

async fn show(
    call: &Call,
    pending: &mut Pending,
    accounts: Accounts,
    status: StatusCode,
) -> Result<Response<Body>, Error> {
    if accounts.is_empty() {
        let here = select_account::here(&call.app, &call.ctx, &pending.client, &pending.flow, accounts).await?;
        return go(call, pending, &here).await;
    }
    let request = &pending.flow.request;
    let token = |account: Option<&SignedIn>| form::token(&call.app, &call.ctx, binding(pending, account));
    let line = |account: &SignedIn| AccountLine {
        name: claims::name(&account.user.user.claims).unwrap_or_default().into_owned(),
        username: account.user.user.username.clone(),
        session: account.session.id.to_string(),
        csrf: token(Some(account)),
    };
    let select = SelectAccountPage {
        chrome: page::chrome(call, &request.ui_locales),
        client: page::client_header(call, &pending.client).await?,
        action: call.ctx.site.path(SELECT_ACCOUNT),
        flow: pending.handle.to_text(&call.app, &call.ctx),
        csrf: token(None),
        accounts: accounts.iter().map(line).collect(),
        is_stale: status != StatusCode::OK,
    };
    let target = target::csp_source(&request.redirect_uri);
    Ok(page::html(call, status, &select, &[&target]))
}
