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
        subject: Subject::Client,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::client::AuthMethod;
    use crate::protocol::sample::{self, API, FILES, ISSUER};

    fn ask(
        change: impl FnOnce(&mut Client),
        scope: Option<&str>,
        resource: &[&str],
    ) -> Result<Entitlement, (OauthCode, &'static str)> {
        let mut client = sample::client();
        change(&mut client);
        let facts = ClientCredentialsFacts {
            client: &client,
            resources: &sample::resources(),
            issuer: ISSUER,
            may_receive: Ok(()),
        };
        check_client_credentials(facts, &ClientCredentialsRequest { scope, resource })
            .map_err(|refusal| (refusal.code, refusal.reason))
    }

    #[test]
    fn a_client_speaks_for_itself_without_id_and_refresh_token() {
        let given = ask(|_| {}, None, &[]).unwrap();
        assert_eq!(given.subject, Subject::Client);
        assert_eq!(given.scope, sample::words("read write"), "nothing about persons");
        assert_eq!(given.audience, [ISSUER]);
        assert!(!given.issue_id_token && !given.issue_refresh && !given.offline);
        assert_eq!((given.sid, given.auth_time), (None, None));
    }

    #[test]
    fn scope_is_asked_and_registered() {
        assert_eq!(ask(|_| {}, Some("write"), &[]).unwrap().scope, ["write"]);
        assert_eq!(ask(|_| {}, Some(""), &[]).unwrap().scope, sample::words("read write"));
        let refused = |scope| ask(|_| {}, Some(scope), &[]).unwrap_err();
        assert_eq!(refused("read admin"), (OauthCode::InvalidScope, "scope_not_registered"));
        assert_eq!(refused("openid read"), (OauthCode::InvalidScope, "scope_of_persons"));
        assert_eq!(refused("offline_access"), (OauthCode::InvalidScope, "scope_of_persons"));
    }

    #[test]
    fn the_audience_is_the_resource_asked_for() {
        let given = ask(|_| {}, Some("read"), &["https://api.example.com/"]).unwrap();
        assert_eq!((given.audience, given.scope), (vec![API.to_owned()], sample::words("read")));
        let two = ask(|_| {}, None, &[API, FILES]).unwrap();
        assert_eq!(two.audience, [API, FILES]);
        let elsewhere = ask(|_| {}, Some("read"), &[FILES]).unwrap();
        assert!(elsewhere.scope.is_empty(), "read is a word of the other resource");
        for (change, resource) in [
            ((|_| {}) as fn(&mut Client), "https://unknown.example"),
            (|client| client.metadata.resources.clear(), API),
            (
                |client| client.metadata.resources = vec!["https://unknown.example".to_owned()],
                "https://unknown.example",
            ),
        ] {
            assert_eq!(ask(change, None, &[resource]).unwrap_err().0, OauthCode::InvalidTarget, "{resource}");
        }
    }

    #[test]
    fn a_public_or_unregistered_client_is_refused() {
        let public = |client: &mut Client| client.metadata.token_endpoint_auth_method = AuthMethod::None;
        assert_eq!(ask(public, None, &[]).unwrap_err(), (OauthCode::UnauthorizedClient, "client_public"));
        let unregistered = |client: &mut Client| client.metadata.grant_types = vec![GrantType::RefreshToken];
        let want = (OauthCode::UnauthorizedClient, "grant_type_not_registered");
        assert_eq!(ask(unregistered, None, &[]).unwrap_err(), want);
    }

    #[test]
    fn who_may_not_receive_gets_nothing() {
        let facts = ClientCredentialsFacts {
            client: &sample::client(),
            resources: &[],
            issuer: ISSUER,
            may_receive: Err(Refusal::new(OauthCode::UnauthorizedClient, "realm_disabled", "no")),
        };
        let refusal = check_client_credentials(facts, &ClientCredentialsRequest::default()).unwrap_err();
        assert_eq!(refusal.reason, "realm_disabled");
    }
}
