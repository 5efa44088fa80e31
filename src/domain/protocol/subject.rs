//! How a client knows a person: OpenID Connect Core sections 8 and 8.1, Dynamic Registration section 5.
//!
//! A public `sub` is the same for every client. A pairwise one is made for a sector: the same for clients of
//! one sector, so that one owner's applications know a person again, and without a link to that of any other.
//! It follows from the realm's key, the sector and the person's own `sub`, and from nothing else, so that it
//! stays what it is when internal ids change, as in a move to another installation.

use std::fmt;

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq as _;
use url::Url;
use zeroize::Zeroizing;

use crate::model::client::{ClientMetadata, SubjectType};

/// Bytes of a realm's key.
pub const KEY_BYTES: usize = 32;
/// Told apart from whatever else this key might ever make.
const CONTEXT: &[u8] = b"doorward pairwise sub 1\0";
/// Entries of a sector document that are looked at.
const DOCUMENT_MAX: usize = 10_000;

/// A realm's key for pairwise subs. It is drawn once and never changes: with it would every pairwise `sub`.
#[derive(Clone)]
pub struct PairwiseKey {
    bytes: Zeroizing<[u8; KEY_BYTES]>,
    /// The same, ready to be used.
    mac: hmac::Key,
}

impl PairwiseKey {
    /// Takes the bytes over.
    #[must_use]
    pub fn new(bytes: [u8; KEY_BYTES]) -> Self {
        let bytes = Zeroizing::new(bytes);
        let mac = hmac::Key::new(hmac::HMAC_SHA256, bytes.as_slice());
        Self { bytes, mac }
    }

    /// The bytes themselves, to be sealed or encrypted.
    #[must_use]
    pub fn expose(&self) -> &[u8] {
        self.bytes.as_slice()
    }

    /// The `sub` of a person in a sector: 43 characters that only this key connects with her own `sub`
    /// (Core 8.1: not reversible by anyone else, different in each sector, always the same).
    #[must_use]
    pub fn sub(&self, sector: &str, own: &str) -> String {
        let mut context = hmac::Context::with_key(&self.mac);
        context.update(CONTEXT);
        // The length in front, so that no two pairs have the same bytes.
        context.update(&u64::try_from(sector.len()).unwrap_or(u64::MAX).to_be_bytes());
        context.update(sector.as_bytes());
        context.update(own.as_bytes());
        URL_SAFE_NO_PAD.encode(context.sign())
    }
}

impl PartialEq for PairwiseKey {
    fn eq(&self, other: &Self) -> bool {
        self.bytes.ct_eq(&*other.bytes).into()
    }
}

impl Eq for PairwiseKey {}

impl fmt::Debug for PairwiseKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PairwiseKey([redacted])")
    }
}

/// Why a pairwise client has no sector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SectorFault {
    /// Its redirect URIs lie on several hosts.
    Hosts(String, String),
    /// A redirect URI without a host, as of a native application.
    NoHost(String),
}

impl fmt::Display for SectorFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const REMEDY: &str = "set sector_identifier_uri to an https address whose JSON array lists every redirect \
                              URI (OpenID Connect Core 8.1)";
        match self {
            Self::Hosts(one, other) => {
                write!(f, "pairwise needs one sector, and the redirect URIs lie on {one} and {other}; {REMEDY}")
            }
            Self::NoHost(uri) => write!(f, "pairwise needs a sector, and {uri} names no host; {REMEDY}"),
        }
    }
}

/// Whether a client that is to get pairwise subs has one sector, whatever way it is registered. Without a
/// redirect URI it never hears of a person.
pub fn check_sector(client: &ClientMetadata) -> Result<(), SectorFault> {
    if client.subject_type == SubjectType::Public || client.sector_identifier_uri.is_some() {
        return Ok(());
    }
    let mut first: Option<String> = None;
    for uri in &client.redirect_uris {
        let host = host(uri).ok_or_else(|| SectorFault::NoHost(uri.clone()))?;
        match &first {
            Some(first) if *first != host => return Err(SectorFault::Hosts(first.clone(), host)),
            Some(_) => {}
            None => first = Some(host),
        }
    }
    Ok(())
}

/// The sector of a client that passed [`check_sector`]: the host of its `sector_identifier_uri`, else that of
/// its redirect URIs.
#[must_use]
pub fn sector(client: &ClientMetadata) -> Option<String> {
    host(client.sector_identifier_uri.as_ref().or(client.redirect_uris.first())?)
}

/// The host in its one spelling.
fn host(uri: &str) -> Option<String> {
    Url::parse(uri).ok()?.host_str().filter(|host| !host.is_empty()).map(str::to_ascii_lowercase)
}

/// What is wrong with the document at a `sector_identifier_uri`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentFault {
    /// It is no JSON array of texts, or an endless one.
    Malformed,
    /// It does not list this redirect URI.
    Lacks(String),
}

impl fmt::Display for DocumentFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => write!(f, "is no JSON array of at most {DOCUMENT_MAX} addresses"),
            Self::Lacks(uri) => write!(f, "does not list the redirect URI {uri}"),
        }
    }
}

/// Whether the document lists every redirect URI, sign by sign (Dynamic Registration 5): only who controls
/// the sector's host can let a client in.
pub fn check_document(bytes: &[u8], redirect_uris: &[String]) -> Result<(), DocumentFault> {
    let listed: Vec<String> = serde_json::from_slice(bytes).map_err(|_| DocumentFault::Malformed)?;
    if listed.len() > DOCUMENT_MAX {
        return Err(DocumentFault::Malformed);
    }
    match redirect_uris.iter().find(|uri| !listed.contains(uri)) {
        None => Ok(()),
        Some(uri) => Err(DocumentFault::Lacks(uri.clone())),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pairwise(sector: Option<&str>, redirect_uris: &[&str]) -> ClientMetadata {
        ClientMetadata {
            subject_type: SubjectType::Pairwise,
            sector_identifier_uri: sector.map(str::to_owned),
            redirect_uris: redirect_uris.iter().map(|uri| (*uri).to_owned()).collect(),
            ..ClientMetadata::default()
        }
    }

    fn key(byte: u8) -> PairwiseKey {
        PairwiseKey::new([byte; KEY_BYTES])
    }

    #[test]
    fn a_sub_is_always_the_same_and_differs_by_key_sector_and_person() {
        let sub = key(1).sub("app.example", "alice");
        // Kept for ever: a change here is a change of every person at every pairwise client.
        assert_eq!(sub, "Yez0pPxi9eTbD1dBT6Tx-p4h93G18pjUthKrLFe7ZyE");
        assert_eq!(sub, key(1).sub("app.example", "alice"));
        assert!(crate::model::client::is_client_id(&sub), "at most 255 ASCII characters");
        for other in [
            key(2).sub("app.example", "alice"),
            key(1).sub("other.example", "alice"),
            key(1).sub("app.example", "bob"),
            key(1).sub("app.examplea", "lice"),
        ] {
            assert_ne!(sub, other);
        }
    }

    #[test]
    fn a_key_is_not_shown() {
        assert_eq!(format!("{:?}", key(7)), "PairwiseKey([redacted])");
        assert_eq!(key(7), key(7));
        assert_ne!(key(7), key(8));
    }

    #[test]
    fn the_sector_is_the_documents_host_or_the_one_host_of_all_redirect_uris() {
        for (client, want) in [
            (pairwise(None, &["https://app.example/cb", "https://APP.example:8443/other?x=1"]), "app.example"),
            (pairwise(Some("https://Sector.example/uris.json"), &["https://a.example/", "x.y:/cb"]), "sector.example"),
            (pairwise(None, &["http://localhost/cb", "http://localhost:3000/cb"]), "localhost"),
            (pairwise(None, &["http://[::1]/cb"]), "[::1]"),
        ] {
            assert_eq!(check_sector(&client), Ok(()), "{client:?}");
            assert_eq!(sector(&client).as_deref(), Some(want));
        }
        assert_eq!(check_sector(&pairwise(None, &[])), Ok(()), "it never hears of a person");
        assert_eq!(sector(&pairwise(None, &[])), None);
    }

    #[test]
    fn several_hosts_or_none_need_a_sector_identifier_uri() {
        let several = check_sector(&pairwise(None, &["https://a.example/cb", "https://b.example/cb"])).unwrap_err();
        assert_eq!(several, SectorFault::Hosts("a.example".to_owned(), "b.example".to_owned()));
        assert!(several.to_string().contains("a.example and b.example; set sector_identifier_uri"), "{several}");
        let native = check_sector(&pairwise(None, &["com.example.app:/cb"])).unwrap_err();
        assert_eq!(native, SectorFault::NoHost("com.example.app:/cb".to_owned()));
        let public = ClientMetadata {
            subject_type: SubjectType::Public,
            ..pairwise(None, &["https://a.example/cb", "https://b.example/cb"])
        };
        assert_eq!(check_sector(&public), Ok(()));
    }

    #[test]
    fn the_document_lists_every_redirect_uri_sign_by_sign() {
        let uris = ["https://a.example/cb".to_owned(), "https://b.example/cb".to_owned()];
        let lacks = |at: usize| Err(DocumentFault::Lacks(uris[at].clone()));
        for (document, want) in [
            (r#"["https://b.example/cb","https://a.example/cb","https://c.example/"]"#, Ok(())),
            (r#"["https://a.example/cb"]"#, lacks(1)),
            (r#"["https://a.example/cb/","https://b.example/cb"]"#, lacks(0)),
            (r#"["https://A.example/cb","https://b.example/cb"]"#, lacks(0)),
            ("[]", lacks(0)),
            (r#"{"redirect_uris":["https://a.example/cb"]}"#, Err(DocumentFault::Malformed)),
            (r#"["https://a.example/cb",1]"#, Err(DocumentFault::Malformed)),
            (r#"["https://a.example/cb""#, Err(DocumentFault::Malformed)),
            ("", Err(DocumentFault::Malformed)),
        ] {
            assert_eq!(check_document(document.as_bytes(), &uris), want, "{document}");
        }
        let long = format!("[{}\"x\"]", "\"x\",".repeat(DOCUMENT_MAX));
        assert_eq!(check_document(long.as_bytes(), &[]), Err(DocumentFault::Malformed));
    }

    proptest! {
        #[test]
        fn no_document_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = check_document(&bytes, &["https://a.example/cb".to_owned()]);
        }

        #[test]
        fn who_has_a_checked_redirect_uri_has_a_sector(uris in proptest::collection::vec("(https?://[a-zA-Z.]{1,8}/|[a-z.]{1,5}:/)x?", 1..4)) {
            let client = pairwise(None, &uris.iter().map(String::as_str).collect::<Vec<_>>());
            if check_sector(&client).is_ok() {
                prop_assert!(sector(&client).is_some());
            }
        }
    }
}
