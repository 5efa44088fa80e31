//! The refresh grant (RFC 6749 section 6; `security-design` rules 8 to 11). The token names its grant;
//! the rules classify it; one guarded update rotates it; the answer goes out after the commit.

use std::sync::Arc;

use super::answer::TokenAnswer;
use super::facts::{self, Person, Right};
use super::{mint, presenter, refresh_text};
use crate::context::Ctx;
use crate::domain::model::audit::{Actor, AuditKind};
use crate::domain::model::client::{Client, ConsentMode, GrantType};
use crate::domain::model::grant::Grant;
use crate::domain::model::session::EndReason;
use crate::domain::protocol::params::Params;
use crate::domain::protocol::refresh_token_text::RefreshToken;
use crate::domain::protocol::refusal::{OauthCode, Refusal};
use crate::domain::protocol::token::Entitlement;
use crate::domain::protocol::token::refresh_token::{
    FOREIGN_STREAK_ENDS, PresentedRefresh, RefreshFacts, RefreshLimits, RefreshOutcome, RefreshRequest, decide_refresh,
};
use crate::observe::metrics::metrics;
use crate::service::session::end;
use crate::service::{App, Error};
use crate::store::batch::{RotateGrant, Rotated};
use crate::store::repo;

/// How often a lost race is looked at again: the second look always sees the winner.
const LOOKS: usize = 3;

/// Answers a token request of this grant.
///
/// # Errors
/// The refusal, or that the store cannot decide.
pub async fn grant(app: &App, ctx: &Ctx, client: &Arc<Client>, form: &Params) -> Result<TokenAnswer, Error> {
    let text = form.one("refresh_token").map_err(Refusal::from)?.ok_or_else(missing)?;
    let scope = form.one("scope").map_err(Refusal::from)?;
    let resource = form.many("resource").map_err(Refusal::from)?;
    let Some(token) = refresh_text::read(app, ctx, text) else { return Err(unknown().into()) };
    let presented = PresentedRefresh {
        generation: token.generation,
        secret_hash: token.secret.hash(),
        presenter: presenter::presenter(app, ctx),
    };
    let settings = ctx.realm.settings.tokens;
    let limits = RefreshLimits { grace: settings.refresh_reuse_grace.get(), idle: settings.refresh_idle.get() };
    let resources = app.store.models().resources(ctx.realm.id).await?;
    for _ in 0..LOOKS {
        let source = app.store.read();
        let Some(grant) = repo::grant::find(&source, ctx.realm.id, token.grant).await? else { return Err(unknown().into()) };
        let person = facts::person(app, ctx, grant.user, grant.session).await?;
        let consent = match client.metadata.consent {
            ConsentMode::Ask => repo::consent::find(&source, ctx.realm.id, grant.user, client.key).await?,
            ConsentMode::Skip => None,
        };
        let right = Right { offline: grant.terms.offline, credential_epoch: None, grant: Some(&grant) };
        let decision = decide_refresh(
            RefreshFacts {
                grant: &grant,
                client,
                user: person.user.as_deref().map(|facts| &facts.user),
                consent: consent.as_ref(),
                resources: &resources,
                issuer: &ctx.site.issuer,
                key: Ok(()),
                may_receive: person.may(ctx, client, right),
                now: ctx.now,
            },
            &presented,
            limits,
            &RefreshRequest { scope, resource: &resource },
        );
        let entitlement = match decision {
            RefreshOutcome::Rotate(entitlement) => {
                let op = RotateGrant {
                    realm: ctx.realm.id,
                    grant: grant.id,
                    generation: grant.generation,
                    secret_hash: presented.secret_hash,
                    presenter: presented.presenter,
                    now: ctx.now,
                    idle: limits.idle,
                };
                match app.store.batch().rotate_grant(op).await? {
                    Rotated::Rotated => *entitlement,
                    Rotated::Lost => continue,
                }
            }
            RefreshOutcome::Repeat { entitlement, foreign } => {
                if foreign {
                    repeated_by_other(app, ctx, &grant).await?;
                }
                *entitlement
            }
            RefreshOutcome::End(reason, refusal) => {
                let kind = match reason {
                    EndReason::RefreshAhead => AuditKind::KeyCompromiseSuspected,
                    _ => AuditKind::RefreshReused,
                };
                end::grant(app, ctx, &grant, reason, kind, Actor::Client).await?;
                return Err(refusal.into());
            }
            RefreshOutcome::Alarm(refusal) => {
                note(app, ctx, &grant, AuditKind::KeyCompromiseSuspected, &refusal).await?;
                tracing::error!(grant = %grant.id, "a refresh token had a genuine tag and a wrong secret: the key may be known");
                return Err(refusal.into());
            }
            RefreshOutcome::Refused(refusal) => {
                note(app, ctx, &grant, AuditKind::RefreshRefused, &refusal).await?;
                return Err(refusal.into());
            }
        };
        return answer(app, ctx, client, &grant, (entitlement, token), &person).await;
    }
    Err(unknown().into())
}

async fn answer(
    app: &App,
    ctx: &Ctx,
    client: &Arc<Client>,
    grant: &Grant,
    (entitlement, token): (Entitlement, RefreshToken),
    person: &Person,
) -> Result<TokenAnswer, Error> {
    let next = token.generation.saturating_add(1);
    let refresh_token = refresh_text::write(app, ctx, grant.id, next, &token.secret);
    let minted = mint::tokens(app, ctx, client, &entitlement, Some(grant.id), person.user.as_deref()).await?;
    metrics().tokens.with_label_values(&[GrantType::RefreshToken.as_str()]).inc();
    Ok(minted.answer(Some(refresh_token)))
}

/// A repeat from somebody else within the grace: written down, and the third in a row ends the family.
async fn repeated_by_other(app: &App, ctx: &Ctx, grant: &Grant) -> Result<(), Error> {
    let mut audit = end::event(app, ctx, AuditKind::RefreshRepeatedByOther, Actor::Client);
    audit.user = Some(grant.user);
    audit.client = Some(grant.client);
    audit.grant = Some(grant.id);
    let mut tx = app.store.begin().await?;
    let streak = repo::grant::count_foreign_repeat(&mut tx, ctx.realm.id, grant.id, grant.generation).await?;
    repo::audit::append(&mut tx, &audit).await?;
    tx.commit().await?;
    if streak >= FOREIGN_STREAK_ENDS {
        end::grant(app, ctx, grant, EndReason::RefreshReused, AuditKind::RefreshReused, Actor::Client).await?;
        return Err(unknown().into());
    }
    Ok(())
}

async fn note(app: &App, ctx: &Ctx, grant: &Grant, kind: AuditKind, refusal: &Refusal) -> Result<(), Error> {
    let mut audit = end::event(app, ctx, kind, Actor::Client);
    audit.user = Some(grant.user);
    audit.client = Some(grant.client);
    audit.grant = Some(grant.id);
    audit.reason = Some(refusal.reason);
    Ok(app.store.batch().audit(audit).await?)
}

const fn missing() -> Refusal {
    Refusal::new(OauthCode::InvalidRequest, "refresh_token_missing", "the parameter refresh_token is missing")
}

const fn unknown() -> Refusal {
    Refusal::new(OauthCode::InvalidGrant, "refresh_unknown", "the refresh token is not valid, or its grant has ended")
}
