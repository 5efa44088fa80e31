//! The base of every issuer and link. Relying parties compare issuers byte for byte (OpenID Connect
//! Discovery 4.3), so it is brought into one spelling here and used as text from then on.

use std::fmt;
use std::str::FromStr;

use url::{Host, Url};

/// The server's address as browsers and relying parties see it: an origin, perhaps with a path,
/// without a slash at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl {
    text: String,
    url: Url,
}

impl PublicUrl {
    /// The whole address, without a slash at its end.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Scheme, host and port as browsers write them in `Origin`.
    #[must_use]
    pub fn origin(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    /// The path: empty, or `/id`.
    #[must_use]
    pub fn path(&self) -> &str {
        self.url.path().trim_end_matches('/')
    }

    /// The host name.
    #[must_use]
    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// Whether browsers come by TLS.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Whether it leads to this machine only.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.url)
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        // RFC 6761 section 6.3: names under localhost stay on the machine.
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

impl FromStr for PublicUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let url = Url::parse(text).map_err(|error| format!("is not an address: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err("does not begin with https://host".to_owned());
        }
        if url.scheme() == "http" && !is_loopback(&url) {
            return Err("is not https, which only a loopback address may do without".to_owned());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("carries a user name".to_owned());
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err("carries a query or fragment".to_owned());
        }
        let path = url.path().strip_suffix('/').unwrap_or_else(|| url.path());
        let plain = |segment: &str| {
            !segment.is_empty() && segment.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
        };
        if !path.is_empty() && !path.split('/').skip(1).all(plain) {
            return Err("has a path with more than letters, digits, `-`, `_`, `.` between single slashes".to_owned());
        }
        let text = format!("{}{path}", url.origin().ascii_serialization());
        let url = Url::parse(&text).map_err(|error| format!("is not an address: {error}"))?;
        Ok(Self { text, url })
    }
}
