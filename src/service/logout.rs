//! RP-initiated logout: the facts for the rule, and the end of the session.

use std::borrow::Cow;
use std::sync::Arc;

use crate::context::Ctx;
use crate::domain::model::audit::{Actor, AuditKind};
use crate::domain::model::client::Client;
use crate::domain::model::session::EndReason;
use crate::domain::protocol::logout::{Decision, Hint, LogoutFacts, Present, decide_logout, named_client};
use crate::domain::protocol::params::Params;
use crate::domain::protocol::refusal::Refusal;
use crate::service::authorize::hint;
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
}

/// Decides on a request.
///
/// # Errors
/// When facts cannot be read.
pub async fn decide(app: &App, ctx: &Ctx, params: &Params, signed_in: Option<&SignedIn>) -> Result<Asked, Error> {
    if let Err(fault) = params.check_single(&SINGLE) {
        return Ok(Asked { decision: Decision::ErrorPage(Refusal::from(fault)), client: None });
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
        Err(refusal) => return Ok(Asked { decision: Decision::ErrorPage(refusal), client: None }),
    };
    let logout_hint = params.get("logout_hint");
    let sub = match (signed_in, &client) {
        // Only the hint needs it.
        (Some(person), Some(client)) if logout_hint.is_some() => {
            subject::seen_by(app, &ctx.realm, client, &person.user.user.sub).await?
        }
        (person, _) => Cow::Borrowed(person.map_or("", |person| person.user.user.sub.as_str())),
    };
    let decision = decide_logout(&LogoutFacts {
        hint,
        client: client.as_deref(),
        post_logout_redirect_uri: params.get("post_logout_redirect_uri"),
        state: params.get("state"),
        logout_hint,
        session: signed_in.map(|person| Present { session: &person.session, user: &person.user.user, sub: &sub }),
    });
    Ok(Asked { decision, client })
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
