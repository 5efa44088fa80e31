//! Writes a stored realm in the format that `apply` reads. With secrets only under a passphrase, and
//! audited (`security-design` rule 28).

use std::cell::RefCell;

use zeroize::Zeroizing;

use super::crypt::{Passphrase, Place};
use super::{Failure, load, local};
use crate::domain::model::audit::AuditKind;
use crate::domain::model::client::{Client, ClientSecret};
use crate::domain::model::realm::Realm;
use crate::domain::protocol::subject::PairwiseKey;
use crate::domain::realm_file::{self, ExportedSecrets, StoredUser};
use crate::entropy;
use crate::service::admin::Scribe;
use crate::service::admin::client::open_secret;
use crate::service::{App, Error, subject};
use crate::store::repo;

/// Whether secrets are written.
#[derive(Debug)]
pub enum Secrets {
    /// None.
    Left,
    /// Password hashes and client secrets, encrypted under a passphrase.
    Encrypted(Passphrase),
}

/// Encrypts while the export is written; the first failure is kept, since the trait cannot tell it.
struct Encrypts<'a> {
    app: &'a App,
    realm: &'a Realm,
    salt: [u8; 16],
    passphrase: RefCell<Passphrase>,
    failed: RefCell<bool>,
}

impl Encrypts<'_> {
    fn encrypt(&self, place: Place<'_>, secret: &[u8]) -> String {
        let text = self.passphrase.borrow_mut().encrypt(&*self.app.entropy, self.salt, place, secret);
        text.unwrap_or_else(|| {
            *self.failed.borrow_mut() = true;
            String::new()
        })
    }
}

impl ExportedSecrets for Encrypts<'_> {
    fn password(&self, user: &StoredUser, phc: &str) -> String {
        let place = Place { kind: "password", realm: &self.realm.name, name: &user.user.username };
        self.encrypt(place, phc.as_bytes())
    }

    /// A mark of where the hash is worth something, the hash, and the secret itself where it was kept.
    fn client_secret(&self, client: &Client, secret: &ClientSecret) -> String {
        let place = Place { kind: "client_secret", realm: &self.realm.name, name: &client.client_id };
        let mark = local::own_mark(&self.app.sealer, self.realm.id);
        let whole = open_secret(&self.app.sealer, client, secret).unwrap_or_default();
        let bytes = Zeroizing::new([mark.as_slice(), secret.hash.0.as_slice(), &whole].concat());
        self.encrypt(place, &bytes)
    }

    fn pairwise_key(&self, key: &PairwiseKey) -> String {
        self.encrypt(Place { kind: "pairwise_key", realm: &self.realm.name, name: "" }, key.expose())
    }
}

/// Writes a realm.
///
/// # Errors
/// When the store cannot be read, or an audit event not be written.
pub async fn export(app: &App, realm: &Realm, secrets: Secrets) -> Result<String, Failure> {
    let mut stored = load::whole(&app.store.read(), realm.clone()).await?;
    stored.pairwise_key = subject::stored_key(app, realm)?;
    let Secrets::Encrypted(passphrase) = secrets else { return Ok(realm_file::export(&stored, None)) };
    let text = {
        let encrypts = Encrypts {
            app,
            realm,
            salt: entropy::bytes(&*app.entropy, "export"),
            passphrase: RefCell::new(passphrase),
            failed: RefCell::new(false),
        };
        let text = realm_file::export(&stored, Some(&encrypts));
        if *encrypts.failed.borrow() {
            return Err(Error::Internal("the secrets could not be encrypted".to_owned()).into());
        }
        text
    };
    let scribe = Scribe::operator(app, realm.id, app.clock.now());
    let mut tx = app.store.begin().await?;
    repo::audit::append(&mut tx, &scribe.audit(AuditKind::RealmExported)).await?;
    tx.commit().await?;
    Ok(text)
}
