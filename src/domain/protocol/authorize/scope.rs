//! `scope` (RFC 6749 section 3.3): demanded, since no default could be right for both OpenID Connect
//! and plain OAuth clients. Without `openid` the request is plain OAuth and brings no ID token.

use super::request::AuthorizeRequest;
use super::table::Asked;
use crate::model::resource::Resource;
use crate::protocol::refusal::{OauthCode, Refusal};
use crate::protocol::resource::allowed;
use crate::protocol::scope::{grantable, parse};

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
    let resources: Vec<&Resource> = allowed(asked.client, asked.facts.resources).filter(in_question).collect();
    let granted = grantable(&parse(text)?, asked.client, resources)?;
    request.scope = granted.scope;
    request.scope_differs = granted.differs;
    Ok(())
}
