//! Clients that register themselves and look after their registration (RFC 7591, RFC 7592; `security-design`
//! rule 31). The rules stand in [`crate::domain::protocol::registration`].

pub mod create;
pub mod expire;
pub mod manage;
pub mod used;

use std::time::Duration;

use serde_json::{Map, Value};

use super::admin::Scribe;
use super::admin::client::{at_rest, put_secret};
use crate::context::Ctx;
use crate::domain::model::audit::Actor;
use crate::domain::model::client::{AuthMethod, Client, ClientMetadata, ClientOrigin};
use crate::domain::model::secret::Secret;
use crate::domain::protocol::refusal::{OauthCode, Refusal};
use crate::domain::protocol::registration::{self, Issued};
use crate::domain::protocol::strict_json;
use crate::domain::protocol::token_text::{self, TokenKind};
use crate::seal::token;
use crate::service::{App, Error, logo, sector};
use crate::store::shortlived::Kind;
use crate::store::{self, Tx, repo};

/// Objects and lists within each other; a key set needs three.
const DEPTH_MAX: usize = 8;

/// Counts one more registration or update from the caller's network.
async fn check_rate(app: &App, ctx: &Ctx) -> Result<(), Error> {
    let limit = ctx.realm.settings.client_registration.rate_per_hour;
    let allowance = registration::allowance(ctx.address, ctx.now);
    let window = Duration::from_secs(u64::from(allowance.resets_in));
    let store = app.store.shortlived();
    let count = store.bump(ctx.realm.id, Kind::Counter, &allowance.counter, window, ctx.now).await?;
    if count > u64::from(limit) {
        return Err(Error::Throttled { retry_after: allowance.resets_in, limit });
    }
    Ok(())
}

fn parse(body: &[u8]) -> Result<Map<String, Value>, Refusal> {
    strict_json::object(body, DEPTH_MAX).map_err(|fault| {
        Refusal::with(OauthCode::InvalidClientMetadata, "registration_body", &format!("the body {fault}"))
    })
}

/// Whether the host of a sector agrees that the client belongs to it (OpenID Connect Dynamic Registration 5).
async fn check_sector(app: &App, metadata: &ClientMetadata) -> Result<(), Refusal> {
    let checked = sector::check(&app.outbound, metadata, ClientOrigin::SelfRegistered.into()).await;
    checked.map_err(|error| {
        tracing::info!(fault = error.detail(), "a sector document does not bear a registration out");
        Refusal::with(OauthCode::InvalidClientMetadata, "registration_sector", &error.to_string())
    })
}

const fn invalid_token(reason: &'static str, description: &'static str) -> Error {
    Error::refused(OauthCode::InvalidToken, reason, description)
}

/// Who acts: the request, in the name of nobody that we know, or of the client.
fn scribe<'a>(app: &'a App, ctx: &'a Ctx, actor: Actor) -> Scribe<'a> {
    let mut scribe = Scribe::by_request(app, ctx);
    scribe.actor = actor;
    scribe
}

/// A new text of 256 random bits.
fn draw(scribe: &Scribe<'_>, kind: TokenKind, purpose: &'static str) -> Secret {
    Secret::new(token_text::format(kind, &token::encode(&scribe.bytes::<32>(purpose))))
}

/// Gives the client a secret where its way to prove itself needs one that we do not have, and takes away what it
/// does not need.
async fn settle_secret(
    app: &App,
    ctx: &Ctx,
    tx: &mut Tx,
    scribe: &Scribe<'_>,
    client: &Client,
) -> Result<Option<Secret>, store::Error> {
    let method = client.metadata.token_endpoint_auth_method;
    if !method.has_secret() {
        if !client.secrets.is_empty() {
            repo::client::forget_secrets(tx, client.realm, client.key).await?;
        }
        return Ok(None);
    }
    let signs = method == AuthMethod::ClientSecretJwt;
    let is_whole = client.live_secrets(ctx.now).any(|secret| !signs || secret.sealed.is_some());
    if is_whole {
        if !signs && client.secrets.iter().any(|secret| secret.sealed.is_some()) {
            repo::client::forget_sealed(tx, client.realm, client.key).await?;
        }
        return Ok(None);
    }
    let secret = draw(scribe, TokenKind::ClientSecret, "client_secret");
    let rests = at_rest(&app.sealer, &ctx.realm, (client.key, method), &secret);
    put_secret(tx, scribe, client.key, rests, None).await?;
    Ok(Some(secret))
}

/// The logo is looked for before the answer, so that the client's first sign-in page shows it. A registration
/// does not fail for it, and the background tries again.
async fn fetch_logo(app: &App, ctx: &Ctx, client: &Client) {
    if let Err(error) = logo::fetch_one(app, client, ctx.now).await {
        tracing::warn!(client = client.client_id, %error, "a logo could not be kept");
    }
}

fn answer(ctx: &Ctx, client: &Client, client_secret: Option<&Secret>, access_token: &Secret) -> Value {
    let uri = ctx.site.url(&format!("/register/{}", client.client_id));
    registration::answer(client, &Issued { client_secret, access_token, uri })
}
