//! A batch that failed is run again, operation by operation, so that one bad operation fails alone
//! (`security-design` rule 18); so is what a batch could not decide. Operations carry ready-made ids: one whose commit succeeded though its answer
//! was lost finds its own row and is a success.

use super::attempt::{Link, attempt};
use super::writer::Facts;
use super::{Entry, Operation, Outcome};
use crate::store::Error;

/// After a deadlock with another node the next try will mostly do.
const BUSY_TRIES: u32 = 4;

/// After a connection was cut a new one will mostly do; a database that is away must not keep callers waiting.
const AWAY_TRIES: u32 = 2;

/// Runs each entry in a transaction of its own. Once the database is known to be away the rest is told so
/// without waiting for it again.
pub(super) async fn one_by_one(
    facts: &Facts,
    link: &mut Link,
    entries: Vec<Entry>,
) -> Vec<(Entry, Result<Outcome, Error>)> {
    let mut away: Option<String> = None;
    let mut answers = Vec::with_capacity(entries.len());
    for entry in entries {
        let outcome = match &away {
            Some(reason) => Err(Error::Unavailable(reason.clone())),
            None => again(facts, link, &entry.operation).await,
        };
        if let Err(Error::Unavailable(reason)) = &outcome {
            away = Some(reason.clone());
        }
        answers.push((entry, outcome));
    }
    answers
}

async fn again(facts: &Facts, link: &mut Link, operation: &Operation) -> Result<Outcome, Error> {
    let mut tried = 0;
    loop {
        tried += 1;
        match attempt(facts, link, &[operation]).await {
            Ok(done) => {
                facts.models.apply(&done.changes);
                let outcome = done.outcomes.into_iter().next().flatten();
                return outcome.ok_or_else(|| Error::Other("an operation came to nothing".to_owned()));
            }
            Err(Error::Busy) if tried < BUSY_TRIES => {}
            Err(Error::Unavailable(_)) if tried < AWAY_TRIES => {}
            Err(error) => return Err(error),
        }
    }
}
