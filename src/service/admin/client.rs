//! Clients: looked at, and given a new secret beside the old one.

use std::time::Duration;

use zeroize::Zeroizing;

use super::Scribe;
use crate::domain::model::audit::AuditKind;
use crate::domain::model::backchannel_logout::LogoutNotice;
use crate::domain::model::client::{AuthMethod, Client, ClientSecret};
use crate::domain::model::ids::{ClientKey, ClientSecretId};
use crate::domain::model::realm::Realm;
use crate::domain::model::secret::{Secret, SecretHash};
use crate::domain::model::timestamp::Timestamp;
use crate::domain::protocol::token_text::{self, TokenKind};
use crate::seal::{Purpose, Sealer, token};
use crate::service::{App, Error, Fault};
use crate::store::repo::backchannel_logout::NoticeFilter;
use crate::store::{self, Tx, repo};

/// What rests in the database of a client's secret.
#[derive(Debug, Clone)]
pub struct SecretAtRest {
    /// What is compared.
    pub hash: SecretHash,
    /// The secret itself, sealed, where the client signs with it.
    pub sealed: Option<Vec<u8>>,
}

/// Makes what rests of `secret`: its hash, and the secret itself only for a client that signs with it.
#[must_use]
pub fn at_rest(
    sealer: &Sealer,
    realm: &Realm,
    (client, method): (ClientKey, AuthMethod),
    secret: &Secret,
) -> SecretAtRest {
    let signs = method == AuthMethod::ClientSecretJwt;
    let seal = || sealer.seal(realm.id, Purpose::SigningSecret, secret.expose().as_bytes(), client.as_bytes());
    SecretAtRest { hash: secret_hash(sealer, realm, secret), sealed: signs.then(seal) }
}

/// Opens a secret that signs.
#[must_use]
pub fn open_secret(sealer: &Sealer, client: &Client, secret: &ClientSecret) -> Option<Zeroizing<Vec<u8>>> {
    let sealed = secret.sealed.as_ref()?;
    sealer.open(client.realm, Purpose::SigningSecret, sealed, client.key.as_bytes()).map(Zeroizing::new)
}

/// What a secret is compared by.
#[must_use]
pub fn secret_hash(sealer: &Sealer, realm: &Realm, secret: &Secret) -> SecretHash {
    sealer.hmac(realm.id, Purpose::ClientSecret, &[secret.expose().as_bytes()])
}

/// Adds a secret; the one before it works until `keep_until`, or no longer.
pub async fn put_secret(
    tx: &mut Tx,
    scribe: &Scribe<'_>,
    client: ClientKey,
    secret: SecretAtRest,
    keep_until: Option<Timestamp>,
) -> Result<(), store::Error> {
    let id = ClientSecretId::from_uuid(scribe.id("client_secret"));
    let SecretAtRest { hash, sealed } = secret;
    let secret = ClientSecret { id, hash, sealed, created_at: scribe.now, expires_at: None };
    repo::client::add_secret(tx, scribe.realm, client, &secret, keep_until).await?;
    let mut audit = scribe.audit(AuditKind::ClientSecretSet);
    audit.client = Some(client);
    repo::audit::append(tx, &audit).await
}

/// The client of this `client_id`.
pub async fn find(app: &App, realm: &Realm, client_id: &str) -> Result<Option<Client>, Error> {
    Ok(repo::client::find_by_client_id(&app.store.read(), realm.id, client_id).await?)
}

/// Clients in the order of their birth.
pub async fn list(app: &App, realm: &Realm, after: Option<ClientKey>, limit: u64) -> Result<Vec<Client>, Error> {
    Ok(repo::client::list(&app.store.read(), realm.id, after, limit).await?)
}

/// What clients were told, or are to be told, of sessions that ended; newest first.
pub async fn logouts(app: &App, realm: &Realm, filter: NoticeFilter, limit: u64) -> Result<Vec<LogoutNotice>, Error> {
    Ok(repo::backchannel_logout::list(&app.store.read(), realm.id, filter, limit).await?)
}

/// Makes a new secret of 256 bits. It is known only to whoever gets this answer.
pub async fn rotate_secret(app: &App, realm: &Realm, client: &Client, keep: Option<Duration>) -> Result<Secret, Error> {
    let method = client.metadata.token_endpoint_auth_method;
    if !method.has_secret() {
        let detail = match method {
            AuthMethod::None => "a public client (token_endpoint_auth_method: none) has no secret".to_owned(),
            other => format!("a client that proves itself by {} has no secret", other.as_str()),
        };
        return Err(Error::Invalid(vec![Fault { pointer: "client_id".to_owned(), detail }]));
    }
    let scribe = Scribe::operator(app, realm.id, app.clock.now());
    let secret =
        Secret::new(token_text::format(TokenKind::ClientSecret, &token::encode(&scribe.bytes::<32>("client_secret"))));
    let rests = at_rest(&app.sealer, realm, (client.key, method), &secret);
    let mut tx = app.store.begin().await?;
    put_secret(&mut tx, &scribe, client.key, rests, keep.map(|keep| scribe.now.plus(keep))).await?;
    tx.commit().await?;
    Ok(secret)
}
