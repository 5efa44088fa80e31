//! Session Management 1.0: `session_state` (sections 2 and 3.2). A client learns from it, through our
//! frame, that something about the sign-in in this browser changed; it learns nothing else, and nobody at
//! another origin can make use of it.

use std::fmt::Write as _;

use aws_lc_rs::digest::{SHA256, digest};

use super::redirect_uri::origin_of;

/// `session_state` for an answer that goes to `redirect_uri`. `browser_state` is what the frame's script
/// reads in its cookie, empty where there is none; `static/js/check-session.js` computes the same.
#[must_use]
pub fn session_state(client_id: &str, redirect_uri: &str, browser_state: &str, salt: [u8; 16]) -> String {
    // An app's own scheme has no origin (RFC 6454 section 4), and no page from which it could ask.
    let origin = origin_of(redirect_uri).unwrap_or_else(|| "null".to_owned());
    let salt = hex(&salt);
    let hash = digest(&SHA256, format!("{client_id} {origin} {browser_state} {salt}").as_bytes());
    format!("{}.{salt}", hex(hash.as_ref()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SALT: [u8; 16] = [0xab; 16];

    #[test]
    fn it_is_the_salted_hash_of_client_origin_and_browser_state() {
        let got = session_state("web", "https://app.example:443/cb?x=1", "state", SALT);
        let salt = "ab".repeat(16);
        let hash = digest(&SHA256, format!("web https://app.example state {salt}").as_bytes());
        assert_eq!(got, format!("{}.{salt}", hex(hash.as_ref())));
        assert!(!got.contains(' '), "section 2");
        assert_eq!(hex(&[0, 255, 16]), "00ff10");
    }

    #[test]
    fn each_part_makes_it_another() {
        let all = [
            session_state("web", "https://app.example/cb", "state", SALT),
            session_state("other", "https://app.example/cb", "state", SALT),
            session_state("web", "https://app.example:8443/cb", "state", SALT),
            session_state("web", "http://localhost/cb", "state", SALT),
            session_state("web", "com.example.app:/cb", "state", SALT),
            session_state("web", "https://app.example/cb", "", SALT),
            session_state("web", "https://app.example/cb", "state", [1; 16]),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(!all[..at].contains(one), "{at}");
        }
        // The path does not matter: the frame knows the origin alone.
        assert_eq!(all[0], session_state("web", "https://app.example/other?a=b", "state", SALT));
    }
}
