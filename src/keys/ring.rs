//! A realm's keys at work: who signs now, whose signature this is, what is published. Keys come from a
//! source that is exact (the store's read model); only what was parsed from them is kept here, by row,
//! since a row's key never changes.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use quick_cache::sync::Cache;

use super::signer::LocalSigner;
use super::verdicts::Verdicts;
use super::{Error, PublicKey, Signer};
use crate::domain::model::ids::{KeyId, RealmId};
use crate::domain::model::key::{Algorithm, KeyPhase, SigningKey};
use crate::domain::model::timestamp::Timestamp;
use crate::domain::protocol::jwt::{self, JwsHeader};
use crate::domain::protocol::{jwks, key_schedule};
use crate::seal::{Sealer, sha256, token};

/// Parsed keys kept at hand; losing one costs parsing it again.
const KEPT_KEYS: usize = 1024;
/// Ready bodies kept at hand, one a realm.
const KEPT_BODIES: usize = 1024;

/// Where a realm's keys come from, in any phase. Exact: a key that was added is there within a second.
#[async_trait]
pub trait KeySource: Send + Sync {
    /// All keys of `realm`. The same `Arc` as long as nothing changed, so that nothing is rebuilt.
    async fn keys(&self, realm: RealmId) -> Result<Arc<Vec<SigningKey>>, String>;
}

/// A token whose signature a key of the realm made.
#[derive(Debug)]
pub struct VerifiedJws {
    /// Its header.
    pub header: JwsHeader,
    /// Its payload, still to be judged.
    pub payload: Vec<u8>,
    /// The key is not published any more: good for a hint, not for access.
    pub key_gone: bool,
}

/// A body that is served as it stands.
#[derive(Debug, Clone)]
pub struct ReadyBody {
    /// The bytes.
    pub bytes: Bytes,
    /// The entity tag with its quotes (RFC 9110 section 8.8.3).
    pub etag: String,
}

struct Published {
    keys: Arc<Vec<SigningKey>>,
    /// The body holds from here …
    from: Timestamp,
    /// … until a key enters its next phase.
    until: Option<Timestamp>,
    body: Arc<ReadyBody>,
}

struct Inner {
    source: Arc<dyn KeySource>,
    sealer: Sealer,
    signers: Cache<KeyId, Arc<dyn Signer>>,
    publics: Cache<KeyId, Arc<PublicKey>>,
    verdicts: Verdicts,
    published: Cache<RealmId, Arc<Published>>,
}

/// Every realm's keys. Cheap to clone.
#[derive(Clone)]
pub struct KeyRing(Arc<Inner>);

impl fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyRing")
    }
}

impl KeyRing {
    /// Reads keys from `source` and opens them with `sealer`.
    #[must_use]
    pub fn new(source: Arc<dyn KeySource>, sealer: Sealer) -> Self {
        let signers = Cache::new(KEPT_KEYS);
        let publics = Cache::new(KEPT_KEYS);
        let (verdicts, published) = (Verdicts::new(), Cache::new(KEPT_BODIES));
        Self(Arc::new(Inner { source, sealer, signers, publics, verdicts, published }))
    }

    /// The signer of the realm's active key for `alg`.
    pub async fn signer(&self, realm: RealmId, alg: Algorithm, now: Timestamp) -> Result<Arc<dyn Signer>, Error> {
        let keys = self.keys(realm).await?;
        let stored = key_schedule::active(&keys, alg, now).ok_or(Error::NoActiveKey(alg))?;
        if let Some(signer) = self.0.signers.get(&stored.id) {
            return Ok(signer);
        }
        let signer: Arc<dyn Signer> = Arc::new(LocalSigner::open(&self.0.sealer, stored)?);
        self.0.signers.insert(stored.id, Arc::clone(&signer));
        Ok(signer)
    }

    /// Reads a token of our own. Only `alg` and `kid` choose the key, among the realm's keys alone;
    /// claims are the caller's to judge.
    pub async fn verify(&self, realm: RealmId, token: &str, now: Timestamp) -> Result<VerifiedJws, Error> {
        let jws = jwt::parse(token).map_err(|_| Error::Refused)?;
        let keys = self.keys(realm).await?;
        let fits = |key: &&SigningKey| key.kid == jws.header.kid && key.alg == jws.header.alg;
        let stored = keys.iter().find(fits).ok_or(Error::Refused)?;
        let (id, hash) = (jwt::token_id(&jws.payload), sha256(token.as_bytes()));
        if !id.is_some_and(|id| self.0.verdicts.has(stored.id, id, &hash)) {
            if !self.public(stored)?.verify(jws.signing_input.as_bytes(), &jws.signature) {
                return Err(Error::Refused);
            }
            if let Some(id) = id {
                self.0.verdicts.keep(stored.id, id, hash);
            }
        }
        let key_gone = stored.phase(now) == KeyPhase::Gone;
        Ok(VerifiedJws { header: jws.header, payload: jws.payload, key_gone })
    }

    /// The key set that relying parties fetch: announced, active and retired keys (RFC 7517 section 5).
    /// Rebuilt only when the keys changed or one entered another phase.
    pub async fn jwks(&self, realm: RealmId, now: Timestamp) -> Result<Arc<ReadyBody>, Error> {
        let keys = self.keys(realm).await?;
        if let Some(published) = self.0.published.get(&realm)
            && Arc::ptr_eq(&published.keys, &keys)
            && now >= published.from
            && published.until.is_none_or(|until| now < until)
        {
            return Ok(Arc::clone(&published.body));
        }
        let published = Arc::new(publish(keys, now)?);
        self.0.published.insert(realm, Arc::clone(&published));
        Ok(Arc::clone(&published.body))
    }

    async fn keys(&self, realm: RealmId) -> Result<Arc<Vec<SigningKey>>, Error> {
        self.0.source.keys(realm).await.map_err(Error::Unavailable)
    }

    fn public(&self, stored: &SigningKey) -> Result<Arc<PublicKey>, Error> {
        if let Some(key) = self.0.publics.get(&stored.id) {
            return Ok(key);
        }
        let fault = "holds no public key of its kind";
        let key = PublicKey::from_jwk(&stored.public_jwk, stored.alg);
        let key = Arc::new(key.ok_or_else(|| Error::Broken { kid: stored.kid.clone(), fault })?);
        self.0.publics.insert(stored.id, Arc::clone(&key));
        Ok(key)
    }
}

fn publish(keys: Arc<Vec<SigningKey>>, now: Timestamp) -> Result<Published, Error> {
    let rank = |key: &SigningKey| match key.phase(now) {
        KeyPhase::Active => Some(0),
        KeyPhase::Announced if now >= key.announced_at => Some(1),
        KeyPhase::Retired => Some(2),
        KeyPhase::Announced | KeyPhase::Gone => None,
    };
    let mut shown: Vec<(i32, &SigningKey)> = keys.iter().filter_map(|key| Some((rank(key)?, key))).collect();
    // Signing keys first: some relying parties take the first key that fits.
    shown.sort_by(|(a, x), (b, y)| a.cmp(b).then(x.alg.cmp(&y.alg)).then(y.active_at.cmp(&x.active_at)));
    let text = jwks::assemble(shown.iter().map(|(_, key)| key.public_jwk.as_str()))
        .map_err(|error| Error::Broken { kid: error.key, fault: "cannot be published" })?;
    let moments =
        keys.iter().flat_map(|key| [Some(key.announced_at), Some(key.active_at), key.retired_at, key.gone_at]);
    let until = moments.flatten().filter(|moment| *moment > now).min();
    let hash = sha256(text.as_bytes()).0;
    let etag = format!("\"{}\"", token::encode(hash.get(..12).unwrap_or_default()));
    let body = Arc::new(ReadyBody { bytes: Bytes::from(text), etag });
    Ok(Published { keys, from: now, until, body })
}
