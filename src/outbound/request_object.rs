//! Request objects of clients (RFC 9101 section 5.2.3): small, quick, of their own media type or one that file
//! hosts give a JWT. What comes must read as one anyway.

use std::time::Duration;

use bytes::Bytes;
use tokio::time::timeout;
use url::Url;

use super::client::{Outbound, Trust};
use super::error::Error;

const TYPES: [&str; 4] = ["application/oauth-authz-req+jwt", "application/jwt", "application/jose", "text/plain"];
/// A person waits for it.
const WITHIN: Duration = Duration::from_secs(2);
/// Bytes of an object, as of any token.
const OBJECT_MAX: usize = 16 * 1024;

impl Outbound {
    /// Fetches a request object: 16 KiB at most, within two seconds.
    pub async fn request_object(&self, url: &Url, trust: Trust) -> Result<Bytes, Error> {
        let fetched = timeout(WITHIN, self.get(url, trust, &TYPES, OBJECT_MAX)).await;
        if fetched.is_err() {
            tracing::info!(host = url.host_str(), "a request object took longer than two seconds");
        }
        fetched.unwrap_or(Err(Error::Timeout)).map(|fetched| fetched.bytes)
    }
}
