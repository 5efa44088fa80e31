//! The engine: looks at request, session, consent, and says what comes next. Only it decides where a
//! sign-in goes; a page does its step and comes back here.

use std::borrow::Cow;
use std::sync::Arc;

use super::flow::{Flow, Fresh};
use crate::context::Ctx;
use crate::domain::model::client::Client;
use crate::domain::model::consent::Consent;
use crate::domain::protocol::may_receive::{PersonFacts, SessionFacts, Subject, SubjectFacts, may_receive};
use crate::domain::protocol::refusal::Refusal;
use crate::domain::signin::next_step::{SessionFact, Step, StepFacts, next_step};
use crate::service::session::bind::SignedIn;
use crate::service::subject::seen_by;
use crate::service::{App, Error};
use crate::store::repo;

/// What the engine knows of a pending request.
pub struct Standing<'a> {
    /// The client that asked.
    pub client: &'a Arc<Client>,
    /// The request and what happened in it so far.
    pub flow: &'a Flow,
    /// Whose it is.
    pub signed_in: Option<&'a SignedIn>,
    /// Whether the person has to choose first.
    pub choose: bool,
}

/// Decides the next step.
///
/// # Errors
/// When facts cannot be read.
pub async fn decide(app: &App, ctx: &Ctx, standing: &Standing<'_>) -> Result<Step, Error> {
    let consent = match standing.signed_in {
        Some(signed_in) => consent(app, ctx, standing, signed_in).await?,
        None => None,
    };
    let flow = standing.flow;
    let sub = match standing.signed_in {
        Some(signed_in) => seen_by(app, &ctx.realm, standing.client, &signed_in.user.user.sub).await?,
        None => Cow::Borrowed(""),
    };
    let session = standing.signed_in.map(|signed_in| SessionFact {
        user: signed_in.session.user,
        sub: &sub,
        auth_time: signed_in.session.auth_time,
        acr: signed_in.session.acr,
        live: true,
    });
    let facts = StepFacts {
        request: &flow.request,
        client: standing.client,
        started_at: flow.started_at,
        now: ctx.now,
        fresh: standing.signed_in.is_some_and(|signed_in| is_fresh(flow.fresh, signed_in)),
        choose: standing.choose,
        session,
        consent: consent.as_ref(),
        consent_given_now: flow.consented,
        may_receive: standing.signed_in.map_or(Ok(()), |signed_in| may(ctx, standing.client, signed_in)),
    };
    Ok(next_step(&facts))
}

/// A sign-in counts as fresh only for the flow it was made in, and only while it is the session's latest.
fn is_fresh(fresh: Option<Fresh>, signed_in: &SignedIn) -> bool {
    fresh.is_some_and(|fresh| fresh.session == signed_in.session.id && fresh.auth_time <= signed_in.session.auth_time)
}

/// Whether the person may receive anything for this client now.
///
/// # Errors
/// The refusal of the one function that decides it.
pub fn may(ctx: &Ctx, client: &Client, signed_in: &SignedIn) -> Result<(), Refusal> {
    let person = PersonFacts {
        user: Some(&signed_in.user.user),
        credential_epoch: Some(signed_in.session.credential_epoch),
        session: SessionFacts::Needed(Some(&signed_in.session)),
        grant: None,
    };
    may_receive(&SubjectFacts { realm: &ctx.realm, client, subject: Subject::Person(person), now: ctx.now })
}

async fn consent(
    app: &App,
    ctx: &Ctx,
    standing: &Standing<'_>,
    signed_in: &SignedIn,
) -> Result<Option<Consent>, Error> {
    let source = app.store.read();
    Ok(repo::consent::find(&source, ctx.realm.id, signed_in.session.user, standing.client.key).await?)
}
