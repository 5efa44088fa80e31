//! The client's own grant: RFC 6749 section 4.4, RFC 8707, RFC 9068 section 2.2.
//!
//! Only confidential clients; no ID token, no refresh token (RFC 6749 section 4.4.3).

use super::resource::{fit, narrow};
use super::scope::{OFFLINE_ACCESS, OPENID, has, parse, tokens};
use super::{Entitlement, Subject};
use crate::model::client::{Client, GrantType};
use crate::model::resource::Resource;
use crate::protocol::refusal::{OauthCode, Refusal};

/// Scopes that speak of a person; a client that names none does not get them for itself.
const OF_PERSONS: [&str; 6] = [OPENID, OFFLINE_ACCESS, "profile", "email", "address", "phone"];

/// What is known when a client asks for itself.
pub struct ClientCredentialsFacts<'a> {
    /// The authenticated client.
    pub client: &'a Client,
    /// The realm's resources.
    pub resources: &'a [Resource],
    /// The realm's issuer.
    pub issuer: &'a str,
    /// The answer of [`crate::protocol::may_receive::may_receive`].
    pub may_receive: Result<(), Refusal>,
}

/// What the request says.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClientCredentialsRequest<'a> {
    /// `scope`; absent or empty = everything registered that is not about persons.
    pub scope: Option<&'a str>,
    /// `resource`, any number of times.
    pub resource: &'a [&'a str],
}

/// Decides on a client's request for itself.
pub fn check_client_credentials(
    facts: ClientCredentialsFacts<'_>,
    request: &ClientCredentialsRequest<'_>,
) -> Result<Entitlement, Refusal> {
    let client = facts.client;
    if client.is_public() {
        return Err(Refusal::new(
            OauthCode::UnauthorizedClient,
            "client_public",
            "a public client cannot use client_credentials (RFC 6749 section 4.4)",
        ));
    }
    if !client.has_grant(GrantType::ClientCredentials) {
        return Err(Refusal::new(
            OauthCode::UnauthorizedClient,
            "grant_type_not_registered",
            "this client is not registered for client_credentials",
        ));
    }
    facts.may_receive?;
    let scope = scope(client, request.scope.unwrap_or_default())?;
    let allowed = registered(client, facts.resources);
    // Unlike a grant of a person, nothing was chosen before: no resource asked = none.
    let is_asked = request.resource.iter().any(|value| !value.is_empty());
    let resources = if is_asked { narrow(request.resource, &allowed)? } else { Vec::new() };
    let target = fit(request.resource, resources, scope, facts.resources, facts.issuer);
    Ok(Entitlement {
        subject: Subject::Client { sub: client.client_id.clone() },
        client: client.key,
        client_id: client.client_id.clone(),
        scope: target.scope,
        audience: target.audience,
        resources: target.resources,
        auth_time: None,
        acr: None,
        amr: Vec::new(),
        nonce: None,
        sid: None,
        claims: None,
        cnf: None,
        offline: false,
        issue_refresh: false,
        issue_id_token: false,
    })
}

fn scope(client: &Client, asked: &str) -> Result<Vec<String>, Refusal> {
    let asked = parse(asked)?;
    if asked.is_empty() {
        let own = tokens(&client.metadata.scope).filter(|token| !OF_PERSONS.contains(token));
        return Ok(own.map(str::to_owned).collect());
    }
    for token in &asked {
        if token == OPENID || token == OFFLINE_ACCESS {
            return Err(Refusal::with(
                OauthCode::InvalidScope,
                "scope_of_persons",
                &format!("scope {token} needs a person: client_credentials gives neither ID token nor refresh token"),
            ));
        }
        if !has(&client.metadata.scope, token) {
            return Err(Refusal::with(
                OauthCode::InvalidScope,
                "scope_not_registered",
                &format!("scope {token} is not registered for this client"),
            ));
        }
    }
    Ok(asked)
}

/// The registered resources of the client that the realm still has, in the realm's spelling.
fn registered(client: &Client, realm: &[Resource]) -> Vec<String> {
    let is_registered =
        |each: &&Resource| client.metadata.resources.iter().any(|own| super::resource::is_same(own, &each.identifier));
    realm.iter().filter(is_registered).map(|each| each.identifier.clone()).collect()
}
