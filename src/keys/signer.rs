//! Signers, each from a key parsed once. RSA stays with OpenSSL through josekit, whose blinding is the
//! best looked at; ES256 and EdDSA go through aws-lc, several times faster (`stack` section 3).

use std::fmt;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair};
use josekit::jws::{JwsSigner, PS256, RS256};
use zeroize::Zeroizing;

use super::Error;
use crate::domain::model::key::{Algorithm, SigningKey};
use crate::seal::{Purpose, Sealer};

/// Makes JWS signatures (RFC 7515 section 5.1 step 5) with one key.
pub trait Signer: Send + Sync + fmt::Debug {
    /// The algorithm for the header.
    fn alg(&self) -> Algorithm;

    /// The key's id for the header.
    fn kid(&self) -> &str;

    /// The signature's bytes over `message`; for ES256 the 64 bytes of RFC 7518 section 3.4.
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error>;
}

enum Key {
    Rsa(Box<dyn JwsSigner>),
    P256(Box<EcdsaKeyPair>),
    Ed25519(Ed25519KeyPair),
}

/// A key in this process.
pub(super) struct LocalSigner {
    alg: Algorithm,
    kid: String,
    key: Key,
}

impl LocalSigner {
    /// Opens and parses the private part of `stored`.
    pub(super) fn open(sealer: &Sealer, stored: &SigningKey) -> Result<Self, Error> {
        let broken = |fault| Error::Broken { kid: stored.kid.clone(), fault };
        let sealed = sealer.open(stored.realm, Purpose::SigningKey, &stored.sealed_private, stored.id.as_bytes());
        let private = Zeroizing::new(sealed.ok_or_else(|| broken("cannot be opened with this master key"))?);
        let unusable = || broken("holds no private key of its kind");
        let key = match stored.alg {
            Algorithm::RS256 => Key::Rsa(Box::new(RS256.signer_from_der(&*private).map_err(|_| unusable())?)),
            Algorithm::PS256 => Key::Rsa(Box::new(PS256.signer_from_der(&*private).map_err(|_| unusable())?)),
            Algorithm::ES256 => {
                let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &private);
                Key::P256(Box::new(pair.map_err(|_| unusable())?))
            }
            Algorithm::EdDSA => Key::Ed25519(Ed25519KeyPair::from_pkcs8(&private).map_err(|_| unusable())?),
        };
        Ok(Self { alg: stored.alg, kid: stored.kid.clone(), key })
    }
}

impl fmt::Debug for LocalSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalSigner").field("kid", &self.kid).field("alg", &self.alg).finish_non_exhaustive()
    }
}

impl Signer for LocalSigner {
    fn alg(&self) -> Algorithm {
        self.alg
    }

    fn kid(&self) -> &str {
        &self.kid
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        match &self.key {
            Key::Rsa(signer) => signer.sign(message).map_err(|error| Error::Library(error.to_string())),
            Key::P256(pair) => match pair.sign(&SystemRandom::new(), message) {
                Ok(signature) => Ok(signature.as_ref().to_vec()),
                Err(error) => Err(Error::Library(error.to_string())),
            },
            Key::Ed25519(pair) => match pair.try_sign(message) {
                Ok(signature) => Ok(signature.as_ref().to_vec()),
                Err(error) => Err(Error::Library(error.to_string())),
            },
        }
    }
}
