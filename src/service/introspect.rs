//! Introspection (RFC 7662): active for the token's own client and for those that the resource names;
//! everybody else reads the same two words and no reason.

use crate::context::Ctx;
use crate::domain::model::client::Client;
use crate::domain::protocol::introspection::{self, Held, INACTIVE, RefreshSeen};
use crate::domain::protocol::token::refresh_token::{Presentation, PresentedRefresh, RefreshLimits, classify};
use crate::domain::protocol::token_text::{self, Shape};
use crate::service::token::facts::{self, Right};
use crate::service::token::{inspect, presenter, refresh_text};
use crate::service::{App, Error, subject};
use crate::store::repo;

/// The body for a token, as `caller` may see it.
///
/// # Errors
/// When the token cannot be looked at: then nobody says that it is inactive.
pub async fn answer(app: &App, ctx: &Ctx, caller: &Client, token: &str) -> Result<Vec<u8>, Error> {
    introspection::check_caller(caller)?;
    let found = match token_text::route(token) {
        Shape::Refresh(text) => refresh(app, ctx, caller, text).await?,
        Shape::Jwt(_) | Shape::OpaqueAccess(_) => access(app, ctx, caller, token).await?,
        Shape::Other => None,
    };
    Ok(found.unwrap_or_else(|| INACTIVE.as_bytes().to_vec()))
}

async fn access(app: &App, ctx: &Ctx, caller: &Client, token: &str) -> Result<Option<Vec<u8>>, Error> {
    let live = match inspect::live(app, ctx, token).await {
        Ok(live) => live,
        Err(Error::Refused(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    let resources = app.store.models().resources(ctx.realm.id).await?;
    let person = live.person.as_deref();
    let own = facts::service_roles(app, &live.client, person, &live.token.scope).await?;
    let held = match person {
        Some(person) => Held { roles: &person.effective.roles, groups: Some(&person.effective.groups) },
        None => Held { roles: own.as_deref().map(Vec::as_slice).unwrap_or_default(), groups: None },
    };
    // `live` has asked whether the subject may receive; who gets here may.
    Ok(introspection::answer_access(&live.token, caller, &resources, held, &Ok(())).map(|active| active.to_bytes()))
}

async fn refresh(app: &App, ctx: &Ctx, caller: &Client, text: &str) -> Result<Option<Vec<u8>>, Error> {
    let Some(token) = refresh_text::read(app, ctx, text) else { return Ok(None) };
    let Some(grant) = repo::grant::find(&app.store.read(), ctx.realm.id, token.grant).await? else { return Ok(None) };
    let settings = ctx.realm.settings.tokens;
    let limits = RefreshLimits { grace: settings.refresh_reuse_grace.get(), idle: settings.refresh_idle.get() };
    let presented = PresentedRefresh {
        generation: token.generation,
        secret_hash: token.secret.hash(),
        presenter: presenter::presenter(app, ctx),
    };
    let standing = classify(&grant, &presented, limits, ctx.now, app.clock.trust());
    let person = facts::person(app, ctx, grant.user, grant.session).await?;
    let right = Right { offline: grant.terms.offline, credential_epoch: None, grant: Some(&grant) };
    let may = person.may(ctx, caller, right);
    let Some(user) = person.user else { return Ok(None) };
    if grant.client != caller.key {
        return Ok(None);
    }
    let sub = subject::seen_by(app, &ctx.realm, caller, &user.user.sub).await?;
    let seen = RefreshSeen {
        grant: &grant,
        sub: &sub,
        issuer: &ctx.site.issuer,
        is_current: matches!(standing, Presentation::Current | Presentation::InGrace { .. }),
        idle_end: grant.last_used_at.plus(limits.idle),
    };
    Ok(introspection::answer_refresh(&seen, caller, &may).map(|active| active.to_bytes()))
}
