//! Sector documents of clients (OpenID Connect Core 8.1): JSON, small, quick.

use std::time::Duration;

use bytes::Bytes;
use tokio::time::timeout;
use url::Url;

use super::client::{DEFAULT_MAX, Outbound, Trust};
use super::error::Error;

const TYPES: [&str; 1] = ["application/json"];
/// Whoever registers waits for it.
const WITHIN: Duration = Duration::from_secs(3);

impl Outbound {
    /// Fetches a sector document: 64 KiB at most, within three seconds.
    pub async fn sector_document(&self, url: &Url, trust: Trust) -> Result<Bytes, Error> {
        let fetched = timeout(WITHIN, self.get(url, trust, &TYPES, DEFAULT_MAX)).await;
        fetched.unwrap_or(Err(Error::Timeout)).map(|fetched| fetched.bytes)
    }
}
