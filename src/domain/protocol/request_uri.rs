//! `request_uri` (OpenID Connect Core 6.2, RFC 9101 section 5.2): an address of a request object that the client
//! registered, compared as a string. A fragment is the SHA-256 of what stands there, in base64url: one that was
//! registered is demanded, one that was sent is checked, so that nobody exchanges the object on its way.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::redirect_uri;
use super::refusal::{OauthCode, Refusal};
use crate::model::client::Client;

/// Characters of a `request_uri` at most (RFC 9101 section 5.2).
pub const URI_MAX: usize = 512;

/// Where an object stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestUri<'a> {
    /// The address without its fragment.
    pub address: &'a str,
    /// The SHA-256 that the contents must have.
    pub hash: Option<[u8; 32]>,
}

/// An address with its fragment.
fn split(uri: &str) -> (&str, Option<&str>) {
    uri.split_once('#').map_or((uri, None), |(address, fragment)| (address, Some(fragment)))
}

/// One spelling only.
fn hash(fragment: &str) -> Option<[u8; 32]> {
    URL_SAFE_NO_PAD.decode(fragment).ok()?.try_into().ok()
}

/// Whether it may be registered in `request_uris`; the error says what it must be.
pub fn check_registrable(uri: &str) -> Result<(), String> {
    if uri.len() > URI_MAX || !uri.is_ascii() {
        return Err(format!("must have at most {URI_MAX} ASCII characters (RFC 9101 section 5.2)"));
    }
    let (address, fragment) = split(uri);
    // As for an address of logout: we call it ourselves.
    redirect_uri::check_logout_endpoint(address).map_err(|fault| fault.to_string())?;
    if fragment.is_some_and(|fragment| hash(fragment).is_none()) {
        return Err("has a fragment that is not the base64url of a SHA-256 (OpenID Connect Core 6.2)".to_owned());
    }
    Ok(())
}

/// The registered address that is meant.
pub fn registered<'a>(asked: &'a str, client: &Client) -> Result<RequestUri<'a>, Refusal> {
    let refused = |reason, description| Err(Refusal::new(OauthCode::InvalidRequestUri, reason, description));
    if asked.len() > URI_MAX || !asked.is_ascii() {
        return refused("request_uri_too_long", "request_uri must have at most 512 ASCII characters");
    }
    let (address, fragment) = split(asked);
    let mut known =
        client.metadata.request_uris.iter().map(|uri| split(uri)).filter(|(own, _)| *own == address).peekable();
    if known.peek().is_none() {
        return refused(
            "request_uri_not_registered",
            "request_uri is not among the request_uris registered for this client",
        );
    }
    // Registered without a fragment, any will do; with one, that one, said again or not.
    let Some(fragment) = known.find_map(|(_, own)| match (own, fragment) {
        (Some(own), None) => Some(Some(own)),
        (None, sent) => Some(sent),
        (Some(own), Some(sent)) => (own == sent).then_some(Some(own)),
    }) else {
        return refused("request_uri_fragment", "request_uri has another fragment than the one registered");
    };
    match fragment.map(hash) {
        Some(None) => refused("request_uri_fragment", "the fragment of request_uri is not the base64url of a SHA-256"),
        found => Ok(RequestUri { address, hash: found.flatten() }),
    }
}

/// The one refusal of whatever goes wrong on the way there: what stands in our network is not told.
#[must_use]
pub const fn unfetched() -> Refusal {
    Refusal::new(
        OauthCode::InvalidRequestUri,
        "request_uri_unfetched",
        "the request object at request_uri could not be fetched",
    )
}

/// The refusal of contents that the fragment does not name.
#[must_use]
pub const fn changed() -> Refusal {
    Refusal::new(
        OauthCode::InvalidRequestUri,
        "request_uri_hash",
        "the contents at request_uri do not have the SHA-256 in its fragment",
    )
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    const ONE: &str = "LPJNul-wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ";
    const OTHER: &str = "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU";

    fn asked(registered_uri: &str, sent: &str) -> Result<bool, &'static str> {
        let mut client = sample::client();
        client.metadata.request_uris = vec!["https://app.example/other".to_owned(), registered_uri.to_owned()];
        registered(sent, &client)
            .map(|found| {
                assert_eq!(found.address, "https://app.example/r");
                found.hash.is_some()
            })
            .map_err(|refusal| refusal.reason)
    }

    #[test]
    fn an_address_is_registered_exactly_and_a_fragment_binds() {
        let (plain, one, other) = (
            "https://app.example/r".to_owned(),
            format!("https://app.example/r#{ONE}"),
            format!("https://app.example/r#{OTHER}"),
        );
        for (own, sent, expected) in [
            (&plain, &plain, Ok(false)),
            (&plain, &one, Ok(true)),
            (&one, &one, Ok(true)),
            (&one, &plain, Ok(true)),
            (&one, &other, Err("request_uri_fragment")),
            (&plain, &"https://app.example/r#x".to_owned(), Err("request_uri_fragment")),
            (&plain, &"https://app.example/r#".to_owned(), Err("request_uri_fragment")),
        ] {
            assert_eq!(asked(own, sent), expected, "{own} {sent}");
        }
        for sent in [
            "https://app.example/R",
            "https://app.example/r/",
            "https://app.example/r?x",
            "https://app.example:443/r",
            "http://app.example/r",
            "https://app.example",
            "urn:ietf:params:oauth:request_uri:x",
            "file:///etc/passwd",
        ] {
            assert_eq!(asked(&plain, sent), Err("request_uri_not_registered"), "{sent}");
        }
        let long = format!("https://app.example/{}", "r".repeat(URI_MAX));
        assert_eq!(asked(&plain, &long), Err("request_uri_too_long"));
        assert_eq!(asked(&plain, "https://app.example/\u{e9}"), Err("request_uri_too_long"));
    }

    #[test]
    fn two_registered_fragments_of_one_address_are_both_good() {
        let mut client = sample::client();
        client.metadata.request_uris = [ONE, OTHER].map(|hash| format!("https://app.example/r#{hash}")).to_vec();
        for uri in client.metadata.request_uris.clone() {
            assert!(registered(&uri, &client).is_ok(), "{uri}");
        }
    }

    #[test]
    fn only_addresses_that_we_may_call_are_registered() {
        for uri in
            ["https://app.example/r", "https://app.example:8443/r?x=1", "http://localhost:9/r", "http://127.0.0.1/r"]
        {
            assert_eq!(check_registrable(uri), Ok(()), "{uri}");
            assert_eq!(check_registrable(&format!("{uri}#{ONE}")), Ok(()), "{uri}");
        }
        let long = format!("https://app.example/{}", "r".repeat(URI_MAX));
        for uri in [
            "",
            "http://app.example/r",
            "com.example.app:/r",
            "urn:x",
            "https://user@app.example/r",
            "https://app.example/r#",
            "https://app.example/r#x",
            "https://app.example/*",
            &long,
        ] {
            assert!(check_registrable(uri).is_err(), "{uri}");
        }
    }
}
