//! Client authentication at token, introspection and revocation: exactly one method, the registered one.

use std::sync::Arc;

use super::session::end;
use crate::context::Ctx;
use crate::domain::model::audit::{Actor, AuditKind};
use crate::domain::model::client::{AuthMethod, Client, ClientSecret};
use crate::domain::model::secret::Secret;
use crate::domain::protocol::client_auth::{self, BodyCredentials};
use crate::domain::protocol::params::Params;
use crate::domain::protocol::refusal::{OauthCode, Refusal};
use crate::seal::Purpose;
use crate::service::{App, Error};

/// Authenticates the client of a request.
///
/// # Errors
/// The refusal of RFC 6749 section 5.2, audited where a known client failed.
pub async fn authenticate(app: &App, ctx: &Ctx, authorization: &[&str], form: &Params) -> Result<Arc<Client>, Error> {
    let body = BodyCredentials {
        client_id: form.one("client_id").map_err(Refusal::from)?,
        client_secret: form.one("client_secret").map_err(Refusal::from)?,
        client_assertion: form.one("client_assertion").map_err(Refusal::from)?,
        client_assertion_type: form.one("client_assertion_type").map_err(Refusal::from)?,
    };
    let presented = client_auth::present(authorization, &body)?;
    let Some(client) = app.store.models().client(ctx.realm.id, &presented.client_id).await? else {
        return Err(client_auth::unknown_client().into());
    };
    let compare = |known: &ClientSecret, secret: &Secret| {
        known.hash == app.sealer.hmac(ctx.realm.id, Purpose::ClientSecret, &[secret.expose().as_bytes()])
    };
    if let Err(refusal) = client_auth::check(&client, &presented, compare, ctx.now) {
        let mut audit = end::event(app, ctx, AuditKind::ClientRefused, Actor::Stranger);
        audit.client = Some(client.key);
        audit.reason = Some(refusal.reason);
        app.store.batch().audit(audit).await?;
        return Err(refusal.into());
    }
    Ok(client)
}

/// As [`authenticate`], for endpoints where only confidential clients may ask (RFC 7662 section 2.1).
///
/// # Errors
/// As above, and a public client is refused.
pub async fn authenticate_confidential(
    app: &App,
    ctx: &Ctx,
    authorization: &[&str],
    form: &Params,
) -> Result<Arc<Client>, Error> {
    let client = authenticate(app, ctx, authorization, form).await?;
    if client.metadata.token_endpoint_auth_method == AuthMethod::None {
        return Err(Error::refused(
            OauthCode::InvalidClient,
            "client_public",
            "a public client cannot prove itself, and this endpoint needs proof",
        ));
    }
    Ok(client)
}
