//! Initial access tokens: made for developers whose applications register themselves, listed, revoked.

use std::time::Duration;

use super::Scribe;
use crate::domain::model::audit::AuditKind;
use crate::domain::model::ids::InitialAccessTokenId;
use crate::domain::model::initial_access_token::InitialAccessToken;
use crate::domain::model::realm::Realm;
use crate::domain::model::secret::Secret;
use crate::domain::protocol::token_text::{self, TokenKind};
use crate::seal::{sha256, token};
use crate::service::{App, Error, Fault};
use crate::store::repo;

/// Tokens of a realm that are listed.
const MOST: u64 = 10_000;

/// What a token is to be.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// What it is for.
    pub label: String,
    /// Registrations that it is good for, at least one.
    pub uses: u32,
    /// How long it is good.
    pub lives_for: Duration,
}

/// Makes one. Its text is known only to whoever gets this answer.
///
/// # Errors
/// When the label cannot be taken, or the store not written.
pub async fn create(app: &App, realm: &Realm, wanted: Wanted) -> Result<(InitialAccessToken, Secret), Error> {
    if !(1..=100).contains(&wanted.label.chars().count()) || wanted.label.chars().any(char::is_control) {
        let detail = "1 to 100 characters, none of them a control character".to_owned();
        return Err(Error::Invalid(vec![Fault { pointer: "label".to_owned(), detail }]));
    }
    let scribe = Scribe::operator(app, realm.id, app.clock.now());
    let bytes = scribe.bytes::<32>("initial_access_token");
    let secret = Secret::new(token_text::format(TokenKind::InitialAccessToken, &token::encode(&bytes)));
    let made = InitialAccessToken {
        realm: realm.id,
        id: InitialAccessTokenId::from_uuid(scribe.id("initial_access_token_id")),
        label: wanted.label,
        created_at: scribe.now,
        expires_at: scribe.now.plus(wanted.lives_for),
        uses_left: wanted.uses,
    };
    let mut tx = app.store.begin().await?;
    repo::initial_access_token::insert(&mut tx, &made, sha256(secret.expose().as_bytes())).await?;
    repo::audit::append(&mut tx, &scribe.audit(AuditKind::InitialAccessTokenMade)).await?;
    tx.commit().await?;
    Ok((made, secret))
}

/// All of them, oldest first, those that have run out in the last week too.
///
/// # Errors
/// When the store cannot be read.
pub async fn list(app: &App, realm: &Realm) -> Result<Vec<InitialAccessToken>, Error> {
    Ok(repo::initial_access_token::list(&app.store.read(), realm.id, MOST).await?)
}

/// Revokes one. What registered with it stays. `false`: there is none.
///
/// # Errors
/// When the store cannot be written.
pub async fn revoke(app: &App, realm: &Realm, id: InitialAccessTokenId) -> Result<bool, Error> {
    let scribe = Scribe::operator(app, realm.id, app.clock.now());
    let mut tx = app.store.begin().await?;
    let there_was = repo::initial_access_token::delete(&mut tx, realm.id, id).await?;
    if there_was {
        repo::audit::append(&mut tx, &scribe.audit(AuditKind::InitialAccessTokenRevoked)).await?;
        tx.commit().await?;
    }
    Ok(there_was)
}
