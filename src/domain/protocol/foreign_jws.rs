//! Reading of a compact JWS that somebody else signed (RFC 7515 section 7.1): a client's assertion, later
//! its request object.
//!
//! Three canonical base64url parts. Of the header `alg`, `kid` and `typ` are read, each once; what would
//! change how the token is read, or lead to a key that nobody registered (`crit`, `b64`, `zip`, `jwk`, `jku`,
//! `x5u`), is refused (`security` row 48), and what only informs is ignored (RFC 7515 section 4). The
//! signature is verified elsewhere, with the keys of [`super::foreign_jwks`].

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::de::{self, Deserializer, IgnoredAny};
use serde::{Deserialize, Serialize};

use super::json::present;
use super::token_text::TOKEN_MAX;
use crate::model::key::ClientAlgorithm;
use crate::model::timestamp::Timestamp;

/// Encoded bytes of a header: it may carry a certificate chain that is ignored.
const HEADER_MAX: usize = 8 * 1024;
const KID_MAX: usize = 256;
/// The end of the year 9999; no moment in a token lies beyond it.
const LAST_SECOND: f64 = 253_402_300_799.0;

/// What a stranger's header says about the signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForeignAlgorithm {
    /// Signed in this way.
    Signed(ClientAlgorithm),
    /// `none`: nobody signed it.
    Unsigned,
}

/// The parts of a token, unverified.
#[derive(Clone, PartialEq, Eq)]
pub struct ForeignJws<'a> {
    /// What the signature covers.
    pub signing_input: &'a str,
    /// How it is signed.
    pub alg: ForeignAlgorithm,
    /// By which key, where the header says so.
    pub kid: Option<String>,
    /// What it is, where the header says so.
    pub typ: Option<String>,
    /// The payload's bytes.
    pub payload: Vec<u8>,
    /// The signature's bytes; empty exactly when there is none.
    pub signature: Vec<u8>,
}

/// A token is a credential as long as it lives.
impl fmt::Debug for ForeignJws<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForeignJws").field("alg", &self.alg).field("kid", &self.kid).finish_non_exhaustive()
    }
}

/// Why a text is no token that can be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreadable {
    /// Not three parts of base64url, or too long.
    Form,
    /// The header is no object of JSON, has a member twice, or one that is not taken.
    Header,
    /// Signed in a way that is not supported.
    Algorithm,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Form => "is not a signed JWT: three parts of base64url without padding, joined by dots",
            Self::Header => {
                "has a header that cannot be taken: alg, kid and typ once each, and none of crit, b64, zip, jwk, jku and x5u"
            }
            Self::Algorithm => "is signed by an algorithm that is not supported",
        })
    }
}

impl std::error::Error for Unreadable {}

#[derive(Deserialize)]
struct Header {
    alg: String,
    #[serde(default, deserialize_with = "present")]
    kid: Option<String>,
    #[serde(default, deserialize_with = "present")]
    typ: Option<String>,
    #[serde(default, rename = "crit", deserialize_with = "refused")]
    _crit: (),
    #[serde(default, rename = "b64", deserialize_with = "refused")]
    _b64: (),
    #[serde(default, rename = "zip", deserialize_with = "refused")]
    _zip: (),
    #[serde(default, rename = "jwk", deserialize_with = "refused")]
    _jwk: (),
    #[serde(default, rename = "jku", deserialize_with = "refused")]
    _jku: (),
    #[serde(default, rename = "x5u", deserialize_with = "refused")]
    _x5u: (),
}

/// A member that must not be there, whatever its value.
fn refused<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    IgnoredAny::deserialize(deserializer)?;
    Err(de::Error::custom("a member that is not taken"))
}

/// Takes a token apart.
pub fn parse(text: &str) -> Result<ForeignJws<'_>, Unreadable> {
    if text.len() > TOKEN_MAX {
        return Err(Unreadable::Form);
    }
    let (signing_input, signature) = text.rsplit_once('.').ok_or(Unreadable::Form)?;
    let (header, payload) = signing_input.split_once('.').ok_or(Unreadable::Form)?;
    if header.len() > HEADER_MAX {
        return Err(Unreadable::Header);
    }
    // A dot left over is no sign of base64url, so a fourth part fails here.
    let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| Unreadable::Form);
    let (header, payload, signature) = (decode(header)?, decode(payload)?, decode(signature)?);
    if header.first() != Some(&b'{') {
        return Err(Unreadable::Header); // the reader would take a list for the members in order
    }
    let header: Header = serde_json::from_slice(&header).map_err(|_| Unreadable::Header)?;
    if header.kid.as_ref().is_some_and(|kid| kid.is_empty() || kid.len() > KID_MAX) {
        return Err(Unreadable::Header);
    }
    let alg = match ClientAlgorithm::from_name(&header.alg) {
        Some(alg) => ForeignAlgorithm::Signed(alg),
        None if header.alg == "none" => ForeignAlgorithm::Unsigned,
        None => return Err(Unreadable::Algorithm),
    };
    if payload.is_empty() || signature.is_empty() != (alg == ForeignAlgorithm::Unsigned) {
        return Err(Unreadable::Form);
    }
    Ok(ForeignJws { signing_input, alg, kid: header.kid, typ: header.typ, payload, signature })
}

/// A moment in a stranger's token (RFC 7519 section 2): seconds, perhaps with a fraction, which is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct NumericDate(i64);

impl NumericDate {
    /// The moment.
    #[must_use]
    pub fn at(self) -> Timestamp {
        Timestamp::from_secs(self.0)
    }
}

impl<'de> Deserialize<'de> for NumericDate {
    #[expect(clippy::cast_possible_truncation, reason = "the range was looked at, and the fraction is to go")]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let seconds = f64::deserialize(deserializer)?;
        if (0.0..=LAST_SECOND).contains(&seconds) {
            Ok(Self(seconds as i64))
        } else {
            Err(de::Error::custom("no moment between 1970 and 9999"))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn encode(text: impl AsRef<[u8]>) -> String {
        URL_SAFE_NO_PAD.encode(text)
    }

    fn token(header: &str) -> String {
        format!("{}.{}.{}", encode(header), encode("{}"), encode("sig"))
    }

    #[test]
    fn what_informs_is_read_or_ignored() {
        let text =
            token(r#"{"kid":"k-1","alg":"PS256","typ":"JWT","x5t":"abc","x5c":["MII"],"cty":"x","mine":{"a":1}}"#);
        let jws = parse(&text).unwrap();
        assert_eq!(jws.alg, ForeignAlgorithm::Signed(ClientAlgorithm::PS256));
        assert_eq!((jws.kid.as_deref(), jws.typ.as_deref()), (Some("k-1"), Some("JWT")));
        assert_eq!(jws.signing_input, text.rsplit_once('.').unwrap().0);
        assert_eq!((jws.payload.as_slice(), jws.signature.as_slice()), (&b"{}"[..], &b"sig"[..]));
        for alg in ClientAlgorithm::ALL {
            let text = token(&format!(r#"{{"alg":"{}"}}"#, alg.as_str()));
            let jws = parse(&text).unwrap();
            assert_eq!((jws.alg, jws.kid), (ForeignAlgorithm::Signed(alg), None));
        }
    }

    #[test]
    fn a_header_that_could_lead_anywhere_is_refused() {
        let long = format!(r#"{{"alg":"RS256","kid":"{}"}}"#, "k".repeat(257));
        let huge = format!(r#"{{"alg":"RS256","x":"{}"}}"#, "t".repeat(8_000));
        let cases = [
            r#"{"alg":"RS256","crit":["exp"],"exp":1}"#,
            r#"{"alg":"RS256","crit":null}"#,
            r#"{"alg":"RS256","b64":false}"#,
            r#"{"alg":"RS256","zip":"DEF"}"#,
            r#"{"alg":"RS256","jwk":{}}"#,
            r#"{"alg":"RS256","jku":"https://evil.example"}"#,
            r#"{"alg":"RS256","x5u":"https://evil.example"}"#,
            r#"{"alg":"RS256","\u006aku":"https://evil.example"}"#,
            r#"{"alg":"RS256","alg":"none"}"#,
            r#"{"alg":"RS256","kid":"a","kid":"b"}"#,
            r#"{"alg":"RS256","kid":""}"#,
            r#"{"alg":"RS256","kid":null}"#,
            r#"{"alg":"RS256","kid":7}"#,
            r#"{"alg":7}"#,
            r#"{"kid":"k"}"#,
            r#"["RS256","k"]"#,
            r#"{"alg":"RS256"} x"#,
            "null",
            &long,
            &huge,
        ];
        for header in cases {
            assert_eq!(parse(&token(header)), Err(Unreadable::Header), "{header}");
        }
        for alg in ["RS512", "ES384", "rs256", "None", "NONE", "HS512", "", "ES256K"] {
            assert_eq!(parse(&token(&format!(r#"{{"alg":"{alg}"}}"#))), Err(Unreadable::Algorithm), "{alg}");
        }
    }

    #[test]
    fn none_means_exactly_no_signature() {
        let (none, signed) = (encode(r#"{"alg":"none"}"#), encode(r#"{"alg":"ES256"}"#));
        let bare = format!("{none}.e30.");
        assert_eq!(parse(&bare).map(|jws| jws.alg), Ok(ForeignAlgorithm::Unsigned));
        assert_eq!(parse(&format!("{none}.e30.c2ln")), Err(Unreadable::Form));
        assert_eq!(parse(&format!("{signed}.e30.")), Err(Unreadable::Form));
    }

    #[test]
    fn there_is_one_spelling() {
        let good = token(r#"{"alg":"RS256"}"#);
        let (rest, _) = good.rsplit_once('.').unwrap();
        for text in [
            format!("{good}="),
            format!("{good}."),
            format!(".{good}"),
            format!(" {good}"),
            format!("{good}\n"),
            format!("{rest}.AB"),
            format!("{rest}.+/+/"),
            rest.to_owned(),
            good.replace('.', ".."),
            format!("{rest}.{}", "A".repeat(TOKEN_MAX)),
            String::new(),
        ] {
            assert!(parse(&text).is_err(), "{}", &text[..text.len().min(90)]);
        }
    }

    #[test]
    fn moments_are_seconds_with_or_without_a_fraction() {
        let read = |text: &str| serde_json::from_str::<NumericDate>(text).ok().map(|date| date.at().as_secs());
        for (text, want) in
            [("0", 0), ("1800000000", 1_800_000_000), ("1800000000.9", 1_800_000_000), ("1.8e9", 1_800_000_000)]
        {
            assert_eq!(read(text), Some(want), "{text}");
        }
        for text in ["-1", "\"1800000000\"", "null", "true", "1e12", "9223372036854775808", "[1]"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
            let _ = parse(&text);
        }

        #[test]
        fn any_three_parts_are_read_or_refused(text in "[A-Za-z0-9_-]{0,60}\\.[A-Za-z0-9_-]{0,60}\\.[A-Za-z0-9_-]{0,60}") {
            let _ = parse(&text);
        }

        #[test]
        fn any_header_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = parse(&format!("{}.e30.e30", encode(bytes)));
        }

        #[test]
        fn what_reads_is_spelled_the_same_again(payload in proptest::collection::vec(any::<u8>(), 1..60), signature in proptest::collection::vec(any::<u8>(), 1..60)) {
            let header = encode(r#"{"alg":"EdDSA"}"#);
            let text = format!("{header}.{}.{}", encode(&payload), encode(&signature));
            let jws = parse(&text).unwrap();
            prop_assert_eq!(jws.payload, payload);
            prop_assert_eq!(jws.signature, signature);
        }
    }
}
