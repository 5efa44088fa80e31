//! A registration (RFC 7591 section 3). The token is spent, the quota looked at and the client made in one
//! transaction: what fails has cost nothing, and registrations that come at once do not exceed the quota.

use serde_json::Value;

use super::{answer, check_rate, check_sector, draw, fetch_logo, invalid_token, parse, scribe, settle_secret};
use crate::context::Ctx;
use crate::domain::model::audit::{Actor, AuditKind};
use crate::domain::model::client::{Client, ClientMetadata, ClientOrigin};
use crate::domain::model::ids::ClientKey;
use crate::domain::model::initial_access_token::InitialAccessToken;
use crate::domain::model::secret::Secret;
use crate::domain::protocol::refusal::OauthCode;
use crate::domain::protocol::registration;
use crate::domain::protocol::token_text::{self, TokenKind};
use crate::seal::sha256;
use crate::service::admin::Scribe;
use crate::service::{App, Error};
use crate::store::repo;

/// Registers a client: the body of the answer.
///
/// # Errors
/// The refusals of RFC 7591 section 3.2.2 and RFC 6750 section 3; over the address's rate; over the quota.
pub async fn create(app: &App, ctx: &Ctx, token: Option<&str>, body: &[u8]) -> Result<Value, Error> {
    if !ctx.realm.settings.client_registration.enabled {
        return Err(Error::NotFound);
    }
    check_rate(app, ctx).await?;
    let initial = match admitted(app, ctx, token).await {
        Err(Error::Refused(refusal)) if token.is_some() => {
            note_refused(app, ctx, refusal.reason).await?;
            return Err(refusal.into());
        }
        other => other?,
    };
    let metadata = registration::read(&parse(body)?, &ctx.realm)?;
    check_sector(app, &metadata).await?;
    let scribe = scribe(app, ctx, Actor::Stranger);
    let access_token = draw(&scribe, TokenKind::RegistrationAccessToken, "registration_token");
    match insert(app, ctx, &scribe, (metadata, initial), &access_token).await {
        Ok((client, secret)) => {
            fetch_logo(app, ctx, &client).await;
            Ok(answer(ctx, &client, secret.as_ref(), &access_token))
        }
        Err(Error::Refused(refusal)) => {
            note_refused(app, ctx, refusal.reason).await?;
            Err(refusal.into())
        }
        Err(error) => Err(error),
    }
}

const WRONG: Error = invalid_token("initial_token_wrong", "the initial access token is unknown, too old or used up");

/// The initial access token; nothing where none is needed. It is only looked at here.
async fn admitted(app: &App, ctx: &Ctx, token: Option<&str>) -> Result<Option<InitialAccessToken>, Error> {
    let Some(token) = token else {
        return if ctx.realm.settings.client_registration.require_initial_access_token {
            let description = "registration here needs an initial access token, sent as Bearer; the operator has one";
            Err(invalid_token("token_missing", description))
        } else {
            Ok(None)
        };
    };
    if token_text::body(TokenKind::InitialAccessToken, token).is_none() {
        return Err(WRONG);
    }
    let found = repo::initial_access_token::find(&app.store.read(), ctx.realm.id, sha256(token.as_bytes())).await?;
    match found.filter(|token| token.is_live(ctx.now)) {
        Some(token) => Ok(Some(token)),
        None => Err(WRONG),
    }
}

async fn insert(
    app: &App,
    ctx: &Ctx,
    scribe: &Scribe<'_>,
    (metadata, initial): (ClientMetadata, Option<InitialAccessToken>),
    access_token: &Secret,
) -> Result<(Client, Option<Secret>), Error> {
    let key = ClientKey::from_uuid(scribe.id("client"));
    let client = Client {
        realm: ctx.realm.id,
        key,
        client_id: key.to_string(),
        enabled: true,
        created_at: ctx.now,
        origin: ClientOrigin::SelfRegistered,
        metadata,
        secrets: Vec::new(),
    };
    let mut tx = app.store.begin().await?;
    if let Some(initial) = initial
        && !repo::initial_access_token::spend(&mut tx, client.realm, initial.id, ctx.now).await?
    {
        return Err(WRONG);
    }
    let count = repo::registration::count_alone(&mut tx, client.realm).await?;
    if count >= u64::from(ctx.realm.settings.client_registration.max_clients) {
        tracing::warn!(realm = ctx.realm.name, count, "no more clients may register themselves: max_clients");
        return Err(Error::refused(
            OauthCode::AccessDenied,
            "registration_quota",
            "as many clients have registered themselves here as may; unused ones go after a while",
        ));
    }
    // Whoever knows a person by this word must not take the client for her (RFC 9700 section 4.15).
    if repo::user::find_by_sub(&tx, client.realm, &client.client_id).await?.is_some() {
        return Err(Error::Internal("a person has the sub that was drawn for a client".to_owned()));
    }
    repo::client::insert(&mut tx, &client).await?;
    repo::registration::set_token(&mut tx, client.realm, key, sha256(access_token.expose().as_bytes())).await?;
    let mut audit = scribe.audit(AuditKind::ClientRegistered);
    audit.client = Some(key);
    repo::audit::append(&mut tx, &audit).await?;
    let secret = settle_secret(app, ctx, &mut tx, scribe, &client).await?;
    tx.commit().await?;
    Ok((client, secret))
}

async fn note_refused(app: &App, ctx: &Ctx, reason: &'static str) -> Result<(), Error> {
    let mut audit = scribe(app, ctx, Actor::Stranger).audit(AuditKind::ClientRegistrationRefused);
    audit.reason = Some(reason);
    Ok(app.store.batch().audit(audit).await?)
}
