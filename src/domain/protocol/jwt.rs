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
