//! Admission: a sign-in that cannot be answered within its deadline is refused before it costs
//! anything, and one that nobody waits for any more is never hashed (`contract` section 7). The only
//! place besides `clock` and `observe` that reads monotonic time: it measures what a hash takes here.

use std::fmt;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use argon2::Params;
use tokio::sync::oneshot;
use zeroize::Zeroizing;

use super::pool::{Load, Pool};
use super::verify::{Arena, Hasher, SALT_LEN, Stored};
use super::{policy, verify};
use crate::config;
use crate::domain::model::secret::Secret;
use crate::entropy::{self, Entropy};
use crate::observe::metrics;

/// What may wait when the queue's length is left to measurement.
const AUTO_WAIT: Duration = Duration::from_millis(150);
/// Hashes at the start that tell what one takes.
const TRIALS: u32 = 3;

/// How the gate works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GateSettings {
    /// Argon2id memory of one hash.
    pub memory_kib: u32,
    /// Argon2id passes.
    pub iterations: u32,
    /// Argon2id lanes.
    pub parallelism: u32,
    /// Threads; one per core when absent.
    pub workers: Option<usize>,
    /// Jobs that may wait; 150 ms of measured capacity when absent.
    pub queue: Option<usize>,
    /// The longest wait.
    pub deadline: Duration,
}

impl From<&config::Password> for GateSettings {
    fn from(section: &config::Password) -> Self {
        Self {
            memory_kib: section.memory_kib,
            iterations: section.iterations,
            parallelism: section.parallelism,
            workers: section.workers,
            queue: section.queue,
            deadline: section.deadline,
        }
    }
}

/// The gate cannot work with these settings on this machine.
#[derive(Debug)]
pub struct StartError(String);

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "password hashing cannot start: {}", self.0)
    }
}

impl std::error::Error for StartError {}

/// Why there is no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateError {
    /// Capacity is used up; nothing was computed, nothing will be.
    Busy {
        /// When a new attempt has a chance.
        retry_after: Duration,
    },
    /// A hash could not be computed.
    Broken,
}

impl fmt::Display for GateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy { .. } => f.write_str("password hashing is at its capacity"),
            Self::Broken => f.write_str("a password hash could not be computed"),
        }
    }
}

impl std::error::Error for GateError {}

/// What became of a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// It is the stored one.
    pub matches: bool,
    /// It is, and its hash should be made anew with today's parameters.
    pub needs_rehash: bool,
}

enum Work {
    /// `None` = a decoy of equal cost.
    Verify(Option<Stored>),
    Hash([u8; SALT_LEN]),
}

enum Answer {
    Verdict(Verdict),
    Phc(Option<String>),
    Late,
}

struct Job {
    password: Zeroizing<String>,
    work: Work,
    since: Instant,
    /// Taken by the thread that hashes it or by the caller who gives up: whoever is first.
    claimed: Arc<AtomicBool>,
    answer: oneshot::Sender<Answer>,
}

/// Nanoseconds per KiB and pass, measured all the time, as the bits of an `f64`.
struct Pace(AtomicU64);

impl Pace {
    fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }

    /// A tenth of what is new: one slow hash closes no gate, a slower machine does soon.
    fn learn(&self, took: Duration, work: u64) {
        let sample = nanos(took) / float(work);
        self.0.store((self.get() * 0.9 + sample * 0.1).to_bits(), Ordering::Relaxed);
    }
}

struct Inner {
    pool: Pool<Job>,
    hasher: Arc<Hasher>,
    pace: Arc<Pace>,
    workers: usize,
    settings: GateSettings,
    entropy: Arc<dyn Entropy>,
}

/// The gate. Cheap to clone; the last one dropped ends the threads.
#[derive(Clone)]
pub struct PasswordGate(Arc<Inner>);

impl fmt::Debug for PasswordGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PasswordGate").field("settings", &self.0.settings).finish_non_exhaustive()
    }
}

impl PasswordGate {
    /// Measures a few hashes on the calling thread, then starts the workers.
    pub fn start(settings: GateSettings, entropy: Arc<dyn Entropy>) -> Result<Self, StartError> {
        let params = Params::new(settings.memory_kib, settings.iterations, settings.parallelism, Some(32));
        let params = params.map_err(|error| StartError(error.to_string()))?;
        let hasher = Arc::new(Hasher::new(params, entropy::bytes(entropy.as_ref(), "decoy_salt")));
        let pace = Arc::new(Pace(AtomicU64::new(measure(&hasher).to_bits())));
        let workers = settings.workers.unwrap_or_else(cores).max(1);
        let pool = {
            let (hasher, of_arena, pace) = (Arc::clone(&hasher), Arc::clone(&hasher), Arc::clone(&pace));
            let work = move |job: Job, arena: &mut Arena| run(&hasher, &pace, settings.deadline, job, arena);
            Pool::start(workers, move || Arena::new(of_arena.params()), work)
        };
        let pool = pool.map_err(|error| StartError(error.to_string()))?;
        Ok(Self(Arc::new(Inner { pool, hasher, pace, workers, settings, entropy })))
    }

    /// Whether `password` fits the stored `phc`. Without one, or with one that cannot be read, a decoy
    /// of equal cost is computed, which never matches; so does a password beyond the length limits.
    pub async fn verify(&self, password: Secret, phc: Option<String>) -> Result<Verdict, GateError> {
        let stored = phc.as_deref().and_then(|phc| {
            let stored = self.0.hasher.read(phc);
            if stored.is_none() {
                // No value is named: the log is read by more people than the database.
                tracing::warn!("a stored password hash is of no known kind or beyond the bounds");
            }
            stored
        });
        let (password, stored) = match policy::normalise(password.expose()) {
            Ok(normal) => (Zeroizing::new(normal), stored),
            Err(_) => (Zeroizing::new(String::new()), None),
        };
        let foreign = stored.as_ref().map_or(0, |stored| stored.work);
        let cost = self.0.hasher.work().max(foreign);
        match self.submit(password, Work::Verify(stored), cost).await? {
            Answer::Verdict(verdict) => Ok(verdict),
            Answer::Phc(_) | Answer::Late => Err(GateError::Broken),
        }
    }

    /// The PHC string of `password`, which the policy has let pass.
    pub async fn hash(&self, password: Secret) -> Result<String, GateError> {
        let normal = policy::normalise(password.expose()).map_err(|_| GateError::Broken)?;
        let salt = entropy::bytes(self.0.entropy.as_ref(), "password_salt");
        let cost = self.0.hasher.work();
        match self.submit(Zeroizing::new(normal), Work::Hash(salt), cost).await? {
            Answer::Phc(Some(phc)) => Ok(phc),
            Answer::Phc(None) | Answer::Verdict(_) | Answer::Late => Err(GateError::Broken),
        }
    }

    /// Whether an attempt would be let in now: to refuse before any query. Promises nothing.
    pub fn check(&self) -> Result<(), GateError> {
        let load = self.0.pool.load();
        if self.admits(load) { Ok(()) } else { Err(self.busy("full", load)) }
    }

    async fn submit(&self, password: Zeroizing<String>, work: Work, cost: u64) -> Result<Answer, GateError> {
        let (answer, mut receiver) = oneshot::channel();
        let claimed = Arc::new(AtomicBool::new(false));
        let job = Job { password, work, since: Instant::now(), claimed: Arc::clone(&claimed), answer };
        if self.0.pool.push(job, cost, |load| self.admits(load)).is_err() {
            return Err(self.busy("full", self.0.pool.load()));
        }
        metrics().password_queue.inc();
        let answer = match tokio::time::timeout(self.0.settings.deadline, &mut receiver).await {
            Ok(answer) => answer,
            // Not begun: now it never will be. Begun: its end is near.
            Err(_) if !claimed.swap(true, Ordering::AcqRel) => Ok(Answer::Late),
            Err(_) => receiver.await,
        };
        match answer {
            Ok(Answer::Late) => Err(self.busy("late", self.0.pool.load())),
            Ok(answer) => Ok(answer),
            Err(_) => Err(GateError::Broken),
        }
    }

    /// Whether one more would be answered in time.
    fn admits(&self, load: Load) -> bool {
        let wait = self.wait(load);
        let room = match self.0.settings.queue {
            Some(queue) => load.waiting < queue,
            // Two for each thread always: on a slow machine 150 ms are less than one hash.
            None => wait <= AUTO_WAIT || load.waiting < 2 * self.0.workers,
        };
        room && wait <= self.0.settings.deadline
    }

    fn wait(&self, load: Load) -> Duration {
        let nanos = float(load.work) * self.0.pace.get() / float(self.0.workers as u64);
        Duration::try_from_secs_f64(nanos / 1e9).unwrap_or(Duration::MAX)
    }

    /// The wait that the queue stands for, and up to two seconds of chance so that those who were
    /// refused together do not come back together.
    fn busy(&self, cause: &str, load: Load) -> GateError {
        metrics().admission_refused.with_label_values(&[metrics::LANE_PASSWORD, cause]).inc();
        let [chance] = entropy::bytes::<1>(self.0.entropy.as_ref(), "retry_after");
        let jitter = Duration::from_millis(u64::from(chance) * 8);
        GateError::Busy { retry_after: Duration::from_secs(1) + self.wait(load) + jitter }
    }
}

/// One job on a hashing thread.
fn run(hasher: &Hasher, pace: &Pace, deadline: Duration, job: Job, arena: &mut Arena) {
    metrics().password_queue.dec();
    metrics().password_wait.observe(job.since.elapsed().as_secs_f64());
    if job.answer.is_closed() || job.claimed.swap(true, Ordering::AcqRel) {
        metrics().admission_refused.with_label_values(&[metrics::LANE_PASSWORD, "gone"]).inc();
        return;
    }
    if job.since.elapsed() > deadline {
        // The caller may have gone meanwhile; that is as well.
        drop(job.answer.send(Answer::Late));
        return;
    }
    let begun = Instant::now();
    let (answer, work) = match &job.work {
        Work::Verify(stored) => {
            let (matches, needs_rehash) = hasher.verify(arena, &job.password, stored.as_ref());
            (Answer::Verdict(Verdict { matches, needs_rehash }), verify::work_done(hasher, stored.as_ref(), matches))
        }
        Work::Hash(salt) => (Answer::Phc(hasher.hash(arena, &job.password, salt)), hasher.work()),
    };
    let took = begun.elapsed();
    pace.learn(took, work);
    metrics().password_seconds.with_label_values(&["argon2id"]).observe(took.as_secs_f64());
    drop(job.answer.send(answer));
}

/// Nanoseconds per KiB and pass: the best of a few, since the first one also pays for fresh memory.
fn measure(hasher: &Hasher) -> f64 {
    let mut arena = Arena::new(hasher.params());
    let best = (0..TRIALS).map(|_| {
        let begun = Instant::now();
        hasher.decoy(&mut arena, "a decoy for measuring");
        begun.elapsed()
    });
    nanos(best.min().unwrap_or_default()).max(1.0) / float(hasher.work())
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

fn nanos(span: Duration) -> f64 {
    span.as_secs_f64() * 1e9
}

#[expect(clippy::cast_precision_loss, reason = "an estimate: 52 bits of work are more than enough")]
fn float(work: u64) -> f64 {
    work as f64
}
