//! Our cookies: names, attributes, reading (RFC 6265bis 4.1.3; `decisions`: pages, cookies, addresses).
//! At the root of an https host `__Host-` with Path=/; under a path `__Secure-` with that path; plain
//! http (loopback only) without prefix. The name carries a short hash of the issuer, because the
//! ports of localhost share cookies and the main realm's Path=/ reaches every other realm.

use http::header::{COOKIE, HeaderMap, HeaderValue};

use crate::context::Site;
use crate::domain::signin::cookie_header;

/// The cookies there are. Together they stay far under 4 kB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cookie {
    /// The signed-in session.
    Session,
    /// Proves that a pending sign-in goes on in the browser that began it.
    Browser,
    /// Knows the browser again at the next sign-in.
    Device,
    /// What clients' frames may know of the session: that it changed (Session Management 1.0). The one cookie
    /// that a script reads, in a frame on other sites' pages; it opens nothing.
    BrowserState,
    /// The language chosen in the footer.
    Language,
    /// The demo relying party's own state; only with `--dev`.
    Demo,
}

impl Cookie {
    const fn word(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Browser => "browser",
            Self::Device => "device",
            Self::BrowserState => "state",
            Self::Language => "language",
            Self::Demo => "demo",
        }
    }

    /// The cookie's name at `site`.
    #[must_use]
    pub fn name(self, site: &Site) -> String {
        let prefix = match (site.secure, site.base.is_empty()) {
            (true, true) => "__Host-",
            (true, false) => "__Secure-",
            (false, _) => "",
        };
        format!("{prefix}doorward-{}-{}", self.word(), site.mark)
    }

    /// Reads it; two cookies of one name count as none (`security-design` rule 26).
    #[must_use]
    pub fn read(self, site: &Site, headers: &HeaderMap) -> Option<String> {
        let name = self.name(site);
        let headers = headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes);
        cookie_header::one(headers, &name).map(str::to_owned)
    }

    /// Sets it: for this browser session, or for `max_age` seconds.
    #[must_use]
    pub fn set(self, site: &Site, value: &str, max_age: Option<u64>) -> HeaderValue {
        self.header(site, value, max_age)
    }

    /// Deletes it, with the very name, path and attributes it was set with.
    #[must_use]
    pub fn clear(self, site: &Site) -> HeaderValue {
        self.header(site, "", Some(0))
    }

    fn header(self, site: &Site, value: &str, max_age: Option<u64>) -> HeaderValue {
        let path = if site.base.is_empty() { "/" } else { &site.base };
        let access = match (self, site.secure) {
            (Self::BrowserState, true) => "SameSite=None",
            // Browsers take `None` only with `Secure`. Frames on other ports of this machine are of the same site.
            (Self::BrowserState, false) => "SameSite=Lax",
            _ => "HttpOnly; SameSite=Lax",
        };
        let mut text = format!("{}={value}; Path={path}; {access}", self.name(site));
        if site.secure {
            text.push_str("; Secure");
        }
        if let Some(seconds) = max_age {
            text.push_str(&format!("; Max-Age={seconds}"));
        }
        // Values are base64url or language tags; anything else is not worth a cookie.
        HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static("doorward=; Max-Age=0"))
    }
}
