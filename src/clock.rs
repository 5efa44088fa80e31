//! The only place that reads the time. One clock decides (`security-design` rule 17): monotonic time
//! since the start plus an offset to the database's clock that the change feed sets at each poll.

use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use doorward_domain::model::timestamp::Timestamp;

/// Tells the time. Injected everywhere, so that tests can move it.
pub trait Clock: Send + Sync + fmt::Debug {
    /// The moment that decides: never goes backwards.
    fn now(&self) -> Timestamp;

    /// Monotonic time since an arbitrary start, for spans inside this process.
    fn monotonic(&self) -> Duration;

    /// Tells the clock what the database's clock showed. A clock of the tests ignores it.
    fn adjust(&self, database_now: Timestamp);
}

/// The system's clock, led by the database's.
#[derive(Debug)]
pub struct SystemClock {
    start: Instant,
    /// Microseconds to add to monotonic time.
    offset: AtomicI64,
    /// The latest moment handed out.
    latest: AtomicI64,
}

impl SystemClock {
    /// Starts from the system's wall clock.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the system's time")]
    pub fn new() -> Self {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let micros = i64::try_from(wall.as_micros()).unwrap_or(i64::MAX);
        Self { start: Instant::now(), offset: AtomicI64::new(micros), latest: AtomicI64::new(micros) }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let elapsed = i64::try_from(self.monotonic().as_micros()).unwrap_or(i64::MAX);
        let now = elapsed.saturating_add(self.offset.load(Ordering::Relaxed));
        let before = self.latest.fetch_max(now, Ordering::Relaxed);
        Timestamp::from_micros(now.max(before))
    }

    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }

    fn adjust(&self, database_now: Timestamp) {
        let elapsed = i64::try_from(self.monotonic().as_micros()).unwrap_or(i64::MAX);
        self.offset.store(database_now.as_micros().saturating_sub(elapsed), Ordering::Relaxed);
    }
}

/// A clock that stands still until it is moved, for tests.
#[derive(Debug)]
pub struct ManualClock {
    micros: AtomicI64,
}

impl ManualClock {
    /// Stands at `at`.
    #[must_use]
    pub const fn new(at: Timestamp) -> Self {
        Self { micros: AtomicI64::new(at.as_micros()) }
    }

    /// Moves it forward.
    pub fn advance(&self, by: Duration) {
        self.micros.fetch_add(i64::try_from(by.as_micros()).unwrap_or(i64::MAX), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.micros.load(Ordering::SeqCst))
    }

    fn monotonic(&self) -> Duration {
        Duration::from_micros(u64::try_from(self.micros.load(Ordering::SeqCst)).unwrap_or(0))
    }

    fn adjust(&self, _database_now: Timestamp) {}
}
