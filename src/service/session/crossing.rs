//! Sign-ins of one person that cross in one browser: two tabs, or two presses, whose forms left before any
//! answer came back. Each would open a session on a device of its own, and the browser would keep the
//! cookies of whichever answer came last. So the first of them draws for all: what it drew waits sealed in
//! the short-lived store for those that bring the same browser cookie and the same person, and each opens
//! that one session. Opening what is open already changes nothing, so none waits for another, and all
//! answers set the same cookies.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::cookie_text::BrowserCookie;
use crate::context::Ctx;
use crate::domain::model::ids::{DeviceId, SessionId, UserId};
use crate::domain::model::timestamp::Timestamp;
use crate::seal::{Purpose, sha256};
use crate::service::{App, Error};
use crate::store::shortlived::{Kind, Put};

/// No request under way is older.
const WINDOW: Duration = Duration::from_secs(60);

/// What one sign-in draws.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct Drawn {
    pub(super) session: SessionId,
    pub(super) session_secret: [u8; 16],
    pub(super) device: DeviceId,
    pub(super) device_secret: [u8; 16],
    /// Whether the browser brought this device, instead of its being drawn now.
    pub(super) is_known: bool,
    pub(super) at: Timestamp,
    pub(super) remembered: bool,
}

/// Where a sign-in happens.
#[derive(Clone, Copy)]
pub(super) struct Meeting {
    pub(super) browser: BrowserCookie,
    pub(super) user: UserId,
    /// When the request began that the person signs in for: an earlier sign-in does not count for it.
    pub(super) began: Timestamp,
}

/// Leaves what this sign-in drew for those that cross it; or gives what an earlier one drew for it.
///
/// # Errors
/// When the store cannot do it.
pub(super) async fn meet(app: &App, ctx: &Ctx, place: Meeting, own: &Drawn) -> Result<Option<Drawn>, Error> {
    let realm = ctx.realm.id;
    let key = sha256(&[&place.browser.0[..], place.user.as_bytes()].concat()).0;
    let text = serde_json::to_vec(own).map_err(|error| Error::Internal(error.to_string()))?;
    let put = Put {
        realm,
        kind: Kind::Crossing,
        key: &key,
        // It holds the secrets of cookies: whoever reads the database must not become anybody by it.
        value: &app.sealer.seal(realm, Purpose::Crossing, &text, &key),
        owner: None,
        expires_at: ctx.now.plus(WINDOW),
        now: ctx.now,
    };
    if app.store.shortlived().put(put).await? {
        return Ok(None);
    }
    let Some(sealed) = app.store.shortlived().get(realm, Kind::Crossing, &key, ctx.now).await? else { return Ok(None) };
    let opened = app.sealer.open(realm, Purpose::Crossing, &sealed, &key);
    let first: Option<Drawn> = opened.and_then(|text| serde_json::from_slice(&text).ok());
    // Whoever brings another device of his own is another browser, whatever its cookie says.
    Ok(first.filter(|first| first.at >= place.began && (!own.is_known || own.device == first.device)))
}
