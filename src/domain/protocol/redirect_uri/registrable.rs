//! What may be registered as a redirect URI (RFC 6749 section 3.1.2, RFC 8252 sections 7 and 8.4, RFC
//! 9700 sections 2.1 and 4.1): `https`, `http` on loopback, and for public clients private-use schemes
//! named after a domain. No fragment, wildcard, user name, dot segment, and no query name that an
//! answer uses. The text is judged, never rewritten.

use std::fmt;

use url::Url;

/// Bytes of a redirect URI.
pub const URI_MAX: usize = 2048;

/// Names that an authorization response uses; a client could not tell its own from ours (RFC 9207
/// section 2.4).
const RESPONSE_NAMES: [&str; 12] = [
    "code",
    "state",
    "iss",
    "error",
    "error_description",
    "error_uri",
    "id_token",
    "access_token",
    "token_type",
    "expires_in",
    "session_state",
    "response",
];

/// Schemes that run or read something in the browser instead of calling a client.
const DANGEROUS: [&str; 8] = ["javascript", "data", "vbscript", "file", "filesystem", "blob", "about", "view-source"];

/// Why a redirect URI may not be registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RedirectUriFault {
    /// Empty or more than [`URI_MAX`] bytes.
    Length,
    /// A character that RFC 3986 does not allow, a control byte or a broken `%`.
    Character,
    /// No scheme, or no URI.
    NotAbsolute,
    /// A fragment.
    Fragment,
    /// A `*`.
    Wildcard,
    /// A user name or password before the host.
    UserInfo,
    /// A host or port in a spelling that browsers rewrite.
    Host,
    /// `.` or `..` in the path, also as `%2e`.
    DotSegment,
    /// `http` on another host than localhost, 127.0.0.1 or [::1].
    Http,
    /// A scheme that runs something in the browser.
    Dangerous(String),
    /// A custom scheme that is not a reversed domain name.
    Scheme(String),
    /// A custom scheme on a client that is not public.
    SchemeNeedsPublic(String),
    /// The out-of-band URN of old.
    OutOfBand,
    /// A query name that an answer uses.
    Reserved(String),
}

impl fmt::Display for RedirectUriFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length => write!(f, "must have 1 to {URI_MAX} bytes"),
            Self::Character => {
                f.write_str("holds a character that RFC 3986 does not allow; percent-encode it as UTF-8")
            }
            Self::NotAbsolute => f.write_str("must be an absolute URI such as https://app.example/callback"),
            Self::Fragment => f.write_str("must not have a fragment"),
            Self::Wildcard => f.write_str("must not have a wildcard; register each URI in full"),
            Self::UserInfo => f.write_str("must not have a user name or password"),
            Self::Host => f.write_str("must name its host and port in the usual spelling"),
            Self::DotSegment => f.write_str("must not have . or .. in its path"),
            Self::Http => f.write_str("must use https; http is for localhost, 127.0.0.1 and [::1] only"),
            Self::Dangerous(scheme) => write!(f, "must not use the scheme {scheme}"),
            Self::Scheme(scheme) => {
                write!(f, "the scheme {scheme} must be https or a domain name in reverse order such as com.example.app")
            }
            Self::SchemeNeedsPublic(scheme) => {
                write!(f, "the custom scheme {scheme} is for public clients (token_endpoint_auth_method: none) only")
            }
            Self::OutOfBand => f.write_str("out-of-band is not supported; use http://127.0.0.1/ with any port"),
            Self::Reserved(name) => write!(f, "must not have the query parameter {name}, which answers use"),
        }
    }
}

impl std::error::Error for RedirectUriFault {}

/// Whether it may be registered in `redirect_uris` of a client that is public or not.
pub fn check_registrable(uri: &str, public: bool) -> Result<(), RedirectUriFault> {
    check_shape(uri, public)?;
    check_query(uri, &RESPONSE_NAMES)
}

/// Whether it may be registered in `post_logout_redirect_uris`: the answer there is `state` alone
/// (OpenID Connect RP-Initiated Logout 1.0 section 3).
pub fn check_post_logout(uri: &str, public: bool) -> Result<(), RedirectUriFault> {
    check_shape(uri, public)?;
    check_query(uri, &["state"])
}

/// Whether it may be registered in `backchannel_logout_uri` (Back-Channel Logout 1.0 section 2.2): we call
/// it ourselves, so it is never an app's own scheme. Its query is the client's own.
pub fn check_logout_endpoint(uri: &str) -> Result<(), RedirectUriFault> {
    check_shape(uri, false).map_err(|fault| match fault {
        RedirectUriFault::Scheme(_) | RedirectUriFault::SchemeNeedsPublic(_) | RedirectUriFault::OutOfBand => {
            RedirectUriFault::Http
        }
        other => other,
    })
}

/// Whether it may be registered in `frontchannel_logout_uri` as far as the address itself tells
/// (Front-Channel Logout 1.0 section 2): the names that the signed-out page adds are ours.
pub fn check_logout_frame(uri: &str) -> Result<(), RedirectUriFault> {
    check_logout_endpoint(uri)?;
    check_query(uri, &["iss", "sid"])
}

fn check_shape(uri: &str, public: bool) -> Result<(), RedirectUriFault> {
    if uri.is_empty() || uri.len() > URI_MAX {
        return Err(RedirectUriFault::Length);
    }
    let (scheme, rest) = uri.split_once(':').ok_or(RedirectUriFault::NotAbsolute)?;
    let lower = scheme.to_ascii_lowercase();
    // First, so that the message names the worse fault.
    if DANGEROUS.contains(&lower.trim()) {
        return Err(RedirectUriFault::Dangerous(lower.trim().to_owned()));
    }
    check_characters(uri)?;
    if !scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        || !scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    {
        return Err(RedirectUriFault::NotAbsolute);
    }
    match lower.as_str() {
        "https" | "http" => check_web(uri, rest, &lower),
        "urn" if rest.to_ascii_lowercase().starts_with("ietf:wg:oauth:2.0:oob") => Err(RedirectUriFault::OutOfBand),
        _ => check_custom(scheme, rest, public),
    }?;
    check_path(rest)
}

fn check_characters(uri: &str) -> Result<(), RedirectUriFault> {
    let mut bytes = uri.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'#' => return Err(RedirectUriFault::Fragment),
            b'*' => return Err(RedirectUriFault::Wildcard),
            b'%' => {
                let digits = [bytes.next(), bytes.next()];
                if !digits.iter().all(|digit| digit.is_some_and(|digit| digit.is_ascii_hexdigit())) {
                    return Err(RedirectUriFault::Character);
                }
            }
            _ if byte.is_ascii_alphanumeric() || b"-._~:/?[]@!$&'()+,;=".contains(&byte) => {}
            _ => return Err(RedirectUriFault::Character),
        }
    }
    Ok(())
}

fn check_web(uri: &str, rest: &str, scheme: &str) -> Result<(), RedirectUriFault> {
    let rest = rest.strip_prefix("//").ok_or(RedirectUriFault::NotAbsolute)?;
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err(RedirectUriFault::UserInfo);
    }
    let colon = authority.rfind(':').filter(|at| !authority.get(*at..).is_some_and(|tail| tail.contains(']')));
    let host = colon.map_or(authority, |at| authority.get(..at).unwrap_or_default()).to_ascii_lowercase();
    if let Some(port) = colon.and_then(|at| authority.get(at + 1..)) {
        let number = port.parse::<u16>().ok().filter(|number| *number != 0 && number.to_string() == port);
        number.ok_or(RedirectUriFault::Host)?;
    }
    // A host that the browsers' parser would write otherwise (`0x7f.1`, `%61pp`, `a..b`) is not what a
    // reader of the registration thinks it is.
    let parsed = Url::parse(uri).map_err(|_| RedirectUriFault::Host)?;
    if host.is_empty() || parsed.host_str() != Some(host.as_str()) {
        return Err(RedirectUriFault::Host);
    }
    if scheme == "http" && !super::LOOPBACK.contains(&host.as_str()) {
        return Err(RedirectUriFault::Http);
    }
    Ok(())
}

/// RFC 8252 sections 7.1 and 8.4: a domain name in reverse order, so that schemes of two makers differ.
fn check_custom(scheme: &str, rest: &str, public: bool) -> Result<(), RedirectUriFault> {
    let labels = scheme.split('.');
    if labels.clone().count() < 2 || labels.into_iter().any(str::is_empty) {
        return Err(RedirectUriFault::Scheme(scheme.to_owned()));
    }
    if !public {
        return Err(RedirectUriFault::SchemeNeedsPublic(scheme.to_owned()));
    }
    if rest.is_empty() || rest.starts_with('?') {
        return Err(RedirectUriFault::NotAbsolute);
    }
    if rest.strip_prefix("//").and_then(|rest| rest.split(['/', '?']).next()).is_some_and(|host| host.contains('@')) {
        return Err(RedirectUriFault::UserInfo);
    }
    Ok(())
}

/// Browsers take dot segments out of a path, servers behind may do so even with a `;` behind them.
fn check_path(rest: &str) -> Result<(), RedirectUriFault> {
    let path = rest.split('?').next().unwrap_or_default();
    let is_dots = |segment: &str| {
        let segment = segment.split(';').next().unwrap_or_default().to_ascii_lowercase();
        let segment = segment.replace("%25", "%").replace("%2e", ".").replace("%3b", ";");
        matches!(segment.split(';').next(), Some("." | ".."))
    };
    if path.split('/').any(is_dots) { Err(RedirectUriFault::DotSegment) } else { Ok(()) }
}

fn check_query(uri: &str, reserved: &[&str]) -> Result<(), RedirectUriFault> {
    let query = uri.split_once('?').map_or("", |(_, query)| query);
    let mut names = form_urlencoded::parse(query.as_bytes()).map(|(name, _)| name);
    match names.find(|name| reserved.contains(&name.as_ref())) {
        Some(name) => Err(RedirectUriFault::Reserved(name.into_owned())),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn https_loopback_and_reversed_domains_may_be_registered() {
        for (uri, public) in [
            ("https://app.example", false),
            ("https://app.example/cb", false),
            ("https://app.example:8443/%7B123%7D/?tenant=a&x=%2f", false),
            ("https://xn--bcher-kva.example/cb", false),
            ("https://192.0.2.7/cb", false),
            ("https://[2001:db8::1]:8443/cb", false),
            ("http://localhost/cb", false),
            ("http://127.0.0.1:8000/cb", true),
            ("http://[::1]/cb", true),
            ("com.example.app:/cb", true),
            ("com.example.app:cb", true),
            ("com.example.app://cb?x=1", true),
            ("COM.example.app:/cb", true),
        ] {
            assert_eq!(check_registrable(uri, public), Ok(()), "{uri}");
        }
    }

    #[test]
    fn everything_else_is_refused_with_its_reason() {
        use RedirectUriFault as F;
        for (uri, public, fault) in [
            ("", true, F::Length),
            ("/cb", true, F::NotAbsolute),
            ("app.example/cb", true, F::NotAbsolute),
            ("https:app.example", true, F::NotAbsolute),
            ("https://app.example/cb#frag", true, F::Fragment),
            ("com.example.app:/cb#frag", true, F::Fragment),
            ("https://a/*", true, F::Wildcard),
            ("https://*.example/cb", true, F::Wildcard),
            ("https://u@app.example/cb", true, F::UserInfo),
            ("https://allowed.example@evil.example/", true, F::UserInfo),
            ("com.example.app://u@cb", true, F::UserInfo),
            ("http://app.example/cb", true, F::Http),
            ("http://localhost.evil.example/cb", true, F::Http),
            ("http://127.0.0.2/cb", true, F::Http),
            ("https://0x7f.1/cb", true, F::Host),
            ("https://%61pp.example/cb", true, F::Host),
            ("https:///cb", true, F::Host),
            ("https://app.example:/cb", true, F::Host),
            ("https://app.example:0/cb", true, F::Host),
            ("https://app.example:99999/cb", true, F::Host),
            ("https://b\u{fc}cher.example/cb", true, F::Character),
            ("https://app.example/a b", true, F::Character),
            ("https://app.example/x\r\nX:1", true, F::Character),
            ("https://app.example/\\evil", true, F::Character),
            ("https://app.example/%zz", true, F::Character),
            ("https://app.example/%4", true, F::Character),
            ("https://app.example/<script>", true, F::Character),
            ("https://app.example/a/../b", true, F::DotSegment),
            ("https://app.example/%2E%2e/b", true, F::DotSegment),
            ("https://app.example/..;/b", true, F::DotSegment),
            ("https://app.example/%252e%252e%3B/b", true, F::DotSegment),
            ("myapp:/cb", true, F::Scheme("myapp".into())),
            ("com.:/cb", true, F::Scheme("com.".into())),
            ("com.example.app:/cb", false, F::SchemeNeedsPublic("com.example.app".into())),
            ("com.example.app:", true, F::NotAbsolute),
            ("urn:ietf:wg:oauth:2.0:oob", true, F::OutOfBand),
            ("urn:example:x", true, F::Scheme("urn".into())),
            ("javascript:alert(1)//", true, F::Dangerous("javascript".into())),
            (" JavaScript:alert(1)", true, F::Dangerous("javascript".into())),
            ("data:text/html,<script>", true, F::Dangerous("data".into())),
            ("vbscript:x", true, F::Dangerous("vbscript".into())),
            ("file:///etc/passwd", true, F::Dangerous("file".into())),
            ("blob:https://a.example/x", true, F::Dangerous("blob".into())),
            ("about:blank", true, F::Dangerous("about".into())),
            ("https://app.example/cb?iss=x&state=y", true, F::Reserved("iss".into())),
            ("https://app.example/cb?x=1&c%6fde=y", true, F::Reserved("code".into())),
            ("com.example.app:/cb?error", true, F::Reserved("error".into())),
        ] {
            assert_eq!(check_registrable(uri, public), Err(fault), "{uri}");
        }
        assert_eq!(check_registrable(&format!("https://a.example/{}", "a".repeat(URI_MAX)), true), Err(F::Length));
    }

    #[test]
    fn a_way_back_after_logout_keeps_only_state_free() {
        assert_eq!(check_post_logout("https://app.example/bye?code=1", false), Ok(()));
        assert_eq!(
            check_post_logout("https://app.example/bye?state=1", false),
            Err(RedirectUriFault::Reserved("state".to_owned()))
        );
    }

    #[test]
    fn a_logout_endpoint_is_a_web_address() {
        use RedirectUriFault as F;
        for uri in ["https://app.example/bye?state=1&code=2", "https://app.example:8443", "http://127.0.0.1:3000/bye"] {
            assert_eq!(check_logout_endpoint(uri), Ok(()), "{uri}");
        }
        for (uri, fault) in [
            ("http://app.example/bye", F::Http),
            ("com.example.app:/bye", F::Http),
            ("myapp:/bye", F::Http),
            ("urn:ietf:wg:oauth:2.0:oob", F::Http),
            ("https://app.example/bye#x", F::Fragment),
            ("https://u:p@app.example/bye", F::UserInfo),
            ("javascript:alert(1)", F::Dangerous("javascript".into())),
            ("/bye", F::NotAbsolute),
            ("", F::Length),
        ] {
            assert_eq!(check_logout_endpoint(uri), Err(fault), "{uri}");
        }
    }

    #[test]
    fn each_fault_says_what_to_change() {
        let fault = check_registrable("urn:ietf:wg:oauth:2.0:oob", true).unwrap_err();
        assert_eq!(fault.to_string(), "out-of-band is not supported; use http://127.0.0.1/ with any port");
    }
}
