//! Identifiers. Inside the product each is a UUID of version 7 (RFC 9562 section 5.7), ordered by
//! birth; outside it is written with a prefix that tells its kind, so that a log line, an address or
//! a support ticket never leaves one guessing.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The text was not an identifier of the kind asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotAnId;

impl fmt::Display for NotAnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an identifier of this kind")
    }
}

impl std::error::Error for NotAnId {}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// The prefix of the written form.
            pub const PREFIX: &'static str = $prefix;

            /// Wraps the stored form.
            #[must_use]
            pub const fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// The stored form.
            #[must_use]
            pub const fn as_uuid(self) -> Uuid {
                self.0
            }

            /// The sixteen bytes, for sealed and tagged payloads.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }

            /// Reads the sixteen bytes back.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Uuid::from_bytes(bytes))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "_{}"), self.0.simple())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = NotAnId;

            fn from_str(text: &str) -> Result<Self, NotAnId> {
                let digits = text.strip_prefix(concat!($prefix, "_")).ok_or(NotAnId)?;
                // One spelling only: 32 lower-case hexadecimal digits.
                if digits.len() != 32 || !digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
                    return Err(NotAnId);
                }
                Uuid::try_parse(digits).map(Self).map_err(|_| NotAnId)
            }
        }
    };
}

id!(/// A realm: an issuer with its own keys, users and clients.
    RealmId, "rlm");
id!(/// A person's account. Never shown to relying parties: they see `sub`.
    UserId, "usr");
id!(/// A client's internal key. Relying parties know the text `client_id` instead.
    ClientKey, "cli");
id!(/// A browser that signed in, per realm.
    DeviceId, "dev");
id!(/// A session; its written form is the public `sid` (RFC-less, OpenID Connect Back-Channel Logout 2.1).
    SessionId, "ses");
id!(/// A grant: one redeemed code or other granting act, one refresh family.
    GrantId, "grt");
id!(/// An authorization code's identity, the single-use gate (`security-design` rule 12).
    CodeId, "cod");
id!(/// An access token's `jti`.
    TokenId, "tok");
id!(/// A role.
    RoleId, "rol");
id!(/// A group.
    GroupId, "grp");
id!(/// A protected resource (RFC 8707).
    ResourceId, "res");
id!(/// A scope of a realm's own.
    ScopeId, "scp");
id!(/// A credential of a user.
    CredentialId, "crd");
id!(/// A client secret.
    ClientSecretId, "sec");
id!(/// An initial access token, by which clients register themselves.
    InitialAccessTokenId, "iat");
id!(/// A consent.
    ConsentId, "con");
id!(/// A signing key's row; its `kid` is the RFC 7638 thumbprint.
    KeyId, "key");
id!(/// An audit or outbox event.
    EventId, "evt");
id!(/// A pending authorization request (a "flow").
    FlowId, "flw");
id!(/// An administrative power's row.
    PowerId, "pow");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_one_spelling() {
        let id = UserId::from_bytes([0xab; 16]);
        let text = id.to_string();
        assert_eq!(text, "usr_abababababababababababababababab");
        assert_eq!(text.parse::<UserId>(), Ok(id));
        for wrong in [
            "usr_ABABABABABABABABABABABABABABABAB",
            "ses_abababababababababababababababab",
            "usr_abababab-abab-abab-abab-abababababab",
            "abababababababababababababababab",
            "usr_",
            "",
        ] {
            assert_eq!(wrong.parse::<UserId>(), Err(NotAnId), "{wrong}");
        }
    }
}
