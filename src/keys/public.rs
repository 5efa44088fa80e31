//! Public keys, parsed once, for verification (RFC 7518 section 3, RFC 8037 section 3.1). The
//! algorithm belongs to the key: what a header says only has to agree.

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA256,
    RsaParameters, RsaPublicKeyComponents,
};
use serde_json::{Map, Value};

use crate::domain::model::key::Algorithm;
use crate::seal::token::{decode, decode_exact};

/// A key that signatures are checked with.
#[derive(Debug)]
pub struct PublicKey(ParsedPublicKey);

impl PublicKey {
    /// Reads a public JWK for `alg`; `None` when it is none, or of another kind.
    #[must_use]
    pub fn from_jwk(jwk: &str, alg: Algorithm) -> Option<Self> {
        Self::from_members(&serde_json::from_str(jwk).ok()?, alg)
    }

    /// As [`Self::from_jwk`], of members that were read before.
    #[must_use]
    pub fn from_members(members: &Map<String, Value>, alg: Algorithm) -> Option<Self> {
        let text = |name: &str| members.get(name).and_then(Value::as_str);
        let is = |name: &str, value: &str| text(name) == Some(value);
        let parsed = match alg {
            Algorithm::RS256 if is("kty", "RSA") => rsa(text("n")?, text("e")?, &RSA_PKCS1_2048_8192_SHA256)?,
            Algorithm::PS256 if is("kty", "RSA") => rsa(text("n")?, text("e")?, &RSA_PSS_2048_8192_SHA256)?,
            Algorithm::ES256 if is("kty", "EC") && is("crv", "P-256") => {
                let (x, y) = (decode_exact::<32>(text("x")?)?, decode_exact::<32>(text("y")?)?);
                ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, [&[4][..], &x, &y].concat()).ok()?
            }
            Algorithm::EdDSA if is("kty", "OKP") && is("crv", "Ed25519") => {
                ParsedPublicKey::new(&ED25519, decode_exact::<32>(text("x")?)?).ok()?
            }
            _ => return None,
        };
        Some(Self(parsed))
    }

    /// Whether `signature` is this key's over `message`.
    #[must_use]
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        self.0.verify_sig(message, signature).is_ok()
    }
}

fn rsa(n: &str, e: &str, parameters: &'static RsaParameters) -> Option<ParsedPublicKey> {
    RsaPublicKeyComponents { n: decode(n)?, e: decode(e)? }.to_parsed_public_key(parameters).ok()
}
