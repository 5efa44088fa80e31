//! `scope` (RFC 6749 section 3.3): demanded, since no default could be right for both OpenID Connect
//! and plain OAuth clients. Without `openid` the request is plain OAuth and brings no ID token, so one cannot be
//! asked for. Where no code comes `offline_access` is left out (OpenID Connect Core 11).

use super::request::AuthorizeRequest;
use super::table::Asked;
use crate::model::resource::Resource;
use crate::protocol::refusal::{OauthCode, Refusal};
use crate::protocol::resource::allowed;
use crate::protocol::scope::{Known, OFFLINE_ACCESS, grantable, parse};

pub(super) fn check(asked: &Asked<'_>, request: &mut AuthorizeRequest) -> Result<(), Refusal> {
    let text = asked.params.get("scope").ok_or(Refusal::new(
        OauthCode::InvalidScope,
        "scope_missing",
        "scope is missing; send openid to sign in",
    ))?;
    // Where the request names resources, only their scopes are known; else those of each resource that
    // the client may name.
    let in_question =
        |resource: &&Resource| request.resources.is_empty() || request.resources.contains(&resource.identifier);
    let facts = asked.facts;
    let in_question: Vec<&Resource> = allowed(asked.client, facts.resources).filter(in_question).collect();
    let known = Known { in_question: &in_question, resources: facts.resources, scopes: facts.scopes };
    let wanted = parse(text)?;
    let is_usable = |scope: &String| scope != OFFLINE_ACCESS || request.response_type.has_code();
    let usable: Vec<String> = wanted.iter().filter(|scope| is_usable(scope)).cloned().collect();
    let granted = grantable(&usable, asked.client, &known)?;
    request.scope = granted.scope;
    request.scope_differs = granted.differs || usable.len() != wanted.len();
    if request.response_type.has_id_token() && !request.is_openid() {
        return Err(Refusal::new(
            OauthCode::InvalidScope,
            "scope_without_openid",
            "response_type asks for an ID token, which needs the scope openid",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::example::{refused, request};
    use super::*;

    #[test]
    fn unknown_scopes_are_left_out_and_the_difference_noted() {
        for (asked, expected, differs) in [
            ("openid email", &["openid", "email"][..], false),
            ("offline_access email openid openid unknown:x", &["offline_access", "email", "openid"], true),
            ("email", &["email"], false),
            ("openid orders:read", &["openid", "orders:read"], false),
            // Registered for the client, but of a resource that it may not name.
            ("openid stock:read", &["openid"], true),
        ] {
            let request = request(&[("scope", asked)]);
            assert_eq!((request.scope.as_slice(), request.scope_differs), (&owned(expected)[..], differs), "{asked}");
        }
        assert!(!request(&[("scope", "email")]).is_openid());
    }

    #[test]
    fn nothing_known_missing_or_malformed_is_invalid_scope() {
        for (asked, reason) in
            [("", "scope_missing"), ("nope", "scope_unknown"), ("phone", "scope_unknown"), ("a\"b", "scope_malformed")]
        {
            assert_eq!(refused(&[("scope", asked)]), (OauthCode::InvalidScope, reason), "{asked}");
        }
    }

    fn owned(scopes: &[&str]) -> Vec<String> {
        scopes.iter().map(|scope| (*scope).to_owned()).collect()
    }
}
