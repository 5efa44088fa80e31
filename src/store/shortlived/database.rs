//! Short-lived state in the database: the default, shared by all nodes. Each operation is one statement.

use std::time::Duration;

use async_trait::async_trait;

use super::{Kind, Mark, Marked, Put, ShortLived, Update, Versioned};
use crate::domain::model::ids::RealmId;
use crate::domain::model::timestamp::Timestamp;
use crate::store::Error;
use crate::store::batch::sql::{self, Row, Sql, Transaction, Value, values};
use crate::store::connect::Pools;

/// The implementation over the database's own tables.
#[derive(Debug, Clone)]
pub struct Database {
    pools: Pools,
}

/// An expired row is as good as none: its key may be taken.
const PUT: Sql = Sql::same(
    "insert into shortlived (realm_id, kind, key, owner, value, version, created_at, expires_at) \
     values ($1, $2, $3, $4, $5, 0, $6, $7) \
     on conflict (realm_id, kind, key) do update set owner = excluded.owner, value = excluded.value, \
     version = shortlived.version + 1, created_at = excluded.created_at, expires_at = excluded.expires_at \
     where shortlived.expires_at <= $6",
);

/// Counted and written in one statement. The count ends at the limit, so that a full memory costs no more
/// than a nearly full one. Callers at one moment may each see room for the last one.
const MARK: Sql = Sql::same(
    "insert into shortlived (realm_id, kind, key, owner, value, version, created_at, expires_at) \
     select $1, $2, $3, $4, $5, 0, $6, $7 where (\
     select count(*) from (select 1 as one from shortlived where realm_id = $1 and kind = $2 and owner = $4 \
     and expires_at > $6 limit $8) as live) < $8 \
     on conflict (realm_id, kind, key) do update set owner = excluded.owner, value = excluded.value, \
     version = shortlived.version + 1, created_at = excluded.created_at, expires_at = excluded.expires_at \
     where shortlived.expires_at <= $6",
);

/// Of values of one moment the new one stays, then those with the greater key.
const CAP: Sql = Sql::same(
    "delete from shortlived where realm_id = $1 and kind = $2 and owner = $3 and key in (\
     select key from shortlived where realm_id = $1 and kind = $2 and owner = $3 \
     order by created_at desc, case when key = $4 then 0 else 1 end, key desc limit 1000000 offset $5)",
);

const GET: Sql = Sql::same(
    "select value, version from shortlived where realm_id = $1 and kind = $2 and key = $3 and expires_at > $4",
);

const TAKE: Sql = Sql::same(
    "delete from shortlived where realm_id = $1 and kind = $2 and key = $3 and expires_at > $4 returning value",
);

const UPDATE_IF: Sql = Sql::same(
    "update shortlived set value = $5, version = version + 1, expires_at = $6 \
     where realm_id = $1 and kind = $2 and key = $3 and version = $4 and expires_at > $7 returning version",
);

const DELETE: Sql = Sql::same("delete from shortlived where realm_id = $1 and kind = $2 and key = $3");

/// The window is fixed by its first hit: later hits do not prolong it.
const BUMP: Sql = Sql::same(
    "insert into counter (realm_id, kind, key, hits, expires_at) values ($1, $2, $3, 1, $4) \
     on conflict (realm_id, kind, key) do update set \
     hits = case when counter.expires_at <= $5 then 1 else counter.hits + 1 end, \
     expires_at = case when counter.expires_at <= $5 then excluded.expires_at else counter.expires_at end \
     returning hits",
);

/// Bounded, so that on SQLite the one writer is never held for long.
const PURGE: Sql = Sql::same(
    "delete from shortlived where (realm_id, kind, key) in (\
     select realm_id, kind, key from shortlived where expires_at <= $1 limit 1000)",
);

const PURGE_COUNTERS: Sql = Sql::same(
    "delete from counter where (realm_id, kind, key) in (\
     select realm_id, kind, key from counter where expires_at <= $1 limit 1000)",
);

impl Database {
    /// Works over the store's pools.
    pub(in crate::store) const fn new(pools: Pools) -> Self {
        Self { pools }
    }

    async fn find(&self, realm: RealmId, kind: Kind, key: &[u8], now: Timestamp) -> Result<Option<Row>, Error> {
        let found = sql::read(&self.pools, GET, values![realm, kind.as_str(), key, now]).await?;
        Ok(found.into_iter().next())
    }
}

#[async_trait]
impl ShortLived for Database {
    async fn put(&self, put: Put<'_>) -> Result<bool, Error> {
        let owner = Value::Bytes(put.owner.map(|owner| owner.id.to_vec()));
        let kind = put.kind.as_str();
        let mut row = values![put.realm, kind, put.key];
        row.push(owner);
        row.extend(values![put.value, put.now, put.expires_at]);
        let mut tx = Transaction::begin(&self.pools).await?;
        if tx.execute(PUT, row).await? == 0 {
            return Ok(false);
        }
        if let Some(owner) = put.owner {
            tx.execute(CAP, values![put.realm, kind, owner.id, put.key, i64::from(owner.cap)]).await?;
        }
        tx.commit().await?;
        Ok(true)
    }

    async fn mark(&self, mark: Mark<'_>) -> Result<Marked, Error> {
        let Mark { realm, kind, key, owner, most, expires_at, now } = mark;
        let nothing: &[u8] = &[];
        let row = values![realm, kind.as_str(), key, owner, nothing, now, expires_at, i64::from(most)];
        let mut tx = Transaction::begin(&self.pools).await?;
        let written = tx.execute(MARK, row).await?;
        tx.commit().await?;
        if written > 0 {
            return Ok(Marked::New);
        }
        // What was not written was known, or found no room.
        let known = self.find(realm, kind, key, now).await?.is_some();
        Ok(if known { Marked::Known } else { Marked::Full })
    }

    async fn get(&self, realm: RealmId, kind: Kind, key: &[u8], now: Timestamp) -> Result<Option<Vec<u8>>, Error> {
        self.find(realm, kind, key, now).await?.map(|row| row.get(0)).transpose()
    }

    async fn get_versioned(
        &self,
        realm: RealmId,
        kind: Kind,
        key: &[u8],
        now: Timestamp,
    ) -> Result<Option<Versioned>, Error> {
        let found = self.find(realm, kind, key, now).await?;
        found.map(|row| Ok(Versioned { value: row.get(0)?, version: row.get(1)? })).transpose()
    }

    async fn take(&self, realm: RealmId, kind: Kind, key: &[u8], now: Timestamp) -> Result<Option<Vec<u8>>, Error> {
        let taken = sql::write(&self.pools, TAKE, values![realm, kind.as_str(), key, now]).await?;
        taken.first().map(|row| row.get(0)).transpose()
    }

    async fn update_if(&self, update: Update<'_>) -> Result<bool, Error> {
        let Update { realm, kind, key, version, value, expires_at, now } = update;
        let row = values![realm, kind.as_str(), key, version, value, expires_at, now];
        Ok(!sql::write(&self.pools, UPDATE_IF, row).await?.is_empty())
    }

    async fn delete(&self, realm: RealmId, kind: Kind, key: &[u8]) -> Result<(), Error> {
        sql::write(&self.pools, DELETE, values![realm, kind.as_str(), key]).await.map(drop)
    }

    async fn bump(
        &self,
        realm: RealmId,
        kind: Kind,
        key: &[u8],
        window: Duration,
        now: Timestamp,
    ) -> Result<u64, Error> {
        let counted = sql::write(&self.pools, BUMP, values![realm, kind.as_str(), key, now.plus(window), now]).await?;
        let hits: i64 = counted.first().map_or(Ok(0), |row| row.get(0))?;
        Ok(u64::try_from(hits).unwrap_or(0))
    }

    async fn purge(&self, now: Timestamp) -> Result<u64, Error> {
        let mut purged = 0;
        for statement in [PURGE, PURGE_COUNTERS] {
            loop {
                let mut tx = Transaction::begin(&self.pools).await?;
                let gone = tx.execute(statement, values![now]).await?;
                tx.commit().await?;
                purged += gone;
                if gone < 1000 {
                    break;
                }
            }
        }
        Ok(purged)
    }
}
