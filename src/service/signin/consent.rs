//! The consent step: what the person allows is remembered, widened and never narrowed here.

use crate::context::Ctx;
use crate::domain::model::audit::{Actor, AuditKind};
use crate::domain::model::client::Client;
use crate::domain::model::consent::Consent;
use crate::domain::model::ids::ConsentId;
use crate::domain::protocol::authorize::request::AuthorizeRequest;
use crate::service::session::bind::SignedIn;
use crate::service::session::end;
use crate::service::{App, Error};
use crate::store::repo;

/// Remembers what was allowed.
///
/// # Errors
/// When the store cannot do it.
pub async fn allow(
    app: &App,
    ctx: &Ctx,
    client: &Client,
    signed_in: &SignedIn,
    request: &AuthorizeRequest,
) -> Result<(), Error> {
    let user = signed_in.session.user;
    let known = repo::consent::find(&app.store.read(), ctx.realm.id, user, client.key).await?;
    let mut consent = known.unwrap_or_else(|| Consent {
        realm: ctx.realm.id,
        id: ConsentId::from_uuid(app.entropy.uuid("consent", ctx.now)),
        user,
        client: client.key,
        scope: Vec::new(),
        resources: Vec::new(),
        created_at: ctx.now,
        updated_at: ctx.now,
    });
    for scope in request.consent_scope() {
        if !consent.scope.iter().any(|own| own == scope) {
            consent.scope.push(scope.to_owned());
        }
    }
    for resource in &request.resources {
        if !consent.resources.contains(resource) {
            consent.resources.push(resource.clone());
        }
    }
    consent.updated_at = ctx.now;
    let mut audit = end::event(app, ctx, AuditKind::ConsentGiven, Actor::Subject);
    audit.user = Some(user);
    audit.client = Some(client.key);
    audit.session = Some(signed_in.session.id);
    let mut tx = app.store.begin().await?;
    repo::consent::upsert(&mut tx, &consent).await?;
    repo::audit::append(&mut tx, &audit).await?;
    tx.commit().await?;
    Ok(())
}

/// Writes down that the person said no.
///
/// # Errors
/// When the store cannot do it.
pub async fn deny(app: &App, ctx: &Ctx, client: &Client, signed_in: &SignedIn) -> Result<(), Error> {
    let mut audit = end::event(app, ctx, AuditKind::ConsentDenied, Actor::Subject);
    audit.user = Some(signed_in.session.user);
    audit.client = Some(client.key);
    audit.session = Some(signed_in.session.id);
    app.store.batch().audit(audit).await?;
    Ok(())
}
