//! Userinfo (OpenID Connect Core 5.3): the claims of the scopes that the token carries.

use crate::context::Ctx;
use crate::domain::protocol::access_token;
use crate::domain::protocol::claims::{ClaimFacts, UserinfoClaims};
use crate::domain::protocol::refusal::OauthCode;
use crate::service::token::inspect;
use crate::service::{App, Error};

/// The body for a token.
///
/// # Errors
/// `invalid_token` or `insufficient_scope`.
pub async fn answer(app: &App, ctx: &Ctx, token: &str) -> Result<Vec<u8>, Error> {
    let live = inspect::live(app, ctx, token).await?;
    access_token::check_for_userinfo(&live.token, &ctx.site.issuer)?;
    let Some(person) = &live.person else {
        return Err(Error::refused(OauthCode::InsufficientScope, "no_person", "this token is about no person"));
    };
    let facts = ClaimFacts { user: &person.user, roles: &person.effective.roles, groups: &person.effective.groups };
    Ok(UserinfoClaims::new(&facts, &live.token.scope).to_bytes())
}
