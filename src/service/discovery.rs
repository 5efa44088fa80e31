//! The metadata document, its bytes ready: made anew only when the realm or its keys changed.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use aws_lc_rs::digest;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;

use crate::context::Ctx;
use crate::domain::model::realm::Realm;
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

/// Documents by issuer, each with the realm it was made of. A read model hands out the same `Arc`
/// until the realm changes, so comparing pointers is exact.
static READY: LazyLock<RwLock<Ready>> = LazyLock::new(RwLock::default);

type Ready = HashMap<String, (Arc<Realm>, Arc<Document>)>;

/// The document of the call's realm.
///
/// # Errors
/// None today; keys of a realm follow from its settings.
#[expect(clippy::unused_async, reason = "use cases are awaited alike, whatever they need to read")]
pub async fn document(_app: &App, ctx: &Ctx) -> Result<Arc<Document>, Error> {
    let known = READY.read().unwrap_or_else(PoisonError::into_inner).get(&ctx.site.issuer).cloned();
    if let Some((realm, document)) = known
        && Arc::ptr_eq(&realm, &ctx.realm)
    {
        return Ok(document);
    }
    let metadata = Metadata::new(&ctx.site.issuer, &ctx.realm, &ctx.realm.settings.keys.algorithms);
    let bytes = Bytes::from(metadata.to_bytes());
    let hash = digest::digest(&digest::SHA256, &bytes);
    let etag = format!("\"{}\"", URL_SAFE_NO_PAD.encode(hash.as_ref().get(..16).unwrap_or_default()));
    let document = Arc::new(Document { bytes, etag });
    let mut ready = READY.write().unwrap_or_else(PoisonError::into_inner);
    if ready.len() > 1024 {
        ready.clear();
    }
    ready.insert(ctx.site.issuer.clone(), (ctx.realm.clone(), document.clone()));
    Ok(document)
}
