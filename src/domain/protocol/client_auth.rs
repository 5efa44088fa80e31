//! Client authentication: RFC 6749 sections 2.3, 2.3.1, 3.2.1 and 5.2 with appendix B, RFC 7617; assertions
//! are judged in [`super::client_assertion`].
//!
//! [`present`] reads what a request brings, [`check_method`] and [`check_secret`] compare it with what was
//! registered: exactly one method, the registered one, and a secret that is live. Neither tells an unknown client from a
//! wrong secret; only the refusal's `reason`, which is never sent, does.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::client_assertion::{self, ASSERTION_TYPE, ClientAssertion};
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
pub struct Presented<'a> {
    /// The public `client_id`.
    pub client_id: String,
    /// The method that was used.
    pub method: AuthMethod,
    /// The secret, for the two methods that have one.
    pub secret: Option<Secret>,
    /// The assertion, for the two methods that are one.
    pub assertion: Option<ClientAssertion<'a>>,
}

impl Presented<'_> {
    /// The refusal for a `client_id` that the realm does not know; in words the same as for a wrong proof.
    #[must_use]
    pub const fn unknown_client(&self) -> Refusal {
        match self.assertion {
            Some(_) => client_assertion::unproven("client_unknown"),
            None => unknown_client(),
        }
    }
}

const fn unknown_client() -> Refusal {
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
pub fn present<'a>(authorization: &[&str], body: &BodyCredentials<'a>) -> Result<Presented<'a>, Refusal> {
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
            let method = AuthMethod::ClientSecretBasic;
            return Ok(Presented { client_id, method, secret: Some(secret), assertion: None });
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
        return if body_secret.is_some() { Err(two_methods()) } else { asserted(body, body_id) };
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
    Ok(Presented { client_id: id.to_owned(), method, secret: body_secret.map(Secret::from), assertion: None })
}

/// An assertion names its client; a `client_id` beside it may only say the same (RFC 7521 section 4.2).
fn asserted<'a>(body: &BodyCredentials<'a>, body_id: Option<&str>) -> Result<Presented<'a>, Refusal> {
    if body.client_assertion_type != Some(ASSERTION_TYPE) {
        return Err(Refusal::with(
            OauthCode::InvalidClient,
            "assertion_type",
            &format!("client_assertion_type must be {ASSERTION_TYPE}"),
        ));
    }
    let Some(text) = body.client_assertion.filter(|text| !text.is_empty()) else {
        return Err(Refusal::new(
            OauthCode::InvalidClient,
            "assertion_missing",
            "client_assertion_type is sent without client_assertion",
        ));
    };
    let assertion = client_assertion::parse(text)?;
    if body_id.is_some_and(|id| id != assertion.client_id) {
        return Err(failed("client_mixed_identities"));
    }
    let (client_id, method) = (assertion.client_id.clone(), assertion.method());
    Ok(Presented { client_id, method, secret: None, assertion: Some(assertion) })
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

/// Whether the method is the one that was registered.
pub fn check_method(client: &Client, presented: &Presented<'_>) -> Result<(), Refusal> {
    let registered = client.metadata.token_endpoint_auth_method;
    if client.client_id != presented.client_id {
        return Err(failed("client_mixed_identities"));
    }
    if registered == presented.method {
        return Ok(());
    }
    Err(Refusal {
        code: OauthCode::InvalidClient,
        description: Cow::Borrowed(match registered {
            AuthMethod::None => "client authentication failed: this client is registered as public, without a secret",
            AuthMethod::ClientSecretBasic => "client authentication failed: registered method is client_secret_basic",
            AuthMethod::ClientSecretPost => "client authentication failed: registered method is client_secret_post",
            AuthMethod::ClientSecretJwt => "client authentication failed: registered method is client_secret_jwt",
            AuthMethod::PrivateKeyJwt => "client authentication failed: registered method is private_key_jwt",
        }),
        reason: "client_method_wrong",
    })
}

/// Compares the secret with those that are live, or finds that a public client needs none. `compare` hashes
/// and compares in constant time; every live secret is tried, so that the time does not tell which one fits.
pub fn check_secret(
    client: &Client,
    presented: &Presented<'_>,
    compare: impl Fn(&ClientSecret, &Secret) -> bool,
    now: Timestamp,
) -> Result<(), Refusal> {
    if presented.method != AuthMethod::None {
        let secret = presented.secret.as_ref().filter(|secret| !secret.is_empty());
        let secret = secret.ok_or_else(|| failed("client_secret_missing"))?;
        let live = client.live_secrets(now);
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
