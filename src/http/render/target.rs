//! Where a page's form may lead besides here: the client's redirect URI, as a CSP source (browsers
//! check the redirect after a form against `form-action`) and as a host for people.

use url::Url;

/// The CSP source of a redirect URI: its origin, or `scheme:` for an app's own scheme.
#[must_use]
pub fn csp_source(uri: &str) -> String {
    match Url::parse(uri) {
        Ok(url) if url.has_host() && matches!(url.scheme(), "http" | "https") => url.origin().ascii_serialization(),
        Ok(url) => format!("{}:", url.scheme()),
        Err(_) => String::new(),
    }
}

/// What people are told about where they will be sent.
#[must_use]
pub fn host(uri: &str) -> String {
    match Url::parse(uri) {
        Ok(url) => url.host_str().map_or_else(|| format!("{}:", url.scheme()), str::to_owned),
        Err(_) => String::new(),
    }
}
