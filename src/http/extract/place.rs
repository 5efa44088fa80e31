//! Where a request belongs: which realm, and which path below its issuer.
//!
//! A proxy may or may not strip the path of `public_url`; both forms are understood. The metadata
//! documents answer in both path forms: appended to the issuer (OpenID Connect Discovery 4) and
//! inserted before its path (RFC 8414 section 3.1).

use std::borrow::Cow;

/// Where a request belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place<'a> {
    /// The realm's name as it stood in the path; `None` = the realm that owns the host.
    pub realm: Option<&'a str>,
    /// The path below the issuer, beginning with a slash.
    pub path: Cow<'a, str>,
}

const WELL_KNOWN: [&str; 2] = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];

/// Finds the place of `path` on a host whose product hangs under `base` (empty or `/sso`).
#[must_use]
pub fn place<'a>(base: &str, path: &'a str) -> Place<'a> {
    // Metadata with the issuer's path inserted behind the well-known name.
    for document in WELL_KNOWN {
        if let Some(suffix) = path.strip_prefix(document)
            && suffix.starts_with('/')
        {
            let below = strip(base, suffix);
            return match realm(below) {
                Some((name, "")) => Place { realm: Some(name), path: Cow::Borrowed(document) },
                _ if below.is_empty() => Place { realm: None, path: Cow::Borrowed(document) },
                _ => Place { realm: None, path: Cow::Borrowed(path) },
            };
        }
    }
    let below = strip(base, path);
    match realm(below) {
        Some((name, rest)) => {
            let rest = if rest.is_empty() { "/" } else { rest };
            Place { realm: Some(name), path: Cow::Borrowed(rest) }
        }
        None if below.is_empty() => Place { realm: None, path: Cow::Borrowed("/") },
        None => Place { realm: None, path: Cow::Borrowed(below) },
    }
}

/// Takes `base` off where it leads the path as whole segments.
fn strip<'a>(base: &str, path: &'a str) -> &'a str {
    match path.strip_prefix(base) {
        Some(rest) if !base.is_empty() && (rest.is_empty() || rest.starts_with('/')) => rest,
        _ => path,
    }
}

/// Splits `/realms/{name}` off; the rest is empty or begins with a slash.
fn realm(path: &str) -> Option<(&str, &str)> {
    let rest = path.strip_prefix("/realms/")?;
    let end = rest.find('/').unwrap_or(rest.len());
    let (name, rest) = rest.split_at_checked(end)?;
    let plain = !name.is_empty() && name.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-'));
    plain.then_some((name, rest))
}
