//! What the signed-out page loads (Front-Channel Logout 1.0 section 3): the addresses of the clients that
//! hold something of a session which the person ends in this browser. Other ends have no browser at hand;
//! of those, clients learn by back-channel logout.

use crate::context::Ctx;
use crate::domain::model::ids::SessionId;
use crate::domain::protocol::frontchannel_logout::{Frame, MOST_FRAMES, within_bounds};
use crate::service::{App, Error};
use crate::store::repo;

/// The frames for a session that is about to end, the latest client first; none where the realm does not
/// offer it, without a query.
///
/// # Errors
/// When the facts cannot be read: then the session had better not end, so that the person can try again.
pub async fn frames(app: &App, ctx: &Ctx, session: SessionId) -> Result<Vec<Frame>, Error> {
    if !ctx.realm.settings.logout.front_channel {
        return Ok(Vec::new());
    }
    // One more than is loaded, to know that there are more.
    let limit = MOST_FRAMES as u64 + 1;
    let keys = repo::grant::list_framed_clients(&app.store.read(), ctx.realm.id, session, limit).await?;
    let mut frames = Vec::with_capacity(keys.len());
    for key in keys {
        let client = app.store.models().client_by_key(ctx.realm.id, key).await?;
        let Some(client) = client.filter(|client| client.enabled) else { continue };
        let uri = client.metadata.frontchannel_logout_uri.as_deref();
        frames.extend(uri.and_then(|uri| Frame::new(client.title(), uri, &ctx.site.issuer, session)));
    }
    let found = frames.len();
    let frames = within_bounds(frames);
    if frames.len() < found {
        let (told, request_id) = (frames.len(), &*ctx.request_id);
        tracing::warn!(request_id, %session, told, "more clients with a frontchannel_logout_uri than one page loads");
    }
    Ok(frames)
}
