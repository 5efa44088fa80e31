//! The encrypted form of secrets in an export, `dwx1:…` (`security-design` rule 28): Argon2id over the
//! passphrase (RFC 9106 section 4, second recommended choice), AES-256-GCM-SIV (RFC 8452), one salt per
//! export and one nonce per secret. Realm, kind and name of the object are in the associated data, so
//! that no secret can be moved to another object.

use std::collections::HashMap;
use std::path::Path;

use argon2::{Algorithm, Argon2, Params, Version};
use aws_lc_rs::aead::{AES_256_GCM_SIV, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use zeroize::Zeroizing;

use crate::domain::model::secret::Secret;
use crate::entropy::{self, Entropy};
use crate::seal::token;

const PREFIX: &str = "dwx1:";
const SALT: usize = 16;
const TAG: usize = 16;
/// 64 MiB, three passes.
const MEMORY_KIB: u32 = 65_536;
const PASSES: u32 = 3;

/// What an encrypted secret belongs to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    /// `password`, `client_secret` or `pairwise_key`.
    pub(super) kind: &'static str,
    /// The realm's name.
    pub(super) realm: &'a str,
    /// User name or `client_id`; empty for what the realm has once.
    pub(super) name: &'a str,
}

impl Place<'_> {
    /// Each part with its length before it.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = PREFIX.as_bytes().to_vec();
        for part in [self.kind, self.realm, self.name] {
            bytes.extend(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            bytes.extend(part.as_bytes());
        }
        bytes
    }
}

/// A passphrase with the keys already made of it.
pub struct Passphrase {
    text: Secret,
    keys: HashMap<[u8; SALT], LessSafeKey>,
}

impl Passphrase {
    /// Takes a passphrase of at least 12 characters.
    ///
    /// # Errors
    /// When it is shorter.
    pub fn new(text: Secret) -> Result<Self, String> {
        if text.expose().chars().count() < 12 {
            return Err("the passphrase has fewer than 12 characters".to_owned());
        }
        Ok(Self { text, keys: HashMap::new() })
    }

    /// Reads a passphrase from a file, which is held to the same rules as a secret's.
    ///
    /// # Errors
    /// What is wrong with the file, or a passphrase that is too short.
    pub fn read(path: &Path, data_dir: &Path) -> Result<Self, String> {
        Self::new(super::local::read_secret(path, data_dir)?)
    }

    fn key(&mut self, salt: [u8; SALT]) -> Option<&LessSafeKey> {
        if !self.keys.contains_key(&salt) {
            let params = Params::new(MEMORY_KIB, PASSES, 1, Some(32)).ok()?;
            let mut bytes = Zeroizing::new([0; 32]);
            Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
                .hash_password_into(self.text.expose().as_bytes(), &salt, &mut *bytes)
                .ok()?;
            let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM_SIV, &*bytes).ok()?);
            self.keys.insert(salt, key);
        }
        self.keys.get(&salt)
    }

    /// Encrypts a secret. `salt` is one per export.
    pub(super) fn encrypt(
        &mut self,
        entropy: &dyn Entropy,
        salt: [u8; SALT],
        place: Place<'_>,
        secret: &[u8],
    ) -> Option<String> {
        let nonce: [u8; NONCE_LEN] = entropy::bytes(entropy, "export");
        let mut sealed = secret.to_vec();
        self.key(salt)?
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(place.bytes()), &mut sealed)
            .ok()?;
        Some(format!("{PREFIX}{}", token::encode(&[salt.as_slice(), nonce.as_slice(), sealed.as_slice()].concat())))
    }

    /// Opens what [`Self::encrypt`] wrote; `None` for another passphrase, object or text.
    pub(super) fn decrypt(&mut self, place: Place<'_>, text: &str) -> Option<Zeroizing<Vec<u8>>> {
        let bytes = token::decode(text.strip_prefix(PREFIX)?)?;
        let (salt, rest) = bytes.split_first_chunk::<SALT>()?;
        let (nonce, sealed) = rest.split_first_chunk::<NONCE_LEN>()?;
        let mut opened = Zeroizing::new(sealed.to_vec());
        let length = sealed.len().checked_sub(TAG)?;
        self.key(*salt)?
            .open_in_place(Nonce::assume_unique_for_key(*nonce), Aad::from(place.bytes()), &mut opened)
            .ok()?;
        opened.truncate(length);
        Some(opened)
    }
}

impl std::fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Passphrase")
    }
}
