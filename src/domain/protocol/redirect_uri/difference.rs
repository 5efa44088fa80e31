//! How a redirect URI that was not accepted differs from what is registered: the kind only, so that the
//! developer finds the slip and nobody learns the registered text.

/// The parts of a URI, cut without judging or decoding anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Parts<'a> {
    scheme: &'a str,
    /// With the slashes before it, so that `:/cb` and `://cb` differ.
    authority: &'a str,
    path: &'a str,
    query: Option<&'a str>,
}

/// Kinds, from the nearest to the farthest: the nearest registered URI is the one that was meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Slash,
    Case,
    Encoding,
    Port,
    Scheme,
    Query,
    Path,
    Host,
    Several,
}

/// The kind of difference in words for the client's developer.
#[must_use]
pub fn difference(registered: &[String], asked: &str) -> &'static str {
    if asked.contains('#') {
        return "redirect_uri is not registered for this client: it has a fragment";
    }
    match registered.iter().map(|uri| kind(uri, asked)).min().unwrap_or(Kind::Several) {
        Kind::Slash => "redirect_uri is not registered for this client: a slash at the end makes the difference",
        Kind::Case => "redirect_uri is not registered for this client: upper and lower case differ",
        Kind::Encoding => "redirect_uri is not registered for this client: the percent-encoding differs",
        Kind::Port => "redirect_uri is not registered for this client: the port differs",
        Kind::Scheme => "redirect_uri is not registered for this client: the scheme differs",
        Kind::Query => "redirect_uri is not registered for this client: the query differs",
        Kind::Path => "redirect_uri is not registered for this client: the path differs",
        Kind::Host => "redirect_uri is not registered for this client: the host differs",
        Kind::Several => "redirect_uri is not registered for this client: it is another one altogether",
    }
}

fn kind(registered: &str, asked: &str) -> Kind {
    if registered.trim_end_matches('/') == asked.trim_end_matches('/') {
        return Kind::Slash;
    }
    if registered.eq_ignore_ascii_case(asked) {
        return Kind::Case;
    }
    if decoded(registered) == decoded(asked) {
        return Kind::Encoding;
    }
    let (ours, theirs) = (parts(registered), parts(asked));
    let same = [
        ours.scheme == theirs.scheme,
        ours.authority == theirs.authority,
        ours.path == theirs.path,
        ours.query == theirs.query,
    ];
    match same {
        [false, true, true, true] => Kind::Scheme,
        [true, false, true, true] if without_port(ours.authority) == without_port(theirs.authority) => Kind::Port,
        [true, false, true, true] => Kind::Host,
        [true, true, false, true] => Kind::Path,
        [true, true, true, false] => Kind::Query,
        _ => Kind::Several,
    }
}

fn decoded(uri: &str) -> Vec<u8> {
    percent_encoding::percent_decode_str(uri).collect()
}

fn parts(uri: &str) -> Parts<'_> {
    let (scheme, rest) = uri.split_once(':').unwrap_or(("", uri));
    let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
    let end = match rest.strip_prefix("//") {
        Some(after) => after.find('/').map_or(rest.len(), |at| at + 2),
        None => 0,
    };
    let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
    Parts { scheme, authority, path, query }
}

fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_nearest_registered_uri_names_the_kind() {
        let registered =
            ["https://app.example/cb", "https://app.example/%7B1%7D", "com.example.app:/cb"].map(str::to_owned);
        for (asked, word) in [
            ("https://app.example/cb/", "a slash at the end"),
            ("https://app.example/CB", "upper and lower case"),
            ("https://app.example/{1}", "percent-encoding"),
            ("https://app.example:8443/cb", "the port"),
            ("http://app.example/cb", "the scheme"),
            ("https://app.example/cb?x=1", "the query"),
            ("https://app.example/other", "the path"),
            ("https://evil.example/cb", "the host"),
            ("https://app.example@evil.example/cb", "the host"),
            ("com.example.app://cb", "it is another one"),
            ("https://app.example/cb#f", "a fragment"),
            ("javascript:alert(1)//", "it is another one"),
            ("", "it is another one"),
        ] {
            assert!(difference(&registered, asked).contains(word), "{asked}: {}", difference(&registered, asked));
        }
        assert!(difference(&[], "https://app.example/cb").contains("another one"));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(registered in any::<String>(), asked in any::<String>()) {
            let _ = difference(&[registered], &asked);
        }
    }
}
