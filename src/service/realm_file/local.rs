//! Secrets behind references, as only the command line on the host may read them (`security-design`
//! rule 28): variables that begin with `DOORWARD_SECRET_`, regular files of at most 64 KiB outside of
//! data_dir, and what an export encrypted.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::crypt::{Passphrase, Place};
use crate::domain::model::ids::RealmId;
use crate::domain::model::secret::{Secret, SecretHash};
use crate::domain::protocol::subject::{self, PairwiseKey};
use crate::domain::realm_file::{DeclaredClientSecret, SecretRef, SecretSource};
use crate::seal::{Purpose, Sealer};
use crate::service::admin::realm;
use crate::service::{App, Error};

/// The largest file that is read for a secret.
const MAX_BYTES: u64 = 64 * 1024;

/// Where the command line looks for secrets.
pub struct LocalSecrets {
    data_dir: PathBuf,
    environment: HashMap<String, String>,
    passphrase: Option<Passphrase>,
    sealer: Sealer,
    realms: HashMap<String, RealmId>,
}

impl LocalSecrets {
    /// Looks up which realms there are: a client's secret can only come back to its own.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn new(
        app: &App,
        environment: impl IntoIterator<Item = (String, String)>,
        passphrase: Option<Passphrase>,
    ) -> Result<Self, Error> {
        let realms = realm::list(app).await?.into_iter().map(|realm| (realm.name, realm.id)).collect();
        let ours = |(name, _): &(String, String)| name.starts_with("DOORWARD_SECRET_");
        Ok(Self {
            data_dir: app.config.server.data_dir.clone(),
            environment: environment.into_iter().filter(ours).collect(),
            passphrase,
            sealer: app.sealer.clone(),
            realms,
        })
    }

    fn open(&mut self, place: Place<'_>, text: &str) -> Result<Vec<u8>, String> {
        let Some(passphrase) = &mut self.passphrase else {
            return Err("is encrypted: name the file with its passphrase by --passphrase-file".to_owned());
        };
        let opened = passphrase.decrypt(place, text);
        opened
            .map(|bytes| bytes.to_vec())
            .ok_or_else(|| "does not open: another passphrase, or written for another object".to_owned())
    }
}

impl std::fmt::Debug for LocalSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LocalSecrets").field("data_dir", &self.data_dir).finish_non_exhaustive()
    }
}

impl SecretSource for LocalSecrets {
    fn find(&mut self, at: &SecretRef) -> Result<Secret, String> {
        match at {
            SecretRef::Env(name) => {
                let value = self.environment.get(name).ok_or_else(|| format!("{at}: this variable is not set"))?;
                Ok(Secret::new(value.clone()))
            }
            SecretRef::File(path) => {
                read_secret(Path::new(path), &self.data_dir).map_err(|fault| format!("{at}: {fault}"))
            }
        }
    }

    fn open_password(&mut self, realm: &str, username: &str, text: &str) -> Result<Secret, String> {
        let bytes = self.open(Place { kind: "password", realm, name: username }, text)?;
        String::from_utf8(bytes).map(Secret::new).map_err(|_| "is not what an export writes".to_owned())
    }

    fn open_client_secret(&mut self, realm: &str, client_id: &str, text: &str) -> Result<DeclaredClientSecret, String> {
        let bytes = self.open(Place { kind: "client_secret", realm, name: client_id }, text)?;
        let parts = bytes.split_first_chunk::<16>().and_then(|(tag, rest)| {
            let (hash, whole) = rest.split_first_chunk::<32>()?;
            Some((tag, hash, std::str::from_utf8(whole).ok()?))
        });
        let (tag, hash, whole) = parts.ok_or("is not what an export writes")?;
        if !whole.is_empty() {
            return Ok(DeclaredClientSecret::Value(Secret::from(whole)));
        }
        let own = self.realms.get(realm).is_some_and(|id| is_own(&self.sealer, *id, tag));
        if own {
            Ok(DeclaredClientSecret::Hash(SecretHash(*hash)))
        } else {
            Err("was hashed in another realm or under another master key, where it stays valid only; \
                 write client_secret, or leave it out and run doorward client rotate-secret"
                .to_owned())
        }
    }

    fn open_pairwise_key(&mut self, realm: &str, text: &str) -> Result<PairwiseKey, String> {
        let bytes = Zeroizing::new(self.open(Place { kind: "pairwise_key", realm, name: "" }, text)?);
        let bytes: [u8; subject::KEY_BYTES] =
            bytes.as_slice().try_into().map_err(|_| "is not what an export writes".to_owned())?;
        Ok(PairwiseKey::new(bytes))
    }
}

const MARK: &[&[u8]] = &[b"export"];

/// A mark that tells whether a hash was made in this realm under this master key.
pub(super) fn own_mark(sealer: &Sealer, realm: RealmId) -> [u8; 16] {
    sealer.tag(realm, Purpose::ClientSecret, MARK)
}

fn is_own(sealer: &Sealer, realm: RealmId, tag: &[u8]) -> bool {
    sealer.check_tag(realm, Purpose::ClientSecret, MARK, tag)
}

/// Reads a secret from a file; one line end at its end does not belong to it.
pub(super) fn read_secret(path: &Path, data_dir: &Path) -> Result<Secret, String> {
    let real = path.canonicalize().map_err(|error| error.to_string())?;
    if data_dir.canonicalize().is_ok_and(|data_dir| real.starts_with(data_dir)) {
        return Err("lies in data_dir; keep secrets elsewhere".to_owned());
    }
    // Before it is opened: opening a pipe would wait for its writer.
    if !real.metadata().map_err(|error| error.to_string())?.is_file() {
        return Err("is not a regular file".to_owned());
    }
    let file = File::open(&real).map_err(|error| error.to_string())?;
    let metadata = file.metadata().map_err(|error| error.to_string())?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return Err("is not a regular file of at most 64 KiB".to_owned());
    }
    let mut text = String::new();
    file.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    let end = text.strip_suffix('\n').map_or(text.len(), |rest| rest.strip_suffix('\r').unwrap_or(rest).len());
    text.truncate(end);
    if text.is_empty() { Err("is empty".to_owned()) } else { Ok(Secret::new(text)) }
}
