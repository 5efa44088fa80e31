//! An access token comes back: is it ours, is it live, may its subject still receive? Userinfo and
//! introspection ask here and nowhere else.

use std::sync::Arc;
use std::time::Duration;

use super::facts;
use crate::context::Ctx;
use crate::domain::model::client::Client;
use crate::domain::model::session::Session;
use crate::domain::protocol::access_token::{self, AccessToken};
use crate::domain::protocol::may_receive::{PersonFacts, SessionFacts, Subject, SubjectFacts, may_receive};
use crate::domain::protocol::opaque_token::{self, OpaquePayload};
use crate::domain::protocol::refusal::{OauthCode, Refusal};
use crate::domain::protocol::token::scope::OFFLINE_ACCESS;
use crate::domain::protocol::token_text::{self, Shape};
use crate::keys;
use crate::seal::Purpose;
use crate::service::subject::{self, Traces};
use crate::service::{App, Error};
use crate::store::readmodel::UserFacts;
use crate::store::repo;

/// Our own clock made it and reads it: no leeway.
const LEEWAY: Duration = Duration::ZERO;

/// A genuine token, in time, neither revoked nor of an ended grant.
pub struct Live {
    /// What it says.
    pub token: AccessToken,
    /// To whom it was given.
    pub client: Arc<Client>,
    /// The person it is about; `None` when a client speaks for itself.
    pub person: Option<Arc<UserFacts>>,
}

/// Looks at an access token.
///
/// # Errors
/// `invalid_token` with the reason for the log; or that it cannot be looked at.
pub async fn live(app: &App, ctx: &Ctx, text: &str) -> Result<Live, Error> {
    let token = read(app, ctx, text).await?.ok_or_else(|| invalid("token_unknown"))?;
    access_token::check_access_token(&token, &ctx.site.issuer, ctx.now, LEEWAY)?;
    let models = app.store.models();
    if models.is_token_revoked(ctx.realm.id, token.jti).await? {
        return Err(invalid("token_revoked").into());
    }
    if let Some(grant) = token.gid
        && models.is_grant_ended(ctx.realm.id, grant).await?
    {
        return Err(invalid("grant_ended").into());
    }
    let client = models.client(ctx.realm.id, &token.client_id).await?.ok_or_else(|| invalid("client_gone"))?;
    if !token.is_of(client.key) {
        return Err(invalid("client_gone").into());
    }
    let person = if token.has_person() {
        let traces = Traces { user: token.user, session: token.sid, grant: token.gid };
        subject::person(app, ctx, &client, &token.sub, traces).await?
    } else {
        None
    };
    let session = match token.sid {
        Some(sid) if token.has_person() => facts::session(app, ctx, sid).await?,
        _ => None,
    };
    let subject = if token.has_person() {
        Subject::Person(PersonFacts {
            user: person.as_deref().map(|facts| &facts.user),
            credential_epoch: None,
            session: needed(app, ctx, &token, session.as_deref()).await?,
            grant: None,
        })
    } else {
        Subject::Client
    };
    may_receive(&SubjectFacts { realm: &ctx.realm, client: &client, subject, now: ctx.now })
        .map_err(|refusal| invalid(refusal.reason))?;
    Ok(Live { token, client, person })
}

/// Whether the token hangs on its session. A session that was ended has ended its grants, which were
/// looked at before; one that is past its limits has not, and gives nothing more all the same.
async fn needed<'a>(
    app: &App,
    ctx: &Ctx,
    token: &AccessToken,
    session: Option<&'a Session>,
) -> Result<SessionFacts<'a>, Error> {
    let is_live = session.is_some_and(|session| session.is_live(ctx.now));
    if is_live || token.sid.is_none() || token.has_scope(OFFLINE_ACCESS) {
        return Ok(SessionFacts::of(!is_live, session));
    }
    // Asked for less than was granted, a token of an offline grant does not say so.
    let grant = match token.gid {
        Some(grant) => repo::grant::find(&app.store.read(), ctx.realm.id, grant).await?,
        None => None,
    };
    Ok(SessionFacts::of(grant.is_some_and(|grant| grant.terms.offline), session))
}

/// Reads a token of either form once its signature or seal is found genuine.
///
/// # Errors
/// When the keys cannot be read.
pub async fn read(app: &App, ctx: &Ctx, text: &str) -> Result<Option<AccessToken>, Error> {
    match token_text::route(text) {
        Shape::Jwt(jwt) => match app.keys.verify(ctx.realm.id, jwt, ctx.now).await {
            // A key that is no longer published signs nothing that is still alive.
            Ok(verified) if !verified.key_gone => {
                Ok(access_token::parse_access_token(verified.header.typ.as_deref(), &verified.payload).ok())
            }
            Ok(_) | Err(keys::Error::Refused) => Ok(None),
            Err(error) => Err(error.into()),
        },
        Shape::OpaqueAccess(body) => {
            let opened = opaque_token::sealed_bytes(body)
                .and_then(|sealed| app.sealer.open(ctx.realm.id, Purpose::AccessToken, &sealed, b""));
            let payload = opened.and_then(|bytes| OpaquePayload::from_bytes(&bytes));
            Ok(payload.map(|payload| payload.into_access_token(&ctx.site.issuer)))
        }
        Shape::Refresh(_) | Shape::Other => Ok(None),
    }
}

const fn invalid(reason: &'static str) -> Refusal {
    Refusal::new(
        OauthCode::InvalidToken,
        reason,
        "the access token is not valid: expired, revoked, or not of this realm",
    )
}
