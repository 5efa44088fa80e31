//! `apply` and `export`: the realm file against the store. Rules and plans are `domain/realm_file`'s;
//! here facts are loaded, passwords hashed, keys made, and one transaction does the whole plan.

mod apply;
mod crypt;
mod export;
mod load;
mod local;
mod people;
mod prepare;
mod rows;

use std::fmt;

use crate::domain::realm_file::{DeclaredRealm, Fault, Plan};
use crate::service::Error;
use crate::store;

pub use apply::apply;
pub use crypt::Passphrase;
pub use export::{Secrets, export};
pub use local::LocalSecrets;

/// What to do.
#[derive(Debug, Clone)]
pub struct Input {
    /// The declared realms, references to secrets resolved.
    pub realms: Vec<DeclaredRealm>,
    /// Whether stored objects that are not declared go.
    pub prune: bool,
    /// Whether anything is written.
    pub mode: Mode,
}

/// Whether anything is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Plan and do.
    Write,
    /// Plan only.
    DryRun,
}

/// What was, or would be, done.
#[derive(Debug, Clone)]
pub struct Report {
    /// One plan per realm, in the order of the files.
    pub plans: Vec<Plan>,
    /// Whether it was written.
    pub mode: Mode,
}

impl Report {
    /// Whether there was nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.plans.iter().all(|plan| plan.acts.is_empty())
    }
}

/// Why nothing was done.
#[derive(Debug)]
pub enum Failure {
    /// What is declared cannot be; every fault.
    Faults(Vec<Fault>),
    /// Something else.
    Service(Error),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Faults(faults) => {
                for (place, fault) in faults.iter().enumerate() {
                    write!(f, "{}{fault}", if place > 0 { "\n" } else { "" })?;
                }
                Ok(())
            }
            Self::Service(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Failure {}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Service(error)
    }
}

impl From<store::Error> for Failure {
    fn from(error: store::Error) -> Self {
        Self::Service(error.into())
    }
}
