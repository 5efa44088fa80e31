//! Userinfo (OpenID Connect Core 5.3): the claims of the scopes that the token carries and those that it names,
//! signed for a client that registered it so.

use crate::context::Ctx;
use crate::domain::protocol::access_token;
use crate::domain::protocol::claims::{ClaimFacts, SignedUserinfo, UserinfoClaims};
use crate::domain::protocol::refusal::OauthCode;
use crate::domain::protocol::requested_claims;
use crate::service::token::inspect;
use crate::service::token::mint::{self, Unsigned};
use crate::service::{App, Error};

/// An answer in the form that the client registered.
#[derive(Debug)]
pub enum Userinfo {
    /// A JSON object.
    Plain(Vec<u8>),
    /// A JWT.
    Signed(String),
}

/// The answer for a token.
///
/// # Errors
/// `invalid_token` or `insufficient_scope`.
pub async fn answer(app: &App, ctx: &Ctx, token: &str) -> Result<Userinfo, Error> {
    let live = inspect::live(app, ctx, token).await?;
    access_token::check_for_userinfo(&live.token, &ctx.site.issuer)?;
    let Some(person) = &live.person else {
        return Err(Error::refused(OauthCode::InsufficientScope, "no_person", "this token is about no person"));
    };
    let token = &live.token;
    let facts = ClaimFacts {
        sub: &token.sub,
        user: &person.user,
        roles: &person.effective.roles,
        groups: &person.effective.groups,
    };
    let requested = requested_claims::beside(&facts, &token.userinfo_claims, &token.scope, &live.client.metadata.scope);
    let claims = UserinfoClaims::new(&facts, &token.scope).with(requested);
    let Some(alg) = live.client.metadata.userinfo_signed_response_alg else {
        return Ok(Userinfo::Plain(claims.to_bytes()));
    };
    let signed = SignedUserinfo { iss: &ctx.site.issuer, aud: &live.client.client_id, claims };
    let token = Unsigned { alg, typ: SignedUserinfo::TYP, payload: &signed.to_bytes() };
    Ok(Userinfo::Signed(mint::signed(app, ctx.realm.id, token, ctx.now).await?))
}
