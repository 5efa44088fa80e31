//! The code grant (RFC 6749 section 4.1.3). The rules decide whether this presentation would succeed;
//! the store decides the race: one statement records the redemption and creates the grant. Then we
//! mint, then we answer: a code spent by a failed signature stays spent.

use std::sync::Arc;

use super::answer::TokenAnswer;
use super::facts::{self, Person, Right};
use super::mint::{self, Order};
use super::{presenter, refresh_text};
use crate::context::Ctx;
use crate::domain::model::audit::{Actor, AuditKind};
use crate::domain::model::client::{Client, GrantType};
use crate::domain::model::grant::Grant;
use crate::domain::model::ids::GrantId;
use crate::domain::model::session::EndReason;
use crate::domain::protocol::params::Params;
use crate::domain::protocol::pkce;
use crate::domain::protocol::refusal::{OauthCode, Refusal};
use crate::domain::protocol::token::Entitlement;
use crate::domain::protocol::token::authorization_code::{
    CodeFacts, CodeOutcome, CodePayload, CodeRequest, decide_code,
};
use crate::service::authorize::issue;
use crate::service::session::end::{self, Why};
use crate::service::{App, Error};
use crate::store::batch::{RedeemCode, Redeemed};
use crate::store::repo;

/// Answers a token request of this grant.
///
/// # Errors
/// The refusal, or that the store cannot decide.
pub async fn grant(app: &App, ctx: &Ctx, client: &Arc<Client>, form: &Params) -> Result<TokenAnswer, Error> {
    let text = form.one("code").map_err(Refusal::from)?.ok_or_else(missing)?;
    let redirect_uri = form.one("redirect_uri").map_err(Refusal::from)?;
    let verifier = form.one("code_verifier").map_err(Refusal::from)?;
    let resource = form.many("resource").map_err(Refusal::from)?;
    let Some(code) = issue::read(app, ctx, text).await? else { return Err(unknown().into()) };
    let resources = app.store.models().resources(ctx.realm.id).await?;
    let person = facts::person(app, ctx, code.user, code.session).await?;
    let epoch = Some(code.credential_epoch);
    // At the moment of redemption the session must live, whatever the grant outlives afterwards.
    let right = Right { offline: false, credential_epoch: epoch, grant: None };
    let decision = decide_code(
        CodeFacts {
            code: &code,
            client,
            user: person.user.as_deref().map(|facts| &facts.user),
            resources: &resources,
            issuer: &ctx.site.issuer,
            pkce: pkce::check(code.code_challenge.as_deref(), verifier),
            key: Ok(()),
            may_receive: person.may(ctx, client, right),
            now: ctx.now,
        },
        &CodeRequest { redirect_uri, resource: &resource },
    );
    match decision {
        CodeOutcome::Redeem(entitlement) => {
            let redemption = Redemption { client, code: &code, entitlement: *entitlement, person: &person };
            redeem(app, ctx, redemption).await
        }
        CodeOutcome::Late(refusal) => {
            if let Some(made) = repo::grant::find_by_code(&app.store.read(), ctx.realm.id, code.code).await? {
                end_replayed(app, ctx, &made).await?;
            }
            Err(refusal.into())
        }
        CodeOutcome::Refused(refusal) => Err(refusal.into()),
        CodeOutcome::Misused(refusal) => {
            let mut audit = end::event(app, ctx, AuditKind::CodeMisused, Actor::Stranger);
            audit.client = Some(client.key);
            audit.session = Some(code.session);
            audit.reason = Some(refusal.reason);
            app.store.batch().audit(audit).await?;
            Err(refusal.into())
        }
    }
}

/// A presentation that would succeed.
struct Redemption<'a> {
    client: &'a Arc<Client>,
    code: &'a CodePayload,
    entitlement: Entitlement,
    person: &'a Person,
}

async fn redeem(app: &App, ctx: &Ctx, redemption: Redemption<'_>) -> Result<TokenAnswer, Error> {
    let Redemption { client, code, entitlement, person } = redemption;
    let id = GrantId::from_uuid(app.entropy.uuid("grant", ctx.now));
    let secret = refresh_text::secret(app);
    let mut audit = end::event(app, ctx, AuditKind::GrantMade, Actor::Client);
    audit.user = Some(code.user);
    audit.client = Some(client.key);
    audit.session = Some(code.session);
    audit.grant = Some(id);
    let op = RedeemCode {
        realm: ctx.realm.id,
        code: code.code,
        code_expires_at: code.expires_at,
        grant: Grant {
            refresh_secret_hash: entitlement.issue_refresh.then(|| secret.hash()),
            ..code.grant(&ctx.realm, id, presenter::presenter(app, ctx), ctx.now)
        },
        credential_epoch: code.credential_epoch,
        audit,
    };
    match app.store.batch().redeem_code(op).await? {
        Redeemed::Redeemed => {}
        Redeemed::Ended => return Err(unknown().into()),
        Redeemed::Replayed { grant } => {
            if let Some(grant) = grant
                && let Some(made) = repo::grant::find(&app.store.read(), ctx.realm.id, grant).await?
            {
                end_replayed(app, ctx, &made).await?;
            }
            return Err(unknown().into());
        }
    }
    let refresh_token = entitlement.issue_refresh.then(|| refresh_text::write(app, ctx, id, 0, &secret));
    let order = Order {
        client,
        entitlement: &entitlement,
        grant_type: GrantType::AuthorizationCode,
        grant: Some(id),
        person: person.user.as_deref(),
    };
    let minted = mint::tokens(app, ctx, &order).await?;
    Ok(minted.answer(refresh_token))
}

/// The code came again from a party that could have used it: what it gave ends (RFC 6749 4.1.2).
async fn end_replayed(app: &App, ctx: &Ctx, made: &Grant) -> Result<(), Error> {
    if made.ended.is_some() {
        return Ok(());
    }
    let why = Why { reason: EndReason::CodeReplayed, kind: AuditKind::CodeReplayed, actor: Actor::Client };
    end::grant(app, ctx, made, why).await
}

const fn missing() -> Refusal {
    Refusal::new(OauthCode::InvalidRequest, "code_missing", "the parameter code is missing")
}

const fn unknown() -> Refusal {
    Refusal::new(OauthCode::InvalidGrant, "code_unknown", "the code is not valid, was used, or its sign-in has ended")
}
