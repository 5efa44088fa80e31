//! Makes keys: PKCS#8 (RFC 5958) sealed with realm and row, and the public JWK (RFC 7517 section 4)
//! under its thumbprint (RFC 7638).

use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _};
use josekit::jws::{PS256, RS256};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::Error;
use crate::domain::model::ids::{KeyId, RealmId};
use crate::domain::model::key::{Algorithm, SigningKey};
use crate::domain::model::timestamp::Timestamp;
use crate::domain::protocol::jwks;
use crate::seal::{Purpose, Sealer, token};

/// What a new key is to be.
#[derive(Debug, Clone, Copy)]
pub struct NewKey {
    /// Its realm.
    pub realm: RealmId,
    /// Its row.
    pub id: KeyId,
    /// What it signs with.
    pub alg: Algorithm,
    /// The modulus of an RSA key, 2048 at least.
    pub rsa_bits: u16,
    /// Published from here on.
    pub announced_at: Timestamp,
    /// Signs from here on.
    pub active_at: Timestamp,
}

/// Makes a key. RSA takes a good part of a second: not on a request's thread.
pub fn generate(sealer: &Sealer, new: NewKey) -> Result<SigningKey, Error> {
    let (private, mut public) = match new.alg {
        Algorithm::RS256 => rsa(&RS256.generate_key_pair(new.rsa_bits.into()).map_err(library)?)?,
        Algorithm::PS256 => rsa(&PS256.generate_key_pair(new.rsa_bits.into()).map_err(library)?)?,
        Algorithm::ES256 => p256()?,
        Algorithm::EdDSA => ed25519()?,
    };
    let kid = jwks::thumbprint(&public.to_string()).ok_or_else(|| library("a public key without its members"))?;
    if let Value::Object(members) = &mut public {
        members.insert("use".to_owned(), "sig".into());
        members.insert("alg".to_owned(), new.alg.as_str().into());
        members.insert("kid".to_owned(), kid.clone().into());
    }
    Ok(SigningKey {
        realm: new.realm,
        id: new.id,
        kid,
        alg: new.alg,
        public_jwk: public.to_string(),
        sealed_private: sealer.seal(new.realm, Purpose::SigningKey, &private, new.id.as_bytes()),
        announced_at: new.announced_at,
        active_at: new.active_at,
        retired_at: None,
        gone_at: None,
    })
}

type Pair = (Zeroizing<Vec<u8>>, Value);

fn rsa(pair: &impl josekit::jwk::KeyPair) -> Result<Pair, Error> {
    let public = pair.to_jwk_public_key();
    let member =
        |name| public.parameter(name).and_then(Value::as_str).ok_or_else(|| library("an RSA key without n or e"));
    let public = json!({ "kty": "RSA", "n": member("n")?, "e": member("e")? });
    Ok((Zeroizing::new(pair.to_der_private_key()), public))
}

fn p256() -> Result<Pair, Error> {
    let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).map_err(library)?;
    // SEC 1 section 2.3.3: the uncompressed point is 4, x, y.
    let point = pair.public_key().as_ref();
    let (x, y) = point.split_first().map_or((&[][..], &[][..]), |(_, both)| both.split_at(both.len() / 2));
    let public = json!({ "kty": "EC", "crv": "P-256", "x": token::encode(x), "y": token::encode(y) });
    Ok((Zeroizing::new(pair.to_pkcs8v1().map_err(library)?.as_ref().to_vec()), public))
}

fn ed25519() -> Result<Pair, Error> {
    let pair = Ed25519KeyPair::generate().map_err(library)?;
    let public = json!({ "kty": "OKP", "crv": "Ed25519", "x": token::encode(pair.public_key().as_ref()) });
    Ok((Zeroizing::new(pair.to_pkcs8().map_err(library)?.as_ref().to_vec()), public))
}

fn library(error: impl std::fmt::Display) -> Error {
    Error::Library(error.to_string())
}
