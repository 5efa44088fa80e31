//! Group commit for hot rows (architecture, section 7; `security-design` rules 1 and 18). A caller queues
//! an operation and waits for its own outcome; a writer takes what queued while it committed, runs it in
//! one transaction and answers after the commit. Contention is an outcome, never an SQL error. The queue
//! is bounded: full means [`Error::Busy`].

use std::fmt;
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::clock::Clock;
use crate::domain::model::audit::AuditEvent;
use crate::domain::model::ids::{RealmId, SessionId};
use crate::domain::model::timestamp::Timestamp;
use crate::entropy::Entropy;
use crate::store::Error;
use crate::store::connect::Pools;
use crate::store::readmodel::ReadModels;

pub(in crate::store) mod sql;

mod attempt;
mod audit;
mod end_session;
mod locks;
mod make_grant;
mod open_session;
mod outbox;
mod redeem_code;
mod retry;
mod rotate_grant;
mod seen;
mod step_up_session;
mod time_seen;
mod writer;

pub use end_session::EndSession;
pub use make_grant::{Made, MakeGrant};
pub use open_session::{OpenSession, Opened};
pub use redeem_code::{RedeemCode, Redeemed};
pub use rotate_grant::{RotateGrant, Rotated};
pub use step_up_session::{Remembered, StepUp};

/// The way to the writers. Cheap to clone.
#[derive(Clone)]
pub struct Batch {
    queue: Arc<writer::Queue>,
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch").finish_non_exhaustive()
    }
}

/// An operation on its way to a writer.
enum Operation {
    Rotate(RotateGrant),
    Redeem(Box<RedeemCode>),
    Grant(Box<MakeGrant>),
    Open(Box<OpenSession>),
    StepUp(Box<StepUp>),
    End(Box<EndSession>),
    Audit(Box<AuditEvent>),
    /// The newest last-seen mark of one session.
    Seen(seen::Mark),
    /// The moment of the high-water mark.
    Time(Timestamp),
}

/// What became of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Outcome {
    Rotated(Rotated),
    Redeemed(Redeemed),
    Granted(Made),
    Opened(Opened),
    Ended(bool),
    Done,
    /// The row was locked, or there was nothing to do.
    Skipped,
}

/// Orders operations, so that locks are taken in one order, and tells repeats.
type Key = (u8, Uuid, Uuid);

impl Operation {
    /// What makes two operations repeats of each other: kind and row. Openings of one browser are repeats.
    fn key(&self) -> Key {
        match self {
            Self::Rotate(rotate) => (0, rotate.realm.as_uuid(), rotate.grant.as_uuid()),
            Self::Redeem(redeem) => (1, redeem.realm.as_uuid(), redeem.code.as_uuid()),
            Self::Grant(make) => (2, make.grant.realm.as_uuid(), make.grant.id.as_uuid()),
            Self::Open(open) => (3, open.session.realm.as_uuid(), open.device.id.as_uuid()),
            Self::StepUp(step_up) => (4, step_up.realm.as_uuid(), step_up.session.as_uuid()),
            Self::End(end) => (5, end.realm.as_uuid(), end.session.as_uuid()),
            Self::Audit(event) => (6, event.realm.as_uuid(), event.id.as_uuid()),
            Self::Seen(mark) => (7, mark.realm.as_uuid(), mark.session.as_uuid()),
            // The last: while it holds the one row that all nodes write it waits for nothing else.
            Self::Time(_) => (8, Uuid::nil(), Uuid::nil()),
        }
    }
}

/// An operation and who waits for it.
struct Entry {
    operation: Operation,
    reply: Option<Reply>,
}

/// Who waits for an outcome.
type Reply = oneshot::Sender<Result<Outcome, Error>>;

impl Batch {
    /// Starts the writers on the runtime that calls: the background runtime, which outlives all requests.
    /// Callers may be on any runtime.
    #[must_use]
    pub(in crate::store) fn start(
        pools: Pools,
        models: ReadModels,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Self {
        let facts = writer::Facts { pools, models, clock, entropy };
        Self { queue: Arc::new(writer::Queue::start(&facts, &Handle::current())) }
    }

    /// Redeems a code and makes its grant, once (`security-design` rules 1, 2 and 12).
    pub async fn redeem_code(&self, operation: RedeemCode) -> Result<Redeemed, Error> {
        match self.queue.run(Operation::Redeem(Box::new(operation))).await? {
            Outcome::Redeemed(outcome) => Ok(outcome),
            other => Err(strange(&other)),
        }
    }

    /// Makes a grant of an act that spends nothing (`security-design` rule 1).
    pub async fn make_grant(&self, operation: MakeGrant) -> Result<Made, Error> {
        match self.queue.run(Operation::Grant(Box::new(operation))).await? {
            Outcome::Granted(outcome) => Ok(outcome),
            other => Err(strange(&other)),
        }
    }

    /// Moves a grant to its next generation (`security-design` rules 8 to 10).
    pub async fn rotate_grant(&self, operation: RotateGrant) -> Result<Rotated, Error> {
        match self.queue.run(Operation::Rotate(operation)).await? {
            Outcome::Rotated(outcome) => Ok(outcome),
            other => Err(strange(&other)),
        }
    }

    /// Opens a session on a device (`security-design` rule 1).
    pub async fn open_session(&self, operation: OpenSession) -> Result<Opened, Error> {
        match self.queue.run(Operation::Open(Box::new(operation))).await? {
            Outcome::Opened(outcome) => Ok(outcome),
            other => Err(strange(&other)),
        }
    }

    /// Notes a new proof in a live session; its old cookie dies at once.
    pub async fn step_up_session(&self, operation: StepUp) -> Result<Opened, Error> {
        match self.queue.run(Operation::StepUp(Box::new(operation))).await? {
            Outcome::Opened(outcome) => Ok(outcome),
            other => Err(strange(&other)),
        }
    }

    /// Ends a session and its online grants. `false`: it had ended before, or never was.
    pub async fn end_session(&self, operation: EndSession) -> Result<bool, Error> {
        match self.queue.run(Operation::End(Box::new(operation))).await? {
            Outcome::Ended(outcome) => Ok(outcome),
            other => Err(strange(&other)),
        }
    }

    /// Notes that a browser used the session. Returns at once: the newest mark of each session is written
    /// by count, by time and at drain (`security-design` rule 4).
    pub fn seen(&self, realm: RealmId, session: SessionId, now: Timestamp) {
        self.queue.seen(seen::Mark { realm, session, at: now, tries: 0 });
    }

    /// From now on the moment that the clock shows is written every few seconds and at the end.
    pub fn keep_time(&self) {
        self.queue.keep_time();
    }

    /// Appends an audit event that belongs to no change of state. Returns once it is queued.
    #[expect(clippy::unused_async, reason = "every way into the batch is awaited alike")]
    pub async fn audit(&self, event: AuditEvent) -> Result<(), Error> {
        self.queue.push(Operation::Audit(Box::new(event)), None)
    }

    /// Waits until everything queued before, last-seen marks included, is in the database.
    pub async fn flush(&self) -> Result<(), Error> {
        self.queue.flush().await
    }

    /// Writes what is queued, takes no more, and ends the writers.
    pub async fn close(&self) {
        self.queue.close().await;
    }
}

/// A writer never answers with another kind's outcome; if it did, no caller may believe it.
fn strange(outcome: &Outcome) -> Error {
    Error::Other(format!("the batch writer answered with {outcome:?}"))
}
