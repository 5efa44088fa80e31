//! Front-Channel Logout 1.0: which address a client may register (section 2), what the signed-out page
//! loads in a frame (section 3), and how much of it one page loads.

use std::fmt;

use super::redirect_uri::{self, RedirectUriFault, append, check_logout_frame, origin_of};
use crate::model::ids::SessionId;

/// Frames on one page: a browser loads so many beside each other within seconds.
pub const MOST_FRAMES: usize = 20;
/// Bytes of all origins in the page's policy: proxies limit the headers of an answer to 4 KiB and more.
pub const MOST_ORIGIN_BYTES: usize = 2048;

/// Why an address may not be registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FrameFault {
    /// It is none that is loaded.
    Uri(RedirectUriFault),
    /// No redirect URI of the client has its scheme, host and port.
    Elsewhere,
}

impl fmt::Display for FrameFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uri(fault) => fault.fmt(f),
            Self::Elsewhere => f.write_str("must have scheme, host and port of one of the client's redirect_uris"),
        }
    }
}

impl std::error::Error for FrameFault {}

/// Whether a client with these redirect URIs may register the address.
pub fn check_registrable(uri: &str, redirect_uris: &[String]) -> Result<(), FrameFault> {
    check_logout_frame(uri).map_err(FrameFault::Uri)?;
    let known = redirect_uris.iter().any(|known| redirect_uri::is_same_origin(known, uri));
    known.then_some(()).ok_or(FrameFault::Elsewhere)
}

/// One frame of the signed-out page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// What the page shows of the client.
    pub title: String,
    /// What is loaded: the registered address with `iss` and `sid`.
    pub uri: String,
    /// Its origin, as the page's policy names it.
    pub origin: String,
}

impl Frame {
    /// The frame of a client that registered `uri`. `iss` and `sid` go to everybody, whether required or
    /// not: the client can then tell whose session it is that ended. `None`: an address that cannot be framed.
    #[must_use]
    pub fn new(title: &str, uri: &str, iss: &str, sid: SessionId) -> Option<Self> {
        let origin = origin_of(uri)?;
        let uri = append(uri, &[("iss", iss), ("sid", &sid.to_string())]);
        Some(Self { title: title.to_owned(), uri, origin })
    }
}

/// As many of these frames as one page loads, the first ones first.
#[must_use]
pub fn within_bounds(frames: Vec<Frame>) -> Vec<Frame> {
    let mut origins: Vec<String> = Vec::new();
    let mut bytes = 0;
    let fits = |frame: &Frame| {
        if !origins.contains(&frame.origin) {
            bytes += frame.origin.len() + 1;
            origins.push(frame.origin.clone());
        }
        bytes <= MOST_ORIGIN_BYTES
    };
    frames.into_iter().take(MOST_FRAMES).take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::super::sample::{self, ISSUER};
    use super::*;

    #[test]
    fn only_an_address_at_the_origin_of_a_redirect_uri_may_be_registered() {
        use RedirectUriFault as F;
        let known = ["https://app.example/cb", "http://localhost:3000/cb", "com.example.app:/cb"].map(str::to_owned);
        for uri in ["https://app.example/bye", "https://app.example:443/bye?tenant=a", "http://localhost:3000/"] {
            assert_eq!(check_registrable(uri, &known), Ok(()), "{uri}");
        }
        for uri in [
            "https://other.example/bye",
            "https://app.example:8443/bye",
            "http://localhost/bye",
            "http://127.0.0.1:3000/bye",
            "https://sub.app.example/bye",
        ] {
            assert_eq!(check_registrable(uri, &known), Err(FrameFault::Elsewhere), "{uri}");
        }
        for (uri, fault) in [
            ("http://app.example/bye", F::Http),
            ("com.example.app:/bye", F::Http),
            ("https://app.example/bye#x", F::Fragment),
            ("https://app.example/bye?sid=1", F::Reserved("sid".into())),
            ("https://app.example/bye?a=1&i%73s=1", F::Reserved("iss".into())),
            ("javascript:alert(1)", F::Dangerous("javascript".into())),
            ("/bye", F::NotAbsolute),
        ] {
            assert_eq!(check_registrable(uri, &known), Err(FrameFault::Uri(fault)), "{uri}");
        }
        let fault = check_registrable("https://other.example/bye", &known).unwrap_err();
        assert!(fault.to_string().contains("redirect_uris"), "{fault}");
    }

    #[test]
    fn iss_and_sid_are_appended_and_the_addresss_own_query_stays() {
        let sid = sample::SESSION;
        let iss = "iss=https%3A%2F%2Fop%2Eexample".replace("%2E", ".");
        assert!(ISSUER.starts_with("https://"));
        for (uri, joint) in [
            ("https://app.example/bye", "?"),
            ("https://app.example/bye?tenant=a%2Fb", "&"),
            ("https://app.example/bye?", ""),
        ] {
            let frame = Frame::new("App", uri, "https://op.example", sid).unwrap();
            assert_eq!(frame.uri, format!("{uri}{joint}{iss}&sid={sid}"));
            assert_eq!(frame.origin, "https://app.example");
        }
        assert_eq!(Frame::new("App", "com.example.app:/bye", "https://op.example", sid), None);
    }

    #[test]
    fn one_page_loads_so_many_and_its_policy_stays_short() {
        let frame = |host: &str| {
            Frame::new("App", &format!("https://{host}/bye"), "https://op.example", sample::SESSION).unwrap()
        };
        let many: Vec<Frame> = (0..30).map(|n| frame(&format!("a{n}.example"))).collect();
        assert_eq!(within_bounds(many.clone()), many[..MOST_FRAMES]);
        // Many addresses of one origin cost its name once.
        let same: Vec<Frame> = (0..30).map(|_| frame(&"a".repeat(60))).collect();
        assert_eq!(within_bounds(same).len(), MOST_FRAMES);
        let long: Vec<Frame> = (0..30).map(|n| frame(&format!("{}.{n}.example", ["a"; 110].join(".")))).collect();
        let kept = within_bounds(long);
        assert_eq!(kept.len(), 8);
        assert!(kept.iter().map(|frame| frame.origin.len() + 1).sum::<usize>() <= MOST_ORIGIN_BYTES);
    }
}
