//! Logos of clients: fetched once, checked, served by us, so that a sign-in page loads nothing from
//! elsewhere. Raster images only: SVG is a document that can do things.

use url::Url;

use super::client::{Fetched, Outbound, Trust};
use super::error::Error;

/// Bytes of a logo at most.
pub const LOGO_MAX: usize = 256 * 1024;

const TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// The raster type that the bytes themselves show; what a header says is a stranger's word.
#[must_use]
pub fn media_type(bytes: &[u8]) -> Option<&'static str> {
    let [png, jpeg, gif, webp] = TYPES;
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some(png)
    } else if bytes.starts_with(b"\xff\xd8\xff") {
        Some(jpeg)
    } else if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        Some(gif)
    } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        Some(webp)
    } else {
        None
    }
}

impl Outbound {
    /// Fetches a logo; its media type is the one that its bytes show.
    pub async fn logo(&self, url: &Url, trust: Trust) -> Result<Fetched, Error> {
        let fetched = self.get(url, trust, &TYPES, LOGO_MAX).await?;
        let media_type = media_type(&fetched.bytes).ok_or(Error::MediaType)?.to_owned();
        Ok(Fetched { media_type, ..fetched })
    }
}
