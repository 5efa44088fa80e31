//! Whose sessions a browser's cookies stand for. The tag is checked first, then the secret against
//! the session, then the device the session was opened on, then limits, person and epoch. A cookie
//! that does not fit its session's device counts as signed out there and is audited; the session
//! itself goes on where it belongs.

use std::sync::Arc;
use std::time::Duration;

use super::accounts::Accounts;
use super::cookie_text::{self, DeviceCookie, SessionCookie};
use crate::context::Ctx;
use crate::domain::model::audit::{Actor, AuditKind};
use crate::domain::model::session::Session;
use crate::service::{App, Error};
use crate::store::readmodel::UserFacts;
use crate::store::repo;

/// How long the secret before the present one is honoured, for tabs that were under way.
const PARALLEL_TABS: Duration = Duration::from_secs(10);

/// A live session and its person.
#[derive(Clone)]
pub struct SignedIn {
    /// The session.
    pub session: Arc<Session>,
    /// The person, with roles and groups.
    pub user: Arc<UserFacts>,
}

/// The cookies that a browser sent.
#[derive(Clone, Copy, Default)]
pub struct Presented<'a> {
    /// The session cookie's value.
    pub session: Option<&'a str>,
    /// The device cookie's value.
    pub device: Option<&'a str>,
}

/// The account in use in the browser. A browser request: it moves the idle time of this account and no other.
///
/// # Errors
/// When the facts cannot be read: the answer is then not "signed out" but unknown.
pub async fn current(app: &App, ctx: &Ctx, presented: Presented<'_>) -> Result<Option<SignedIn>, Error> {
    let current = accounts(app, ctx, presented).await?.current().cloned();
    if let Some(used) = &current {
        self::used(app, ctx, used);
    }
    Ok(current)
}

/// The live accounts that the cookies stand for. Looking at them moves no idle time: whose request it is, is
/// decided afterwards. An account that has ended is gone; if it was the first, none is the present one.
///
/// # Errors
/// When the facts cannot be read.
pub async fn accounts(app: &App, ctx: &Ctx, presented: Presented<'_>) -> Result<Accounts, Error> {
    let Some(text) = presented.session else { return Ok(Accounts::default()) };
    let (has_current, cookies) = cookie_text::read_sessions(&app.sealer, ctx.realm.id, text);
    let device = presented.device.and_then(|text| DeviceCookie::from_text(&app.sealer, ctx.realm.id, text));
    let mut accounts = Accounts::default();
    for (place, cookie) in cookies.into_iter().enumerate() {
        match live(app, ctx, cookie, device).await? {
            Some(signed_in) if place == 0 && has_current => accounts.enter(cookie, signed_in),
            Some(signed_in) => accounts.push(cookie, signed_in),
            None => {}
        }
    }
    Ok(accounts)
}

/// A browser request was made for this account: it has not been idle.
pub fn used(app: &App, ctx: &Ctx, account: &SignedIn) {
    app.store.batch().seen(ctx.realm.id, account.session.id, ctx.now);
}

/// The live session that one account's cookie stands for, on the device that the browser brings.
async fn live(
    app: &App,
    ctx: &Ctx,
    cookie: SessionCookie,
    device: Option<DeviceCookie>,
) -> Result<Option<SignedIn>, Error> {
    let Some(session) = app.store.models().session(ctx.realm.id, cookie.id).await? else { return Ok(None) };
    let hash = cookie.hash();
    let is_present = session.secret_hash == hash;
    let is_previous =
        session.previous_secret_hash == Some(hash) && ctx.now.is_within(PARALLEL_TABS, session.secret_rotated_at);
    if !(is_present || is_previous) {
        return Ok(None);
    }
    if device.is_none_or(|device| device.id != session.device) {
        app.store.batch().audit(super::end::misused(app, ctx, &session)).await?;
        return Ok(None);
    }
    let Some(session) = still_live(app, ctx, session).await? else { return Ok(None) };
    let Some(user) = app.store.models().user(ctx.realm.id, session.user).await? else { return Ok(None) };
    if !user.user.enabled || user.user.credential_epoch != session.credential_epoch {
        return Ok(None);
    }
    Ok(Some(SignedIn { session, user }))
}

/// Believes an end at once, but an idle expiry only when the database confirms it: last-seen marks
/// do not pass through read models.
async fn still_live(app: &App, ctx: &Ctx, session: Arc<Session>) -> Result<Option<Arc<Session>>, Error> {
    if session.is_live(ctx.now) {
        return Ok(Some(session));
    }
    if session.ended.is_some() || ctx.now >= session.expires_at {
        return Ok(None);
    }
    let stored = repo::session::find(&app.store.read(), ctx.realm.id, session.id).await?;
    Ok(stored.filter(|stored| stored.is_live(ctx.now)).map(Arc::new))
}

/// The audit event's kind and actor for a cookie on the wrong device.
pub(super) const MISUSE: (AuditKind, Actor) = (AuditKind::SessionMisused, Actor::Stranger);
