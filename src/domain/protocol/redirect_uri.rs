//! Redirect URIs in use (RFC 6749 section 3.1.2, RFC 8252 sections 7.3 and 8.4, RFC 9700 section 2.1):
//! compared as strings, nothing decoded, folded or normalised, and appended to without touching what
//! stands there. What may be registered at all is in [`registrable`].

mod difference;
pub mod registrable;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use url::Url;

pub use difference::difference;
pub use registrable::{
    RedirectUriFault, check_logout_endpoint, check_logout_frame, check_post_logout, check_registrable,
};

/// Hosts whose port is free (RFC 8252 section 7.3; RFC 9700 section 2.1 words it as localhost). None
/// stands for another.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// What a form decoder gives back unchanged without encoding: the unreserved characters of RFC 3986.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The registered URI that the asked one equals, character for character. For `http` on a loopback
/// host the port may differ, and only that; a registered port does not pin it.
#[must_use]
pub fn matches<'a>(registered: &'a [String], asked: &str) -> Option<&'a str> {
    let exact = registered.iter().find(|uri| *uri == asked);
    let found = exact.or_else(|| {
        let asked = Loopback::read(asked)?;
        registered.iter().find(|uri| Loopback::read(uri).is_some_and(|uri| uri == asked))
    });
    found.map(String::as_str)
}

/// The registered way back after logout that the asked one equals (OpenID Connect RP-Initiated Logout
/// 1.0 section 3): exact, no port is free.
#[must_use]
pub fn matches_post_logout<'a>(registered: &'a [String], asked: &str) -> Option<&'a str> {
    registered.iter().find(|uri| *uri == asked).map(String::as_str)
}

/// A loopback URI without its port.
#[derive(PartialEq, Eq)]
struct Loopback<'a> {
    host: &'static str,
    rest: &'a str,
}

impl<'a> Loopback<'a> {
    fn read(uri: &'a str) -> Option<Self> {
        let after = uri.strip_prefix("http://")?;
        let host = LOOPBACK.into_iter().find(|host| after.starts_with(host))?;
        let after = after.strip_prefix(host)?;
        let rest = match after.strip_prefix(':') {
            Some(after) => {
                let digits = after.bytes().take_while(u8::is_ascii_digit).count();
                let (port, rest) = after.split_at_checked(digits)?;
                // One spelling: no sign, no leading zero, in range.
                port.parse::<u16>().ok().filter(|number| *number != 0 && number.to_string() == port)?;
                rest
            }
            None => after,
        };
        // Anything else would still belong to the authority: `http://localhost:80@evil.example/`.
        (rest.is_empty() || rest.starts_with(['/', '?'])).then_some(Self { host, rest })
    }
}

/// The URI with parameters appended to its query. Its own text stays as it is; names and values are
/// encoded so that any form decoder gives back their exact bytes (space as `%20`).
#[must_use]
pub fn append<N: AsRef<str>, V: AsRef<str>>(uri: &str, params: &[(N, V)]) -> String {
    let (base, fragment) = uri.find('#').and_then(|at| uri.split_at_checked(at)).unwrap_or((uri, ""));
    let mut out = String::with_capacity(uri.len() + 64 * params.len());
    out.push_str(base);
    let mut separator = match base.find('?') {
        None => "?",
        Some(_) if base.ends_with(['?', '&']) => "",
        Some(_) => "&",
    };
    for (name, value) in params {
        out.push_str(separator);
        out.extend(utf8_percent_encode(name.as_ref(), ENCODED));
        out.push('=');
        out.extend(utf8_percent_encode(value.as_ref(), ENCODED));
        separator = "&";
    }
    out.push_str(fragment);
    out
}

/// The URI with parameters in its fragment, encoded as in [`append`]: what stood there goes, as nothing can stand
/// there in a registered one (OAuth 2.0 Multiple Response Types 2.1).
#[must_use]
pub fn append_fragment<N: AsRef<str>, V: AsRef<str>>(uri: &str, params: &[(N, V)]) -> String {
    let base = uri.split_once('#').map_or(uri, |(base, _)| base);
    // The same encoding as in a query, which begins after one sign as well.
    let query = append("", params);
    format!("{base}#{}", query.strip_prefix('?').unwrap_or(&query))
}

/// The origin of an `http` or `https` URI as browsers write it (RFC 6454 section 6.2); `None` for
/// others, whose origin is opaque.
#[must_use]
pub fn origin_of(uri: &str) -> Option<String> {
    let url = Url::parse(uri).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let origin = url.origin();
    origin.is_tuple().then(|| origin.ascii_serialization())
}

/// The origins of an `http` URI on a loopback host, with `*` for the port: whoever may receive on any port
/// there ([`matches`]) may call from any port too. Takes redirect URIs and origins; `None` for all others.
#[must_use]
pub fn loopback_origins(uri: &str) -> Option<String> {
    Loopback::read(uri).map(|loopback| format!("http://{}:*", loopback.host))
}

/// Whether two URIs share their origin.
#[must_use]
pub fn is_same_origin(one: &str, other: &str) -> bool {
    origin_of(one).is_some_and(|origin| origin_of(other).is_some_and(|other| other == origin))
}

/// Whether only the true client can receive at this URI: an `https` host is its owner's, while any
/// program on the machine may take a loopback port or a custom scheme (RFC 8252 section 8.6).
#[must_use]
pub fn is_proof_of_identity(uri: &str) -> bool {
    uri.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn list(uris: &[&str]) -> Vec<String> {
        uris.iter().map(|uri| (*uri).to_owned()).collect()
    }

    #[test]
    fn the_origins_of_a_loopback_uri_differ_in_their_port_alone() {
        for (uri, origin) in [
            ("http://localhost", Some("http://localhost:*")),
            ("http://localhost:3000", Some("http://localhost:*")),
            ("http://127.0.0.1:8000/callback?x", Some("http://127.0.0.1:*")),
            ("http://[::1]/cb", Some("http://[::1]:*")),
            ("https://localhost:3000", None),
            ("http://localhost:0", None),
            ("http://localhost.evil.example", None),
            ("http://localhost:80@evil.example", None),
            ("com.example.app:/cb", None),
            ("null", None),
        ] {
            assert_eq!(loopback_origins(uri).as_deref(), origin, "{uri}");
        }
    }

    #[test]
    fn only_the_port_of_a_loopback_uri_is_free() {
        let registered = list(&["http://localhost/callback", "http://127.0.0.1:8000/callback"]);
        for (asked, expected) in [
            ("http://localhost/callback", Some("http://localhost/callback")),
            ("http://localhost:63785/callback", Some("http://localhost/callback")),
            ("http://127.0.0.1:51004/callback", Some("http://127.0.0.1:8000/callback")),
            ("http://127.0.0.1/callback", Some("http://127.0.0.1:8000/callback")),
            ("http://[::1]:51004/callback", None),
            ("http://127.0.0.1:51004/other", None),
            ("http://127.0.0.1:51004/callback?x=1", None),
            ("http://127.0.0.1:51004/callback/", None),
            ("http://127.0.0.1:51004", None),
            ("https://127.0.0.1:51004/callback", None),
            ("HTTP://localhost:1/callback", None),
            ("http://LOCALHOST:1/callback", None),
            ("http://localhost:/callback", None),
            ("http://localhost:0/callback", None),
            ("http://localhost:080/callback", None),
            ("http://localhost:+80/callback", None),
            ("http://localhost:65536/callback", None),
            ("http://localhost:80@evil.example/callback", None),
            ("http://localhost:80\\@evil.example/callback", None),
            ("http://localhost@evil.example/callback", None),
            ("http://localhost.evil.example/callback", None),
            ("http://localhost:80#/callback", None),
            ("http://127.0.0.1:80.evil.example/callback", None),
            ("http://127.0.0.2:80/callback", None),
            ("http://0x7f.1:80/callback", None),
        ] {
            assert_eq!(matches(&registered, asked), expected, "{asked}");
        }
        assert!(matches(&list(&["http://[::1]/cb?a=b"]), "http://[::1]:9/cb?a=b").is_some());
    }

    #[test]
    fn everything_else_is_equal_character_for_character() {
        let registered =
            list(&["https://app.example/%7B123%7D/", "https://app.example/secure/", "com.example.app:/cb"]);
        assert!(registered.iter().all(|uri| matches(&registered, uri).is_some()));
        for asked in [
            "https://app.example/{123}/",
            "https://app.example/%7b123%7d/",
            "https://app.example/secure",
            "https://app.example/secure/?x=1",
            "https://app.example/secure/#f",
            "https://app.example:443/secure/",
            "https://app.example/secure/..;/evil",
            "https://app.example/secure/%2e%2e/evil",
            "https://app.example/secure/%252e%252e%3B/evil",
            "https://app.example/secure/x\r\nX:1",
            "https://APP.example/secure/",
            "http://app.example/secure/",
            "https://app.example.evil/secure/",
            "https://a@b@app.example/secure/",
            "https://\u{430}pp.example/secure/",
            "com.example.app://cb",
            "com.example.app:cb",
            "COM.example.app:/cb",
            "",
        ] {
            assert_eq!(matches(&registered, asked), None, "{asked}");
        }
    }

    #[test]
    fn a_way_back_after_logout_has_no_free_port() {
        let registered = list(&["http://localhost/bye", "https://app.example/bye"]);
        assert!(matches_post_logout(&registered, "https://app.example/bye").is_some());
        assert_eq!(matches_post_logout(&registered, "http://localhost:1/bye"), None);
    }

    #[test]
    fn appending_leaves_the_own_text_alone() {
        for (uri, expected) in [
            ("https://app.example/cb", "https://app.example/cb?code=a%20%26"),
            ("https://app.example/%7B123%7D/?x=1%2f", "https://app.example/%7B123%7D/?x=1%2f&code=a%20%26"),
            ("https://app.example/cb?", "https://app.example/cb?code=a%20%26"),
            ("https://app.example/cb?x&", "https://app.example/cb?x&code=a%20%26"),
            ("com.example.app:/cb", "com.example.app:/cb?code=a%20%26"),
            ("com.example.app:cb?x=1", "com.example.app:cb?x=1&code=a%20%26"),
            ("COM.example.app://cb", "COM.example.app://cb?code=a%20%26"),
            ("https://app.example/cb#f", "https://app.example/cb?code=a%20%26#f"),
        ] {
            assert_eq!(append(uri, &[("code", "a &")]), expected);
        }
        assert_eq!(append("https://app.example/cb", &[] as &[(&str, &str)]), "https://app.example/cb");
    }

    #[test]
    fn an_origin_is_what_browsers_send() {
        for (uri, expected) in [
            ("https://App.example:443/a?b", Some("https://app.example")),
            ("http://localhost:3000/cb", Some("http://localhost:3000")),
            ("http://[::1]:1/", Some("http://[::1]:1")),
            ("com.example.app:/cb", None),
            ("data:text/html,x", None),
            ("nonsense", None),
        ] {
            assert_eq!(origin_of(uri).as_deref(), expected, "{uri}");
        }
        assert!(is_same_origin("https://a.example/x", "https://a.example:443/y?z"));
        assert!(!is_same_origin("https://a.example/", "http://a.example/"));
        assert!(!is_same_origin("com.example.app:/a", "com.example.app:/a"));
    }

    #[test]
    fn only_an_https_host_proves_who_listens() {
        assert!(is_proof_of_identity("https://app.example/cb"));
        for uri in ["http://localhost/cb", "com.example.app:/cb", "https:", "", "\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}"] {
            assert!(!is_proof_of_identity(uri), "{uri}");
        }
    }

    /// Takes the port of a loopback URI away, by the URL library instead of our own reading.
    fn without_loopback_port(uri: &str) -> String {
        match Url::parse(uri) {
            Ok(mut url) if url.scheme() == "http" && LOOPBACK.contains(&url.host_str().unwrap_or_default()) => {
                url.set_port(None).unwrap();
                url.to_string()
            }
            _ => uri.to_owned(),
        }
    }

    proptest! {
        #[test]
        fn nothing_matches_unless_equal_but_for_the_loopback_port(
            registered in "(http|https)://(localhost|127\\.0\\.0\\.1|\\[::1\\]|a\\.example)(:[0-9]{1,5})?(/[a-z]{0,2})?",
            asked in "(http|https)://(localhost|127\\.0\\.0\\.1|\\[::1\\]|a\\.example)(:[0-9]{0,6})?[@.\\\\/?#a:]{0,3}",
        ) {
            if matches(std::slice::from_ref(&registered), &asked).is_some() {
                prop_assert_eq!(without_loopback_port(&registered), without_loopback_port(&asked));
            }
        }

        #[test]
        fn no_text_makes_it_panic(registered in any::<String>(), asked in any::<String>()) {
            let found = matches(std::slice::from_ref(&registered), &asked).is_some();
            prop_assert!(!found || registered == asked);
            let _ = matches(&["http://localhost/".to_owned()], &format!("http://localhost{asked}"));
            let _ = origin_of(&asked);
            let _ = check_registrable(&asked, true);
            let _ = is_proof_of_identity(&asked);
        }

        #[test]
        fn what_is_appended_comes_back_byte_for_byte(state in any::<String>(), query in "(\\?([a-z=&]|%2f){0,8})?") {
            let base = format!("https://app.example/cb{query}");
            let uri = append(&base, &[("code", "c"), ("state", state.as_str())]);
            prop_assert!(uri.starts_with(&base));
            let (_, query) = uri.split_once('?').unwrap();
            let decoded: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
            prop_assert_eq!(decoded.last(), Some(&("state".to_owned(), state.clone())));
            prop_assert!(uri.bytes().all(|byte| byte.is_ascii_graphic()));
        }
    }
}
