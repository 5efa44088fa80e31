//! The writer.

use std::sync::Arc;

use tokio::runtime::Handle;

use super::{Operation, Outcome, Reply, seen};
use crate::clock::Clock;
use crate::entropy::Entropy;
use crate::store::Error;
use crate::store::connect::Pools;
use crate::store::readmodel::ReadModels;

/// What a writer works with.
#[derive(Clone)]
pub(super) struct Facts {
    pub(super) pools: Pools,
    pub(super) models: ReadModels,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) entropy: Arc<dyn Entropy>,
}

/// The queues of the writers.
pub(super) struct Queue {
    facts: Facts,
}

impl Queue {
    pub(super) fn start(facts: Facts, _handle: &Handle) -> Self {
        Self { facts }
    }
    pub(super) async fn run(&self, _operation: Operation) -> Result<Outcome, Error> {
        Err(Error::Busy)
    }
    pub(super) fn push(&self, _operation: Operation, _reply: Option<Reply>) -> Result<(), Error> {
        Err(Error::Busy)
    }
    pub(super) fn seen(&self, _mark: seen::Mark) {}
    pub(super) async fn flush(&self) -> Result<(), Error> {
        Ok(())
    }
    pub(super) async fn close(&self) {}
}
