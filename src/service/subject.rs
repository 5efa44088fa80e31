//! How a client knows a person (OpenID Connect Core 8): the one place that turns a person's own `sub` into the
//! one that a client sees, and finds the person again. Tokens, userinfo, introspection, logout tokens and hints
//! all ask here. For a public client nothing is computed; for a pairwise one it is one HMAC.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use quick_cache::sync::Cache;

use crate::context::Ctx;
use crate::domain::model::client::{Client, SubjectType};
use crate::domain::model::ids::{GrantId, RealmId, SessionId, UserId};
use crate::domain::model::realm::Realm;
use crate::domain::protocol::subject::{self, KEY_BYTES, PairwiseKey};
use crate::entropy;
use crate::seal::Purpose;
use crate::service::{App, Error};
use crate::store::readmodel::UserFacts;
use crate::store::repo;

/// Realms whose opened key is kept at hand.
const KEPT: usize = 1024;

/// The opened keys of realms. Cheap to clone.
#[derive(Clone)]
pub struct PairwiseKeys(Arc<Cache<RealmId, Arc<Kept>>>);

/// A key with the sealed form it was opened from, by which a change shows.
struct Kept {
    sealed: Vec<u8>,
    key: PairwiseKey,
}

impl Default for PairwiseKeys {
    fn default() -> Self {
        Self(Arc::new(Cache::new(KEPT)))
    }
}

impl fmt::Debug for PairwiseKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PairwiseKeys")
    }
}

/// The `sub` by which `client` knows the person whose own `sub` is `own`.
///
/// # Errors
/// When the realm's key cannot be read, opened or, the first time, written.
pub async fn seen_by<'a>(app: &App, realm: &Realm, client: &Client, own: &'a str) -> Result<Cow<'a, str>, Error> {
    match client.metadata.subject_type {
        SubjectType::Public => Ok(Cow::Borrowed(own)),
        SubjectType::Pairwise => {
            let sector = subject::sector(&client.metadata)
                .ok_or_else(|| Error::Internal(format!("the pairwise client {} has no sector", client.client_id)))?;
            let kept = key(app, realm).await?;
            Ok(Cow::Owned(kept.key.sub(&sector, own)))
        }
    }
}

/// What leads to a person beside her `sub`, which alone names nobody where it is pairwise.
#[derive(Debug, Clone, Copy, Default)]
pub struct Traces {
    /// The internal key.
    pub user: Option<UserId>,
    /// A session of hers, be it ended.
    pub session: Option<SessionId>,
    /// A grant of hers, be it ended.
    pub grant: Option<GrantId>,
}

/// The person whom `client` knows by `sub`.
///
/// # Errors
/// When she cannot be read.
pub async fn person(
    app: &App,
    ctx: &Ctx,
    client: &Client,
    sub: &str,
    traces: Traces,
) -> Result<Option<Arc<UserFacts>>, Error> {
    let Some(user) = follow(app, ctx, client, sub, traces).await? else { return Ok(None) };
    let Some(facts) = app.store.models().user(ctx.realm.id, user).await? else { return Ok(None) };
    let is_she = seen_by(app, &ctx.realm, client, &facts.user.sub).await? == sub;
    Ok(is_she.then_some(facts))
}

async fn follow(app: &App, ctx: &Ctx, client: &Client, sub: &str, traces: Traces) -> Result<Option<UserId>, Error> {
    let realm = ctx.realm.id;
    if traces.user.is_some() {
        return Ok(traces.user);
    }
    if let Some(session) = traces.session
        && let Some(session) = app.store.models().session(realm, session).await?
    {
        return Ok(Some(session.user));
    }
    if client.metadata.subject_type == SubjectType::Public {
        return Ok(repo::user::find_by_sub(&app.store.read(), realm, sub).await?.map(|user| user.id));
    }
    match traces.grant {
        Some(grant) => Ok(repo::grant::find(&app.store.read(), realm, grant).await?.map(|grant| grant.user)),
        None => Ok(None),
    }
}

/// The realm's key; the first time it is drawn. Of several who draw at once, the first one's counts.
async fn key(app: &App, realm: &Realm) -> Result<Arc<Kept>, Error> {
    if let Some(sealed) = &realm.pairwise_key {
        return open(app, realm, sealed);
    }
    let drawn = PairwiseKey::new(entropy::bytes::<KEY_BYTES>(&*app.entropy, "pairwise_key"));
    let mut tx = app.store.begin().await?;
    let stored = repo::realm::keep_pairwise_key(&mut tx, realm.id, &seal_key(app, realm.id, &drawn)).await?;
    tx.commit().await?;
    let sealed = stored.ok_or_else(|| Error::Internal(format!("the realm {} is gone", realm.name)))?;
    open(app, realm, &sealed)
}

fn open(app: &App, realm: &Realm, sealed: &[u8]) -> Result<Arc<Kept>, Error> {
    let kept = &app.pairwise_keys.0;
    if let Some(kept) = kept.get(&realm.id).filter(|kept| kept.sealed == sealed) {
        return Ok(kept);
    }
    let opened = app.sealer.open(realm.id, Purpose::PairwiseKey, sealed, b"").map(zeroize::Zeroizing::new);
    let bytes = opened.and_then(|bytes| <[u8; KEY_BYTES]>::try_from(bytes.as_slice()).ok());
    let bytes = bytes.ok_or_else(|| {
        Error::Internal(format!(
            "the key of pairwise subs of the realm {} cannot be opened: check master_key",
            realm.name
        ))
    })?;
    let fresh = Arc::new(Kept { sealed: sealed.to_vec(), key: PairwiseKey::new(bytes) });
    kept.insert(realm.id, Arc::clone(&fresh));
    Ok(fresh)
}

/// The realm's key, if it has one yet: for what writes it elsewhere.
///
/// # Errors
/// When it cannot be opened.
pub fn stored_key(app: &App, realm: &Realm) -> Result<Option<PairwiseKey>, Error> {
    realm.pairwise_key.as_ref().map(|sealed| open(app, realm, sealed).map(|kept| kept.key.clone())).transpose()
}

/// The key as it rests.
#[must_use]
pub fn seal_key(app: &App, realm: RealmId, key: &PairwiseKey) -> Vec<u8> {
    app.sealer.seal(realm, Purpose::PairwiseKey, key.expose(), b"")
}
