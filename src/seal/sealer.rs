//! Keys per realm and purpose, and what is done with them: AES-256-GCM-SIV (RFC 8452), which stays
//! safe when a nonce repeats, and HMAC-SHA-256 (RFC 2104). Realm id, purpose and master key id are in
//! the derivation and in the associated data (`security-design` rule 14), so that nothing sealed for
//! one place opens in another. Every failure is `None`: there is nothing to tell an attacker apart.

use std::fmt;
use std::sync::Arc;

use aws_lc_rs::aead::{AES_256_GCM_SIV, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::hkdf::Prk;
use aws_lc_rs::hmac;
use quick_cache::sync::Cache;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::hash::copy;
use super::master::{MasterKey, expand};
use crate::domain::model::ids::RealmId;
use crate::domain::model::secret::SecretHash;
use crate::entropy::Entropy;

/// The layout of sealed values: version, key id, nonce, ciphertext, tag.
const VERSION: u8 = 1;
const KEY_ID_LEN: usize = 4;
const HEAD_LEN: usize = 1 + KEY_ID_LEN + NONCE_LEN;
const TAG_LEN: usize = 16;

/// How many bytes a sealed value is longer than its plaintext.
pub const SEAL_OVERHEAD: usize = HEAD_LEN + TAG_LEN;

/// Derived keys kept at hand. Losing one costs a derivation, never an answer.
const KEPT_KEYS: usize = 4096;

/// What a key is for. A value made for one purpose means nothing to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Purpose {
    /// Authorization codes.
    Code = 1,
    /// Opaque access tokens.
    AccessToken = 2,
    /// The tag of refresh tokens.
    RefreshToken = 3,
    /// The session cookie.
    SessionCookie = 4,
    /// The device cookie.
    DeviceCookie = 5,
    /// The cookie that binds a browser to a flow.
    BrowserCookie = 6,
    /// The token in a form (CSRF).
    Form = 7,
    /// The handle of a flow in our pages' addresses.
    Hop = 8,
    /// Generated client secrets at rest.
    ClientSecret = 9,
    /// Private signing keys at rest.
    SigningKey = 10,
    /// Short-lived state that leaves the process.
    ShortLived = 11,
    /// Typed names that matched nobody, in audit and counters.
    TypedName = 12,
    /// Who presented a refresh token.
    Presenter = 13,
    /// The one-time link of the set-up.
    SetupLink = 14,
    /// A logout that waits for the person's word.
    Logout = 15,
    /// The handle of a request on its way from a POST to the browser's GET.
    Handover = 16,
    /// What sign-ins that cross in one browser share.
    Crossing = 17,
    /// Client secrets that sign, at rest.
    SigningSecret = 18,
    /// What clients' frames may know of a session.
    BrowserState = 19,
    /// The key of a realm's pairwise subs, at rest.
    PairwiseKey = 20,
}

struct Derived {
    aead: LessSafeKey,
    mac: hmac::Key,
}

struct Inner {
    root: Prk,
    key_id: [u8; KEY_ID_LEN],
    entropy: Arc<dyn Entropy>,
    derived: Cache<(RealmId, Purpose), Arc<Derived>>,
}

/// Seals, opens, tags. Cheap to clone.
#[derive(Clone)]
pub struct Sealer(Arc<Inner>);

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sealer([redacted])")
    }
}

impl Sealer {
    /// Takes `master` over and wipes it: only what is expanded from it stays.
    #[must_use]
    pub fn new(master: MasterKey, entropy: Arc<dyn Entropy>) -> Self {
        let inner = Inner { root: master.root(), key_id: master.short_id(), entropy, derived: Cache::new(KEPT_KEYS) };
        drop(master);
        Self(Arc::new(inner))
    }

    /// Seals `plaintext`. Only the same realm, purpose and `context` open it again.
    #[must_use]
    #[expect(clippy::expect_used, reason = "sealing fails only beyond 64 GiB of plaintext")]
    pub fn seal(&self, realm: RealmId, purpose: Purpose, plaintext: &[u8], context: &[u8]) -> Vec<u8> {
        let mut nonce = [0; NONCE_LEN];
        self.0.entropy.fill("seal", &mut nonce);
        let mut sealed = Vec::with_capacity(plaintext.len() + SEAL_OVERHEAD);
        sealed.push(VERSION);
        sealed.extend_from_slice(&self.0.key_id);
        sealed.extend_from_slice(&nonce);
        sealed.extend_from_slice(plaintext);
        let aad = Aad::from(self.associated(realm, purpose, context));
        let body = sealed.get_mut(HEAD_LEN..).unwrap_or_default();
        let tag = self
            .keys(realm, purpose)
            .aead
            .seal_in_place_separate_tag(Nonce::assume_unique_for_key(nonce), aad, body)
            .expect("a plaintext of sensible length");
        sealed.extend_from_slice(tag.as_ref());
        sealed
    }

    /// Opens what [`Self::seal`] gave for the same realm, purpose and context; `None` for all else.
    #[must_use]
    pub fn open(&self, realm: RealmId, purpose: Purpose, sealed: &[u8], context: &[u8]) -> Option<Vec<u8>> {
        let (version, rest) = sealed.split_first()?;
        let (key_id, rest) = rest.split_first_chunk::<KEY_ID_LEN>()?;
        let (nonce, body) = rest.split_first_chunk::<NONCE_LEN>()?;
        let (body, tag) = body.split_last_chunk::<TAG_LEN>()?;
        if *version != VERSION || *key_id != self.0.key_id {
            return None;
        }
        let aad = Aad::from(self.associated(realm, purpose, context));
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let mut plaintext = vec![0; body.len()];
        self.keys(realm, purpose).aead.open_separate_gather(nonce, aad, body, tag, &mut plaintext).ok()?;
        Some(plaintext)
    }

    /// A short tag over `data`, whose parts cannot be shifted into one another.
    #[must_use]
    pub fn tag(&self, realm: RealmId, purpose: Purpose, data: &[&[u8]]) -> [u8; 16] {
        let mut tag = [0; 16];
        copy(&mut tag, self.mac(realm, purpose, b't', data).as_ref());
        tag
    }

    /// Whether `tag` is the one over `data`, in constant time; another length is another tag.
    #[must_use]
    pub fn check_tag(&self, realm: RealmId, purpose: Purpose, data: &[&[u8]], tag: &[u8]) -> bool {
        self.tag(realm, purpose, data).ct_eq(tag).into()
    }

    /// The whole HMAC over `data`, independent of [`Self::tag`].
    #[must_use]
    pub fn hmac(&self, realm: RealmId, purpose: Purpose, data: &[&[u8]]) -> SecretHash {
        let mut hash = [0; 32];
        copy(&mut hash, self.mac(realm, purpose, b'h', data).as_ref());
        SecretHash(hash)
    }

    fn mac(&self, realm: RealmId, purpose: Purpose, kind: u8, data: &[&[u8]]) -> hmac::Tag {
        let mut context = hmac::Context::with_key(&self.keys(realm, purpose).mac);
        context.update(&[kind]);
        for part in data {
            context.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            context.update(part);
        }
        context.sign()
    }

    /// Fixed-width head, then the caller's context: no two tuples have the same bytes.
    fn associated(&self, realm: RealmId, purpose: Purpose, context: &[u8]) -> Vec<u8> {
        let mut data = Vec::with_capacity(1 + KEY_ID_LEN + 16 + 1 + context.len());
        data.push(VERSION);
        data.extend_from_slice(&self.0.key_id);
        data.extend_from_slice(realm.as_bytes());
        data.push(purpose as u8);
        data.extend_from_slice(context);
        data
    }

    fn keys(&self, realm: RealmId, purpose: Purpose) -> Arc<Derived> {
        if let Some(keys) = self.0.derived.get(&(realm, purpose)) {
            return keys;
        }
        let keys = Arc::new(self.derive(realm, purpose));
        self.0.derived.insert((realm, purpose), Arc::clone(&keys));
        keys
    }

    #[expect(clippy::expect_used, reason = "32 bytes are a key of this cipher")]
    fn derive(&self, realm: RealmId, purpose: Purpose) -> Derived {
        let root = &self.0.root;
        let label = |kind: &'static [u8]| [kind, &self.0.key_id, realm.as_bytes(), &[purpose as u8]].concat();
        let aead = Zeroizing::new(expand::<32>(root, &[&label(b"seal")]));
        let mac = Zeroizing::new(expand::<32>(root, &[&label(b"hmac")]));
        let unbound = UnboundKey::new(&AES_256_GCM_SIV, aead.as_slice()).expect("a key of 32 bytes");
        Derived { aead: LessSafeKey::new(unbound), mac: hmac::Key::new(hmac::HMAC_SHA256, mac.as_slice()) }
    }
}
