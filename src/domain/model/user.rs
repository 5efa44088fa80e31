//! A person's account with every standard claim of OpenID Connect Core 5.1.

use serde::{Deserialize, Serialize};

use super::ids::{RealmId, UserId};
use super::timestamp::Timestamp;

/// An account as stored. Credentials, roles and groups stand in their own tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Its realm.
    pub realm: RealmId,
    /// Internal key, never shown to relying parties.
    pub id: UserId,
    /// What relying parties know; unique in the realm and disjoint from client ids.
    pub sub: String,
    /// Name to sign in with, as it was spelled.
    pub username: String,
    /// A disabled account gets nothing and cannot sign in.
    pub enabled: bool,
    /// Raised by every change of a credential, by disabling and by deletion: what was begun under an
    /// older epoch is void (`security-design` rule 1).
    pub credential_epoch: i64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When a claim last changed; the `updated_at` claim.
    pub updated_at: Timestamp,
    /// The claims about the person.
    pub claims: StandardClaims,
}

/// The standard claims of OpenID Connect Core 5.1, apart from `sub`, `preferred_username` (the user
/// name) and `updated_at`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(default)]
pub struct StandardClaims {
    /// Full name; composed of given and family name when absent.
    pub name: Option<String>,
    /// Given name(s).
    pub given_name: Option<String>,
    /// Family name(s).
    pub family_name: Option<String>,
    /// Middle name(s).
    pub middle_name: Option<String>,
    /// Casual name.
    pub nickname: Option<String>,
    /// Profile page.
    pub profile: Option<String>,
    /// Picture address.
    pub picture: Option<String>,
    /// Web page.
    pub website: Option<String>,
    /// Preferred e-mail address.
    pub email: Option<String>,
    /// Whether the address is known to be the person's.
    pub email_verified: bool,
    /// Gender.
    pub gender: Option<String>,
    /// Birthday: `YYYY-MM-DD`, `0000-MM-DD` or `YYYY`.
    pub birthdate: Option<String>,
    /// Time zone, such as `Europe/Paris`.
    pub zoneinfo: Option<String>,
    /// Language (BCP 47).
    pub locale: Option<String>,
    /// Telephone number, E.164 recommended.
    pub phone_number: Option<String>,
    /// Whether the number is known to be the person's.
    pub phone_number_verified: bool,
    /// Postal address.
    pub address: Option<Address>,
}

/// The address claim (OpenID Connect Core 5.1.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub struct Address {
    /// The whole address for display.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formatted: Option<String>,
    /// Street, house number, floor; may have line breaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub street_address: Option<String>,
    /// City.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locality: Option<String>,
    /// State, province, prefecture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Zip or postal code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub postal_code: Option<String>,
    /// Country name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
}
