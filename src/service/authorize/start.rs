//! A request reaches the authorization endpoint: facts are gathered, the table of checks decides.

use std::sync::Arc;

use super::request_object::{self, Read};
use super::{hint, repeats};
use crate::context::Ctx;
use crate::domain::model::client::Client;
use crate::domain::protocol::authorize::table::{self, Facts, HintFact, Outcome};
use crate::domain::protocol::params::Params;
use crate::entropy;
use crate::seal::Purpose;
use crate::service::session::cookie_text;
use crate::service::{App, Error};
use crate::store::shortlived::{Kind, Put};

/// How long a request that came by POST waits for the browser's GET.
const HANDOVER: std::time::Duration = std::time::Duration::from_secs(300);

/// A request that was checked.
pub struct Checked {
    /// What became of it.
    pub outcome: Outcome,
    /// The client, where there is one.
    pub client: Option<Arc<Client>>,
    /// The parameters that count, where it came as an object: with them it begins again, so that an object that
    /// has expired by then, or an address that changed, is not read twice.
    pub effective: Option<Params>,
}

/// Checks a request.
///
/// # Errors
/// When facts cannot be read.
pub async fn check(app: &App, ctx: &Ctx, params: &Params) -> Result<Checked, Error> {
    let models = app.store.models();
    let client = match params.one("client_id") {
        Ok(Some(client_id)) => models.client(ctx.realm.id, client_id).await?,
        _ => None,
    };
    let read = match client.as_ref().filter(|client| client.enabled) {
        Some(client) => request_object::read(app, ctx, client, params).await,
        None => Read::Plain,
    };
    let (effective, refusal) = match read {
        Read::Plain => (None, None),
        Read::Effective(effective) => (Some(effective), None),
        Read::Refused { params, refusal } => (params, Some(refusal)),
    };
    let params = effective.as_ref().unwrap_or(params);
    let resources = models.resources(ctx.realm.id).await?;
    let scopes = models.scopes(ctx.realm.id).await?;
    let id_token_hint = match params.one("id_token_hint") {
        Ok(Some(token)) => match hint::read(app, ctx, token).await? {
            Some(claims)
                if client.as_ref().is_some_and(|client| Some(client.client_id.as_str()) == claims.client_id()) =>
            {
                HintFact::Subject { sub: claims.sub, sid: claims.sid }
            }
            _ => HintFact::Invalid,
        },
        _ => HintFact::Absent,
    };
    let facts =
        Facts { realm: &ctx.realm, client: client.as_deref(), resources: &resources, scopes: &scopes, id_token_hint };
    let outcome = match refusal {
        Some(refusal) => table::refuse(params, &facts, refusal),
        None => table::check(params, &facts),
    };
    if let (Outcome::Request(request), Some(client)) = (&outcome, &client) {
        repeats::notice(app, ctx, client, request).await?;
    }
    Ok(Checked { outcome, client, effective })
}

/// Keeps a request that came by POST from elsewhere: its GET binds the browser (`security-design` rule 5).
///
/// # Errors
/// When the store cannot do it.
pub async fn hand_over(app: &App, ctx: &Ctx, query: &str) -> Result<String, Error> {
    let handle: [u8; 16] = entropy::bytes(&*app.entropy, "handover");
    let expires = ctx.now.plus(HANDOVER);
    let shortlived = app.store.shortlived();
    let put = Put {
        realm: ctx.realm.id,
        kind: Kind::Request,
        key: &handle,
        value: query.as_bytes(),
        owner: None,
        expires_at: expires,
        now: ctx.now,
    };
    shortlived.put(put).await?;
    Ok(cookie_text::write(&app.sealer, ctx.realm.id, Purpose::Handover, &[&handle]))
}

/// Takes such a request, once.
///
/// # Errors
/// When the store cannot do it.
pub async fn take_over(app: &App, ctx: &Ctx, handle: &str) -> Result<Option<String>, Error> {
    let Some(handle) = cookie_text::read::<16>(&app.sealer, ctx.realm.id, Purpose::Handover, handle) else {
        return Ok(None);
    };
    let taken = app.store.shortlived().take(ctx.realm.id, Kind::Request, &handle, ctx.now).await?;
    Ok(taken.and_then(|bytes| String::from_utf8(bytes).ok()))
}
