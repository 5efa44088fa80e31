//! The written form of our own secrets and tokens: a prefix that tells the kind, the body, and a
//! checksum of six base62 signs (CRC-32, ISO 3309) by which secret scanners know a leaked one and by
//! which junk is turned away before anything is computed or looked up.
//!
//! The checksum proves nothing: whoever holds a token still has to pass its tag or its hash.

/// Longest text that is looked at as a token.
pub const TOKEN_MAX: usize = 16 * 1024;
/// Signs of the checksum.
pub const CHECKSUM_LEN: usize = 6;

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The kinds of text that carry a checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// A client secret.
    ClientSecret,
    /// An opaque access token.
    AccessToken,
    /// A refresh token.
    RefreshToken,
    /// A personal access token.
    PersonalAccessToken,
    /// A token by which a client registers itself (RFC 7591 section 1.2).
    InitialAccessToken,
    /// A token by which a client looks after its own registration (RFC 7592 section 1.2).
    RegistrationAccessToken,
}

impl TokenKind {
    /// Every kind.
    pub const ALL: [Self; 6] = [
        Self::ClientSecret,
        Self::AccessToken,
        Self::RefreshToken,
        Self::PersonalAccessToken,
        Self::InitialAccessToken,
        Self::RegistrationAccessToken,
    ];

    /// Its prefix.
    #[must_use]
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::ClientSecret => "dwc_",
            Self::AccessToken => "dwa_",
            Self::RefreshToken => "dwr_",
            Self::PersonalAccessToken => "dwp_",
            Self::InitialAccessToken => "dwi_",
            Self::RegistrationAccessToken => "dwg_",
        }
    }
}

/// Writes a token: prefix, body, checksum of both.
#[must_use]
pub fn format(kind: TokenKind, body: &str) -> String {
    let mut text = String::with_capacity(4 + body.len() + CHECKSUM_LEN);
    text.push_str(kind.prefix());
    text.push_str(body);
    let sum = checksum(text.as_bytes());
    text.extend(sum.iter().map(|sign| char::from(*sign)));
    text
}

/// The body of a token of the kind; `None` when prefix or checksum do not fit.
#[must_use]
pub fn body(kind: TokenKind, text: &str) -> Option<&str> {
    if text.len() > TOKEN_MAX || !text.is_ascii() {
        return None;
    }
    let (covered, sum) = text.split_at_checked(text.len().checked_sub(CHECKSUM_LEN)?)?;
    let body = covered.strip_prefix(kind.prefix())?;
    (checksum(covered.as_bytes()) == sum.as_bytes()).then_some(body)
}

/// What a token string of unknown origin looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape<'a> {
    /// Three parts with dots: perhaps a JWT of ours.
    Jwt(&'a str),
    /// An opaque access token of ours; its body.
    OpaqueAccess(&'a str),
    /// A refresh token of ours; the whole text, for [`super::refresh_token_text::parse`].
    Refresh(&'a str),
    /// Nothing that we made.
    Other,
}

/// Sorts a token string by its looks alone, so that a stranger's string costs no look-up.
#[must_use]
pub fn route(text: &str) -> Shape<'_> {
    if text.is_empty() || text.len() > TOKEN_MAX {
        return Shape::Other;
    }
    if let Some(body) = body(TokenKind::AccessToken, text) {
        return Shape::OpaqueAccess(body);
    }
    if body(TokenKind::RefreshToken, text).is_some() {
        return Shape::Refresh(text);
    }
    let is_jwt = text.bytes().filter(|byte| *byte == b'.').count() == 2
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
    if is_jwt { Shape::Jwt(text) } else { Shape::Other }
}

/// CRC-32 in base62, most significant sign first, always six signs.
fn checksum(bytes: &[u8]) -> [u8; CHECKSUM_LEN] {
    let mut rest = crc32fast::hash(bytes);
    let mut signs = [b'0'; CHECKSUM_LEN];
    for sign in signs.iter_mut().rev() {
        *sign = usize::try_from(rest % 62).ok().and_then(|at| BASE62.get(at)).copied().unwrap_or(b'0');
        rest /= 62;
    }
    signs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_checksum_is_the_standard_one() {
        assert_eq!(crc32fast::hash(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32fast::hash(b""), 0);
        assert_eq!(&checksum(b""), b"000000");
    }

    #[test]
    fn a_token_is_read_back_and_any_change_is_seen() {
        let text = format(TokenKind::ClientSecret, "abcDEF123-_");
        assert_eq!(body(TokenKind::ClientSecret, &text), Some("abcDEF123-_"));
        assert_eq!(body(TokenKind::RefreshToken, &text), None);
        for at in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[at] = if changed[at] == b'x' { b'y' } else { b'x' };
            assert_eq!(body(TokenKind::ClientSecret, &String::from_utf8(changed).unwrap()), None, "{at}");
        }
        assert_eq!(body(TokenKind::ClientSecret, &text[..text.len() - 1]), None);
        assert_eq!(body(TokenKind::ClientSecret, &(text + "0")), None);
    }

    #[test]
    fn a_string_is_routed_by_its_looks() {
        let access = format(TokenKind::AccessToken, "AAAA");
        let refresh = format(TokenKind::RefreshToken, "AAAA");
        let secret = format(TokenKind::ClientSecret, "AAAA");
        let long = format!("a.b.{}", "c".repeat(TOKEN_MAX));
        let cases = [
            ("eyJh.eyJ-_9.c2ln", Shape::Jwt("eyJh.eyJ-_9.c2ln")),
            (access.as_str(), Shape::OpaqueAccess("AAAA")),
            (refresh.as_str(), Shape::Refresh(&refresh)),
            (secret.as_str(), Shape::Other),
            ("dwa_AAAA000000", Shape::Other),
            ("dwa_", Shape::Other),
            ("", Shape::Other),
            ("garbage", Shape::Other),
            ("a.b", Shape::Other),
            ("a.b.c.d.e", Shape::Other),
            ("a.b.c=", Shape::Other),
            ("a.b.\u{e9}", Shape::Other),
            (&long, Shape::Other),
        ];
        for (text, want) in cases {
            assert_eq!(route(text), want, "{}", &text[..text.len().min(40)]);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_routed(text in "\\PC{0,80}") {
            let _ = route(&text);
        }

        #[test]
        fn every_kind_is_read_back(text in "[A-Za-z0-9_-]{0,80}") {
            for kind in TokenKind::ALL {
                let token = format(kind, &text);
                prop_assert_eq!(body(kind, &token), Some(text.as_str()));
            }
        }
    }
}
