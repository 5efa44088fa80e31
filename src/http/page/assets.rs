//! Files served beside the pages: embedded, with the hash of their content in the name, so that they
//! can be cached for ever.

use std::sync::OnceLock;

/// An embedded file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asset {
    /// Its content.
    pub bytes: &'static [u8],
    /// For `Content-Type`.
    pub media_type: &'static str,
    /// For `ETag`, quoted.
    pub etag: &'static str,
    /// The name carries the hash of this very content: cache for ever. Otherwise (another version's
    /// name, while nodes of two versions run) ask again each time.
    pub is_immutable: bool,
}

/// What is known of a file once its hash is computed.
struct Entry {
    name: &'static str,
    path: String,
    etag: String,
    media_type: &'static str,
    bytes: &'static [u8],
}

macro_rules! embedded {
    ($($name:literal as $media_type:literal),* $(,)?) => {
        const FILES: &[(&str, &str, &[u8])] =
            &[$(($name, $media_type, include_bytes!(concat!("../../../static/", $name)))),*];
    };
}

embedded! {
    "css/doorward.css" as "text/css; charset=utf-8",
    "js/page.js" as "text/javascript; charset=utf-8",
    "js/signed-out.js" as "text/javascript; charset=utf-8",
    "js/check-session.js" as "text/javascript; charset=utf-8",
    "js/form-post.js" as "text/javascript; charset=utf-8",
    "img/mark.svg" as "image/svg+xml",
}

/// Where an embedded file is served: `/static/css/doorward-<hash>.css`. A name that is not embedded
/// gives an address that is not found; a test walks all pages for such.
#[must_use]
pub fn asset(name: &str) -> &'static str {
    entries().iter().find(|entry| entry.name == name).map_or("/static/missing", |entry| entry.path.as_str())
}

/// The file at a path below the base, `/static/…`.
#[must_use]
pub fn find(path: &str) -> Option<Asset> {
    let entry = entries().iter().find(|entry| entry.path == path || is_other_version(path, entry.name))?;
    Some(Asset {
        bytes: entry.bytes,
        media_type: entry.media_type,
        etag: &entry.etag,
        is_immutable: entry.path == path,
    })
}

/// All addresses, for the lists of the tests.
pub fn paths() -> impl Iterator<Item = &'static str> {
    entries().iter().map(|entry| entry.path.as_str())
}

fn entries() -> &'static [Entry] {
    static ENTRIES: OnceLock<Vec<Entry>> = OnceLock::new();
    ENTRIES.get_or_init(|| {
        FILES
            .iter()
            .map(|&(name, media_type, bytes)| {
                let hash = format!("{:016x}", fnv1a(bytes));
                let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
                Entry {
                    name,
                    path: format!("/static/{stem}-{hash}.{extension}"),
                    etag: format!("\"{hash}\""),
                    media_type,
                    bytes,
                }
            })
            .collect()
    })
}

/// Whether a path is a file's address with another content's hash.
fn is_other_version(path: &str, name: &str) -> bool {
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    path.strip_prefix("/static/")
        .and_then(|rest| rest.strip_prefix(stem))
        .and_then(|rest| rest.strip_prefix('-'))
        .and_then(|rest| rest.strip_suffix(extension))
        .and_then(|rest| rest.strip_suffix('.'))
        .is_some_and(|hash| hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// FNV-1a, 64 bits: tells contents of our own apart, no more is asked of it.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
