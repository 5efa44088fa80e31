//! Access tokens: RFC 9068 (JWT, `typ` `at+jwt`); opaque ones are in [`super::opaque_token`].
//!
//! Both forms are read back into one [`AccessToken`], so that userinfo, introspection and revocation
//! ask the same questions of each. An ID token is never taken for one (RFC 9068 section 4).

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::json::{self, OneOrMany};
use super::refusal::{OauthCode, Refusal};
use super::token::Entitlement;
use super::token::scope::OPENID;
use crate::model::ids::{ClientKey, GrantId, SessionId, TokenId, UserId};
use crate::model::timestamp::Timestamp;

/// The `typ` header of a JWT access token (RFC 9068 section 2.1).
pub const TYP: &str = "at+jwt";

/// What an access token is made of.
#[derive(Clone, Copy)]
pub struct AccessTokenFacts<'a> {
    /// The realm's issuer.
    pub issuer: &'a str,
    /// What the grant gives.
    pub entitlement: &'a Entitlement,
    /// Of whom it speaks, as its client knows her; a client's own `client_id`.
    pub sub: &'a str,
    /// Its own id.
    pub jti: TokenId,
    /// The grant it hangs on; none for client_credentials.
    pub grant: Option<GrantId>,
    /// To whom, by the internal key.
    pub client: ClientKey,
    /// The request's one moment.
    pub now: Timestamp,
    /// How long it lives.
    pub lifetime: Duration,
    /// The `roles` claim; only where the scope was granted.
    pub roles: Option<&'a [String]>,
    /// The `groups` claim; only where the scope was granted.
    pub groups: Option<&'a [String]>,
}

impl AccessTokenFacts<'_> {
    /// The client's key that the token bears: only where no grant does.
    pub(super) fn bound_client(&self) -> Option<ClientKey> {
        self.grant.is_none().then_some(self.client)
    }
}

/// The claims of a JWT access token, written in one pass (RFC 9068 section 2.2).
#[derive(Serialize)]
pub struct AccessTokenClaims<'a> {
    iss: &'a str,
    sub: &'a str,
    #[serde(serialize_with = "json::one_or_many")]
    aud: &'a [String],
    client_id: &'a str,
    exp: i64,
    iat: i64,
    #[serde(serialize_with = "json::shown")]
    jti: TokenId,
    #[serde(skip_serializing_if = "<[String]>::is_empty", serialize_with = "json::spaced")]
    scope: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    auth_time: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    acr: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    amr: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "json::maybe_shown")]
    sid: Option<SessionId>,
    /// Private: the grant, by which its tokens end with it.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "json::maybe_shown")]
    gid: Option<GrantId>,
    /// Private: the client's internal key where no grant stands for it, so that who later gets the same
    /// `client_id` does not inherit the token.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "json::maybe_shown")]
    cid: Option<ClientKey>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cnf: Option<Confirmation<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    roles: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<&'a [String]>,
    /// Private: single claims that userinfo gives for this token, by their names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    userinfo_claims: Vec<String>,
}

/// The `cnf` claim (RFC 7800, RFC 9449 section 6.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Confirmation<'a> {
    /// The key's thumbprint.
    pub jkt: &'a str,
}

impl<'a> AccessTokenClaims<'a> {
    /// Puts the claims together.
    #[must_use]
    pub fn new(facts: &AccessTokenFacts<'a>) -> Self {
        let given = facts.entitlement;
        Self {
            iss: facts.issuer,
            sub: facts.sub,
            aud: &given.audience,
            client_id: &given.client_id,
            exp: facts.now.plus(facts.lifetime).as_secs(),
            iat: facts.now.as_secs(),
            jti: facts.jti,
            scope: &given.scope,
            auth_time: given.auth_time.map(Timestamp::as_secs),
            acr: given.acr.map(crate::model::session::Acr::as_str),
            amr: given.amr.iter().map(|amr| amr.as_str()).collect(),
            sid: given.sid,
            gid: facts.grant,
            cid: facts.bound_client(),
            cnf: given.cnf.as_deref().map(|jkt| Confirmation { jkt }),
            roles: facts.roles,
            groups: facts.groups,
            userinfo_claims: given.requested_claims().userinfo,
        }
    }

    /// The JWT's payload.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// An access token of ours, read back from either form after its signature or seal was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessToken {
    /// Who issued it; for an opaque one the realm whose seal it has.
    pub iss: String,
    /// Of whom it speaks.
    pub sub: String,
    /// For whom it is.
    pub aud: Vec<String>,
    /// To whom it was given.
    pub client_id: String,
    /// Ends.
    pub exp: i64,
    /// Made.
    pub iat: i64,
    /// Its id, on which deny lists go.
    pub jti: TokenId,
    /// What it allows.
    pub scope: Vec<String>,
    /// When the person proved herself.
    pub auth_time: Option<i64>,
    /// What the proof amounted to.
    pub acr: Option<String>,
    /// How it was proved.
    pub amr: Vec<String>,
    /// The session.
    pub sid: Option<SessionId>,
    /// The grant; none for client_credentials.
    pub gid: Option<GrantId>,
    /// The client's internal key, where there is no grant.
    pub cid: Option<ClientKey>,
    /// Confirmation key thumbprint.
    pub cnf_jkt: Option<String>,
    /// The internal user key: only opaque tokens carry it, since others can read a JWT.
    pub user: Option<UserId>,
    /// Single claims that userinfo gives beside those of the scopes.
    pub userinfo_claims: Vec<String>,
}

impl AccessToken {
    /// Whether a person stands behind it; otherwise a client speaks for itself.
    #[must_use]
    pub fn has_person(&self) -> bool {
        self.gid.is_some() || self.sid.is_some()
    }

    /// Whether it was given to this very client: by its grant, or else by the key that it bears. A
    /// `client_id` alone may have passed to another.
    #[must_use]
    pub fn is_of(&self, client: ClientKey) -> bool {
        self.gid.is_some() || self.cid == Some(client)
    }

    /// Whether it has the scope.
    #[must_use]
    pub fn has_scope(&self, scope: &str) -> bool {
        self.scope.iter().any(|each| each == scope)
    }
}

#[derive(Deserialize)]
struct JwtForm {
    iss: String,
    sub: String,
    aud: OneOrMany,
    client_id: String,
    exp: i64,
    iat: i64,
    jti: String,
    #[serde(default)]
    scope: String,
    auth_time: Option<i64>,
    acr: Option<String>,
    #[serde(default)]
    amr: Vec<String>,
    sid: Option<String>,
    gid: Option<String>,
    cid: Option<String>,
    cnf: Option<CnfForm>,
    #[serde(default)]
    userinfo_claims: Vec<String>,
}

#[derive(Deserialize)]
struct CnfForm {
    jkt: Option<String>,
}

/// Reads a JWT whose signature was verified. `typ` must be `at+jwt`: an ID token, a logout token or a
/// token without `typ` is refused (RFC 9068 section 4, `security.md` row 45).
pub fn parse_access_token(typ: Option<&str>, payload: &[u8]) -> Result<AccessToken, Refusal> {
    if typ != Some(TYP) {
        return Err(invalid("token_wrong_type"));
    }
    read_jwt(payload).ok_or_else(|| invalid("token_malformed"))
}

fn read_jwt(payload: &[u8]) -> Option<AccessToken> {
    let form: JwtForm = serde_json::from_slice(payload).ok()?;
    let aud = Vec::from(form.aud);
    if aud.is_empty() {
        return None;
    }
    Some(AccessToken {
        iss: form.iss,
        sub: form.sub,
        aud,
        client_id: form.client_id,
        exp: form.exp,
        iat: form.iat,
        jti: form.jti.parse().ok()?,
        scope: super::token::scope::tokens(&form.scope).map(str::to_owned).collect(),
        auth_time: form.auth_time,
        acr: form.acr,
        amr: form.amr,
        sid: form.sid.map(|sid| sid.parse()).transpose().ok()?,
        gid: form.gid.map(|gid| gid.parse()).transpose().ok()?,
        cid: form.cid.map(|cid| cid.parse()).transpose().ok()?,
        cnf_jkt: form.cnf.and_then(|cnf| cnf.jkt),
        user: None,
        userinfo_claims: form.userinfo_claims,
    })
}

/// Issuer and times of a token that was read (RFC 9068 section 4, `security.md` row 49): `exp` counts
/// exactly, `leeway` is for a clock that runs behind the one that wrote `iat`.
pub fn check_access_token(token: &AccessToken, issuer: &str, now: Timestamp, leeway: Duration) -> Result<(), Refusal> {
    if token.iss != issuer {
        return Err(invalid("token_of_other_issuer"));
    }
    if token.exp <= now.as_secs() {
        return Err(invalid("token_expired"));
    }
    if token.iat > now.plus(leeway).as_secs() {
        return Err(invalid("token_from_future"));
    }
    Ok(())
}

/// Whether a checked token is one for userinfo: made for the issuer, for a person, with `openid`
/// (OpenID Connect Core 5.3).
pub fn check_for_userinfo(token: &AccessToken, issuer: &str) -> Result<(), Refusal> {
    if !token.aud.iter().any(|aud| aud == issuer) {
        return Err(invalid("token_for_other_audience"));
    }
    if !token.has_scope(OPENID) || !token.has_person() {
        return Err(Refusal::new(
            OauthCode::InsufficientScope,
            "token_without_openid",
            "userinfo needs an access token with scope openid",
        ));
    }
    Ok(())
}

const fn invalid(reason: &'static str) -> Refusal {
    Refusal::new(OauthCode::InvalidToken, reason, "the access token is not valid")
}

#[cfg(test)]
mod tests;
