//! The metadata document, its bytes ready: made anew only when the realm or its keys changed.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use aws_lc_rs::digest;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;

use crate::context::Ctx;
use crate::domain::model::realm::Realm;
use crate::domain::model::scope::Scope;
use crate::domain::protocol::discovery::Metadata;
use crate::service::{App, Error};

/// A ready document.
#[derive(Debug, Clone)]
pub struct Document {
    /// The bytes.
    pub bytes: Bytes,
    /// A strong validator, quoted.
    pub etag: String,
}

/// Documents by issuer, each with what it was made of. A read model hands out the same `Arc` until something
/// changes, so comparing pointers is exact.
static READY: LazyLock<RwLock<Ready>> = LazyLock::new(RwLock::default);

type Ready = HashMap<String, (Made, Arc<Document>)>;

/// What a document was made of.
#[derive(Clone)]
struct Made {
    realm: Arc<Realm>,
    scopes: Arc<Vec<Scope>>,
}

impl Made {
    fn is_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.realm, &other.realm) && Arc::ptr_eq(&self.scopes, &other.scopes)
    }
}

/// The document of the call's realm.
///
/// # Errors
/// When the realm's own scopes cannot be read; keys of a realm follow from its settings.
pub async fn document(app: &App, ctx: &Ctx) -> Result<Arc<Document>, Error> {
    let made = Made { realm: ctx.realm.clone(), scopes: app.store.models().scopes(ctx.realm.id).await? };
    let known = READY.read().unwrap_or_else(PoisonError::into_inner).get(&ctx.site.issuer).cloned();
    if let Some((before, document)) = known
        && before.is_of(&made)
    {
        return Ok(document);
    }
    let metadata = Metadata::new(&ctx.site.issuer, &ctx.realm, &ctx.realm.settings.keys.algorithms, &made.scopes);
    let bytes = Bytes::from(metadata.to_bytes());
    let hash = digest::digest(&digest::SHA256, &bytes);
    let etag = format!("\"{}\"", URL_SAFE_NO_PAD.encode(hash.as_ref().get(..16).unwrap_or_default()));
    let document = Arc::new(Document { bytes, etag });
    let mut ready = READY.write().unwrap_or_else(PoisonError::into_inner);
    if ready.len() > 1024 {
        ready.clear();
    }
    ready.insert(ctx.site.issuer.clone(), (made, document.clone()));
    Ok(document)
}
