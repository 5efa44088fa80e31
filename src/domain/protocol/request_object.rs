//! Request objects (OpenID Connect Core 6, RFC 9101): an authorization request as a JWT, by value or by
//! reference. What stands inside counts for more than what stands beside it.
//!
//! Signed by a key of the client's, or not signed at all where the client registered `none`. An object that says
//! whom it is from, for whom, and how long, is held to it (Core 6.1, RFC 9101 section 6.3; `security` row 66).
//! Encrypted ones are not taken.

use std::fmt;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

use super::authorize::table::SINGLE;
use super::foreign_jwks::SignatureVerdict;
use super::foreign_jws::{self, ForeignAlgorithm, ForeignJws, NumericDate};
use super::params::Params;
use super::refusal::{OauthCode, Refusal};
use super::strict_json;
use crate::model::client::Client;
use crate::model::key::RequestObjectAlgorithm;
use crate::model::timestamp::Timestamp;

/// How long an object may be good: `exp` after `nbf`, and now after `nbf`.
pub const LONGEST: Duration = Duration::from_secs(60 * 60);
/// How far ahead of our clock the client's may be.
pub const LEEWAY: Duration = Duration::from_secs(60);
/// Lists and objects inside each other; the `claims` inside may have fewer.
const DEPTH_MAX: usize = 12;
/// The parameter that may repeat (RFC 8707 section 2): a list inside.
const RESOURCE: &str = "resource";

/// An object that reads as one; nothing in it is proven.
#[derive(Clone, PartialEq)]
pub struct RequestObject<'a> {
    /// The token, for the signature.
    pub jws: ForeignJws<'a>,
    members: Map<String, Value>,
}

impl fmt::Debug for RequestObject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestObject").field("jws", &self.jws).finish_non_exhaustive()
    }
}

const fn refused(reason: &'static str, description: &'static str) -> Refusal {
    Refusal::new(OauthCode::InvalidRequestObject, reason, description)
}

/// Reads an object (RFC 9101 section 4).
pub fn parse(text: &str) -> Result<RequestObject<'_>, Refusal> {
    if text.split('.').count() == 5 {
        return Err(refused(
            "object_encrypted",
            "the request object is encrypted, which is not supported; sign it only",
        ));
    }
    let jws = foreign_jws::parse(text).map_err(|fault| {
        Refusal::with(OauthCode::InvalidRequestObject, "object_unreadable", &format!("the request object {fault}"))
    })?;
    // Other tokens that a client signs say what they are; none of them is a request (RFC 8725 section 3.11).
    if !jws.typ.as_deref().is_none_or(is_typ) {
        return Err(refused("object_typ", "the request object has another typ than oauth-authz-req+jwt or JWT"));
    }
    let members = strict_json::object(&jws.payload, DEPTH_MAX).map_err(|_| {
        refused(
            "object_claims",
            "the request object must hold a JSON object with each member once, nested 12 deep at most",
        )
    })?;
    Ok(RequestObject { jws, members })
}

/// `application/` may lack and case is free (RFC 7515 section 4.1.9, RFC 9101 section 10.8).
fn is_typ(typ: &str) -> bool {
    let typ = typ.to_ascii_lowercase();
    matches!(typ.strip_prefix("application/").unwrap_or(&typ), "jwt" | "oauth-authz-req+jwt")
}

impl RequestObject<'_> {
    /// Whether a key has to be found for it. The registered algorithm is the only one; without one every key
    /// pair's will do, and no signature will not (Dynamic Registration 2, RFC 9101 section 10.1).
    pub fn needs_signature(&self, client: &Client) -> Result<bool, Refusal> {
        let registered = client.metadata.request_object_signing_alg;
        match (self.jws.alg, registered) {
            (ForeignAlgorithm::Unsigned, Some(RequestObjectAlgorithm::Unsigned)) => Ok(false),
            (ForeignAlgorithm::Unsigned, _) => Err(refused(
                "object_unsigned",
                "the request object is not signed; that is taken only from a client with request_object_signing_alg none",
            )),
            (ForeignAlgorithm::Signed(alg), registered) => match (alg.key(), registered) {
                (None, _) => {
                    Err(refused("object_algorithm", "the request object must be signed with a key pair, not a secret"))
                }
                (Some(_), None) => Ok(true),
                (Some(alg), Some(RequestObjectAlgorithm::Signed(registered))) if registered == alg => Ok(true),
                (Some(_), Some(_)) => Err(refused(
                    "object_algorithm",
                    "the request object is not signed by the client's request_object_signing_alg",
                )),
            },
        }
    }

    /// What was found out about the signature (RFC 9101 section 6.2).
    pub fn check_signature(verdict: SignatureVerdict) -> Result<(), Refusal> {
        match verdict {
            SignatureVerdict::Good => Ok(()),
            SignatureVerdict::Wrong => Err(refused("object_signature", UNPROVEN)),
            SignatureVerdict::NoKey => Err(refused("object_no_key", UNPROVEN)),
        }
    }

    /// From whom, for whom and when (Core 6.1, RFC 9101 sections 5 and 6.3). What is absent is not missed.
    pub fn check(&self, client: &Client, issuer: &str, now: Timestamp) -> Result<(), Refusal> {
        for (name, reason) in [("client_id", "object_client_id"), ("iss", "object_iss")] {
            if self.members.get(name).is_some_and(|value| value.as_str() != Some(&client.client_id)) {
                return Err(Refusal::with(
                    OauthCode::InvalidRequestObject,
                    reason,
                    &format!("{name} of the request object must be the client_id of the request"),
                ));
            }
        }
        // An assertion about the client, which is not to pass for a request, nor the reverse (RFC 9101 10.8).
        if self.members.get("sub").is_some_and(|value| value.as_str() == Some(&client.client_id)) {
            return Err(refused("object_sub", "sub of the request object must not be the client_id; leave it out"));
        }
        if self.members.get("aud").is_some_and(|aud| !is_for(aud, issuer)) {
            return Err(Refusal::with(
                OauthCode::InvalidRequestObject,
                "object_aud",
                &format!("aud of the request object must be or hold exactly {issuer}"),
            ));
        }
        for name in ["request", "request_uri"] {
            if self.members.contains_key(name) {
                return Err(refused("object_nested", "the request object must hold neither request nor request_uri"));
            }
        }
        self.check_times(now)
    }

    fn check_times(&self, now: Timestamp) -> Result<(), Refusal> {
        let (exp, nbf, iat) = (self.time("exp")?, self.time("nbf")?, self.time("iat")?);
        if exp.is_some_and(|exp| now >= exp) {
            return Err(refused("object_expired", "the request object has expired: look at the clock"));
        }
        let latest = now.plus(LEEWAY);
        if nbf.is_some_and(|at| at > latest) || iat.is_some_and(|at| at > latest) {
            return Err(refused("object_early", "iat or nbf of the request object lies ahead: look at the clock"));
        }
        let too_long = nbf.is_some_and(|nbf| {
            let end = nbf.plus(LONGEST);
            now >= end || exp.is_some_and(|exp| exp > end)
        });
        if too_long {
            return Err(refused("object_too_long", "the request object is meant to be good for more than 60 minutes"));
        }
        Ok(())
    }

    fn time(&self, name: &str) -> Result<Option<Timestamp>, Refusal> {
        let Some(value) = self.members.get(name) else { return Ok(None) };
        let date: NumericDate = serde_json::from_value(value.clone())
            .map_err(|_| refused("object_time", "exp, nbf and iat of the request object must be times in seconds"))?;
        Ok(Some(date.at()))
    }

    /// The request as it counts: what stands inside, and of what stands beside it what is not inside. The latter
    /// only for OpenID Connect, which says so by `openid` in the scope beside (Core 6.1); of any other request
    /// nothing but the object counts (RFC 9101 section 6.3).
    pub fn effective(&self, beside: &Params) -> Result<Params, Refusal> {
        let mut inside: Vec<(&str, String)> = Vec::new();
        for name in SINGLE.into_iter().filter(|name| !is_of_the_request_itself(name)) {
            if let Some(value) = self.members.get(name) {
                inside.push((name, text(name, value)?));
            }
        }
        if let Some(value) = self.members.get(RESOURCE) {
            let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            for value in values {
                inside.push((RESOURCE, text(RESOURCE, value)?));
            }
        }
        let openid = beside.get("scope").is_some_and(|scope| scope.split(' ').any(|scope| scope == "openid"));
        let counts = |name: &str| {
            let known = SINGLE.contains(&name) || name == RESOURCE;
            let own = name == "client_id";
            own || (openid && known && !is_of_the_request_itself(name) && !inside.iter().any(|(own, _)| *own == name))
        };
        Ok(beside.retained(counts).joined(inside.iter().map(|(name, value)| (*name, value.as_str()))))
    }
}

const UNPROVEN: &str = "the request object is not signed by a key registered for this client: its jwks or jwks_uri";

/// What names client and object, and is the same inside and beside, or not there.
fn is_of_the_request_itself(name: &str) -> bool {
    matches!(name, "client_id" | "request" | "request_uri")
}

fn is_for(aud: &Value, issuer: &str) -> bool {
    match aud {
        Value::String(one) => one == issuer,
        Value::Array(many) => many.iter().any(|one| one.as_str() == Some(issuer)),
        _ => false,
    }
}

/// A member as the parameter that it stands for: numbers and truth values as they are written, `claims` and
/// `registration` as JSON (Core 6.1, RFC 9101 section 4).
fn text(name: &str, value: &Value) -> Result<String, Refusal> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        Value::Object(_) if matches!(name, "claims" | "registration") => Ok(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => Err(Refusal::with(
            OauthCode::InvalidRequestObject,
            "object_member",
            &format!("{name} in the request object has another JSON type than it must have"),
        )),
    }
}

/// A `state` that an object holds whatever became of it, for the refusal only: a client that put it there has no
/// other way to know its request again. It is an echo to the sender and decides nothing, so it needs no proof.
#[must_use]
pub fn state_inside(text: &str) -> Option<String> {
    let payload = URL_SAFE_NO_PAD.decode(text.split('.').nth(1)?).ok()?;
    strict_json::object(&payload, DEPTH_MAX).ok()?.get("state")?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests;
