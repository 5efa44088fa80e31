//! What stands at clients' `request_uris` (OpenID Connect Core 6.2, RFC 9101 section 5.2.3).
//!
//! What a SHA-256 names is kept; what is named by its address alone is fetched for each request, since the client
//! may have put another object there. A host that is slow, or that a stranger makes us ask again and again, costs
//! nobody but its own client: one fetch at a time for each, whoever waits shares it, and no thread is held.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use quick_cache::sync::Cache;
use tokio::sync::Mutex;
use url::Url;

use crate::context::Ctx;
use crate::domain::model::client::Client;
use crate::domain::model::ids::{ClientKey, RealmId};
use crate::domain::model::timestamp::Timestamp;
use crate::domain::protocol::refusal::Refusal;
use crate::domain::protocol::request_uri::{self, RequestUri};
use crate::seal::sha256;
use crate::service::App;

/// Clients whose objects are kept at hand.
const CLIENTS: usize = 1024;
/// Addresses of one client whose objects are kept at hand.
const ADDRESSES: usize = 4;
/// How long an address that gave nothing is left alone.
const FAILED_FOR: Duration = Duration::from_secs(10);

/// What stood at the addresses, as far as it was needed. Cheap to clone.
#[derive(Clone)]
pub struct RequestUris(Arc<Cache<(RealmId, ClientKey), Arc<OfClient>>>);

impl fmt::Debug for RequestUris {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RequestUris")
    }
}

impl Default for RequestUris {
    fn default() -> Self {
        Self::new()
    }
}

/// One client's addresses.
#[derive(Default)]
struct OfClient {
    /// Numbers those who come, and fetches as they begin.
    arrivals: AtomicU64,
    /// Held during a fetch.
    found: Mutex<HashMap<String, Found>>,
}

/// What an address gave last.
#[derive(Clone)]
struct Found {
    /// The number under which the fetch began: whoever came before it is served by it.
    began: u64,
    at: Timestamp,
    /// `None` = nothing.
    contents: Option<Bytes>,
}

impl Found {
    fn has(&self, hash: &[u8; 32]) -> bool {
        self.contents.as_ref().is_some_and(|bytes| sha256(bytes).0 == *hash)
    }
}

impl RequestUris {
    /// Knows nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(Cache::new(CLIENTS)))
    }

    fn of(&self, client: &Client) -> Arc<OfClient> {
        let place = (client.realm, client.key);
        self.0.get(&place).unwrap_or_else(|| {
            let kept = Arc::<OfClient>::default();
            self.0.insert(place, Arc::clone(&kept));
            kept
        })
    }
}

/// The object that `asked` leads to.
///
/// # Errors
/// `invalid_request_uri`: not registered, not to be had, or not the contents that the fragment names.
pub async fn read(app: &App, ctx: &Ctx, client: &Client, asked: &str) -> Result<String, Refusal> {
    let meant = request_uri::registered(asked, client)?;
    let contents = app.request_uris.of(client).contents(app, ctx, client, &meant).await;
    let contents = contents.ok_or_else(request_uri::unfetched)?;
    if meant.hash.is_some_and(|hash| sha256(&contents).0 != hash) {
        return Err(request_uri::changed());
    }
    // What is no text is no token either.
    String::from_utf8(contents.to_vec()).map_err(|_| request_uri::unfetched())
}

impl OfClient {
    async fn contents(&self, app: &App, ctx: &Ctx, client: &Client, meant: &RequestUri<'_>) -> Option<Bytes> {
        let came = self.arrivals.fetch_add(1, Ordering::Relaxed);
        let mut found = self.found.lock().await;
        if let Some(last) = found.get(meant.address) {
            let is_named = meant.hash.is_some_and(|hash| last.has(&hash));
            let is_failed = last.contents.is_none() && ctx.now < last.at.plus(FAILED_FOR);
            if last.began > came || is_named || is_failed {
                return last.contents.clone();
            }
        }
        let began = self.arrivals.fetch_add(1, Ordering::Relaxed);
        let url = Url::parse(meant.address).ok()?;
        let contents = app.outbound.request_object(&url, client.origin.into()).await.ok();
        if found.len() >= ADDRESSES {
            found.clear();
        }
        found.insert(meant.address.to_owned(), Found { began, at: ctx.now, contents: contents.clone() });
        contents
    }
}
