//! The refresh grant (RFC 6749 section 6; `security-design` rules 8 to 11). The token names its grant;
//! the rules classify it; one guarded update rotates it; the answer goes out after the commit.

use std::sync::Arc;

use super::answer::TokenAnswer;
use super::facts::{self, Person, Right};
use super::mint::{self, Order};
use super::{presenter, refresh_text};
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
    FOREIGN_STREAK_ENDS, PresentedRefresh, RefreshFacts, RefreshLimits, RefreshOutcome, RefreshRequest,
    check_registered, decide_refresh, presume_current,
};
use crate::observe::metrics::metrics;
use crate::service::session::end::{self, Why};
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
    let Some(token) = refresh_text::read(app, ctx, text) else {
        check_registered(client)?;
        return Err(unknown().into());
    };
    let settings = ctx.realm.settings.tokens;
    let attempt = Attempt {
        app,
        ctx,
        client,
        presented: PresentedRefresh {
            generation: token.generation,
            secret_hash: token.secret.hash(),
            presenter: presenter::presenter(app, ctx),
        },
        token,
        limits: RefreshLimits { grace: settings.refresh_reuse_grace.get(), idle: settings.refresh_idle.get() },
        request: RefreshRequest { scope, resource: &resource },
    };
    if let Some(answer) = attempt.presume().await? {
        return Ok(answer);
    }
    for _ in 0..LOOKS {
        if let Some(answer) = attempt.look().await? {
            return Ok(answer);
        }
    }
    Err(unknown().into())
}

/// One presentation of a genuine token.
struct Attempt<'a> {
    app: &'a App,
    ctx: &'a Ctx,
    client: &'a Arc<Client>,
    token: RefreshToken,
    presented: PresentedRefresh,
    limits: RefreshLimits,
    request: RefreshRequest<'a>,
}

impl Attempt<'_> {
    /// Decides on what is known of the grant without reading it, as far as that goes: the guarded update tells
    /// whether the token was the current one. `None` = read the row and classify.
    async fn presume(&self) -> Result<Option<TokenAnswer>, Error> {
        let Some(known) = self.app.store.models().grant_as_read(self.ctx.realm.id, self.token.grant) else {
            return Ok(None);
        };
        let grant = presume_current(&known, &self.presented, self.ctx.now);
        let (outcome, person) = self.decide(&grant).await?;
        let RefreshOutcome::Rotate(entitlement) = outcome else { return Ok(None) };
        match self.rotate(&grant).await? {
            Rotated::Rotated => self.answer(&grant, &entitlement, &person).await.map(Some),
            Rotated::Lost => Ok(None),
        }
    }

    /// Looks at the grant as it is now and decides; `None` = a race was lost, look again.
    async fn look(&self) -> Result<Option<TokenAnswer>, Error> {
        let (app, ctx) = (self.app, self.ctx);
        let Some(grant) = repo::grant::find(&app.store.read(), ctx.realm.id, self.token.grant).await? else {
            return Err(unknown().into());
        };
        app.store.models().remember_grant(&grant);
        let (outcome, person) = self.decide(&grant).await?;
        let entitlement = match outcome {
            RefreshOutcome::Rotate(entitlement) => match self.rotate(&grant).await? {
                Rotated::Rotated => entitlement,
                Rotated::Lost => return Ok(None),
            },
            RefreshOutcome::Repeat { entitlement, foreign } => {
                if foreign {
                    repeated_by_other(app, ctx, &grant).await?;
                }
                count("retry");
                entitlement
            }
            refused => return Err(self.refuse(&grant, refused).await?),
        };
        self.answer(&grant, &entitlement, &person).await.map(Some)
    }

    /// Asks the rules, with everything but the grant as of now.
    async fn decide(&self, grant: &Grant) -> Result<(RefreshOutcome, Person), Error> {
        let (app, ctx, client) = (self.app, self.ctx, self.client);
        let person = facts::person(app, ctx, grant.user, grant.session).await?;
        let consent = match client.metadata.consent {
            ConsentMode::Ask => repo::consent::find(&app.store.read(), ctx.realm.id, grant.user, client.key).await?,
            ConsentMode::Skip => None,
        };
        let resources = app.store.models().resources(ctx.realm.id).await?;
        let right = Right { offline: grant.terms.offline, credential_epoch: None, grant: Some(grant) };
        let facts = RefreshFacts {
            grant,
            client,
            user: person.user.as_deref().map(|facts| &facts.user),
            consent: consent.as_ref(),
            resources: &resources,
            issuer: &ctx.site.issuer,
            key: Ok(()),
            may_receive: person.may(ctx, client, right),
            now: ctx.now,
            clock: app.clock.trust(),
        };
        let outcome = decide_refresh(facts, &self.presented, self.limits, &self.request);
        Ok((outcome, person))
    }

    async fn rotate(&self, grant: &Grant) -> Result<Rotated, Error> {
        let op = RotateGrant {
            realm: self.ctx.realm.id,
            grant: grant.id,
            generation: grant.generation,
            secret_hash: self.presented.secret_hash,
            presenter: self.presented.presenter,
            now: self.ctx.now,
            idle: self.limits.idle,
        };
        let rotated = self.app.store.batch().rotate_grant(op).await?;
        if matches!(rotated, Rotated::Rotated) {
            count("ok");
        }
        Ok(rotated)
    }

    /// Does what a refusal calls for, and gives the error to answer with.
    async fn refuse(&self, grant: &Grant, outcome: RefreshOutcome) -> Result<Error, Error> {
        let (app, ctx) = (self.app, self.ctx);
        match outcome {
            RefreshOutcome::End(reason, refusal) => {
                let kind = match reason {
                    EndReason::RefreshAhead => AuditKind::KeyCompromiseSuspected,
                    _ => AuditKind::RefreshReused,
                };
                end::grant(app, ctx, grant, Why { reason, kind, actor: Actor::Client }).await?;
                count("reuse");
                Ok(refusal.into())
            }
            RefreshOutcome::Alarm(refusal) => {
                note(app, ctx, grant, AuditKind::KeyCompromiseSuspected, &refusal).await?;
                tracing::error!(grant = %grant.id, "a refresh token had a genuine tag and a wrong secret: the key may be known");
                Ok(refusal.into())
            }
            RefreshOutcome::Refused(refusal) => {
                note(app, ctx, grant, AuditKind::RefreshRefused, &refusal).await?;
                count(if refusal.reason == "grant_expired" { "expired" } else { "refused" });
                Ok(refusal.into())
            }
            RefreshOutcome::Rotate(_) | RefreshOutcome::Repeat { .. } => Ok(unknown().into()),
        }
    }

    async fn answer(&self, grant: &Grant, entitlement: &Entitlement, person: &Person) -> Result<TokenAnswer, Error> {
        let next = self.token.generation.saturating_add(1);
        let refresh_token = refresh_text::write(self.app, self.ctx, grant.id, next, &self.token.secret);
        let order = Order {
            client: self.client,
            entitlement,
            grant_type: GrantType::RefreshToken,
            grant: Some(grant.id),
            person: person.user.as_deref(),
        };
        Ok(mint::tokens(self.app, self.ctx, &order).await?.answer(Some(refresh_token)))
    }
}

fn count(result: &'static str) {
    metrics().refreshes.with_label_values(&[result]).inc();
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
        let why = Why { reason: EndReason::RefreshReused, kind: AuditKind::RefreshReused, actor: Actor::Client };
        end::grant(app, ctx, grant, why).await?;
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
