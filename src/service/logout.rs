//! RP-initiated logout: the facts for the rule, and the end of the session.

use std::borrow::Cow;
use std::sync::Arc;

use crate::context::Ctx;
use crate::domain::model::audit::{Actor, AuditKind};
use crate::domain::model::client::Client;
use crate::domain::model::session::EndReason;
use crate::domain::protocol::logout::{Decision, Hint, LogoutFacts, Present, decide_logout, named_client, whom};
use crate::domain::protocol::params::Params;
use crate::domain::protocol::refusal::Refusal;
use crate::service::authorize::hint;
use crate::service::session::accounts::Accounts;
use crate::service::session::bind::SignedIn;
use crate::service::session::end::{self, Why};
use crate::service::{App, Error, subject};

/// Parameters that may stand once (RP-Initiated Logout 2).
const SINGLE: [&str; 6] =
    ["id_token_hint", "logout_hint", "client_id", "post_logout_redirect_uri", "state", "ui_locales"];

/// What a request leads to, and the client concerned.
pub struct Asked {
    /// What to do.
    pub decision: Decision,
    /// The client that the request names.
    pub client: Option<Arc<Client>>,
    /// Whose sign-out it is, among those who are signed in in this browser.
    pub person: Option<SignedIn>,
}

/// Decides on a request.
///
/// # Errors
/// When facts cannot be read.
pub async fn decide(app: &App, ctx: &Ctx, params: &Params, accounts: &Accounts) -> Result<Asked, Error> {
    let wrong = |refusal| Asked { decision: Decision::ErrorPage(refusal), client: None, person: None };
    if let Err(fault) = params.check_single(&SINGLE) {
        return Ok(wrong(Refusal::from(fault)));
    }
    let claims = match params.get("id_token_hint") {
        Some(token) => Some(hint::read(app, ctx, token).await?),
        None => None,
    };
    let hint = match &claims {
        None => Hint::Absent,
        Some(None) => Hint::Invalid,
        Some(Some(claims)) => Hint::Valid(claims),
    };
    let client = match named_client(hint, params.get("client_id")) {
        Ok(Some(client_id)) => app.store.models().client(ctx.realm.id, client_id).await?,
        Ok(None) => None,
        Err(refusal) => return Ok(wrong(refusal)),
    };
    let mut held = Vec::with_capacity(accounts.iter().count());
    for account in accounts.iter() {
        let own = account.user.user.sub.as_str();
        let sub = match &client {
            Some(client) => subject::seen_by(app, &ctx.realm, client, own).await?,
            None => Cow::Borrowed(own),
        };
        held.push((account, sub));
    }
    let held: Vec<Present<'_>> = held
        .iter()
        .map(|(account, sub)| Present { session: &account.session, user: &account.user.user, sub })
        .collect();
    let logout_hint = params.get("logout_hint");
    let meant = whom(hint, logout_hint, &held, accounts.has_current());
    let person = meant.and_then(|present| accounts.of_session(present.session.id)).cloned();
    let decision = decide_logout(&LogoutFacts {
        hint,
        client: client.as_deref(),
        post_logout_redirect_uri: params.get("post_logout_redirect_uri"),
        state: params.get("state"),
        logout_hint,
        session: meant,
    });
    Ok(Asked { decision, client, person })
}

/// Ends the session that a person signed out of.
///
/// # Errors
/// When the store cannot do it: then nobody may say she is signed out.
pub async fn end(app: &App, ctx: &Ctx, signed_in: &SignedIn) -> Result<(), Error> {
    let why = Why { reason: EndReason::Logout, kind: AuditKind::SessionEnded, actor: Actor::Subject };
    end::session(app, ctx, signed_in, why).await?;
    Ok(())
}
