//! Signing keys and their phases, and the algorithms of ours and of clients.

use serde::{Deserialize, Serialize};

use super::ids::{KeyId, RealmId};
use super::timestamp::Timestamp;

/// Signature algorithms (RFC 7518 section 3.1, RFC 8037).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Algorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    RS256,
    /// RSASSA-PSS with SHA-256.
    PS256,
    /// ECDSA on P-256 with SHA-256.
    ES256,
    /// Ed25519.
    EdDSA,
}

impl Algorithm {
    /// Every algorithm built.
    pub const ALL: [Self; 4] = [Self::RS256, Self::PS256, Self::ES256, Self::EdDSA];

    /// The registered name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RS256 => "RS256",
            Self::PS256 => "PS256",
            Self::ES256 => "ES256",
            Self::EdDSA => "EdDSA",
        }
    }

    /// Reads the registered name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|alg| alg.as_str() == name)
    }
}

/// How a client signs what it sends: with a key of its own, or with its secret (RFC 7518 section 3.1, RFC 8037).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ClientAlgorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    RS256,
    /// RSASSA-PSS with SHA-256.
    PS256,
    /// ECDSA on P-256 with SHA-256.
    ES256,
    /// Ed25519.
    EdDSA,
    /// HMAC with SHA-256 under the client's secret.
    HS256,
}

impl ClientAlgorithm {
    /// Every algorithm built, in the order of discovery.
    pub const ALL: [Self; 5] = [Self::RS256, Self::PS256, Self::ES256, Self::EdDSA, Self::HS256];

    /// The algorithm of the key pair; `None` where the secret signs.
    #[must_use]
    pub const fn key(self) -> Option<Algorithm> {
        match self {
            Self::RS256 => Some(Algorithm::RS256),
            Self::PS256 => Some(Algorithm::PS256),
            Self::ES256 => Some(Algorithm::ES256),
            Self::EdDSA => Some(Algorithm::EdDSA),
            Self::HS256 => None,
        }
    }

    /// The registered name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self.key() {
            Some(alg) => alg.as_str(),
            None => "HS256",
        }
    }

    /// Reads the registered name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|alg| alg.as_str() == name)
    }
}

/// How a client protects its request objects (OpenID Connect Dynamic Registration 2, `request_object_signing_alg`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RequestObjectAlgorithm {
    /// Not at all: what such an object holds is worth as much as plain parameters.
    #[serde(rename = "none")]
    Unsigned,
    /// By a key pair of its own.
    #[serde(untagged)]
    Signed(Algorithm),
}

impl RequestObjectAlgorithm {
    /// Every one, in the order of discovery.
    pub const ALL: [Self; 5] = [
        Self::Signed(Algorithm::RS256),
        Self::Signed(Algorithm::PS256),
        Self::Signed(Algorithm::ES256),
        Self::Signed(Algorithm::EdDSA),
        Self::Unsigned,
    ];

    /// The registered name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Signed(alg) => alg.as_str(),
            Self::Unsigned => "none",
        }
    }
}

/// A signing key as stored; the private part stays sealed until a signer is made of it.
#[derive(Clone)]
pub struct SigningKey {
    /// Its realm.
    pub realm: RealmId,
    /// Its row.
    pub id: KeyId,
    /// RFC 7638 thumbprint, the `kid` in headers and JWKS.
    pub kid: String,
    /// What it signs with.
    pub alg: Algorithm,
    /// The public JWK with `kid`, `use` and `alg`, as JSON text.
    pub public_jwk: String,
    /// PKCS#8, sealed with the row as associated data.
    pub sealed_private: Vec<u8>,
    /// Published from here on.
    pub announced_at: Timestamp,
    /// Signs from here on.
    pub active_at: Timestamp,
    /// Signs no longer, still published.
    pub retired_at: Option<Timestamp>,
    /// No longer published: the longest token it signed has ended.
    pub gone_at: Option<Timestamp>,
}

impl SigningKey {
    /// Its phase at `now`.
    #[must_use]
    pub fn phase(&self, now: Timestamp) -> KeyPhase {
        if self.gone_at.is_some_and(|at| now >= at) {
            KeyPhase::Gone
        } else if self.retired_at.is_some_and(|at| now >= at) {
            KeyPhase::Retired
        } else if now >= self.active_at {
            KeyPhase::Active
        } else {
            KeyPhase::Announced
        }
    }
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKey").field("kid", &self.kid).field("alg", &self.alg).finish_non_exhaustive()
    }
}

/// Where a key stands in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyPhase {
    /// Published, does not sign yet.
    Announced,
    /// Signs.
    Active,
    /// Published for verification only.
    Retired,
    /// Not published any more; kept for ID token hints.
    Gone,
}
