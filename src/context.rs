//! What a request or a task run knows about itself: made once, passed down.

use std::net::IpAddr;
use std::sync::Arc;

use aws_lc_rs::digest;

use crate::domain::model::realm::{MAIN_REALM, Realm};
use crate::domain::model::timestamp::Timestamp;

/// The circumstances of one request or task run.
#[derive(Debug, Clone)]
pub struct Ctx {
    /// The one "now" of this request.
    pub now: Timestamp,
    /// The realm it came to.
    pub realm: Arc<Realm>,
    /// The realm's addresses.
    pub site: Arc<Site>,
    /// Finds the log line; shown on error pages.
    pub request_id: Arc<str>,
    /// The client's address: the right-most hop that no trusted proxy wrote.
    pub address: Option<IpAddr>,
    /// The `User-Agent`, cut to 256 bytes.
    pub user_agent: Option<Arc<str>>,
}

/// A realm's addresses, all from configuration and never from a request's headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// The issuer, byte for byte as in discovery: no trailing slash.
    pub issuer: String,
    /// Scheme and authority of the issuer.
    pub origin: String,
    /// Path of the issuer: empty, or `/sso`, `/realms/R`, `/sso/realms/R`.
    pub base: String,
    /// Where `/static` hangs: the path of the origin's own root for this product.
    pub static_base: String,
    /// Whether the issuer is https: cookies are `Secure`, HSTS is sent.
    pub secure: bool,
    /// First four bytes of the issuer's SHA-256 in hexadecimal: part of each cookie's name.
    pub mark: String,
    /// The realm's name, as each log line holds it.
    pub name: Arc<str>,
    /// Whether this is the main realm, which alone has the demo, set-up and later console and API.
    pub main: bool,
}

impl Site {
    /// The addresses of `realm` under `public_url` (no trailing slash), or under its own issuer.
    #[must_use]
    pub fn new(public_url: &str, realm: &Realm) -> Self {
        let main = realm.name == MAIN_REALM;
        let (issuer, root) = match (&realm.issuer, main) {
            (Some(own), _) => (own.trim_end_matches('/').to_owned(), own.trim_end_matches('/').to_owned()),
            (None, true) => (public_url.to_owned(), public_url.to_owned()),
            (None, false) => (format!("{public_url}/realms/{}", realm.name), public_url.to_owned()),
        };
        let (origin, base) = split(&issuer);
        let static_base = split(&root).1.to_owned();
        Self {
            origin: origin.to_owned(),
            base: base.to_owned(),
            static_base,
            secure: issuer.starts_with("https://"),
            mark: mark(&issuer),
            name: realm.name.as_str().into(),
            main,
            issuer: issuer.clone(),
        }
    }

    /// An absolute address under the issuer.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.issuer)
    }

    /// An address for links and redirects inside this origin.
    #[must_use]
    pub fn path(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }
}

/// A short hash of the issuer.
fn mark(issuer: &str) -> String {
    let hash = digest::digest(&digest::SHA256, issuer.as_bytes());
    hash.as_ref().iter().take(4).map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

/// Splits an absolute URL without query into origin and path.
fn split(url: &str) -> (&str, &str) {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url.get(start..).and_then(|rest| rest.find('/')).map_or(url.len(), |at| start + at);
    url.split_at_checked(end).unwrap_or((url, ""))
}
