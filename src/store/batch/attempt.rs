//! One attempt at a round: one transaction, in it each operation's statements, the change rows and, on
//! PostgreSQL, first of all the locks in the order of keys, parents before children.

use std::time::Duration;

use sea_orm::sqlx::{ConnectOptions as _, PgConnection};

use super::locks::Locks;
use super::sql::{Sql, Transaction, values};
use super::writer::Facts;
use super::{Operation, Outcome, RotateGrant, Rotated, rotate_grant, time_seen};
use crate::store::connect::Pools;
use crate::store::error::from_sqlx;
use crate::store::{Change, Error};

/// A round that takes longer has lost its database.
const DEADLINE: Duration = Duration::from_secs(10);

/// On PostgreSQL the commit wakes the feeds of the other nodes; repeats within a transaction are told once.
const CHANGE: Sql = Sql::each(
    "insert into change (realm_id, kind, subject_id, created_at) values ($1, $2, $3, $4)",
    "with woken as materialized (select pg_notify('doorward_change', '')) \
     insert into change (realm_id, kind, subject_id, created_at) select $1, $2, $3, $4 from woken",
);

/// A writer's own connection to PostgreSQL, made when it is first needed and dropped when it is broken.
#[derive(Default)]
pub(super) struct Link {
    postgres: Option<PgConnection>,
}

impl Link {
    async fn postgres(&mut self, pools: &Pools) -> Result<Option<&mut PgConnection>, Error> {
        let Pools::Postgres { writer, .. } = pools else { return Ok(None) };
        if self.postgres.is_none() {
            // A connection apart from the pool, whose idle ones may have been cut together with this one.
            self.postgres = Some(writer.connect_options().connect().await.map_err(from_sqlx)?);
        }
        Ok(self.postgres.as_mut())
    }
}

/// What a round came to.
pub(super) struct Attempted {
    /// In the order of the operations. `None`: not decided, to be attempted alone; never so for one operation.
    pub(super) outcomes: Vec<Option<Outcome>>,
    /// What read models must drop before anybody is answered.
    pub(super) changes: Vec<Change>,
}

/// A transaction at work.
pub(super) struct Work<'a, 'c> {
    pub(super) tx: Transaction<'c>,
    pub(super) facts: &'a Facts,
    pub(super) changes: Vec<Change>,
}

/// Runs the operations, sorted by key and each key once, in one transaction.
pub(super) async fn attempt(facts: &Facts, link: &mut Link, operations: &[&Operation]) -> Result<Attempted, Error> {
    let attempted = tokio::time::timeout(DEADLINE, within(facts, link, operations)).await;
    let attempted = attempted.unwrap_or_else(|_| Err(Error::Unavailable("the database does not answer".to_owned())));
    if matches!(attempted, Err(Error::Unavailable(_))) {
        link.postgres = None;
    }
    attempted
}

async fn within(facts: &Facts, link: &mut Link, operations: &[&Operation]) -> Result<Attempted, Error> {
    let only_rotations = rotate_grant::only(operations);
    let tx = match (link.postgres(&facts.pools).await?, &facts.pools) {
        (Some(connection), _) => match only_rotations {
            Some(rotations) => return Ok(only_rotated(on_postgres(connection, &rotations).await?)),
            None => Transaction::begin_on(connection).await?,
        },
        (None, Pools::Sqlite { writer, .. }) if let Some(rotations) = &only_rotations => {
            return Ok(only_rotated(decided(rotate_grant::on_sqlite(writer, rotations).await?)));
        }
        (None, pools) => Transaction::begin(pools).await?,
    };
    let mut work = Work { tx, facts, changes: Vec::new() };
    if let Transaction::Postgres(tx) = &mut work.tx {
        Locks::of(operations).take(tx).await?;
    }
    let mut outcomes = Vec::with_capacity(operations.len());
    for operation in operations {
        outcomes.push(work.run(operation).await?);
    }
    work.rotate(operations, &mut outcomes).await?;
    let now = facts.clock.now();
    for change in &work.changes {
        work.tx.execute(CHANGE, values![change.realm, change.kind.as_str(), change.id, now]).await?;
    }
    work.tx.commit().await?;
    Ok(Attempted { outcomes, changes: work.changes })
}

/// One statement is a transaction by itself: one round trip instead of three.
async fn on_postgres(connection: &mut PgConnection, rotations: &[&RotateGrant]) -> Result<Vec<Option<Rotated>>, Error> {
    match rotations {
        [rotation] => Ok(vec![Some(rotation.alone(connection).await?)]),
        rotations => rotate_grant::on_postgres(connection, rotations).await,
    }
}

fn decided(rotated: Vec<Rotated>) -> Vec<Option<Rotated>> {
    rotated.into_iter().map(Some).collect()
}

/// A round of nothing but rotations, which no read model hears of.
fn only_rotated(rotated: Vec<Option<Rotated>>) -> Attempted {
    let outcomes = rotated.into_iter().map(|rotated| rotated.map(Outcome::Rotated)).collect();
    Attempted { outcomes, changes: Vec::new() }
}

impl Work<'_, '_> {
    /// All rotations of the round are one statement, the last: who holds grants waits for nothing.
    async fn rotate(&mut self, operations: &[&Operation], outcomes: &mut [Option<Outcome>]) -> Result<(), Error> {
        let rotations = rotate_grant::among(operations);
        if rotations.is_empty() {
            return Ok(());
        }
        let rotated = match &mut self.tx {
            Transaction::Sqlite(tx) => decided(rotate_grant::on_sqlite(&mut **tx, &rotations).await?),
            Transaction::Postgres(tx) => rotate_grant::on_postgres(tx, &rotations).await?,
        };
        let mut rotated = rotated.into_iter();
        for (operation, outcome) in operations.iter().zip(outcomes) {
            if matches!(operation, Operation::Rotate(_)) {
                *outcome = rotated.next().flatten().map(Outcome::Rotated);
            }
        }
        Ok(())
    }

    async fn run(&mut self, operation: &Operation) -> Result<Option<Outcome>, Error> {
        Ok(Some(match operation {
            Operation::Rotate(_) => return Ok(None),
            Operation::Redeem(operation) => Outcome::Redeemed(operation.run(self).await?),
            Operation::Grant(operation) => Outcome::Granted(operation.run(self).await?),
            Operation::Open(operation) => Outcome::Opened(operation.run(self).await?),
            Operation::StepUp(operation) => Outcome::Opened(operation.run(self).await?),
            Operation::End(operation) => Outcome::Ended(operation.run(self).await?),
            Operation::Audit(event) => {
                self.audit(event).await?;
                Outcome::Done
            }
            Operation::Seen(mark) => mark.run(self).await?,
            Operation::Time(now) => time_seen::raise(self, *now).await?,
        }))
    }
}
