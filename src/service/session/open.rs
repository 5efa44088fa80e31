//! A person has proved herself: a session opens on the device, or the one she has steps up. Either
//! way the cookie gets a new secret (OWASP ASVS V7.2.4), and the old one is worth nothing.

use std::time::Duration;

use super::agent::families;
use super::bind::SignedIn;
use super::cookie_text::{DeviceCookie, SessionCookie};
use super::end;
use crate::context::Ctx;
use crate::domain::model::audit::{Actor, AuditKind};
use crate::domain::model::device::Device;
use crate::domain::model::ids::{DeviceId, SessionId};
use crate::domain::model::session::{Acr, Amr, Session};
use crate::domain::model::span::Span;
use crate::domain::model::user::User;
use crate::entropy;
use crate::service::{App, Error};
use crate::store::batch::{OpenSession, Opened, StepUp};
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
    /// The session cookie's value.
    pub session_cookie: String,
    /// Its lifetime; `None` = until the browser closes.
    pub session_max_age: Option<u64>,
    /// The device cookie's value.
    pub device_cookie: String,
    /// Its lifetime in seconds.
    pub device_max_age: u64,
}

/// Opens a session, or steps up `present` when it is the same person's. `None` = the account was
/// disabled or its credentials changed since the proof.
///
/// # Errors
/// When the store cannot do it.
pub async fn open(
    app: &App,
    ctx: &Ctx,
    proof: Proof<'_>,
    present: Option<&SignedIn>,
    device_cookie: Option<&str>,
) -> Result<Option<OpenedSession>, Error> {
    let (device, device_secret) = device(app, ctx, device_cookie).await?;
    let secret: [u8; 16] = entropy::bytes(&*app.entropy, "session");
    let same = present.filter(|present| present.session.user == proof.user.id && present.session.device == device.id);
    let session = match same {
        Some(present) => step_up(app, ctx, &proof, present, secret).await?,
        None => fresh(app, ctx, &proof, present, (&device, secret)).await?,
    };
    Ok(session.map(|session| OpenedSession {
        session_cookie: SessionCookie { id: session.id, secret }.to_text(&app.sealer, ctx.realm.id),
        session_max_age: session.remembered.then(|| session.expires_at.since(ctx.now).as_secs()),
        device_cookie: DeviceCookie { id: device.id, secret: device_secret }.to_text(&app.sealer, ctx.realm.id),
        device_max_age: DEVICE_COOKIE.as_secs(),
        session,
    }))
}

async fn fresh(
    app: &App,
    ctx: &Ctx,
    proof: &Proof<'_>,
    present: Option<&SignedIn>,
    on: (&Device, [u8; 16]),
) -> Result<Option<Session>, Error> {
    let (device, secret) = on;
    let limits = ctx.realm.settings.sessions;
    let remembered = proof.remember && limits.remember_me != Span::default();
    let (idle, absolute) =
        if remembered { (limits.remember_me, limits.remember_me) } else { (limits.idle, limits.absolute) };
    let id = SessionId::from_uuid(app.entropy.uuid("session_id", ctx.now));
    let session = Session {
        realm: ctx.realm.id,
        id,
        user: proof.user.id,
        device: device.id,
        secret_hash: SessionCookie { id, secret }.hash(),
        previous_secret_hash: None,
        secret_rotated_at: ctx.now,
        auth_time: ctx.now,
        acr: proof.acr,
        amr: proof.amr.clone(),
        credential_epoch: proof.epoch,
        remembered,
        created_at: ctx.now,
        last_seen_at: ctx.now,
        idle,
        expires_at: ctx.now.plus(absolute.get()),
        ended: None,
    };
    let mut audit = end::event(app, ctx, AuditKind::SignedIn, Actor::Subject);
    audit.user = Some(proof.user.id);
    audit.session = Some(id);
    let op = OpenSession {
        session: session.clone(),
        device: device.clone(),
        user_epoch: proof.epoch,
        replaces: present.map(|present| present.session.id),
        audit,
    };
    Ok(match app.store.batch().open_session(op).await? {
        Opened::Opened => Some(session),
        Opened::Ended => None,
    })
}

async fn step_up(
    app: &App,
    ctx: &Ctx,
    proof: &Proof<'_>,
    present: &SignedIn,
    secret: [u8; 16],
) -> Result<Option<Session>, Error> {
    let mut session = (*present.session).clone();
    let mut audit = end::event(app, ctx, AuditKind::SignedIn, Actor::Subject);
    audit.user = Some(session.user);
    audit.session = Some(session.id);
    audit.reason = Some("again");
    session.secret_hash = SessionCookie { id: session.id, secret }.hash();
    session.auth_time = ctx.now;
    session.acr = proof.acr;
    session.amr.clone_from(&proof.amr);
    session.credential_epoch = proof.epoch;
    let op = StepUp {
        realm: ctx.realm.id,
        session: session.id,
        new_secret: session.secret_hash,
        auth_time: ctx.now,
        acr: proof.acr,
        amr: proof.amr.clone(),
        credential_epoch: proof.epoch,
        now: ctx.now,
        audit,
    };
    Ok(match app.store.batch().step_up_session(op).await? {
        Opened::Opened => Some(session),
        Opened::Ended => None,
    })
}

/// The device of a genuine cookie whose secret fits, else a new one.
async fn device(app: &App, ctx: &Ctx, cookie: Option<&str>) -> Result<(Device, [u8; 16]), Error> {
    let (browser, system) = families(ctx.user_agent.as_deref().unwrap_or(""));
    if let Some(known) = cookie.and_then(|text| DeviceCookie::from_text(&app.sealer, ctx.realm.id, text))
        && let Some(mut device) = repo::device::find(&app.store.read(), ctx.realm.id, known.id).await?
        && device.secret_hash == known.hash()
    {
        device.last_seen_at = ctx.now;
        browser.clone_into(&mut device.browser);
        system.clone_into(&mut device.system);
        return Ok((device, known.secret));
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
    Ok((device, secret))
}
