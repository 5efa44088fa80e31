//! The implicit grant (RFC 6749 section 4.2, OpenID Connect Core 3.2 and 3.3): what the authorization endpoint
//! itself gives. The store decides first, in one statement that makes the grant under a live session; then we
//! mint, then we answer. The grant stands behind every such act, so that what was given ends at once with the
//! session, and whoever was told of a sign-in is told of its end, also when he never redeems his code.

use super::mint::{self, Order};
use super::presenter;
use crate::context::Ctx;
use crate::domain::model::audit::{Actor, AuditKind};
use crate::domain::model::client::{Client, GrantType};
use crate::domain::model::grant::Grant;
use crate::domain::model::ids::GrantId;
use crate::domain::protocol::authorize::request::AuthorizeRequest;
use crate::domain::protocol::authorize::response::Given;
use crate::domain::protocol::token::authorization_code::CodePayload;
use crate::domain::protocol::token::implicit::{self, ImplicitFacts};
use crate::service::session::bind::SignedIn;
use crate::service::session::end;
use crate::service::{App, Error};
use crate::store::batch::{Made, MakeGrant};

/// A request that is to be answered with more than a code.
pub struct Act<'a> {
    /// For whom.
    pub client: &'a Client,
    /// The checked request.
    pub request: &'a AuthorizeRequest,
    /// On whose behalf; that she may receive was decided a moment ago.
    pub signed_in: &'a SignedIn,
    /// What a code of this request holds.
    pub payload: &'a CodePayload,
    /// The code that comes along.
    pub code: Option<String>,
}

/// Makes the grant and what it gives. `None`: the right has ended meanwhile, and nothing was given.
///
/// # Errors
/// When the store cannot decide, or nothing can be signed.
pub async fn grant(app: &App, ctx: &Ctx, act: Act<'_>) -> Result<Option<Given>, Error> {
    let Act { client, request, signed_in, payload, code } = act;
    let session = &signed_in.session;
    let resources = app.store.models().resources(ctx.realm.id).await?;
    let terms = implicit::terms(&payload.terms);
    let entitlement = implicit::entitle(&ImplicitFacts {
        response_type: request.response_type,
        client,
        user: &signed_in.user.user,
        session: session.id,
        terms: &terms,
        resources: &resources,
        issuer: &ctx.site.issuer,
    });
    let id = GrantId::from_uuid(app.entropy.uuid("grant", ctx.now));
    let mut audit = end::event(app, ctx, AuditKind::GrantMade, Actor::Subject);
    audit.user = Some(session.user);
    audit.client = Some(client.key);
    audit.session = Some(session.id);
    audit.grant = Some(id);
    let born = payload.grant(&ctx.realm, id, presenter::presenter(app, ctx), ctx.now);
    let grant = Grant {
        code: None,
        grant_type: GrantType::Implicit,
        terms,
        // While the session lives its end must find whom to tell.
        expires_at: session.expires_at.max(born.expires_at),
        ..born
    };
    let op = MakeGrant { grant, credential_epoch: session.credential_epoch, audit };
    if app.store.batch().make_grant(op).await? == Made::Ended {
        return Ok(None);
    }
    let order = Order {
        client,
        entitlement: &entitlement,
        grant_type: GrantType::Implicit,
        grant: Some(id),
        person: Some(&signed_in.user),
    };
    mint::front_channel(app, ctx, &order, (request, code)).await.map(Some)
}
