//! Opaque access tokens: `dwa_`, the sealed [`OpaquePayload`] in base64url, a checksum.
//!
//! Only this provider reads them; others introspect (RFC 7662). They carry what a JWT would.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use super::access_token::{AccessToken, AccessTokenFacts};
use super::token::Subject;
use super::token_text::{self, TokenKind};
use crate::model::ids::{ClientKey, GrantId, SessionId, TokenId, UserId};
use crate::model::timestamp::Timestamp;

/// Writes the token of sealed bytes.
#[must_use]
pub fn to_text(sealed: &[u8]) -> String {
    token_text::format(TokenKind::AccessToken, &URL_SAFE_NO_PAD.encode(sealed))
}

/// The sealed bytes of a token's body, as [`token_text::route`] hands it; one spelling only.
#[must_use]
pub fn sealed_bytes(body: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(body).ok()
}

/// The payload of an opaque access token; it is sealed, so only this provider reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpaquePayload {
    #[serde(rename = "j")]
    jti: TokenId,
    #[serde(rename = "g", default, skip_serializing_if = "Option::is_none")]
    gid: Option<GrantId>,
    #[serde(rename = "n", default, skip_serializing_if = "Option::is_none")]
    cid: Option<ClientKey>,
    #[serde(rename = "d", default, skip_serializing_if = "Option::is_none")]
    sid: Option<SessionId>,
    #[serde(rename = "u", default, skip_serializing_if = "Option::is_none")]
    user: Option<UserId>,
    #[serde(rename = "c")]
    client_id: String,
    #[serde(rename = "s")]
    sub: String,
    #[serde(rename = "a")]
    aud: Vec<String>,
    #[serde(rename = "o", default, skip_serializing_if = "Vec::is_empty")]
    scope: Vec<String>,
    #[serde(rename = "i")]
    iat: i64,
    #[serde(rename = "e")]
    exp: i64,
    #[serde(rename = "t", default, skip_serializing_if = "Option::is_none")]
    auth_time: Option<i64>,
    #[serde(rename = "r", default, skip_serializing_if = "Option::is_none")]
    acr: Option<String>,
    #[serde(rename = "m", default, skip_serializing_if = "Vec::is_empty")]
    amr: Vec<String>,
    #[serde(rename = "k", default, skip_serializing_if = "Option::is_none")]
    cnf_jkt: Option<String>,
    #[serde(rename = "q", default, skip_serializing_if = "Vec::is_empty")]
    userinfo_claims: Vec<String>,
}

impl OpaquePayload {
    /// Puts the payload together.
    #[must_use]
    pub fn new(facts: &AccessTokenFacts<'_>) -> Self {
        let given = facts.entitlement;
        let user = match given.subject {
            Subject::Person { user } => Some(user),
            Subject::Client => None,
        };
        Self {
            jti: facts.jti,
            gid: facts.grant,
            cid: facts.bound_client(),
            sid: given.sid,
            user,
            client_id: given.client_id.clone(),
            sub: facts.sub.to_owned(),
            aud: given.audience.clone(),
            scope: given.scope.clone(),
            iat: facts.now.as_secs(),
            exp: facts.now.plus(facts.lifetime).as_secs(),
            auth_time: given.auth_time.map(Timestamp::as_secs),
            acr: given.acr.map(|acr| acr.as_str().to_owned()),
            amr: given.amr.iter().map(|amr| amr.as_str().to_owned()).collect(),
            cnf_jkt: given.cnf.clone(),
            userinfo_claims: given.requested_claims().userinfo,
        }
    }

    /// The bytes that are sealed.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads unsealed bytes.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    /// The token it stands for, in the realm whose seal it had.
    #[must_use]
    pub fn into_access_token(self, issuer: &str) -> AccessToken {
        AccessToken {
            iss: issuer.to_owned(),
            sub: self.sub,
            aud: self.aud,
            client_id: self.client_id,
            exp: self.exp,
            iat: self.iat,
            jti: self.jti,
            scope: self.scope,
            auth_time: self.auth_time,
            acr: self.acr,
            amr: self.amr,
            sid: self.sid,
            gid: self.gid,
            cid: self.cid,
            cnf_jkt: self.cnf_jkt,
            user: self.user,
            userinfo_claims: self.userinfo_claims,
        }
    }
}
