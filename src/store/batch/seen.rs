//! Last-seen marks of sessions: coalesced, the newest per session, an update and never an upsert, so that no
//! mark revives what has ended (`security-design` rule 4).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::Outcome;
use super::attempt::Work;
use super::sql::{Sql, values};
use crate::domain::model::ids::{RealmId, SessionId};
use crate::domain::model::timestamp::Timestamp;
use crate::store::Error;

/// So many marks are written without waiting for the time.
const ENOUGH: usize = 512;

/// More sessions than these wait for nobody: their marks are dropped, the sessions only seem less used.
const MOST: usize = 65_536;

/// A session that was locked each time is left alone.
const TRIES: u8 = 3;

/// On PostgreSQL a session that somebody has locked is skipped: a mark is not worth a deadlock.
const MARK: Sql = Sql::each(
    "update session set last_seen_at = $3 \
     where realm_id = $1 and id = $2 and ended_at is null and last_seen_at < $3",
    "update session set last_seen_at = $3 where realm_id = $1 and id in (\
     select id from session where realm_id = $1 and id = $2 and ended_at is null and last_seen_at < $3 \
     for no key update skip locked)",
);

/// A browser used a session.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    pub(super) realm: RealmId,
    pub(super) session: SessionId,
    pub(super) at: Timestamp,
    pub(super) tries: u8,
}

impl Mark {
    pub(super) async fn run(&self, work: &mut Work<'_, '_>) -> Result<Outcome, Error> {
        let done = work.tx.execute(MARK, values![self.realm, self.session.as_uuid(), self.at]).await?;
        Ok(if done == 0 { Outcome::Skipped } else { Outcome::Done })
    }
}

/// The newest mark of each session.
#[derive(Default)]
pub(super) struct Marks {
    waiting: Mutex<HashMap<(RealmId, SessionId), Mark>>,
}

impl Marks {
    /// Notes a mark and tells whether there are enough to be written.
    pub(super) fn add(&self, mark: Mark) -> bool {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (mark.realm, mark.session);
        if waiting.len() >= MOST && !waiting.contains_key(&key) {
            return true;
        }
        let kept = waiting.entry(key).or_insert(mark);
        if kept.at < mark.at {
            *kept = mark;
        }
        // Once per crossing, not once per mark beyond it.
        waiting.len().is_multiple_of(ENOUGH)
    }

    /// Takes them all, in the order of keys.
    pub(super) fn take(&self) -> Vec<Mark> {
        let waiting = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        waiting.into_values().collect()
    }

    /// A mark that could not be written waits for the next time, unless a newer one is there.
    pub(super) fn put_back(&self, mark: Mark) {
        if mark.tries < TRIES {
            self.add(Mark { tries: mark.tries + 1, ..mark });
        }
    }
}
