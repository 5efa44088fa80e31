//! The writers: one task on SQLite, where it shares the one writing connection; two on PostgreSQL, each with
//! a connection of its own. There is no timer between operation and commit: a batch is what queued while
//! the one before was being committed. An operation always goes to the writer that its key names, so that
//! repeats of a key meet in one queue and never wait for each other's locks.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Interval, MissedTickBehavior};

use super::attempt::{Link, attempt};
use super::seen::{Mark, Marks};
use super::{Entry, Operation, Outcome, Reply, retry};
use crate::clock::Clock;
use crate::entropy::Entropy;
use crate::observe::metrics;
use crate::store::Error;
use crate::store::connect::Pools;
use crate::store::readmodel::ReadModels;

/// Operations that wait for one writer; beyond it callers are told [`Error::Busy`].
const QUEUE: usize = 4096;

/// Operations of one transaction.
const ROUND: usize = 256;

/// Repeats of keys that a writer holds back; beyond it they stay in the queue, whose bound holds for all.
const PENDING: usize = 4 * ROUND;

/// Last-seen marks are written at least this often.
const MARKS_EVERY: Duration = Duration::from_secs(5);

/// What a writer works with.
#[derive(Clone)]
pub(super) struct Facts {
    pub(super) pools: Pools,
    pub(super) models: ReadModels,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) entropy: Arc<dyn Entropy>,
}

/// What a writer is told.
enum Message {
    Work(Entry),
    /// Write the last-seen marks.
    Marks,
    /// Tell when everything before this is written.
    Flush(oneshot::Sender<()>),
    /// Write what is queued, then end.
    Close,
}

/// The queues of the writers.
pub(super) struct Queue {
    writers: Vec<mpsc::Sender<Message>>,
    marks: Arc<Marks>,
    keeps_time: Arc<AtomicBool>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

impl Queue {
    pub(super) fn start(facts: &Facts, handle: &Handle) -> Self {
        let count = match facts.pools {
            Pools::Sqlite { .. } => 1,
            Pools::Postgres { .. } => 2,
        };
        let marks = Arc::new(Marks::default());
        let keeps_time = Arc::new(AtomicBool::new(false));
        let mut writers = Vec::with_capacity(count);
        let mut tasks = Vec::with_capacity(count);
        for number in 0..count {
            let (sender, queue) = mpsc::channel(QUEUE);
            // The first writer writes the marks.
            let marks = (number == 0).then(|| Arc::clone(&marks));
            let writer = Writer {
                facts: facts.clone(),
                link: Link::default(),
                queue,
                marks,
                keeps_time: Arc::clone(&keeps_time),
                pending: Vec::new(),
            };
            writers.push(sender);
            tasks.push(handle.spawn(writer.run()));
        }
        Self { writers, marks, keeps_time, tasks: Mutex::new(tasks) }
    }

    /// Queues an operation and waits for its outcome.
    pub(super) async fn run(&self, operation: Operation) -> Result<Outcome, Error> {
        let (reply, outcome) = oneshot::channel();
        self.push(operation, Some(reply))?;
        outcome.await.map_err(|_| closed())?
    }

    /// Queues an operation.
    pub(super) fn push(&self, operation: Operation, reply: Option<Reply>) -> Result<(), Error> {
        let count = u128::try_from(self.writers.len()).unwrap_or(1).max(1);
        let place = usize::try_from(operation.key().2.as_u128() % count).unwrap_or(0);
        let writer = self.writers.get(place).ok_or_else(closed)?;
        writer.try_send(Message::Work(Entry { operation, reply })).map_err(|refused| match refused {
            mpsc::error::TrySendError::Full(_) => {
                metrics().admission_refused.with_label_values(&[metrics::LANE_BATCH, "full"]).inc();
                Error::Busy
            }
            mpsc::error::TrySendError::Closed(_) => closed(),
        })
    }

    /// Notes a mark.
    pub(super) fn seen(&self, mark: Mark) {
        if self.marks.add(mark) {
            // A full queue is no loss: its writer takes the marks with the next tick.
            if let Some(writer) = self.writers.first() {
                let _ = writer.try_send(Message::Marks);
            }
        }
    }

    /// From now on the high-water mark of time goes with the marks.
    pub(super) fn keep_time(&self) {
        self.keeps_time.store(true, Ordering::Relaxed);
    }

    /// Waits until every writer has written what it was given before.
    pub(super) async fn flush(&self) -> Result<(), Error> {
        let mut written = Vec::with_capacity(self.writers.len());
        for writer in &self.writers {
            let (reply, done) = oneshot::channel();
            writer.send(Message::Flush(reply)).await.map_err(|_| closed())?;
            written.push(done);
        }
        for done in written {
            done.await.map_err(|_| closed())?;
        }
        Ok(())
    }

    /// Ends the writers once they have written what they were given before.
    pub(super) async fn close(&self) {
        for writer in &self.writers {
            let _ = writer.send(Message::Close).await;
        }
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        for task in tasks {
            let _ = task.await;
        }
    }
}

fn closed() -> Error {
    Error::Unavailable("the batch writer has ended".to_owned())
}

/// One writer.
struct Writer {
    facts: Facts,
    link: Link,
    queue: mpsc::Receiver<Message>,
    marks: Option<Arc<Marks>>,
    keeps_time: Arc<AtomicBool>,
    /// Repeats of a key that wait for the next round, in the order they came.
    pending: Vec<Entry>,
}

/// What one look at the queue brought besides operations.
#[derive(Default)]
struct Told {
    marks: bool,
    closing: bool,
    flushes: Vec<oneshot::Sender<()>>,
}

impl Writer {
    async fn run(mut self) {
        let mut tick = tokio::time::interval(MARKS_EVERY);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let mut told = self.look(&mut tick).await;
            if told.marks || told.closing || !told.flushes.is_empty() {
                self.take_marks();
            }
            // Who waits for a flush, or for the end, waits for the repeats too.
            loop {
                self.round().await;
                if self.pending.is_empty() || (told.flushes.is_empty() && !told.closing) {
                    break;
                }
            }
            for flush in told.flushes.drain(..) {
                let _ = flush.send(());
            }
            if told.closing {
                return;
            }
        }
    }

    /// Takes what is queued; waits only when there is nothing to do.
    async fn look(&mut self, tick: &mut Interval) -> Told {
        let mut told = Told::default();
        let mut messages = Vec::new();
        if self.pending.is_empty() {
            tokio::select! {
                taken = self.queue.recv_many(&mut messages, ROUND) => told.closing = taken == 0,
                _ = tick.tick(), if self.marks.is_some() => told.marks = true,
            }
        } else {
            while self.pending.len() + messages.len() < PENDING
                && messages.len() < ROUND
                && let Ok(message) = self.queue.try_recv()
            {
                messages.push(message);
            }
        }
        for message in messages {
            match message {
                Message::Work(entry) => self.pending.push(entry),
                Message::Marks => told.marks = true,
                Message::Flush(reply) => told.flushes.push(reply),
                Message::Close => {
                    // What comes after is refused; what came before is still in the queue and is taken.
                    self.queue.close();
                    told.closing = true;
                }
            }
        }
        if told.closing {
            while let Ok(message) = self.queue.try_recv() {
                match message {
                    Message::Work(entry) => self.pending.push(entry),
                    Message::Flush(reply) => told.flushes.push(reply),
                    Message::Marks | Message::Close => {}
                }
            }
        }
        told
    }

    fn take_marks(&mut self) {
        let Some(marks) = &self.marks else { return };
        let marks = marks.take();
        self.pending.extend(marks.into_iter().map(|mark| Entry { operation: Operation::Seen(mark), reply: None }));
        if self.keeps_time.load(Ordering::Relaxed) {
            let operation = Operation::Time(self.facts.clock.now());
            self.pending.push(Entry { operation, reply: None });
        }
    }

    /// Runs the first operation of each key in one transaction and leaves the rest for the next round.
    async fn round(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let mut keys = HashSet::new();
        let mut round = Vec::new();
        let mut later = Vec::new();
        for entry in self.pending.drain(..) {
            if round.len() < ROUND && keys.insert(entry.operation.key()) {
                round.push(entry);
            } else {
                later.push(entry);
            }
        }
        self.pending = later;
        // Locks are taken in the order of keys.
        round.sort_by_key(|entry| entry.operation.key());
        let operations: Vec<&Operation> = round.iter().map(|entry| &entry.operation).collect();
        let began = self.facts.clock.monotonic();
        let alone = match attempt(&self.facts, &mut self.link, &operations).await {
            Ok(done) => {
                let took = self.facts.clock.monotonic().saturating_sub(began);
                metrics().batch_seconds.observe(took.as_secs_f64());
                metrics().batch_size.observe(f64::from(u32::try_from(operations.len()).unwrap_or(u32::MAX)));
                self.facts.models.apply(&done.changes);
                self.answer_decided(round, done.outcomes)
            }
            Err(error) => {
                tracing::warn!(%error, operations = round.len(), "a batch failed; its operations are run singly");
                round
            }
        };
        for (entry, outcome) in retry::one_by_one(&self.facts, &mut self.link, alone).await {
            self.answer(entry, outcome);
        }
    }

    /// Answers who has an outcome and gives back the others.
    fn answer_decided(&self, round: Vec<Entry>, outcomes: Vec<Option<Outcome>>) -> Vec<Entry> {
        let mut undecided = Vec::new();
        for (entry, outcome) in round.into_iter().zip(outcomes) {
            match outcome {
                Some(outcome) => self.answer(entry, Ok(outcome)),
                None => undecided.push(entry),
            }
        }
        undecided
    }

    fn answer(&self, entry: Entry, outcome: Result<Outcome, Error>) {
        if let Operation::Seen(mark) = entry.operation {
            if !matches!(outcome, Ok(Outcome::Done))
                && let Some(marks) = &self.marks
            {
                marks.put_back(mark);
            }
            return;
        }
        if matches!(entry.operation, Operation::Time(_)) {
            // The next one says more.
            return;
        }
        match (entry.reply, outcome) {
            // A caller who has gone does not matter: what he asked for is done.
            (Some(reply), outcome) => drop(reply.send(outcome)),
            (None, Err(error)) => tracing::error!(%error, "an audit event was lost"),
            (None, Ok(_)) => {}
        }
    }
}
