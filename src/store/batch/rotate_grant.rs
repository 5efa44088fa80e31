//! The rotation of a refresh token's generation: one guarded update (`security-design` rules 8 to 10).

use std::collections::HashSet;
use std::time::Duration;

use sea_orm::sqlx::{self, PgConnection, Row as _};
use uuid::Uuid;

use super::Operation;
use super::attempt::Work;
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

/// A generation in which nobody foreign repeated the one before resets the streak.
const ROTATE: Sql = Sql::same(
    "update grant_record set generation = generation + 1, rotated_at = $6, last_used_at = $6, presenter = $5, \
     grace_streak = case when grace_generation = generation then grace_streak else 0 end \
     where realm_id = $1 and id = $2 and generation = $3 and refresh_secret_hash = $4 and ended_at is null \
     and expires_at > $6 and last_used_at >= $7 \
     and exists (select 1 from user_account where user_account.realm_id = grant_record.realm_id \
     and user_account.id = grant_record.user_id and user_account.enabled) \
     and (offline or exists (select 1 from session where session.realm_id = grant_record.realm_id \
     and session.id = grant_record.session_id and session.ended_at is null and session.expires_at > $6))",
);

/// The same for a whole round. A grant that somebody else holds is skipped: a round holds many grants and must
/// not wait for one more, or it would meet whoever ends a person's grants in a deadlock.
const ROTATE_ALL: &str = "with asked as (\
     select * from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bytea[], $5::bytea[], $6::bigint[], $7::bigint[]) \
     as asked (realm_id, id, generation, secret_hash, presenter, at, oldest)\
     ), free as (\
     select grant_record.realm_id, grant_record.id from asked join grant_record \
     on grant_record.realm_id = asked.realm_id and grant_record.id = asked.id \
     for no key update of grant_record skip locked\
     ) update grant_record set generation = grant_record.generation + 1, rotated_at = asked.at, \
     last_used_at = asked.at, presenter = asked.presenter, \
     grace_streak = case when grace_generation = grant_record.generation then grace_streak else 0 end \
     from free join asked on asked.realm_id = free.realm_id and asked.id = free.id \
     where grant_record.realm_id = free.realm_id and grant_record.id = free.id \
     and grant_record.generation = asked.generation and refresh_secret_hash = asked.secret_hash \
     and grant_record.ended_at is null and grant_record.expires_at > asked.at \
     and grant_record.last_used_at >= asked.oldest \
     and exists (select 1 from user_account where user_account.realm_id = grant_record.realm_id \
     and user_account.id = grant_record.user_id and user_account.enabled) \
     and (offline or exists (select 1 from session where session.realm_id = grant_record.realm_id \
     and session.id = grant_record.session_id and session.ended_at is null and session.expires_at > asked.at)) \
     returning grant_record.realm_id, grant_record.id";

impl RotateGrant {
    pub(super) async fn run(&self, work: &mut Work<'_, '_>) -> Result<Rotated, Error> {
        let done = work.tx.execute(ROTATE, self.row()).await?;
        Ok(if done == 0 { Rotated::Lost } else { Rotated::Rotated })
    }

    /// By itself, in a transaction of its own: holding nothing else it may wait for its grant.
    pub(super) async fn alone(&self, connection: &mut PgConnection) -> Result<Rotated, Error> {
        let done = sql::execute_on(connection, ROTATE, self.row()).await?;
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
            self.now.minus(self.idle),
        ]
    }

    fn key(&self) -> (Uuid, Uuid) {
        (self.realm.as_uuid(), self.grant.as_uuid())
    }
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

/// Runs the rotations of different grants in one statement and gives the winners in their order. `None`: a
/// guard did not hold, or somebody else held the grant; to be asked again alone.
pub(super) async fn all(
    connection: &mut PgConnection,
    rotations: &[&RotateGrant],
) -> Result<Vec<Option<Rotated>>, Error> {
    let (realms, grants): (Vec<Uuid>, Vec<Uuid>) = rotations.iter().map(|rotate| rotate.key()).unzip();
    let generations: Vec<i64> = rotations.iter().map(|rotate| rotate.generation).collect();
    let secrets: Vec<&[u8]> = rotations.iter().map(|rotate| rotate.secret_hash.0.as_slice()).collect();
    let presenters: Vec<&[u8]> = rotations.iter().map(|rotate| rotate.presenter.as_slice()).collect();
    let moments: Vec<i64> = rotations.iter().map(|rotate| rotate.now.as_micros()).collect();
    let oldest: Vec<i64> = rotations.iter().map(|rotate| rotate.now.minus(rotate.idle).as_micros()).collect();
    For::Batch.count();
    let query = sqlx::query(ROTATE_ALL).bind(realms).bind(grants).bind(generations).bind(secrets);
    let query = query.bind(presenters).bind(moments).bind(oldest);
    let rows = query.fetch_all(connection).await.map_err(from_sqlx)?;
    let mut winners = HashSet::with_capacity(rows.len());
    for row in rows {
        winners.insert((row.try_get(0).map_err(from_sqlx)?, row.try_get(1).map_err(from_sqlx)?));
    }
    Ok(rotations.iter().map(|rotate| winners.contains(&rotate.key()).then_some(Rotated::Rotated)).collect())
}
