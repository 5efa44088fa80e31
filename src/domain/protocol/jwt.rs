//! Strict reading of a compact JWS (RFC 7515 sections 3.1, 4.1.11 and 7.1) that claims to be ours: a
//! token of our own, or a hint.
//!
//! Three canonical base64url parts; a header with `alg`, `kid` and perhaps `typ`, each once, and nothing
//! else: `crit`, `jku`, `jwk`, `x5u`, `b64` and whatever else a stranger may put there is refused, so no
//! header can lead anywhere (`security.md` row 48). The signature is verified elsewhere.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use super::token_text::TOKEN_MAX;
use crate::model::ids::TokenId;
use crate::model::key::Algorithm;

const HEADER_MAX: usize = 512;
const KID_MAX: usize = 128;

/// The text was not a JWS that we could have made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotAJws;

impl fmt::Display for NotAJws {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a token of this provider")
    }
}

impl std::error::Error for NotAJws {}

/// The header of a token of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JwsHeader {
    /// How it is signed.
    pub alg: Algorithm,
    /// By which key.
    pub kid: String,
    /// What it is.
    pub typ: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HeaderForm<'a> {
    alg: Algorithm,
    kid: std::borrow::Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    typ: Option<std::borrow::Cow<'a, str>>,
}

impl JwsHeader {
    /// The header part of a token, encoded; what its maker puts before the payload.
    #[must_use]
    pub fn encode(alg: Algorithm, kid: &str, typ: &str) -> String {
        let form = HeaderForm { alg, kid: kid.into(), typ: Some(typ.into()) };
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(&form).unwrap_or_default())
    }
}

/// The parts of a token, unverified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jws<'a> {
    /// What the signature covers.
    pub signing_input: &'a str,
    /// The header.
    pub header: JwsHeader,
    /// The payload's bytes.
    pub payload: Vec<u8>,
    /// The signature's bytes.
    pub signature: Vec<u8>,
}

/// Takes a token apart.
pub fn parse(text: &str) -> Result<Jws<'_>, NotAJws> {
    if text.len() > TOKEN_MAX {
        return Err(NotAJws);
    }
    let (signing_input, signature) = text.rsplit_once('.').ok_or(NotAJws)?;
    let (header, payload) = signing_input.split_once('.').ok_or(NotAJws)?;
    if header.len() > HEADER_MAX {
        return Err(NotAJws);
    }
    // A dot left over is no sign of base64url, so a fourth part fails here. The decoder takes neither
    // padding nor bits set beyond the last byte.
    let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).ok().filter(|bytes| !bytes.is_empty()).ok_or(NotAJws);
    let header = parse_header(&decode(header)?)?;
    Ok(Jws { signing_input, header, payload: decode(payload)?, signature: decode(signature)? })
}

/// Unknown and repeated members are errors of the derived reader.
fn parse_header(bytes: &[u8]) -> Result<JwsHeader, NotAJws> {
    if bytes.first() != Some(&b'{') {
        return Err(NotAJws); // the reader would take a list for the members in order
    }
    let form: HeaderForm<'_> = serde_json::from_slice(bytes).map_err(|_| NotAJws)?;
    if form.kid.is_empty() || form.kid.len() > KID_MAX {
        return Err(NotAJws);
    }
    Ok(JwsHeader { alg: form.alg, kid: form.kid.into_owned(), typ: form.typ.map(std::borrow::Cow::into_owned) })
}

/// The token's own id (`jti`, RFC 7519 section 4.1.7), where it has one of ours. Nothing else is read.
#[must_use]
pub fn token_id(payload: &[u8]) -> Option<TokenId> {
    #[derive(Deserialize)]
    struct Named<'a> {
        jti: &'a str,
    }
    serde_json::from_slice::<Named<'_>>(payload).ok()?.jti.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn encode(text: &str) -> String {
        URL_SAFE_NO_PAD.encode(text)
    }

    fn token(header: &str) -> String {
        format!("{}.{}.{}", encode(header), encode("{}"), encode("sig"))
    }

    #[test]
    fn a_token_of_ours_is_taken_apart() {
        let header = JwsHeader::encode(Algorithm::ES256, "k-1", "at+jwt");
        let text = format!("{header}.{}.{}", encode("{\"iss\":1}"), encode("sig"));
        let jws = parse(&text).unwrap();
        assert_eq!(jws.signing_input, &text[..text.len() - 5]);
        assert_eq!(
            jws.header,
            JwsHeader { alg: Algorithm::ES256, kid: "k-1".to_owned(), typ: Some("at+jwt".to_owned()) }
        );
        assert_eq!((jws.payload.as_slice(), jws.signature.as_slice()), (&b"{\"iss\":1}"[..], &b"sig"[..]));
        assert!(parse(&token(r#"{"kid":"k","alg":"RS256"}"#)).is_ok(), "typ may lack, order is free");
    }

    #[test]
    fn a_header_that_could_lead_anywhere_is_refused() {
        let long = format!(r#"{{"alg":"RS256","kid":"{}"}}"#, "k".repeat(129));
        let huge = format!(r#"{{"alg":"RS256","kid":"k","typ":"{}"}}"#, "t".repeat(600));
        let cases = [
            r#"{"alg":"none","kid":"k"}"#,
            r#"{"alg":"None","kid":"k"}"#,
            r#"{"alg":"HS256","kid":"k"}"#,
            r#"{"alg":"rs256","kid":"k"}"#,
            r#"{"alg":"RS256"}"#,
            r#"{"alg":"RS256","kid":""}"#,
            r#"{"alg":"RS256","kid":7}"#,
            r#"{"alg":"RS256","kid":null}"#,
            r#"{"kid":"k"}"#,
            r#"{"alg":"RS256","kid":"k","jwk":{}}"#,
            r#"{"alg":"RS256","kid":"k","jku":"https://evil.example"}"#,
            r#"{"alg":"RS256","kid":"k","x5u":"https://evil.example"}"#,
            r#"{"alg":"RS256","kid":"k","x5c":[]}"#,
            r#"{"alg":"RS256","kid":"k","crit":["exp"],"exp":1}"#,
            r#"{"alg":"RS256","kid":"k","b64":false}"#,
            r#"{"alg":"RS256","kid":"k","cty":"JWT"}"#,
            r#"{"alg":"RS256","kid":"k","alg":"none"}"#,
            r#"{"alg":"RS256","kid":"k","kid":"other"}"#,
            r#"{"alg":"RS256","kid":"k","\u006bid":"other"}"#,
            r#"["RS256","k"]"#,
            r#"{"alg":"RS256","kid":"k"} x"#,
            "{}",
            "null",
            "",
            &long,
            &huge,
        ];
        for header in cases {
            assert_eq!(parse(&token(header)), Err(NotAJws), "{header}");
        }
    }

    #[test]
    fn only_an_id_of_ours_names_a_token() {
        let id = "tok_0190c5d8aaaa7bbb8ccc0123456789ab";
        assert_eq!(token_id(format!(r#"{{"iss":"x","jti":"{id}","exp":1}}"#).as_bytes()), id.parse().ok());
        let twice = format!(r#"{{"jti":"{id}","jti":"{id}"}}"#);
        for payload in ["", "{}", "[]", r#"{"jti":7}"#, r#"{"jti":"x"}"#, twice.as_str()] {
            assert_eq!(token_id(payload.as_bytes()), None, "{payload}");
        }
    }

    #[test]
    fn there_is_one_spelling() {
        let good = token(r#"{"alg":"RS256","kid":"k"}"#);
        assert!(parse(&good).is_ok());
        let (rest, _) = good.rsplit_once('.').unwrap();
        let cases = [
            format!("{good}="),
            format!("{good}."),
            format!(".{good}"),
            format!("{good}.{good}"),
            format!(" {good}"),
            format!("{good}\n"),
            format!("{rest}."),
            // One byte is two signs, of which the last four bits must be nought.
            format!("{rest}.AB"),
            format!("{rest}.A"),
            format!("{rest}.+/+/"),
            rest.to_owned(),
            good.replace('.', ".."),
            format!("{rest}.{}", "A".repeat(TOKEN_MAX)),
        ];
        for text in cases {
            assert_eq!(parse(&text), Err(NotAJws), "{}", &text[..text.len().min(90)]);
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
        fn what_reads_is_spelled_the_same_again(payload in proptest::collection::vec(any::<u8>(), 1..60), signature in proptest::collection::vec(any::<u8>(), 1..60), kid in "[A-Za-z0-9_-]{1,43}") {
            let header = JwsHeader::encode(Algorithm::EdDSA, &kid, "JWT");
            let text = format!("{header}.{}.{}", URL_SAFE_NO_PAD.encode(&payload), URL_SAFE_NO_PAD.encode(&signature));
            let jws = parse(&text).unwrap();
            prop_assert_eq!(jws.payload, payload);
            prop_assert_eq!(jws.signature, signature);
            prop_assert_eq!(jws.header.kid, kid);
        }

        #[test]
        fn any_header_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = parse(&format!("{}.e30.e30", URL_SAFE_NO_PAD.encode(bytes)));
        }
    }
}
