//! Client authentication: RFC 6749 sections 2.3, 2.3.1, 3.2.1 and 5.2 with appendix B, RFC 7617.
//!
//! [`present`] reads what a request brings, [`check`] compares it with what was registered: exactly
//! one method, the registered one, and a secret that is live. Neither tells an unknown client from a
//! wrong secret; only the refusal's `reason`, which is never sent, does.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::refusal::{OauthCode, Refusal};
use crate::model::client::{AuthMethod, Client, ClientSecret};
use crate::model::secret::Secret;
use crate::model::timestamp::Timestamp;

/// Longest `Authorization` header that is looked at.
const HEADER_MAX: usize = 4096;
/// Longest `client_id`, as the model allows.
const CLIENT_ID_MAX: usize = 255;

/// Clients differ on padding; nothing else is left open.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The form fields that take part in client authentication. A field sent without a value counts as
/// left out (RFC 6749 section 3.2).
#[derive(Clone, Copy, Default)]
pub struct BodyCredentials<'a> {
    /// `client_id`.
    pub client_id: Option<&'a str>,
    /// `client_secret`.
    pub client_secret: Option<&'a str>,
    /// `client_assertion` (RFC 7521 section 4.2).
    pub client_assertion: Option<&'a str>,
    /// `client_assertion_type`.
    pub client_assertion_type: Option<&'a str>,
}

/// Who the caller says it is, and by which method it proves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Presented {
    /// The public `client_id`.
    pub client_id: String,
    /// The method that was used.
    pub method: AuthMethod,
    /// The secret, for the two methods that have one.
    pub secret: Option<Secret>,
}

/// The refusal for a `client_id` that the realm does not know; in words the same as for a wrong secret.
#[must_use]
pub const fn unknown_client() -> Refusal {
    failed("client_unknown")
}

const fn failed(reason: &'static str) -> Refusal {
    Refusal::new(OauthCode::InvalidClient, reason, "client authentication failed")
}

const fn two_methods() -> Refusal {
    Refusal::new(
        OauthCode::InvalidRequest,
        "client_two_methods",
        "more than one client authentication method in one request (RFC 6749 section 2.3)",
    )
}

/// Reads the credentials of a request from all its `Authorization` header values and its body.
pub fn present(authorization: &[&str], body: &BodyCredentials<'_>) -> Result<Presented, Refusal> {
    let filled = |field: Option<&'_ str>| field.is_some_and(|value| !value.is_empty());
    let has_assertion = filled(body.client_assertion) || filled(body.client_assertion_type);
    let body_id = body.client_id.filter(|id| !id.is_empty());
    let body_secret = body.client_secret.filter(|secret| !secret.is_empty());
    match authorization {
        [] => {}
        [header] => {
            let (client_id, secret) = basic(header)?;
            if body_secret.is_some() || has_assertion {
                return Err(two_methods());
            }
            if body_id.is_some_and(|id| id != client_id) {
                return Err(failed("client_mixed_identities"));
            }
            return Ok(Presented { client_id, method: AuthMethod::ClientSecretBasic, secret: Some(secret) });
        }
        _ => {
            return Err(Refusal::new(
                OauthCode::InvalidRequest,
                "client_two_headers",
                "more than one Authorization header",
            ));
        }
    }
    if has_assertion {
        return Err(if body_secret.is_some() {
            two_methods()
        } else {
            Refusal::new(
                OauthCode::InvalidClient,
                "client_method_unsupported",
                "client assertions are not supported by this provider",
            )
        });
    }
    let Some(id) = body_id else {
        return Err(Refusal::new(
            OauthCode::InvalidClient,
            "client_missing",
            "no client authentication and no client_id in the request",
        ));
    };
    if id.len() > CLIENT_ID_MAX {
        return Err(failed("client_unknown"));
    }
    let method = if body_secret.is_some() { AuthMethod::ClientSecretPost } else { AuthMethod::None };
    Ok(Presented { client_id: id.to_owned(), method, secret: body_secret.map(Secret::from) })
}

/// The Basic header: base64 of form-encoded id, colon, form-encoded secret (RFC 6749 section 2.3.1).
/// The split is at the first colon, before decoding.
fn basic(header: &str) -> Result<(String, Secret), Refusal> {
    let malformed = || {
        Refusal::new(
            OauthCode::InvalidClient,
            "client_basic_malformed",
            "the Authorization header is not Basic with form-encoded client_id and client_secret (RFC 6749 section 2.3.1)",
        )
    };
    if header.len() > HEADER_MAX {
        return Err(malformed());
    }
    let (scheme, rest) = header.trim_matches([' ', '\t']).split_once(' ').ok_or_else(malformed)?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return Err(Refusal::new(
            OauthCode::InvalidClient,
            "client_scheme_unknown",
            "the only Authorization scheme for client authentication is Basic",
        ));
    }
    let decoded = BASE64.decode(rest.trim_start_matches(' ')).map_err(|_| malformed())?;
    let colon = decoded.iter().position(|byte| *byte == b':').ok_or_else(malformed)?;
    let (id, secret) = decoded.split_at(colon);
    let client_id = form_decode(id).ok_or_else(malformed)?;
    let secret = Secret::new(form_decode(secret.get(1..).unwrap_or_default()).ok_or_else(malformed)?);
    if client_id.is_empty() || client_id.len() > CLIENT_ID_MAX {
        return Err(malformed());
    }
    Ok((client_id, secret))
}

/// RFC 6749 appendix B. Signs that should have been encoded pass as they are, so that clients which
/// forget to encode still work where no `+` or `%` is involved; a stray `%` is an error.
fn form_decode(bytes: &[u8]) -> Option<String> {
    let mut rest = bytes;
    let mut out = Vec::with_capacity(bytes.len());
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        out.push(match first {
            b'+' => b' ',
            b'%' => {
                let (digits, after) = rest.split_at_checked(2)?;
                rest = after;
                digits.iter().try_fold(0u8, |value, digit| {
                    let digit = char::from(*digit).to_digit(16)?;
                    Some((value << 4) | u8::try_from(digit).ok()?)
                })?
            }
            other => *other,
        });
    }
    String::from_utf8(out).ok()
}

/// Compares what was presented with what was registered. `compare` hashes and compares in constant
/// time; every live secret is tried, so that the time does not tell which one fits.
pub fn check(
    client: &Client,
    presented: &Presented,
    compare: impl Fn(&ClientSecret, &Secret) -> bool,
    now: Timestamp,
) -> Result<(), Refusal> {
    let registered = client.metadata.token_endpoint_auth_method;
    if client.client_id != presented.client_id {
        return Err(failed("client_mixed_identities"));
    }
    if registered != presented.method {
        return Err(Refusal {
            code: OauthCode::InvalidClient,
            description: Cow::Borrowed(match registered {
                AuthMethod::None => {
                    "client authentication failed: this client is registered as public, without a secret"
                }
                AuthMethod::ClientSecretBasic => {
                    "client authentication failed: registered method is client_secret_basic"
                }
                AuthMethod::ClientSecretPost => "client authentication failed: registered method is client_secret_post",
            }),
            reason: "client_method_wrong",
        });
    }
    if registered != AuthMethod::None {
        let secret = presented.secret.as_ref().filter(|secret| !secret.is_empty());
        let secret = secret.ok_or_else(|| failed("client_secret_missing"))?;
        let live = client.secrets.iter().filter(|known| known.expires_at.is_none_or(|at| now < at));
        let (count, fits) = live.fold((0, false), |(count, fits), known| (count + 1, compare(known, secret) | fits));
        if !fits {
            return Err(failed(if count == 0 { "client_has_no_secret" } else { "client_secret_wrong" }));
        }
    }
    if !client.enabled {
        return Err(failed("client_disabled"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
