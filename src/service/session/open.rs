//! A person has proved herself: a session opens on the device, or the one she has there steps up. Either
//! way the cookie gets a new secret (OWASP ASVS V7.2.4), and the old one is worth nothing.

use std::sync::Arc;
use std::time::Duration;

use super::accounts::Accounts;
use super::agent::families;
use super::bind::SignedIn;
use super::cookie_text::{BrowserCookie, DeviceCookie, SessionCookie};
use super::crossing::{self, Drawn, Meeting};
use super::end;
use crate::context::Ctx;
use crate::domain::model::audit::{Actor, AuditKind};
use crate::domain::model::device::Device;
use crate::domain::model::ids::{DeviceId, SessionId};
use crate::domain::model::session::{Acr, Amr, Session};
use crate::domain::model::span::Span;
use crate::domain::model::timestamp::Timestamp;
use crate::domain::model::user::User;
use crate::entropy;
use crate::service::{App, Error};
use crate::store::batch::{OpenSession, Opened, Remembered, StepUp};
use crate::store::repo;

/// How long a browser may keep a device cookie: the longest that browsers allow.
const DEVICE_COOKIE: Duration = Duration::from_secs(400 * 86_400);

/// What was proved.
pub struct Proof<'a> {
    /// Who.
    pub user: &'a User,
    /// The credential epoch when the first factor was checked.
    pub epoch: i64,
    /// What it amounts to.
    pub acr: Acr,
    /// How.
    pub amr: Vec<Amr>,
    /// "Keep me signed in".
    pub remember: bool,
}

/// An opened session with its cookies.
pub struct OpenedSession {
    /// As stored.
    pub session: Session,
    /// The browser's accounts, this one present.
    pub accounts: Accounts,
    /// The device cookie's value.
    pub device_cookie: String,
    /// Its lifetime in seconds.
    pub device_max_age: u64,
}

/// What the browser brought to the sign-in.
#[derive(Clone, Copy)]
pub struct Brought<'a> {
    /// The browser that began it.
    pub browser: BrowserCookie,
    /// When the request began that the person signs in for.
    pub began: Timestamp,
    /// Who was signed in.
    pub accounts: &'a Accounts,
    /// The device cookie.
    pub device_cookie: Option<&'a str>,
}

/// Opens a session beside those of other people, or steps up the one that the same person has here. The sixth
/// takes the place of the one that nobody has used for longest. `None` = the account was disabled or its
/// credentials changed since the proof.
///
/// # Errors
/// When the store cannot do it.
pub async fn open(
    app: &App,
    ctx: &Ctx,
    proof: Proof<'_>,
    brought: Brought<'_>,
) -> Result<Option<OpenedSession>, Error> {
    let (device, is_known, device_secret) = device(app, ctx, brought.device_cookie).await?;
    let own = Drawn {
        session: SessionId::from_uuid(app.entropy.uuid("session_id", ctx.now)),
        session_secret: entropy::bytes(&*app.entropy, "session"),
        device: device.id,
        device_secret,
        is_known,
        at: ctx.now,
        remembered: proof.remember && ctx.realm.settings.sessions.remember_me != Span::default(),
    };
    let same = brought.accounts.of_user(proof.user.id).filter(|present| present.session.device == device.id);
    if let Some(present) = same {
        let session = step_up(app, ctx, &proof, &present.session, &own).await?;
        return entered(app, ctx, session, (brought.accounts, &own)).await;
    }
    let place = Meeting { browser: brought.browser, user: proof.user.id, began: brought.began };
    let replaces = brought.accounts.crowded_out_by(proof.user.id);
    if let Some(first) = crossing::meet(app, ctx, place, &own).await?
        && let Some(session) = join(app, ctx, &proof, replaces, (&device, &first, &own)).await?
    {
        return entered(app, ctx, Some(session), (brought.accounts, &first)).await;
    }
    let session = fresh(app, ctx, &proof, replaces, (&device, &own)).await?;
    entered(app, ctx, session, (brought.accounts, &own)).await
}

/// The session that the first of crossing sign-ins drew, whichever of them opens it. `None` also when it
/// has ended since.
async fn join(
    app: &App,
    ctx: &Ctx,
    proof: &Proof<'_>,
    replaces: Option<SessionId>,
    (device, first, own): (&Device, &Drawn, &Drawn),
) -> Result<Option<Session>, Error> {
    let mut device = device.clone();
    device.id = first.device;
    device.secret_hash = DeviceCookie { id: first.device, secret: first.device_secret }.hash();
    let session = fresh(app, ctx, proof, replaces, (&device, first)).await?;
    match session {
        // The wish of either tab to stay signed in counts, with the cookie that both have.
        Some(session) if own.remembered && !first.remembered => {
            let again = Drawn { remembered: true, ..*first };
            step_up(app, ctx, proof, &session, &again).await
        }
        session => Ok(session),
    }
}

/// The opened session among the browser's accounts, with its cookies.
async fn entered(
    app: &App,
    ctx: &Ctx,
    session: Option<Session>,
    (before, drawn): (&Accounts, &Drawn),
) -> Result<Option<OpenedSession>, Error> {
    let Some(session) = session else { return Ok(None) };
    let realm = ctx.realm.id;
    // Whoever is deleted in this very moment is signed in no more.
    let Some(user) = app.store.models().user(realm, session.user).await? else { return Ok(None) };
    let mut accounts = before.clone();
    let cookie = SessionCookie { id: session.id, secret: drawn.session_secret };
    accounts.enter(cookie, SignedIn { session: Arc::new(session.clone()), user });
    Ok(Some(OpenedSession {
        device_cookie: DeviceCookie { id: drawn.device, secret: drawn.device_secret }.to_text(&app.sealer, realm),
        device_max_age: DEVICE_COOKIE.as_secs(),
        accounts,
        session,
    }))
}

async fn fresh(
    app: &App,
    ctx: &Ctx,
    proof: &Proof<'_>,
    replaces: Option<SessionId>,
    (device, drawn): (&Device, &Drawn),
) -> Result<Option<Session>, Error> {
    let limits = ctx.realm.settings.sessions;
    let (idle, absolute) =
        if drawn.remembered { (limits.remember_me, limits.remember_me) } else { (limits.idle, limits.absolute) };
    let session = Session {
        realm: ctx.realm.id,
        id: drawn.session,
        user: proof.user.id,
        device: device.id,
        secret_hash: SessionCookie { id: drawn.session, secret: drawn.session_secret }.hash(),
        previous_secret_hash: None,
        secret_rotated_at: drawn.at,
        auth_time: drawn.at,
        acr: proof.acr,
        amr: proof.amr.clone(),
        credential_epoch: proof.epoch,
        remembered: drawn.remembered,
        created_at: drawn.at,
        last_seen_at: drawn.at,
        idle,
        expires_at: drawn.at.plus(absolute.get()),
        ended: None,
    };
    let mut audit = end::event(app, ctx, AuditKind::SignedIn, Actor::Subject);
    audit.user = Some(proof.user.id);
    audit.session = Some(session.id);
    let op = OpenSession { session: session.clone(), device: device.clone(), user_epoch: proof.epoch, replaces, audit };
    Ok(match app.store.batch().open_session(op).await? {
        Opened::Opened => Some(session),
        Opened::Ended => None,
    })
}

/// A new proof in a session of the same person. Who asks now to stay signed in stays so from now on; who
/// does not keeps what she asked for before.
async fn step_up(
    app: &App,
    ctx: &Ctx,
    proof: &Proof<'_>,
    present: &Session,
    drawn: &Drawn,
) -> Result<Option<Session>, Error> {
    let mut session = present.clone();
    let mut audit = end::event(app, ctx, AuditKind::SignedIn, Actor::Subject);
    audit.user = Some(session.user);
    audit.session = Some(session.id);
    audit.reason = Some("again");
    session.secret_hash = SessionCookie { id: session.id, secret: drawn.session_secret }.hash();
    session.auth_time = drawn.at;
    session.acr = proof.acr;
    session.amr.clone_from(&proof.amr);
    session.credential_epoch = proof.epoch;
    let limit = ctx.realm.settings.sessions.remember_me;
    let remembered = drawn.remembered.then(|| Remembered { idle: limit, expires_at: ctx.now.plus(limit.get()) });
    if let Some(Remembered { idle, expires_at }) = remembered {
        session.remembered = true;
        (session.idle, session.expires_at) = (idle, expires_at);
    }
    let op = StepUp {
        realm: ctx.realm.id,
        session: session.id,
        new_secret: session.secret_hash,
        auth_time: drawn.at,
        acr: proof.acr,
        amr: proof.amr.clone(),
        credential_epoch: proof.epoch,
        remembered,
        now: ctx.now,
        audit,
    };
    Ok(match app.store.batch().step_up_session(op).await? {
        Opened::Opened => Some(session),
        Opened::Ended => None,
    })
}

/// The device of a genuine cookie whose secret fits, else a new one; which of the two, and its secret.
async fn device(app: &App, ctx: &Ctx, cookie: Option<&str>) -> Result<(Device, bool, [u8; 16]), Error> {
    let (browser, system) = families(ctx.user_agent.as_deref().unwrap_or(""));
    if let Some(known) = cookie.and_then(|text| DeviceCookie::from_text(&app.sealer, ctx.realm.id, text))
        && let Some(mut device) = repo::device::find(&app.store.read(), ctx.realm.id, known.id).await?
        && device.secret_hash == known.hash()
    {
        device.last_seen_at = ctx.now;
        browser.clone_into(&mut device.browser);
        system.clone_into(&mut device.system);
        return Ok((device, true, known.secret));
    }
    let secret: [u8; 16] = entropy::bytes(&*app.entropy, "device");
    let id = DeviceId::from_uuid(app.entropy.uuid("device_id", ctx.now));
    let device = Device {
        realm: ctx.realm.id,
        id,
        secret_hash: DeviceCookie { id, secret }.hash(),
        browser: browser.to_owned(),
        system: system.to_owned(),
        first_seen_at: ctx.now,
        last_seen_at: ctx.now,
    };
    Ok((device, false, secret))
}
