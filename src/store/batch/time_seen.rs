//! The high-water mark of time (`security-design` rule 17): the latest moment that a server on this database
//! has shown, so that time never runs backwards across a restart on a machine whose clock was set back. It is
//! written with the last-seen marks, every few seconds and at the end.

use super::Outcome;
use super::attempt::Work;
use super::sql::{Sql, values};
use crate::domain::model::timestamp::Timestamp;
use crate::store::{Error, repo};

/// Of several nodes the one that is furthest counts.
const RAISE: Sql = Sql::same(
    "insert into meta (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value \
     where cast(meta.value as bigint) < cast(excluded.value as bigint)",
);

pub(super) async fn raise(work: &mut Work<'_, '_>, now: Timestamp) -> Result<Outcome, Error> {
    work.tx.execute(RAISE, values![repo::meta::TIME_SEEN, now.as_micros().to_string()]).await?;
    Ok(Outcome::Done)
}
