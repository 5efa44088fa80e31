//! The successful answer of the token endpoint (RFC 6749 section 5.1, OpenID Connect Core 3.1.3.3).

use serde::Serialize;

/// The body.
#[derive(Debug, Serialize)]
pub struct TokenAnswer {
    /// The access token.
    pub access_token: String,
    /// Always `Bearer`.
    pub token_type: &'static str,
    /// Seconds.
    pub expires_in: u64,
    /// The refresh token, where one is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refresh_token: Option<String>,
    /// The ID token, where `openid` was granted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id_token: Option<String>,
    /// What was granted, always named.
    pub scope: String,
}
