//! The change feed: reads what was committed since the last look and drops what it names.
//!
//! SQLite commits in order, so a position is a number. PostgreSQL commits numbers out of order, so there the
//! position is the snapshot of the last look: a change is new exactly when its transaction is visible now and
//! was not visible then. Whatever may have been missed (a first look, half an hour of silence, too much at
//! once, a database that was set back) clears everything.

use std::time::Duration;

use uuid::Uuid;

use super::ReadModels;
use crate::domain::clock::{Reading, Step};
use crate::domain::model::ids::RealmId;
use crate::domain::model::timestamp::Timestamp;
use crate::observe::metrics::metrics;
use crate::store::batch::sql::{self, For, Row, Sql, Value, values};
use crate::store::connect::Pools;
use crate::store::{Change, ChangeKind, Error};

/// Changes are kept an hour; who was silent for half of it does not count on finding them.
const SILENCE: Duration = Duration::from_mins(30);

/// More than so many changes at once cost more than clearing everything.
const MOST: usize = 10_000;

/// Expired entries of the sets are forgotten this often.
const PRUNE: Duration = Duration::from_mins(1);

const SQLITE_LOOK: Sql = Sql::same(
    "select (select coalesce(max(seq), 0) from sqlite_sequence where name = 'change'), \
     cast(unixepoch('subsec') * 1000000 as integer), c.realm_id, c.kind, c.subject_id \
     from (select 1) left join change c on c.seq > $1 limit 10001",
);

/// One statement: snapshot, changes and clock belong together. The write-ahead log's name tells the timeline,
/// and asking for it fails on a standby, which must not be read from.
const POSTGRES_LOOK: Sql = Sql::same(
    "select pg_current_snapshot()::text, (extract(epoch from clock_timestamp()) * 1000000)::bigint, \
     substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8), c.realm_id, c.kind, c.subject_id \
     from (select 1) one left join change c on c.xact >= pg_snapshot_xmin($1::pg_snapshot) \
     and not pg_visible_in_snapshot(c.xact, $1::pg_snapshot) limit 10001",
);

const POSTGRES_START: Sql = Sql::same(
    "select pg_current_snapshot()::text, (extract(epoch from clock_timestamp()) * 1000000)::bigint, \
     substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8), null::uuid, null::text, null::uuid",
);

/// How far the feed has read.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Number(i64),
    Snapshot { text: String, timeline: String },
}

/// What the feed remembers between two looks.
#[derive(Debug, Default)]
pub(super) struct Position {
    place: Option<Place>,
    /// The database's clock at the last look.
    looked_at: Timestamp,
    /// Monotonic time of the last pruning.
    pruned: Duration,
}

/// What a look showed.
struct Look {
    place: Place,
    database_now: Timestamp,
    changes: Vec<Change>,
    /// There were more.
    is_cut: bool,
}

impl ReadModels {
    /// Reads new changes, drops what they name, and leads the clock. Called at least twice a second; a call
    /// that fails leaves the read models to age.
    pub async fn poll(&self, now: Timestamp) -> Result<(), Error> {
        let mut position = self.inner.position.lock().await;
        let sent = self.monotonic();
        let look = self.look(position.place.as_ref()).await?;
        let received = self.monotonic();
        self.lead(&Reading { sent, received, shown: look.database_now });
        if look.is_continuous(&position) {
            self.apply(&look.changes);
        } else {
            // Tokens and entries loaded before this look may be older than what it skipped.
            self.clear();
        }
        position.place = Some(look.place);
        position.looked_at = look.database_now;
        self.inner.guard.caught_up(sent);
        if sent.saturating_sub(position.pruned) >= PRUNE {
            position.pruned = sent;
            self.inner.ended.prune(now);
        }
        self.load_ended(now).await
    }

    /// Leads the clock, and tells when the database's is not to be believed.
    fn lead(&self, reading: &Reading) {
        let clock = &self.inner.clock;
        match clock.follow(reading) {
            Step::Followed | Step::Wandering(_) => {}
            Step::Jumped(by) => {
                metrics().clock_jumps.inc();
                tracing::error!(
                    by_ms = by / 1_000,
                    "the database's clock jumped: nothing ends by time until two polls agree. Check the time service \
                     (chrony) of the machine that the database runs on"
                );
            }
            Step::Settled(by) => {
                let ahead_ms = u64::try_from(clock.ahead().as_millis()).unwrap_or(u64::MAX);
                tracing::warn!(by_ms = by / 1_000, ahead_ms, "two polls agree on the database's clock again");
            }
        }
    }

    async fn look(&self, place: Option<&Place>) -> Result<Look, Error> {
        let pools = &self.inner.pools;
        match pools {
            Pools::Sqlite { .. } => {
                let from = match place {
                    Some(Place::Number(number)) => *number,
                    // Nothing is newer than the greatest number.
                    _ => i64::MAX,
                };
                let rows = sql::read_for(For::Feed, pools, SQLITE_LOOK, values![from]).await?;
                let head = rows.first().ok_or_else(nothing)?;
                let place = Place::Number(head.get(0)?);
                Look::read(place, &rows, 2)
            }
            Pools::Postgres { .. } => {
                let rows = match place {
                    Some(Place::Snapshot { text, .. }) => {
                        sql::read_for(For::Feed, pools, POSTGRES_LOOK, vec![Value::from(text.clone())]).await?
                    }
                    _ => sql::read_for(For::Feed, pools, POSTGRES_START, Vec::new()).await?,
                };
                let head = rows.first().ok_or_else(nothing)?;
                let place = Place::Snapshot { text: head.get(0)?, timeline: head.get(2)? };
                Look::read(place, &rows, 3)
            }
        }
    }
}

impl Look {
    fn read(place: Place, rows: &[Row], column: usize) -> Result<Self, Error> {
        let head = rows.first().ok_or_else(nothing)?;
        let database_now = Timestamp::from_micros(head.get(1)?);
        let mut changes = Vec::new();
        for row in rows {
            let realm: Option<Uuid> = row.get(column)?;
            let kind: Option<String> = row.get(column + 1)?;
            let id: Option<Uuid> = row.get(column + 2)?;
            let (Some(realm), Some(kind), Some(id)) = (realm, kind, id) else { continue };
            // A kind of a later version may concern anything.
            let kind = ChangeKind::from_name(&kind).unwrap_or(ChangeKind::All);
            changes.push(Change { realm: RealmId::from_uuid(realm), kind, id });
        }
        Ok(Self { place, database_now, is_cut: changes.len() > MOST, changes })
    }

    /// Whether nothing can have been missed between the position and this look.
    fn is_continuous(&self, position: &Position) -> bool {
        let follows = match (&position.place, &self.place) {
            (Some(Place::Number(before)), Place::Number(now)) => before <= now,
            (Some(Place::Snapshot { text, timeline }), Place::Snapshot { text: now, timeline: now_on }) => {
                timeline == now_on && oldest_running(text) <= oldest_running(now)
            }
            _ => false,
        };
        follows && !self.is_cut && self.database_now.is_within(SILENCE, position.looked_at)
    }
}

/// The first of the three parts of a snapshot's text, `xmin:xmax:running`.
fn oldest_running(snapshot: &str) -> u64 {
    snapshot.split(':').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn nothing() -> Error {
    Error::Other("the change feed got no row".to_owned())
}
