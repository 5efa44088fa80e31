//! Whose request it is, among the accounts of the browser: facts for the rule, and what a choice does.

use crate::context::Ctx;
use crate::domain::model::client::Client;
use crate::domain::model::ids::SessionId;
use crate::domain::protocol::authorize::request::AuthorizeRequest;
use crate::domain::signin::select_account::{self, Choice, Held, Selection, is_name_of};
use crate::service::session::accounts::Accounts;
use crate::service::session::bind::{self, SignedIn};
use crate::service::signin::flow::Flow;
use crate::service::{App, Error, subject};

/// The browser as a request finds it.
pub struct Here {
    /// Everybody who is signed in here.
    pub accounts: Accounts,
    /// Whose request it is, as far as that is clear.
    pub account: Option<SignedIn>,
    /// Whether the person has to choose first.
    pub choose: bool,
}

/// Decides whose request it is; that account is in use from now on.
///
/// # Errors
/// When facts cannot be read.
pub async fn here(app: &App, ctx: &Ctx, client: &Client, flow: &Flow, accounts: Accounts) -> Result<Here, Error> {
    let mut held = Vec::with_capacity(accounts.iter().count());
    for account in accounts.iter() {
        held.push(Held {
            session: account.session.id,
            is_hinted: is_hinted(app, ctx, client, (&flow.request, account)).await?,
            is_named: flow.request.login_hint.as_deref().is_some_and(|hint| is_name_of(hint, &account.user.user)),
        });
    }
    let known = select_account::Accounts { held: &held, has_current: accounts.has_current() };
    let selection = select_account::select(&flow.request, flow.choice, known);
    let account = match selection {
        Selection::Account(session) => accounts.of_session(session).cloned(),
        Selection::Nobody | Selection::Ask => None,
    };
    if let Some(account) = &account {
        bind::used(app, ctx, account);
    }
    Ok(Here { accounts, account, choose: selection == Selection::Ask })
}

/// Whether the ID token hint names the account's person, as this client knows her.
async fn is_hinted(
    app: &App,
    ctx: &Ctx,
    client: &Client,
    (request, account): (&AuthorizeRequest, &SignedIn),
) -> Result<bool, Error> {
    let Some(hint) = request.hint_sub.as_deref() else { return Ok(false) };
    Ok(subject::seen_by(app, &ctx.realm, client, &account.user.user.sub).await? == hint)
}

/// The request goes on with this account: nothing that was done for another counts for it.
pub fn choose(flow: &mut Flow, session: SessionId) {
    if flow.choice != Choice::Account(session) {
        flow.fresh = None;
        flow.consented = false;
    }
    flow.choice = Choice::Account(session);
}

/// The request goes on with somebody who is not signed in here yet; no name is offered for that.
pub fn choose_another(flow: &mut Flow) {
    flow.choice = Choice::Another;
    flow.request.login_hint = None;
    flow.fresh = None;
    flow.consented = false;
}

/// The person wants to choose, whatever was decided so far.
pub fn reopen(flow: &mut Flow) {
    flow.choice = Choice::Open;
    flow.request.prompt.select_account = true;
    flow.request.login_hint = None;
    flow.fresh = None;
    flow.consented = false;
}
