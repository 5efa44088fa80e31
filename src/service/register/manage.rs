//! A client looks after its registration (RFC 7592 section 2) with the token that it got for it. The token stays
//! the same over its life: an update whose answer was lost locks nobody out.

use serde_json::{Map, Value};

use super::{answer, check_rate, check_sector, fetch_logo, invalid_token, parse, scribe, settle_secret};
use crate::context::Ctx;
use crate::domain::model::audit::{Actor, AuditKind};
use crate::domain::model::client::{Client, ClientMetadata};
use crate::domain::model::ids::ClientKey;
use crate::domain::model::secret::{Secret, SecretHash};
use crate::domain::protocol::refusal::{OauthCode, Refusal};
use crate::domain::protocol::registration;
use crate::domain::protocol::token_text::{self, TokenKind};
use crate::seal::sha256;
use crate::service::admin::client::secret_hash;
use crate::service::{App, Error};
use crate::store::repo;

/// The same for a wrong token and for a client that is gone: either way there is nothing left to do with it
/// (RFC 7592 section 2.1).
const WRONG: Error = invalid_token(
    "registration_token_wrong",
    "this is no registration access token of a client that is registered here; register again",
);

/// Whoever asks, established.
struct Held {
    client: Client,
    token: Secret,
    hash: SecretHash,
}

async fn held(app: &App, ctx: &Ctx, client_id: &str, token: Option<&str>) -> Result<Held, Error> {
    if !ctx.realm.settings.client_registration.enabled {
        return Err(Error::NotFound);
    }
    let Some(token) = token else {
        return Err(invalid_token("token_missing", "send the registration access token as Bearer"));
    };
    if token_text::body(TokenKind::RegistrationAccessToken, token).is_none() {
        return Err(WRONG);
    }
    // The ids of clients that registered themselves are their keys.
    let Ok(key) = client_id.parse::<ClientKey>() else { return Err(WRONG) };
    let hash = sha256(token.as_bytes());
    let source = app.store.read();
    if repo::registration::find_token(&source, ctx.realm.id, key).await? != Some(hash) {
        return Err(WRONG);
    }
    match repo::client::find(&source, ctx.realm.id, key).await?.filter(|client| client.client_id == client_id) {
        Some(client) => Ok(Held { client, token: Secret::from(token), hash }),
        None => Err(WRONG),
    }
}

/// The registration as it is (section 2.1). A secret is told once, when it is made.
///
/// # Errors
/// `invalid_token`.
pub async fn read(app: &App, ctx: &Ctx, client_id: &str, token: Option<&str>) -> Result<Value, Error> {
    let held = held(app, ctx, client_id, token).await?;
    Ok(answer(ctx, &held.client, None, &held.token))
}

/// Replaces what is registered (section 2.2): what is left out has its default again.
///
/// # Errors
/// `invalid_token`, the refusals of RFC 7591 section 3.2.2, over the address's rate.
pub async fn update(app: &App, ctx: &Ctx, client_id: &str, token: Option<&str>, body: &[u8]) -> Result<Value, Error> {
    let Held { client: before, token, hash } = held(app, ctx, client_id, token).await?;
    check_rate(app, ctx).await?;
    let document = parse(body)?;
    check_identity(app, ctx, &before, &document)?;
    let metadata = registration::read(&document, &ctx.realm)?;
    registration::check_update(&before.metadata, &metadata)?;
    check_sector(app, &metadata).await?;
    let must_ask = asks_anew(&before.metadata, &metadata);
    let client = Client { metadata, ..before };
    let scribe = scribe(app, ctx, Actor::Client);
    let mut tx = app.store.begin().await?;
    if !repo::registration::hold(&mut tx, client.realm, client.key, hash).await? {
        return Err(WRONG);
    }
    repo::client::update(&mut tx, &client, ctx.now).await?;
    if must_ask {
        repo::consent::delete_for_client(&mut tx, client.realm, client.key).await?;
    }
    let mut audit = scribe.audit(AuditKind::ClientUpdated);
    audit.client = Some(client.key);
    repo::audit::append(&mut tx, &audit).await?;
    let secret = settle_secret(app, ctx, &mut tx, &scribe, &client).await?;
    tx.commit().await?;
    fetch_logo(app, ctx, &client).await;
    Ok(answer(ctx, &client, secret.as_ref(), &token))
}

/// Deletes the client with all that it was given (section 2.3).
///
/// # Errors
/// `invalid_token`.
pub async fn delete(app: &App, ctx: &Ctx, client_id: &str, token: Option<&str>) -> Result<(), Error> {
    let Held { client, hash, .. } = held(app, ctx, client_id, token).await?;
    let scribe = scribe(app, ctx, Actor::Client);
    let mut tx = app.store.begin().await?;
    if !repo::registration::hold(&mut tx, client.realm, client.key, hash).await? {
        return Err(WRONG);
    }
    let mut audit = scribe.audit(AuditKind::ClientDeleted);
    audit.client = Some(client.key);
    repo::audit::append(&mut tx, &audit).await?;
    repo::client::delete(&mut tx, client.realm, client.key, ctx.now).await?;
    Ok(tx.commit().await?)
}

/// Section 2.2: an update names its client, and proves the secret where it repeats it.
fn check_identity(app: &App, ctx: &Ctx, client: &Client, document: &Map<String, Value>) -> Result<(), Refusal> {
    let wrong = |description| Refusal::new(OauthCode::InvalidClientMetadata, "registration_identity", description);
    if document.get("client_id").and_then(Value::as_str) != Some(client.client_id.as_str()) {
        return Err(wrong("client_id: an update repeats the client_id of the client that it is for"));
    }
    let Some(sent) = document.get("client_secret").filter(|sent| !sent.is_null()) else { return Ok(()) };
    let sent = Secret::from(sent.as_str().unwrap_or_default());
    let sent = secret_hash(&app.sealer, &ctx.realm, &sent);
    if client.live_secrets(ctx.now).fold(false, |fits, known| (known.hash == sent) | fits) {
        Ok(())
    } else {
        Err(wrong("client_secret: it is not the client's own; leave it out, a client does not choose its secret"))
    }
}

/// Whether what people allowed was another application as they could see it, or another address.
fn asks_anew(before: &ClientMetadata, after: &ClientMetadata) -> bool {
    before.client_name != after.client_name
        || before.client_uri != after.client_uri
        || after.redirect_uris.iter().any(|uri| !before.redirect_uris.contains(uri))
}
