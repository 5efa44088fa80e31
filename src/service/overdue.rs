//! Ends what time has ended: sessions past their idle or absolute limit give nothing more from that moment on
//! (`Session::is_live`), and here their rows and the grants that hang on them are told so, with the moment and
//! the reason, like any other end: audited, and told to other services.

use std::time::Duration;

use serde_json::json;

use super::admin::Scribe;
use crate::domain::model::audit::{Actor, AuditKind};
use crate::domain::model::event::EventKind;
use crate::domain::model::ids::SessionId;
use crate::domain::model::session::{Ended, Session};
use crate::domain::model::timestamp::Timestamp;
use crate::service::{App, Error};
use crate::store::batch::EndSession;
use crate::store::repo;
use crate::store::repo::session::Place;

/// Sessions that are read at once.
const PAGE: usize = 1000;
/// Pages in one turn: what is beyond waits for the next.
const PAGES: usize = 50;
/// Other nodes write last-seen marks every few seconds: nothing is hurried that only looks idle.
const SLACK: Duration = Duration::from_mins(1);

/// A walk over the sessions, round and round, in the order of their absolute limits.
#[derive(Debug, Clone, Copy)]
pub struct Walk {
    /// The session looked at last.
    place: Place,
    /// When this round began.
    began: Timestamp,
    /// The next round begins here: what is before has reached its limit and was told.
    settled: Timestamp,
}

impl Default for Walk {
    fn default() -> Self {
        let zero = Timestamp::from_micros(0);
        Self { place: beginning(zero), began: zero, settled: zero }
    }
}

const fn beginning(at: Timestamp) -> Place {
    Place { expires_at: at, session: SessionId::from_bytes([0; 16]) }
}

/// Walks on from where the last turn stopped, at most to the end of the round; how many sessions ended.
///
/// # Errors
/// When the database does not answer; the next turn goes on from there.
pub async fn walk(app: &App, now: Timestamp, walk: &mut Walk) -> Result<usize, Error> {
    let mut count = 0;
    for _ in 0..PAGES {
        if walk.place == beginning(walk.settled) {
            walk.began = now;
        }
        let page = repo::session::list_beyond(&app.store.read(), walk.place, PAGE as u64).await?;
        for session in page.iter().filter(|session| session.ended.is_none()) {
            if let Some(limit) = session.limit_reached(now.minus(SLACK)) {
                count += usize::from(end(app, now, session, limit).await?);
            }
        }
        let last = page.last().filter(|_| page.len() == PAGE);
        if let Some(last) = last {
            walk.place = Place { expires_at: last.expires_at, session: last.id };
        } else {
            walk.settled = walk.began.minus(SLACK);
            walk.place = beginning(walk.settled);
            break;
        }
    }
    Ok(count)
}

/// `false`: it ended otherwise meanwhile, or was used after all.
async fn end(app: &App, now: Timestamp, session: &Session, limit: Ended) -> Result<bool, Error> {
    let mut scribe = Scribe::operator(app, session.realm, now);
    scribe.actor = Actor::System;
    let mut audit = scribe.audit(AuditKind::SessionEnded);
    audit.user = Some(session.user);
    audit.session = Some(session.id);
    audit.reason = Some(limit.reason.as_str());
    let user = repo::user::find(&app.store.read(), session.realm, session.user).await?;
    let data = json!({ "sid": session.id.to_string(), "reason": limit.reason.as_str() });
    let outbox = user.map(|user| scribe.tell(EventKind::SessionRevoked, &user, &data));
    let op = EndSession { realm: session.realm, session: session.id, ended: limit, audit, outbox };
    Ok(app.store.batch().end_session(op).await?)
}

/// Ends what disabled clients were given in the very moment in which they were disabled.
///
/// # Errors
/// When the database does not answer.
pub async fn end_leftovers(app: &App, now: Timestamp) -> Result<u64, Error> {
    let mut tx = app.store.begin().await?;
    let count = repo::client::end_leftovers(&mut tx, now).await?;
    if count > 0 {
        tx.commit().await?;
    }
    Ok(count)
}
