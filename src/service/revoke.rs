//! Revocation (RFC 7009), durable: an access token goes on the deny list that userinfo and
//! introspection read; a refresh token takes its grant and all its access tokens with it.

use crate::context::Ctx;
use crate::domain::model::audit::{Actor, AuditKind};
use crate::domain::model::client::Client;
use crate::domain::model::session::EndReason;
use crate::domain::protocol::revocation::{Found, Revocation, check_revocation};
use crate::domain::protocol::token_text::{self, Shape};
use crate::service::session::end::{self, Why};
use crate::service::token::{inspect, refresh_text};
use crate::service::{App, Error};
use crate::store::repo;

/// Revokes a token of `client`.
///
/// # Errors
/// A token of another client is refused; or the revocation cannot be made to last.
pub async fn revoke(app: &App, ctx: &Ctx, client: &Client, token: &str) -> Result<(), Error> {
    let (mut access, mut grant) = (None, None);
    match token_text::route(token) {
        Shape::Refresh(text) => {
            if let Some(token) = refresh_text::read(app, ctx, text) {
                let found = repo::grant::find(&app.store.read(), ctx.realm.id, token.grant).await?;
                grant = found.filter(|grant| grant.refresh_secret_hash == Some(token.secret.hash()));
            }
        }
        Shape::Jwt(_) | Shape::OpaqueAccess(_) => access = inspect::read(app, ctx, token).await?,
        Shape::Other => {}
    }
    let found = match (&access, &grant) {
        (Some(token), _) => Found::Access(token),
        (None, Some(grant)) => Found::Refresh(grant),
        (None, None) => Found::Nothing,
    };
    match check_revocation(found, client, ctx.now)? {
        Revocation::Nothing => Ok(()),
        Revocation::Deny { jti, until } => {
            let mut audit = end::event(app, ctx, AuditKind::TokenRevoked, Actor::Client);
            audit.client = Some(client.key);
            audit.grant = access.and_then(|token| token.gid);
            let mut tx = app.store.begin().await?;
            repo::token::revoke(&mut tx, ctx.realm.id, jti, until).await?;
            repo::audit::append(&mut tx, &audit).await?;
            tx.commit().await?;
            Ok(())
        }
        Revocation::EndGrant(_) => match grant {
            Some(grant) => {
                let why =
                    Why { reason: EndReason::RevokedByClient, kind: AuditKind::TokenRevoked, actor: Actor::Client };
                end::grant(app, ctx, &grant, why).await
            }
            None => Ok(()),
        },
    }
}
