//! Token introspection: RFC 7662 sections 2.1 to 2.3 and 4.
//!
//! Who may see what (behaviour case B-20): the client that holds the token, or a client named in
//! `introspection_clients` of a resource in its audience; refresh tokens only their client. Anybody
//! else, and any token that is not active, gets the same two words without a reason.

use serde::Serialize;

use super::access_token::{AccessToken, Confirmation};
use super::json;
use super::refusal::{OauthCode, Refusal};
use super::scope::{GROUPS, ROLES};
use crate::model::client::Client;
use crate::model::grant::Grant;
use crate::model::resource::Resource;
use crate::model::timestamp::Timestamp;

/// The answer to everything that is not active or not for the caller's eyes.
pub const INACTIVE: &str = r#"{"active":false}"#;

/// Only clients that can prove themselves may ask (RFC 7662 section 2.1).
pub fn check_caller(caller: &Client) -> Result<(), Refusal> {
    if caller.is_public() {
        return Err(Refusal::new(
            OauthCode::InvalidClient,
            "introspection_by_public_client",
            "introspection needs a client that authenticates (RFC 7662 section 2.1)",
        ));
    }
    Ok(())
}

/// Whether the caller may see the access token.
#[must_use]
pub fn is_visible_to(token: &AccessToken, caller: &Client, resources: &[Resource]) -> bool {
    token.client_id == caller.client_id
        || resources.iter().any(|resource| {
            token.aud.contains(&resource.identifier) && resource.introspection_clients.contains(&caller.client_id)
        })
}

/// An active answer (RFC 7662 section 2.2).
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct ActiveToken<'a> {
    active: bool,
    iss: &'a str,
    sub: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty", serialize_with = "json::one_or_many")]
    aud: &'a [String],
    client_id: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty", serialize_with = "json::spaced")]
    scope: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    token_type: Option<&'static str>,
    exp: i64,
    iat: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    jti: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    auth_time: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    acr: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cnf: Option<Confirmation<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    roles: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<&'a [String]>,
}

/// Roles and groups as they are now, which may be others than those a JWT was made with; each is told only where
/// the token has the scope.
#[derive(Debug, Clone, Copy, Default)]
pub struct Held<'a> {
    /// Of the person, or of the client's own service account.
    pub roles: &'a [String],
    /// Of the person.
    pub groups: Option<&'a [String]>,
}

impl ActiveToken<'_> {
    /// The body.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// The answer for an access token that was read and checked, is neither revoked nor of an ended grant,
/// and whose subject may receive; `None` = [`INACTIVE`].
#[must_use]
pub fn answer_access<'a>(
    token: &'a AccessToken,
    caller: &Client,
    resources: &[Resource],
    held: Held<'a>,
    may_receive: &Result<(), Refusal>,
) -> Option<ActiveToken<'a>> {
    if may_receive.is_err() || !is_visible_to(token, caller, resources) {
        return None;
    }
    Some(ActiveToken {
        active: true,
        iss: &token.iss,
        sub: &token.sub,
        aud: &token.aud,
        client_id: &token.client_id,
        scope: &token.scope,
        token_type: Some(if token.cnf_jkt.is_some() { "DPoP" } else { "Bearer" }),
        exp: token.exp,
        iat: token.iat,
        jti: Some(token.jti.to_string()),
        auth_time: token.auth_time,
        acr: token.acr.as_deref(),
        cnf: token.cnf_jkt.as_deref().map(|jkt| Confirmation { jkt }),
        roles: token.has_scope(ROLES).then_some(held.roles),
        groups: held.groups.filter(|_| token.has_scope(GROUPS)),
    })
}

/// What is known of a refresh token under introspection.
#[derive(Clone, Copy)]
pub struct RefreshSeen<'a> {
    /// Its grant.
    pub grant: &'a Grant,
    /// The `sub` of the grant's user.
    pub sub: &'a str,
    /// The realm's issuer.
    pub issuer: &'a str,
    /// Whether it is the current generation, or one behind within the grace: asking changes nothing,
    /// and a spent token seen here ends nothing.
    pub is_current: bool,
    /// Last refresh plus the idle limit, if that is before the absolute end.
    pub idle_end: Timestamp,
}

/// The answer for a refresh token whose tag and secret fit; `None` = [`INACTIVE`].
#[must_use]
pub fn answer_refresh<'a>(
    seen: &RefreshSeen<'a>,
    caller: &'a Client,
    may_receive: &Result<(), Refusal>,
) -> Option<ActiveToken<'a>> {
    let grant = seen.grant;
    if may_receive.is_err() || !seen.is_current || grant.client != caller.key {
        return None;
    }
    Some(ActiveToken {
        active: true,
        iss: seen.issuer,
        sub: seen.sub,
        aud: &[],
        client_id: &caller.client_id,
        scope: &grant.terms.scope,
        token_type: None,
        exp: grant.expires_at.min(seen.idle_end).as_secs(),
        iat: grant.rotated_at.as_secs(),
        jti: None,
        auth_time: Some(grant.terms.auth_time.as_secs()),
        acr: Some(grant.terms.acr.as_str()),
        cnf: grant.terms.cnf.as_deref().map(|jkt| Confirmation { jkt }),
        roles: None,
        groups: None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::sample::{self, API, ISSUER};
    use super::*;
    use crate::model::client::AuthMethod;
    use crate::model::ids::{ClientKey, TokenId};

    fn token() -> AccessToken {
        AccessToken {
            iss: ISSUER.to_owned(),
            sub: "sub-alice".to_owned(),
            aud: vec![API.to_owned()],
            client_id: "web".to_owned(),
            exp: 1_800_000_300,
            iat: 1_800_000_000,
            jti: TokenId::from_bytes([7; 16]),
            scope: sample::words("openid read"),
            auth_time: None,
            acr: None,
            amr: Vec::new(),
            sid: None,
            gid: None,
            cid: Some(sample::CLIENT),
            cnf_jkt: None,
            user: None,
            userinfo_claims: Vec::new(),
        }
    }

    fn caller(client_id: &str) -> Client {
        let key = if client_id == "web" { sample::CLIENT } else { ClientKey::from_bytes([99; 16]) };
        Client { client_id: client_id.to_owned(), key, ..sample::client() }
    }

    fn refused() -> Result<(), Refusal> {
        Err(Refusal::new(OauthCode::InvalidGrant, "user_disabled", "no"))
    }

    fn seen(token: &AccessToken, client_id: &str, may: &Result<(), Refusal>) -> Option<Value> {
        let held = Held { roles: &sample::words("editor"), groups: Some(&sample::words("/staff")) };
        let answer = answer_access(token, &caller(client_id), &sample::resources(), held, may)?;
        serde_json::from_slice(&answer.to_bytes()).ok()
    }

    #[test]
    fn the_tokens_client_and_its_resource_servers_see_it_and_nobody_else() {
        let want = json!({
            "active": true, "iss": ISSUER, "sub": "sub-alice", "aud": API, "client_id": "web",
            "scope": "openid read", "token_type": "Bearer", "exp": 1_800_000_300, "iat": 1_800_000_000,
            "jti": "tok_07070707070707070707070707070707",
        });
        assert_eq!(seen(&token(), "web", &Ok(())), Some(want.clone()));
        assert_eq!(seen(&token(), "rs1", &Ok(())), Some(want));
        assert_eq!(seen(&token(), "rs2", &Ok(())), None, "server of another resource");
        assert_eq!(seen(&token(), "other", &Ok(())), None);
        let for_userinfo = AccessToken { aud: vec![ISSUER.to_owned()], ..token() };
        assert_eq!(seen(&for_userinfo, "rs1", &Ok(())), None);
    }

    #[test]
    fn roles_and_groups_are_told_by_scope() {
        let with = |scope: &str| seen(&AccessToken { scope: sample::words(scope), ..token() }, "web", &Ok(())).unwrap();
        assert_eq!(with("openid roles")["roles"], json!(["editor"]));
        assert!(with("openid roles").get("groups").is_none() && with("groups").get("roles").is_none());
        assert_eq!(with("groups")["groups"], json!(["/staff"]));
    }

    #[test]
    fn who_may_not_receive_has_no_active_token() {
        assert_eq!(seen(&token(), "web", &refused()), None);
    }

    #[test]
    fn a_bound_token_shows_its_key() {
        let bound = AccessToken { cnf_jkt: Some("thumb".to_owned()), acr: Some("aal1".to_owned()), ..token() };
        let answer = seen(&bound, "web", &Ok(())).unwrap();
        assert_eq!(answer["cnf"], json!({"jkt": "thumb"}));
        assert_eq!(answer["token_type"], "DPoP");
        assert_eq!(answer["acr"], "aal1");
    }

    #[test]
    fn a_public_client_may_not_ask() {
        let mut public = caller("web");
        assert_eq!(check_caller(&public), Ok(()));
        public.metadata.token_endpoint_auth_method = AuthMethod::None;
        assert_eq!(check_caller(&public).unwrap_err().code, OauthCode::InvalidClient);
    }

    #[test]
    fn a_refresh_token_is_seen_by_its_client_only() {
        let grant = sample::grant();
        let ask = |client_id: &str, is_current, may: &Result<(), Refusal>| {
            let seen = RefreshSeen {
                grant: &grant,
                sub: "sub-alice",
                issuer: ISSUER,
                is_current,
                idle_end: sample::later(60),
            };
            answer_refresh(&seen, &caller(client_id), may)
                .map(|answer| serde_json::from_slice::<Value>(&answer.to_bytes()).unwrap())
        };
        let answer = ask("web", true, &Ok(())).unwrap();
        assert_eq!(answer["scope"], "openid profile read");
        assert_eq!(answer["exp"], json!(1_800_000_060));
        assert!(answer.get("aud").is_none() && answer.get("token_type").is_none());
        assert_eq!(ask("rs1", true, &Ok(())), None);
        assert_eq!(ask("web", false, &Ok(())), None);
        assert_eq!(ask("web", true, &refused()), None);
    }

    #[test]
    fn inactive_says_nothing_more() {
        assert_eq!(serde_json::from_str::<Value>(INACTIVE).unwrap(), json!({"active": false}));
    }
}
