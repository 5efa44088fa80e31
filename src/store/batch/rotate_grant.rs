//! The rotation of a refresh token's generation: one guarded update (`security-design` rules 8 to 10).

use std::collections::HashSet;
use std::fmt::Write as _;
use std::time::Duration;

use sea_orm::sqlx::{self, Executor, PgConnection, Sqlite};
use uuid::Uuid;

use super::Operation;
use super::sql::{self, For, Sql, Value, values};
use crate::domain::model::ids::{GrantId, RealmId};
use crate::domain::model::secret::SecretHash;
use crate::domain::model::timestamp::Timestamp;
use crate::store::Error;
use crate::store::error::from_sqlx;

/// A presentation of the current generation.
#[derive(Debug, Clone)]
pub struct RotateGrant {
    /// The grant's realm.
    pub realm: RealmId,
    /// The grant.
    pub grant: GrantId,
    /// The generation that was presented.
    pub generation: i64,
    /// SHA-256 of the secret that was presented.
    pub secret_hash: SecretHash,
    /// Keyed hash of who presented it (`security-design` rule 9).
    pub presenter: [u8; 16],
    /// The request's moment.
    pub now: Timestamp,
    /// A family unused for longer has ended.
    pub idle: Duration,
}

/// What became of a rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rotated {
    /// The grant is one generation further.
    Rotated,
    /// A guard did not hold. The caller reads the row again and classifies.
    Lost,
}

/// The next generation. One in which nobody foreign repeated the one before resets the streak.
macro_rules! rotation {
    () => {
        "update grant_record set generation = grant_record.generation + 1, rotated_at = asked.at, \
         last_used_at = asked.at, presenter = asked.presenter, \
         grace_streak = case when grace_generation = grant_record.generation then grace_streak else 0 end "
    };
}

/// What must hold for it, as of now.
macro_rules! guards {
    () => {
        " and grant_record.generation = asked.generation and refresh_secret_hash = asked.secret_hash \
         and grant_record.ended_at is null and grant_record.expires_at > asked.at \
         and grant_record.last_used_at >= asked.oldest \
         and exists (select 1 from user_account where user_account.realm_id = grant_record.realm_id \
         and user_account.id = grant_record.user_id and user_account.enabled) \
         and (offline or exists (select 1 from session where session.realm_id = grant_record.realm_id \
         and session.id = grant_record.session_id and session.ended_at is null and session.expires_at > asked.at)) \
         returning grant_record.realm_id, grant_record.id"
    };
}

/// On SQLite a whole round in one statement: each of its own would cost two changes of threads. Nobody else
/// writes meanwhile.
const ON_SQLITE: &str = concat!(
    "with asked as (select unhex(value ->> 0) as realm_id, unhex(value ->> 1) as id, value ->> 2 as generation, \
     unhex(value ->> 3) as secret_hash, unhex(value ->> 4) as presenter, value ->> 5 as at, value ->> 6 as oldest \
     from json_each($1)) ",
    rotation!(),
    "from asked where grant_record.realm_id = asked.realm_id and grant_record.id = asked.id",
    guards!(),
);

/// On PostgreSQL likewise. A grant that somebody else holds is skipped: a round holds many grants and must not
/// wait for one more, or it would meet whoever ends a person's grants in a deadlock.
const ON_POSTGRES: &str = concat!(
    "with asked as (\
     select * from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bytea[], $5::bytea[], $6::bigint[], $7::bigint[]) \
     as asked (realm_id, id, generation, secret_hash, presenter, at, oldest)\
     ), free as (\
     select grant_record.realm_id, grant_record.id from asked join grant_record \
     on grant_record.realm_id = asked.realm_id and grant_record.id = asked.id \
     for no key update of grant_record skip locked\
     ) ",
    rotation!(),
    "from free join asked on asked.realm_id = free.realm_id and asked.id = free.id \
     where grant_record.realm_id = free.realm_id and grant_record.id = free.id",
    guards!(),
);

/// On PostgreSQL one by itself, in a transaction of its own: holding nothing else it may wait for its grant.
const ALONE_ON_POSTGRES: Sql = Sql::same(concat!(
    "with asked as (select $1::uuid as realm_id, $2::uuid as id, $3::bigint as generation, $4::bytea as secret_hash, \
     $5::bytea as presenter, $6::bigint as at, $7::bigint as oldest) ",
    rotation!(),
    "from asked where grant_record.realm_id = asked.realm_id and grant_record.id = asked.id",
    guards!(),
));

impl RotateGrant {
    /// By itself on PostgreSQL.
    pub(super) async fn alone(&self, connection: &mut PgConnection) -> Result<Rotated, Error> {
        let done = sql::execute_on(connection, ALONE_ON_POSTGRES, self.row()).await?;
        Ok(if done == 0 { Rotated::Lost } else { Rotated::Rotated })
    }

    fn row(&self) -> Vec<Value> {
        values![
            self.realm,
            self.grant.as_uuid(),
            self.generation,
            self.secret_hash.0.to_vec(),
            self.presenter.to_vec(),
            self.now,
            self.oldest(),
        ]
    }

    /// The row as a JSON list, bytes in hexadecimal.
    fn write_json(&self, text: &mut String) -> std::fmt::Result {
        write!(
            text,
            "[\"{}\",\"{}\",{},\"",
            self.realm.as_uuid().simple(),
            self.grant.as_uuid().simple(),
            self.generation
        )?;
        write_hex(text, &self.secret_hash.0)?;
        text.push_str("\",\"");
        write_hex(text, &self.presenter)?;
        write!(text, "\",{},{}]", self.now.as_micros(), self.oldest().as_micros())
    }

    /// A grant last used before this is idle.
    fn oldest(&self) -> Timestamp {
        self.now.minus(self.idle)
    }

    fn key(&self) -> (Uuid, Uuid) {
        (self.realm.as_uuid(), self.grant.as_uuid())
    }
}

fn write_hex(text: &mut String, bytes: &[u8]) -> std::fmt::Result {
    bytes.iter().try_for_each(|byte| write!(text, "{byte:02x}"))
}

/// The rotations among the operations, in their order.
pub(super) fn among<'a>(operations: &[&'a Operation]) -> Vec<&'a RotateGrant> {
    let rotation = |operation: &&'a Operation| match operation {
        Operation::Rotate(rotate) => Some(rotate),
        _ => None,
    };
    operations.iter().filter_map(rotation).collect()
}

/// The rotations, if there is nothing else.
pub(super) fn only<'a>(operations: &[&'a Operation]) -> Option<Vec<&'a RotateGrant>> {
    let rotations = among(operations);
    (rotations.len() == operations.len()).then_some(rotations)
}

/// Runs the rotations of different grants in one statement on SQLite.
pub(super) async fn on_sqlite<'c, E>(executor: E, rotations: &[&RotateGrant]) -> Result<Vec<Rotated>, Error>
where
    E: Executor<'c, Database = Sqlite>,
{
    let mut asked = String::with_capacity(2 + 240 * rotations.len());
    for rotate in rotations {
        asked.push(if asked.is_empty() { '[' } else { ',' });
        rotate.write_json(&mut asked).map_err(|error| Error::Other(error.to_string()))?;
    }
    asked.push(']');
    For::Batch.count();
    let rows = sqlx::query(ON_SQLITE).bind(asked).fetch_all(executor).await.map_err(from_sqlx)?;
    let winners = winners(&rows)?;
    let outcome = |rotate: &&RotateGrant| {
        if winners.contains(&rotate.key()) { Rotated::Rotated } else { Rotated::Lost }
    };
    Ok(rotations.iter().map(outcome).collect())
}

/// Runs the rotations of different grants in one statement on PostgreSQL and gives the winners in their order.
/// `None`: a guard did not hold, or somebody else held the grant; to be asked again alone.
pub(super) async fn on_postgres(
    connection: &mut PgConnection,
    rotations: &[&RotateGrant],
) -> Result<Vec<Option<Rotated>>, Error> {
    let (realms, grants): (Vec<Uuid>, Vec<Uuid>) = rotations.iter().map(|rotate| rotate.key()).unzip();
    let generations: Vec<i64> = rotations.iter().map(|rotate| rotate.generation).collect();
    let secrets: Vec<&[u8]> = rotations.iter().map(|rotate| rotate.secret_hash.0.as_slice()).collect();
    let presenters: Vec<&[u8]> = rotations.iter().map(|rotate| rotate.presenter.as_slice()).collect();
    let moments: Vec<i64> = rotations.iter().map(|rotate| rotate.now.as_micros()).collect();
    let oldest: Vec<i64> = rotations.iter().map(|rotate| rotate.oldest().as_micros()).collect();
    For::Batch.count();
    let query = sqlx::query(ON_POSTGRES).bind(realms).bind(grants).bind(generations).bind(secrets);
    let query = query.bind(presenters).bind(moments).bind(oldest);
    let rows = query.fetch_all(connection).await.map_err(from_sqlx)?;
    let winners = winners(&rows)?;
    Ok(rotations.iter().map(|rotate| winners.contains(&rotate.key()).then_some(Rotated::Rotated)).collect())
}

/// The grants that a round moved.
fn winners<R>(rows: &[R]) -> Result<HashSet<(Uuid, Uuid)>, Error>
where
    R: sqlx::Row,
    usize: sqlx::ColumnIndex<R>,
    Uuid: for<'r> sqlx::Decode<'r, R::Database> + sqlx::Type<R::Database>,
{
    let key = |row: &R| Ok((row.try_get(0).map_err(from_sqlx)?, row.try_get(1).map_err(from_sqlx)?));
    rows.iter().map(key).collect()
}
