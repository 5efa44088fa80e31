//! What ending a session or a grant means, for every reason: the row keeps time and reason, grants
//! that live only with the session end too, an audit event says who did it, other services are told.

use super::bind::{MISUSE, SignedIn};
use crate::context::Ctx;
use crate::domain::model::audit::{Actor, AuditEvent, AuditKind};
use crate::domain::model::event::{EventKind, OutboxEvent};
use crate::domain::model::grant::Grant;
use crate::domain::model::ids::EventId;
use crate::domain::model::session::{EndReason, Ended, Session};
use crate::service::{App, Error};
use crate::store::batch::EndSession;
use crate::store::repo;

/// Why something ends, and who says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Why {
    /// Kept in the row.
    pub reason: EndReason,
    /// How it is audited.
    pub kind: AuditKind,
    /// Who acted.
    pub actor: Actor,
}

/// Ends a session. Ending an ended one changes nothing.
///
/// # Errors
/// When the store cannot do it; nothing is half done then.
pub async fn session(app: &App, ctx: &Ctx, signed_in: &SignedIn, why: Why) -> Result<bool, Error> {
    let (session, user) = (&signed_in.session, &signed_in.user.user);
    let Why { reason, actor, .. } = why;
    let mut audit = event(app, ctx, why.kind, actor);
    audit.user = Some(session.user);
    audit.session = Some(session.id);
    audit.reason = Some(reason.as_str());
    let outbox = OutboxEvent {
        id: EventId::from_uuid(app.entropy.uuid("event", ctx.now)),
        realm: ctx.realm.id,
        user: user.id,
        sub: user.sub.clone(),
        kind: EventKind::SessionRevoked,
        at: ctx.now,
        data: serde_json::json!({ "sid": session.id.to_string(), "reason": reason.as_str() }).to_string(),
    };
    let op = EndSession {
        realm: ctx.realm.id,
        session: session.id,
        ended: Ended { at: ctx.now, reason },
        audit,
        outbox: Some(outbox),
    };
    Ok(app.store.batch().end_session(op).await?)
}

/// Ends a grant with an audit event, in one transaction.
///
/// # Errors
/// When the store cannot do it; nothing is half done then.
pub async fn grant(app: &App, ctx: &Ctx, grant: &Grant, why: Why) -> Result<(), Error> {
    let Why { reason, kind, actor } = why;
    let mut audit = event(app, ctx, kind, actor);
    audit.user = Some(grant.user);
    audit.client = Some(grant.client);
    audit.session = Some(grant.session);
    audit.grant = Some(grant.id);
    audit.reason = Some(reason.as_str());
    let mut tx = app.store.begin().await?;
    repo::grant::end(&mut tx, ctx.realm.id, grant.id, Ended { at: ctx.now, reason }).await?;
    repo::audit::append(&mut tx, &audit).await?;
    tx.commit().await?;
    Ok(())
}

/// An audit event with this request's circumstances.
#[must_use]
pub fn event(app: &App, ctx: &Ctx, kind: AuditKind, actor: Actor) -> AuditEvent {
    AuditEvent {
        id: EventId::from_uuid(app.entropy.uuid("event", ctx.now)),
        realm: ctx.realm.id,
        at: ctx.now,
        kind,
        user: None,
        client: None,
        session: None,
        grant: None,
        reason: None,
        actor,
        address: ctx.address.map(|address| address.to_string()),
        request: Some(ctx.request_id.to_string()),
    }
}

/// The audit event of a session cookie on another device.
#[must_use]
pub(super) fn misused(app: &App, ctx: &Ctx, session: &Session) -> AuditEvent {
    let mut audit = event(app, ctx, MISUSE.0, MISUSE.1);
    audit.user = Some(session.user);
    audit.session = Some(session.id);
    audit
}
