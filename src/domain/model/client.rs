//! A client: a relying party or a program, with the metadata names of RFC 7591 section 2.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ids::{ClientKey, ClientSecretId, RealmId};
use super::key::{Algorithm, ClientAlgorithm, RequestObjectAlgorithm};
use super::response_type::ResponseType;
use super::secret::SecretHash;
use super::timestamp::Timestamp;

/// A client as stored. Secrets stand apart in [`ClientSecret`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// Its realm.
    pub realm: RealmId,
    /// Internal key.
    pub key: ClientKey,
    /// The public `client_id`, unique in the realm: 1 to 255 printable ASCII characters.
    pub client_id: String,
    /// A disabled client may neither start nor finish anything.
    pub enabled: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// Who registered it.
    pub origin: ClientOrigin,
    /// Everything that was registered.
    pub metadata: ClientMetadata,
    /// Live secrets, newest first, at most two.
    pub secrets: Vec<ClientSecret>,
}

/// What was registered for a client (RFC 7591 section 2, OpenID Connect Dynamic Registration 2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClientMetadata {
    /// What people read; the `client_id` when absent.
    pub client_name: Option<String>,
    /// Home page.
    pub client_uri: Option<String>,
    /// Logo; fetched once by the guarded client and served by us.
    pub logo_uri: Option<String>,
    /// Whether it runs on a server or on people's own devices; nothing follows from it but which redirect URIs fit.
    pub application_type: Option<ApplicationType>,
    /// Privacy policy.
    pub policy_uri: Option<String>,
    /// Terms of service.
    pub tos_uri: Option<String>,
    /// Addresses of people responsible.
    pub contacts: Vec<String>,
    /// Exact redirect URIs (RFC 9700 section 2.1).
    pub redirect_uris: Vec<String>,
    /// Where others begin a sign-in at the client (OpenID Connect Core 4).
    pub initiate_login_uri: Option<String>,
    /// Which software it is, over all its registrations (RFC 7591 section 2).
    pub software_id: Option<String>,
    /// Which version of that software.
    pub software_version: Option<String>,
    /// Exact URIs for the way back after logout.
    pub post_logout_redirect_uris: Vec<String>,
    /// Where the client is told that a session has ended (Back-Channel Logout 1.0 section 2.2).
    pub backchannel_logout_uri: Option<String>,
    /// Whether it needs `sid` in the logout token; it is always there.
    pub backchannel_logout_session_required: bool,
    /// What the signed-out page loads in a frame (Front-Channel Logout 1.0 section 2).
    pub frontchannel_logout_uri: Option<String>,
    /// Whether it needs `iss` and `sid` in that address; they are always there.
    pub frontchannel_logout_session_required: bool,
    /// Origins beyond those of the redirect URIs that may call token, userinfo and revocation by script.
    pub web_origins: Vec<String>,
    /// The one way this client proves itself.
    pub token_endpoint_auth_method: AuthMethod,
    /// The one algorithm of its assertions; any that fits the method when absent.
    pub token_endpoint_auth_signing_alg: Option<ClientAlgorithm>,
    /// Its public keys, as a JWK set of bare public members; never beside `jwks_uri`.
    pub jwks: Option<Value>,
    /// Where its public keys are fetched.
    pub jwks_uri: Option<String>,
    /// Where its request objects may stand (OpenID Connect Dynamic Registration 2); a fragment is the SHA-256 of
    /// the contents, in base64url.
    pub request_uris: Vec<String>,
    /// How its request objects are signed; any key pair's algorithm when absent, and never not at all.
    pub request_object_signing_alg: Option<RequestObjectAlgorithm>,
    /// Grants it may use.
    pub grant_types: Vec<GrantType>,
    /// Response types it may ask for.
    pub response_types: Vec<ResponseType>,
    /// Scopes it may ask for, space separated.
    pub scope: String,
    /// How it knows people (OpenID Connect Core 8).
    pub subject_type: SubjectType,
    /// Whose host is the sector of its pairwise subs (OpenID Connect Core 8.1).
    pub sector_identifier_uri: Option<String>,
    /// Whether people are asked.
    pub consent: ConsentMode,
    /// JWT (RFC 9068) or opaque.
    pub access_token_format: AccessTokenFormat,
    /// Whether a code challenge is demanded; the realm's default when absent. Public clients always.
    pub require_pkce: Option<bool>,
    /// Algorithm of its ID tokens; the realm's default when absent.
    pub id_token_signed_response_alg: Option<Algorithm>,
    /// Algorithm of its signed userinfo; plain JSON when absent.
    pub userinfo_signed_response_alg: Option<Algorithm>,
    /// Assumed `max_age` in seconds.
    pub default_max_age: Option<u64>,
    /// Assumed `acr_values`.
    pub default_acr_values: Vec<String>,
    /// `auth_time` in each ID token.
    pub require_auth_time: bool,
    /// Identifiers of resources (RFC 8707) it may ask for.
    pub resources: Vec<String>,
    /// Realm roles of its service account (client_credentials).
    pub service_account_roles: Vec<String>,
}

impl Default for ClientMetadata {
    fn default() -> Self {
        Self {
            client_name: None,
            client_uri: None,
            logo_uri: None,
            application_type: None,
            policy_uri: None,
            tos_uri: None,
            contacts: Vec::new(),
            redirect_uris: Vec::new(),
            initiate_login_uri: None,
            software_id: None,
            software_version: None,
            post_logout_redirect_uris: Vec::new(),
            backchannel_logout_uri: None,
            backchannel_logout_session_required: false,
            frontchannel_logout_uri: None,
            frontchannel_logout_session_required: false,
            web_origins: Vec::new(),
            token_endpoint_auth_method: AuthMethod::ClientSecretBasic,
            token_endpoint_auth_signing_alg: None,
            jwks: None,
            jwks_uri: None,
            request_uris: Vec::new(),
            request_object_signing_alg: None,
            grant_types: vec![GrantType::AuthorizationCode],
            response_types: vec![ResponseType::Code],
            scope: "openid".to_owned(),
            subject_type: SubjectType::Public,
            sector_identifier_uri: None,
            consent: ConsentMode::Ask,
            access_token_format: AccessTokenFormat::Jwt,
            require_pkce: None,
            id_token_signed_response_alg: None,
            userinfo_signed_response_alg: None,
            default_max_age: None,
            default_acr_values: Vec::new(),
            require_auth_time: false,
            resources: Vec::new(),
            service_account_roles: Vec::new(),
        }
    }
}

/// Whether a text can be a `client_id`: 1 to 255 printable ASCII characters without spaces. Nothing else
/// needs to be looked for.
#[must_use]
pub fn is_client_id(text: &str) -> bool {
    (1..=255).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

impl Client {
    /// What people read.
    #[must_use]
    pub fn title(&self) -> &str {
        self.metadata.client_name.as_deref().unwrap_or(&self.client_id)
    }

    /// Whether it registered itself.
    #[must_use]
    pub fn is_self_registered(&self) -> bool {
        self.origin == ClientOrigin::SelfRegistered
    }

    /// Public = cannot keep a secret (RFC 6749 section 2.1); only by `token_endpoint_auth_method: none`.
    #[must_use]
    pub fn is_public(&self) -> bool {
        self.metadata.token_endpoint_auth_method == AuthMethod::None
    }

    /// The secrets that count at `now`.
    pub fn live_secrets(&self, now: Timestamp) -> impl Iterator<Item = &ClientSecret> {
        self.secrets.iter().filter(move |known| known.expires_at.is_none_or(|at| now < at))
    }

    /// Whether it was registered for the grant.
    #[must_use]
    pub fn has_grant(&self, grant: GrantType) -> bool {
        self.metadata.grant_types.contains(&grant)
    }
}

/// Who registered a client, and so whose word its metadata is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClientOrigin {
    /// An operator or administrator.
    Operator,
    /// The client itself (RFC 7591): nobody has checked who that is.
    SelfRegistered,
}

impl ClientOrigin {
    /// The stored word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::SelfRegistered => "self_registered",
        }
    }

    /// Reads the stored word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Operator, Self::SelfRegistered].into_iter().find(|origin| origin.as_str() == name)
    }
}

/// Where an application runs (OpenID Connect Dynamic Registration 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApplicationType {
    /// On a server.
    Web,
    /// On people's own devices.
    Native,
}

/// How a client proves itself (RFC 7591 section 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthMethod {
    /// A public client.
    None,
    /// HTTP Basic (RFC 6749 section 2.3.1).
    ClientSecretBasic,
    /// In the form body (RFC 6749 section 2.3.1).
    ClientSecretPost,
    /// An assertion signed with the secret (OpenID Connect Core 9).
    ClientSecretJwt,
    /// An assertion signed with a key of the client's own (OpenID Connect Core 9, RFC 7523).
    PrivateKeyJwt,
}

impl AuthMethod {
    /// Every method built, in the order of discovery.
    pub const ALL: [Self; 5] =
        [Self::ClientSecretBasic, Self::ClientSecretPost, Self::ClientSecretJwt, Self::PrivateKeyJwt, Self::None];

    /// Whether the client proves itself by a secret that we gave it or that it shares with us.
    #[must_use]
    pub const fn has_secret(self) -> bool {
        match self {
            Self::ClientSecretBasic | Self::ClientSecretPost | Self::ClientSecretJwt => true,
            Self::None | Self::PrivateKeyJwt => false,
        }
    }

    /// The registered name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::ClientSecretBasic => "client_secret_basic",
            Self::ClientSecretPost => "client_secret_post",
            Self::ClientSecretJwt => "client_secret_jwt",
            Self::PrivateKeyJwt => "private_key_jwt",
        }
    }
}

/// Grants (RFC 6749, registered names).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantType {
    /// RFC 6749 section 4.1.
    AuthorizationCode,
    /// RFC 6749 section 4.2: what the authorization endpoint itself gives. The token endpoint knows none.
    Implicit,
    /// RFC 6749 section 6.
    RefreshToken,
    /// RFC 6749 section 4.4.
    ClientCredentials,
}

impl GrantType {
    /// Every grant built, in the order of discovery.
    pub const ALL: [Self; 4] = [Self::AuthorizationCode, Self::Implicit, Self::RefreshToken, Self::ClientCredentials];

    /// The registered name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AuthorizationCode => "authorization_code",
            Self::Implicit => "implicit",
            Self::RefreshToken => "refresh_token",
            Self::ClientCredentials => "client_credentials",
        }
    }

    /// Reads the registered name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|grant| grant.as_str() == name)
    }
}

/// How a client knows people (OpenID Connect Core 8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubjectType {
    /// By the same `sub` as every other client.
    Public,
    /// By a `sub` that is the sector's own.
    Pairwise,
}

impl SubjectType {
    /// Every type, in the order of discovery.
    pub const ALL: [Self; 2] = [Self::Public, Self::Pairwise];

    /// The registered name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Pairwise => "pairwise",
        }
    }
}

/// Whether people are asked before an application gets something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConsentMode {
    /// Ask, and remember.
    Ask,
    /// First party: never asked.
    Skip,
}

/// Form of access tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccessTokenFormat {
    /// RFC 9068.
    Jwt,
    /// A sealed reference that only this provider reads.
    Opaque,
}

/// A live secret: its HMAC-SHA-256 under a key derived from the master key. The secret itself rests, sealed,
/// only where the client signs with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientSecret {
    /// Its row.
    pub id: ClientSecretId,
    /// What is compared.
    pub hash: SecretHash,
    /// The secret itself, sealed; only for `client_secret_jwt`.
    pub sealed: Option<Vec<u8>>,
    /// When it was set.
    pub created_at: Timestamp,
    /// After this it no longer counts; `None` = until replaced.
    pub expires_at: Option<Timestamp>,
}
