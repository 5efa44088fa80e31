//! Key sets of clients (`security` row 63): small, quick, of their own media type.

use std::time::Duration;

use bytes::Bytes;
use tokio::time::timeout;
use url::Url;

use super::client::{DEFAULT_MAX, Outbound, Trust};
use super::error::Error;

/// RFC 7517 section 8.5, and what most hosts say.
const TYPES: [&str; 2] = ["application/json", "application/jwk-set+json"];
/// A request for a token waits for it.
const WITHIN: Duration = Duration::from_secs(2);

impl Outbound {
    /// Fetches a key set: 64 KiB at most, within two seconds.
    pub async fn key_set(&self, url: &Url, trust: Trust) -> Result<Bytes, Error> {
        let fetched = timeout(WITHIN, self.get(url, trust, &TYPES, DEFAULT_MAX)).await;
        if fetched.is_err() {
            tracing::info!(host = url.host_str(), "a key set took longer than two seconds");
        }
        fetched.unwrap_or(Err(Error::Timeout)).map(|fetched| fetched.bytes)
    }
}
