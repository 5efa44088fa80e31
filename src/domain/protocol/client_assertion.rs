//! A client's assertion about itself: RFC 7521 section 4.2, RFC 7523 sections 2.2 and 3, OpenID Connect
//! Core 9; strict as behaviour case B-13 and `security` row 61 ask.
//!
//! What can be judged without knowing any client is judged first, so that a mistake is named to whoever made
//! it and no answer depends on who is registered here. Everything that does depend on it has one sentence.

use std::fmt;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::foreign_jwks::SignatureVerdict;
use super::foreign_jws::{self, ForeignAlgorithm, ForeignJws, NumericDate};
use super::json::present;
use super::refusal::{OauthCode, Refusal};
use crate::model::client::{AuthMethod, Client, is_client_id};
use crate::model::key::ClientAlgorithm;
use crate::model::timestamp::Timestamp;

/// The one `client_assertion_type` (RFC 7523 section 2.2).
pub const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/// How far ahead `exp` may lie.
pub const LONGEST: Duration = Duration::from_secs(5 * 60);
/// How far ahead of our clock the client's may be.
pub const LEEWAY: Duration = Duration::from_secs(60);
/// Characters of a `jti`.
const JTI_MAX: usize = 255;

/// An assertion that reads as one; nothing in it is proven.
#[derive(Clone, PartialEq, Eq)]
pub struct ClientAssertion<'a> {
    /// The token, for the signature.
    pub jws: ForeignJws<'a>,
    /// How it is signed.
    pub alg: ClientAlgorithm,
    /// Who it says it is: `iss` and `sub` alike.
    pub client_id: String,
    /// Its own id, used once.
    pub jti: String,
    /// Its end.
    pub expires_at: Timestamp,
    aud: Value,
    issued_at: Option<Timestamp>,
    not_before: Option<Timestamp>,
}

/// It is a credential as long as it lives.
impl fmt::Debug for ClientAssertion<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientAssertion")
            .field("client_id", &self.client_id)
            .field("jws", &self.jws)
            .finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct Claims {
    #[serde(default, deserialize_with = "present")]
    iss: Option<String>,
    #[serde(default, deserialize_with = "present")]
    sub: Option<String>,
    #[serde(default, deserialize_with = "present")]
    aud: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    exp: Option<NumericDate>,
    #[serde(default, deserialize_with = "present")]
    iat: Option<NumericDate>,
    #[serde(default, deserialize_with = "present")]
    nbf: Option<NumericDate>,
    #[serde(default, deserialize_with = "present")]
    jti: Option<String>,
}

/// What an assertion is held against besides the client.
#[derive(Debug, Clone, Copy)]
pub struct Audience<'a> {
    /// The issuer.
    pub issuer: &'a str,
    /// The token endpoint.
    pub token_endpoint: &'a str,
    /// The endpoint that was called.
    pub called: &'a str,
}

const fn refused(reason: &'static str, description: &'static str) -> Refusal {
    Refusal::new(OauthCode::InvalidClient, reason, description)
}

/// The refusal wherever the answer hangs on the client: unknown, without a key that fits, wrongly signed.
#[must_use]
pub const fn unproven(reason: &'static str) -> Refusal {
    refused(
        reason,
        "client authentication failed: the assertion is not signed with a key or secret registered for its sub",
    )
}

/// Reads an assertion (RFC 7523 section 3, points 1, 2, 4 and 7).
pub fn parse(text: &str) -> Result<ClientAssertion<'_>, Refusal> {
    let jws = foreign_jws::parse(text).map_err(|fault| {
        Refusal::with(OauthCode::InvalidClient, "assertion_unreadable", &format!("client_assertion {fault}"))
    })?;
    let ForeignAlgorithm::Signed(alg) = jws.alg else {
        return Err(refused("assertion_unsigned", "client_assertion is not signed"));
    };
    // Other tokens that a client signs say what they are; none of them proves it here (RFC 8725 section 3.11).
    if !jws.typ.as_deref().is_none_or(is_typ) {
        return Err(refused("assertion_typ", "client_assertion has another typ than JWT or client-authentication+jwt"));
    }
    let malformed = || {
        refused(
            "assertion_claims",
            "the claims of client_assertion must be an object with iss, sub, aud, exp and jti, each once, times in seconds",
        )
    };
    if jws.payload.first() != Some(&b'{') {
        return Err(malformed()); // the reader would take a list for the members in order
    }
    let claims: Claims = serde_json::from_slice(&jws.payload).map_err(|_| malformed())?;
    let (Some(iss), Some(sub), Some(aud), Some(exp), Some(jti)) =
        (claims.iss, claims.sub, claims.aud, claims.exp, claims.jti)
    else {
        return Err(malformed());
    };
    if iss != sub {
        return Err(refused("assertion_iss_sub", "iss and sub of client_assertion must both be the client_id"));
    }
    if !is_client_id(&sub) {
        return Err(unproven("client_unknown"));
    }
    if jti.is_empty() || jti.len() > JTI_MAX {
        return Err(refused("assertion_jti", "jti of client_assertion must have 1 to 255 characters"));
    }
    Ok(ClientAssertion {
        jws,
        alg,
        client_id: sub,
        jti,
        expires_at: exp.at(),
        aud,
        issued_at: claims.iat.map(NumericDate::at),
        not_before: claims.nbf.map(NumericDate::at),
    })
}

/// `application/` may lack and case is free (RFC 7515 section 4.1.9).
fn is_typ(typ: &str) -> bool {
    let typ = typ.to_ascii_lowercase();
    matches!(typ.strip_prefix("application/").unwrap_or(&typ), "jwt" | "client-authentication+jwt")
}

impl ClientAssertion<'_> {
    /// The method that it is.
    #[must_use]
    pub const fn method(&self) -> AuthMethod {
        match self.alg.key() {
            Some(_) => AuthMethod::PrivateKeyJwt,
            None => AuthMethod::ClientSecretJwt,
        }
    }

    /// For whom and when (RFC 7523 section 3, points 3 to 6). One audience and no more: an assertion for two
    /// servers could be carried from the one to the other.
    pub fn check(&self, audience: &Audience<'_>, now: Timestamp) -> Result<(), Refusal> {
        let Audience { issuer, token_endpoint, called } = *audience;
        let Some(aud) = self.aud.as_str() else {
            return Err(refused("assertion_audience_list", "aud of client_assertion must be one string, not a list"));
        };
        if ![issuer, token_endpoint, called].contains(&aud) {
            return Err(Refusal::with(
                OauthCode::InvalidClient,
                "assertion_audience",
                &format!("aud of client_assertion must be exactly {issuer} or {token_endpoint}"),
            ));
        }
        if now >= self.expires_at {
            return Err(refused("assertion_expired", "client_assertion has expired: look at the clock"));
        }
        if self.expires_at > now.plus(LONGEST) {
            return Err(refused("assertion_too_long", "exp of client_assertion lies more than 5 minutes ahead"));
        }
        let latest = now.plus(LEEWAY);
        if self.issued_at.is_some_and(|at| at > latest) || self.not_before.is_some_and(|at| at > latest) {
            return Err(refused("assertion_early", "iat or nbf of client_assertion lies ahead: look at the clock"));
        }
        Ok(())
    }

    /// What hangs on the client, once the signature was looked at: the registered algorithm is named only to
    /// whoever holds the key.
    pub fn check_client(&self, client: &Client, verdict: SignatureVerdict) -> Result<(), Refusal> {
        match verdict {
            SignatureVerdict::Good => {}
            SignatureVerdict::Wrong => return Err(unproven("assertion_signature")),
            SignatureVerdict::NoKey => return Err(unproven("assertion_no_key")),
        }
        if !client.enabled {
            return Err(unproven("client_disabled"));
        }
        match client.metadata.token_endpoint_auth_signing_alg {
            Some(alg) if alg != self.alg => Err(Refusal::with(
                OauthCode::InvalidClient,
                "assertion_algorithm",
                &format!("client_assertion is signed by {}, registered is {}", self.alg.as_str(), alg.as_str()),
            )),
            _ => Ok(()),
        }
    }

    /// Whether a memory of used ids that was born at `born` may have forgotten this one (`security-design`
    /// rule 15). What was accepted before had an end less than [`LONGEST`] after it, and was issued no later
    /// than [`LEEWAY`] after it.
    #[must_use]
    pub fn may_predate(&self, born: Timestamp) -> bool {
        self.expires_at < born.plus(LONGEST) && self.issued_at.is_none_or(|at| at < born.plus(LEEWAY))
    }
}

/// The refusal of an assertion that was used before.
#[must_use]
pub const fn replayed() -> Refusal {
    refused("assertion_replayed", "the jti of client_assertion was used before: make a new assertion for each request")
}

/// The refusal of an assertion that may have been used before.
#[must_use]
pub const fn predates() -> Refusal {
    refused("assertion_predates", "client_assertion is too old here: make a new assertion for each request")
}

/// The refusal while a client's memory is full: nothing is forgotten to make room.
#[must_use]
pub const fn too_many() -> Refusal {
    Refusal::new(
        OauthCode::TemporarilyUnavailable,
        "assertion_memory_full",
        "too many assertions of this client are still alive: let them end sooner, or send fewer",
    )
}

#[cfg(test)]
mod tests;
