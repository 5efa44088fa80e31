//! Client authentication at token, introspection and revocation: exactly one method, the registered one.

use std::sync::Arc;

use super::session::end;
use crate::context::Ctx;
use crate::domain::model::audit::{Actor, AuditKind};
use crate::domain::model::client::{AuthMethod, Client, ClientSecret};
use crate::domain::model::secret::Secret;
use crate::domain::protocol::client_assertion::{Audience, ClientAssertion};
use crate::domain::protocol::client_auth::{self, BodyCredentials, Presented};
use crate::domain::protocol::foreign_jwks::SignatureVerdict;
use crate::domain::protocol::params::Params;
use crate::domain::protocol::refusal::{OauthCode, Refusal};
use crate::keys::verify_with_secret;
use crate::seal::Purpose;
use crate::service::admin::client::open_secret;
use crate::service::{App, Error, replay};

/// Authenticates the client of a request to the endpoint at `path`.
///
/// # Errors
/// The refusal of RFC 6749 section 5.2, audited where a known client failed.
pub async fn authenticate(
    app: &App,
    ctx: &Ctx,
    path: &str,
    authorization: &[&str],
    form: &Params,
) -> Result<Arc<Client>, Error> {
    let body = BodyCredentials {
        client_id: form.one("client_id").map_err(Refusal::from)?,
        client_secret: form.one("client_secret").map_err(Refusal::from)?,
        client_assertion: form.one("client_assertion").map_err(Refusal::from)?,
        client_assertion_type: form.one("client_assertion_type").map_err(Refusal::from)?,
    };
    let presented = client_auth::present(authorization, &body)?;
    if let Some(assertion) = &presented.assertion {
        let (token_endpoint, called) = (ctx.site.url("/token"), ctx.site.url(path));
        let audience = Audience { issuer: &ctx.site.issuer, token_endpoint: &token_endpoint, called: &called };
        assertion.check(&audience, ctx.now)?;
    }
    let Some(client) = app.store.models().client(ctx.realm.id, &presented.client_id).await? else {
        return Err(presented.unknown_client().into());
    };
    let proven = prove(app, ctx, &client, &presented).await;
    if let Err(Error::Refused(refusal)) = &proven {
        let mut audit = end::event(app, ctx, AuditKind::ClientRefused, Actor::Stranger);
        audit.client = Some(client.key);
        audit.reason = Some(refusal.reason);
        app.store.batch().audit(audit).await?;
    }
    proven.map(|()| client)
}

async fn prove(app: &App, ctx: &Ctx, client: &Client, presented: &Presented<'_>) -> Result<(), Error> {
    client_auth::check_method(client, presented)?;
    let Some(assertion) = &presented.assertion else {
        let compare = |known: &ClientSecret, secret: &Secret| {
            known.hash == app.sealer.hmac(ctx.realm.id, Purpose::ClientSecret, &[secret.expose().as_bytes()])
        };
        return Ok(client_auth::check_secret(client, presented, compare, ctx.now)?);
    };
    let verdict = match assertion.alg.key() {
        Some(_) => app.client_keys.verify(&app.outbound, client, &assertion.jws, ctx.now).await,
        None => by_secret(app, ctx, client, assertion),
    };
    assertion.check_client(client, verdict)?;
    // The last thing: what is refused for anything else is not spent.
    replay::spend(app, ctx, client, assertion).await
}

/// Every live secret is tried, so that the time does not tell which one fits.
fn by_secret(app: &App, ctx: &Ctx, client: &Client, assertion: &ClientAssertion<'_>) -> SignatureVerdict {
    let secrets = client.live_secrets(ctx.now).filter_map(|secret| open_secret(&app.sealer, client, secret));
    let tried = secrets.map(|secret| verify_with_secret(&secret, &assertion.jws));
    match tried.fold(None, |found, fits| Some(found.unwrap_or(false) | fits)) {
        Some(true) => SignatureVerdict::Good,
        Some(false) => SignatureVerdict::Wrong,
        None => SignatureVerdict::NoKey,
    }
}

/// As [`authenticate`], for endpoints where only confidential clients may ask (RFC 7662 section 2.1).
///
/// # Errors
/// As above, and a public client is refused.
pub async fn authenticate_confidential(
    app: &App,
    ctx: &Ctx,
    path: &str,
    authorization: &[&str],
    form: &Params,
) -> Result<Arc<Client>, Error> {
    let client = authenticate(app, ctx, path, authorization, form).await?;
    if client.metadata.token_endpoint_auth_method == AuthMethod::None {
        return Err(Error::refused(
            OauthCode::InvalidClient,
            "client_public",
            "a public client cannot prove itself, and this endpoint needs proof",
        ));
    }
    Ok(client)
}
