//! One attempt at a round: one transaction, in it each operation's statements, the change rows and, on
//! PostgreSQL, first of all the locks in the order of keys, parents before children.

use std::time::Duration;

use sea_orm::sqlx::PgConnection;

use super::locks::Locks;
use super::sql::{Sql, Transaction, values};
use super::writer::Facts;
use super::{Operation, Outcome, rotate_grant};
use crate::store::connect::Pools;
use crate::store::error::from_sqlx;
use crate::store::{Change, Error};

/// A round that takes longer has lost its database.
const DEADLINE: Duration = Duration::from_secs(15);

const CHANGE: Sql = Sql::same("insert into change (realm_id, kind, subject_id, created_at) values ($1, $2, $3, $4)");

/// A writer's own connection to PostgreSQL, made when it is first needed and dropped when it is broken.
#[derive(Default)]
pub(super) struct Link {
    postgres: Option<PgConnection>,
}

impl Link {
    async fn postgres(&mut self, pools: &Pools) -> Result<Option<&mut PgConnection>, Error> {
        let Pools::Postgres { writer, .. } = pools else { return Ok(None) };
        if self.postgres.is_none() {
            // Detached: it is counted apart from the pool and stays open between rounds.
            self.postgres = Some(writer.acquire().await.map_err(from_sqlx)?.detach());
        }
        Ok(self.postgres.as_mut())
    }
}

/// What a round came to.
pub(super) struct Attempted {
    /// In the order of the operations.
    pub(super) outcomes: Vec<Outcome>,
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
    let tx = match link.postgres(&facts.pools).await? {
        Some(connection) => {
            if let Some(rotations) = rotate_grant::only(operations) {
                // One statement is a transaction by itself: one round trip instead of three.
                let outcomes = rotate_grant::all(connection, &rotations).await?;
                return Ok(Attempted { outcomes, changes: Vec::new() });
            }
            Transaction::begin_on(connection).await?
        }
        None => Transaction::begin(&facts.pools).await?,
    };
    let mut work = Work { tx, facts, changes: Vec::new() };
    if let Transaction::Postgres(tx) = &mut work.tx {
        Locks::of(operations).take(tx).await?;
    }
    let mut outcomes = work.rotations(operations).await?;
    for (operation, outcome) in operations.iter().zip(&mut outcomes) {
        if outcome.is_none() {
            *outcome = Some(work.run(operation).await?);
        }
    }
    let now = facts.clock.now();
    for change in &work.changes {
        work.tx.execute(CHANGE, values![change.realm, change.kind.as_str(), change.id, now]).await?;
    }
    work.tx.commit().await?;
    Ok(Attempted { outcomes: outcomes.into_iter().flatten().collect(), changes: work.changes })
}

impl Work<'_, '_> {
    /// On PostgreSQL all rotations of the round are one statement.
    async fn rotations(&mut self, operations: &[&Operation]) -> Result<Vec<Option<Outcome>>, Error> {
        let mut outcomes: Vec<Option<Outcome>> = operations.iter().map(|_| None).collect();
        let Transaction::Postgres(tx) = &mut self.tx else { return Ok(outcomes) };
        let rotations = rotate_grant::among(operations);
        if rotations.is_empty() {
            return Ok(outcomes);
        }
        let mut rotated = rotate_grant::all(tx, &rotations).await?.into_iter();
        for (operation, outcome) in operations.iter().zip(&mut outcomes) {
            if matches!(operation, Operation::Rotate(_)) {
                *outcome = rotated.next();
            }
        }
        Ok(outcomes)
    }

    async fn run(&mut self, operation: &Operation) -> Result<Outcome, Error> {
        Ok(match operation {
            Operation::Rotate(operation) => Outcome::Rotated(operation.run(self).await?),
            Operation::Redeem(operation) => Outcome::Redeemed(operation.run(self).await?),
            Operation::Open(operation) => Outcome::Opened(operation.run(self).await?),
            Operation::StepUp(operation) => Outcome::Opened(operation.run(self).await?),
            Operation::End(operation) => Outcome::Ended(operation.run(self).await?),
            Operation::Audit(event) => {
                self.audit(event).await?;
                Outcome::Done
            }
            Operation::Seen(mark) => mark.run(self).await?,
        })
    }
}
