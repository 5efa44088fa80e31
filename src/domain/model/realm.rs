//! A realm: an issuer with its own keys, users, clients, cookies. Its settings are what `settings:`
//! of a realm file holds; each has a default, so an empty mapping is a valid realm.

use serde::{Deserialize, Serialize};

use super::ids::RealmId;
use super::key::Algorithm;
use super::span::Span;

/// The default realm, whose issuer is `public_url` itself.
pub const MAIN_REALM: &str = "main";

/// A realm as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Realm {
    /// Key of every row that belongs to it.
    pub id: RealmId,
    /// Its name in addresses: `[a-z0-9-]{1,40}`, unique.
    pub name: String,
    /// What people read; the name when absent.
    pub display_name: Option<String>,
    /// A disabled realm answers nothing.
    pub enabled: bool,
    /// Its own issuer (a whole origin, `https://login.example.com`) instead of a path under `public_url`.
    pub issuer: Option<String>,
    /// Raised by a restore from backup; part of what refresh tokens' tags cover (`security-design` rule 8).
    pub restore_epoch: i64,
    /// The key of its pairwise subs, sealed; drawn when the first is needed.
    pub pairwise_key: Option<Vec<u8>>,
    /// Everything that can be set.
    pub settings: RealmSettings,
}

impl Realm {
    /// What people read.
    #[must_use]
    pub fn title(&self) -> &str {
        self.display_name.as_deref().unwrap_or(&self.name)
    }
}

/// A realm's settings. A field that a realm file leaves out keeps its stored value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct RealmSettings {
    /// Sign-up by strangers. `enabled: true` is refused until sign-up exists.
    pub registration: Registration,
    /// Rules for new passwords.
    pub password_policy: PasswordPolicy,
    /// Limits of browser sessions.
    pub sessions: SessionLimits,
    /// Lifetimes of tokens.
    pub tokens: TokenLimits,
    /// Signing keys.
    pub keys: KeySettings,
    /// Rules for clients that the client itself does not state.
    pub clients: ClientDefaults,
    /// Clients that register themselves.
    pub client_registration: ClientRegistration,
    /// Languages of pages, first is the fallback.
    pub locales: Locales,
    /// How clients learn in the browser that a person signed out.
    pub logout: LogoutSettings,
}

/// Sign-up by strangers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Registration {
    /// Whether the realm offers it.
    pub enabled: bool,
}

/// Rules for new passwords; no composition rules by design (NIST SP 800-63B-4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PasswordPolicy {
    /// Characters at least, 8 to 256.
    pub min_length: u16,
}

impl Default for PasswordPolicy {
    fn default() -> Self {
        Self { min_length: 12 }
    }
}

/// Limits of browser sessions, enforced in every grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SessionLimits {
    /// Without a browser request for this long a session has ended.
    pub idle: Span,
    /// However busy, a session ends after this.
    pub absolute: Span,
    /// Both limits of a session opened with "keep me signed in"; `0s` takes the box off the page.
    pub remember_me: Span,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self { idle: Span::mins(30), absolute: Span::hours(12), remember_me: Span::days(30) }
    }
}

/// Lifetimes of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TokenLimits {
    /// Authorization code, at most 60 s.
    pub code: Span,
    /// Access token, at most one hour.
    pub access: Span,
    /// ID token.
    pub id_token: Span,
    /// A refresh family unused for this long has ended.
    pub refresh_idle: Span,
    /// However used, a refresh family ends after this.
    pub refresh_absolute: Span,
    /// How long a rotated refresh token still gives its successor, 0 to 30 s.
    pub refresh_reuse_grace: Span,
}

impl Default for TokenLimits {
    fn default() -> Self {
        Self {
            code: Span::secs(60),
            access: Span::mins(5),
            id_token: Span::mins(5),
            refresh_idle: Span::days(14),
            refresh_absolute: Span::days(90),
            refresh_reuse_grace: Span::secs(10),
        }
    }
}

/// Signing keys and their schedule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct KeySettings {
    /// One active key of each; RS256 must be among them (OpenID Connect Core 15.1).
    pub algorithms: Vec<Algorithm>,
    /// Modulus of new RSA keys: 2048, 3072 or 4096.
    pub rsa_bits: u16,
    /// Published this long before it signs, at least 60 s.
    pub announce: Span,
    /// Signs for this long before its successor takes over.
    pub active: Span,
    /// Algorithm of JWT access tokens.
    pub access_token_alg: Algorithm,
    /// Algorithm of ID tokens for clients that register none.
    pub id_token_alg: Algorithm,
}

impl Default for KeySettings {
    fn default() -> Self {
        Self {
            algorithms: vec![Algorithm::RS256, Algorithm::PS256, Algorithm::ES256, Algorithm::EdDSA],
            rsa_bits: 2048,
            announce: Span::hours(24),
            active: Span::days(90),
            access_token_alg: Algorithm::ES256,
            id_token_alg: Algorithm::RS256,
        }
    }
}

/// Rules for clients that the client itself does not state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClientDefaults {
    /// Confidential clients too must send a code challenge (RFC 9700 2.1.1); public ones always.
    pub require_pkce: bool,
    /// Whether a client that registered it may get access tokens through the browser, where addresses,
    /// histories and scripts see them (RFC 9700 2.1.2 says they should not).
    pub front_channel_tokens: bool,
}

impl Default for ClientDefaults {
    fn default() -> Self {
        Self { require_pkce: true, front_channel_tokens: false }
    }
}

/// Clients that register themselves (RFC 7591, RFC 7592).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClientRegistration {
    /// Whether the realm offers it.
    pub enabled: bool,
    /// Whether a token of ours is demanded for it (RFC 7591 section 3); otherwise anybody may.
    pub require_initial_access_token: bool,
    /// Hosts that redirect URIs may have; empty = any.
    pub allowed_redirect_hosts: Vec<String>,
    /// Scopes that such a client may have at most, and has when it asks for none.
    pub scope: String,
    /// Identifiers of resources (RFC 8707) that such clients may ask tokens for.
    pub resources: Vec<String>,
    /// Live clients that registered themselves, at most.
    pub max_clients: u32,
    /// Registrations and updates from one address (IPv6: one /64) in an hour, refused ones included.
    pub rate_per_hour: u32,
    /// A client that has got no token goes after this.
    pub unused_for: Span,
    /// A client that has got no token for this long goes.
    pub idle_for: Span,
    /// Whether errors reach such clients by redirect although nobody is signed in. For conformance runs: with it
    /// anybody can make this provider send a browser anywhere (`security-design` rule 31, RFC 9700 section 4.11.2).
    pub redirect_errors: bool,
}

impl Default for ClientRegistration {
    fn default() -> Self {
        Self {
            enabled: false,
            require_initial_access_token: true,
            allowed_redirect_hosts: Vec::new(),
            scope: "openid profile email address phone offline_access".to_owned(),
            resources: Vec::new(),
            max_clients: 1000,
            // A day of it, the time in which unused ones go, stays under half of `max_clients`.
            rate_per_hour: 20,
            unused_for: Span::hours(24),
            idle_for: Span::days(90),
            redirect_errors: false,
        }
    }
}

/// How clients learn in the browser that a person signed out. Both ways rest on frames and cookies that
/// browsers take from third parties more and more; back-channel logout needs neither, so both are off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct LogoutSettings {
    /// The signed-out page loads clients' `frontchannel_logout_uri` (Front-Channel Logout 1.0).
    pub front_channel: bool,
    /// Clients may watch the state of the session from a frame (Session Management 1.0).
    pub session_management: bool,
}

/// Languages of pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Locales {
    /// Offered languages (BCP 47), of those that the catalogue has.
    pub supported: Vec<String>,
    /// Used when neither request nor browser names an offered one.
    pub default: String,
}

impl Default for Locales {
    fn default() -> Self {
        Self { supported: vec!["en".to_owned(), "de".to_owned()], default: "en".to_owned() }
    }
}
