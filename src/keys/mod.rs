//! Signing keys (RFC 7515, RFC 7517, RFC 7518, RFC 8037): made, sealed, held as parsed signers,
//! published as one ready body. A private key is opened only to make its signer and never leaves.

mod foreign;
mod generate;
mod public;
mod ring;
mod signer;
mod verdicts;

use std::fmt;

pub use foreign::{ForeignKeys, verify_with_secret};
pub use generate::{NewKey, generate};
pub use public::PublicKey;
pub use ring::{KeyRing, KeySource, ReadyBody, VerifiedJws};
pub use signer::Signer;

use crate::domain::model::key::Algorithm;

/// Why a key could not be used.
#[derive(Debug)]
pub enum Error {
    /// The realm has no key of this kind that signs now.
    NoActiveKey(Algorithm),
    /// The keys could not be read.
    Unavailable(String),
    /// A stored key cannot be opened or used: another master key, or a damaged row.
    Broken {
        /// The key's `kid`.
        kid: String,
        /// What failed.
        fault: &'static str,
    },
    /// The cryptographic library gave up.
    Library(String),
    /// Not a token that a key of this realm signed. There is nothing more to tell.
    Refused,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoActiveKey(alg) => write!(f, "the realm has no active {} key: doorward key rotate", alg.as_str()),
            Self::Unavailable(fault) => write!(f, "the signing keys cannot be read: {fault}"),
            Self::Broken { kid, fault } => write!(f, "signing key {kid} {fault}"),
            Self::Library(fault) => write!(f, "the cryptographic library failed: {fault}"),
            Self::Refused => f.write_str("not a token of this realm"),
        }
    }
}

impl std::error::Error for Error {}
