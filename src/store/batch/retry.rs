//! A batch that failed is run again, operation by operation, so that one bad operation fails alone
//! (`security-design` rule 18). Operations carry ready-made ids: one whose commit succeeded though its answer
//! was lost finds its own row and is a success.

use super::attempt::{Link, attempt};
use super::writer::Facts;
use super::{Entry, Operation, Outcome};
use crate::store::Error;

/// A deadlock with another node, or a connection cut just now: the next try will mostly do.
const TRIES: u32 = 3;

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
                return done.outcomes.into_iter().next().ok_or_else(|| Error::Other("no outcome".to_owned()));
            }
            Err(Error::Busy | Error::Unavailable(_)) if tried < TRIES => {}
            Err(error) => return Err(error),
        }
    }
}
