//! The only place that reads the time. One clock decides (`security-design` rule 17): monotonic time
//! since the machine's start plus an offset to the database's clock that the change feed sets at each poll.
//! How it is led is `domain/clock`'s rule.

use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use doorward_domain::clock::{LedClock, Reading, Step, Trust};
use doorward_domain::model::timestamp::Timestamp;

/// Tells the time. Injected everywhere, so that tests can move it.
pub trait Clock: Send + Sync + fmt::Debug {
    /// The moment that decides: never goes backwards.
    fn now(&self) -> Timestamp;

    /// Monotonic time since an arbitrary start, for spans inside this process.
    fn monotonic(&self) -> Duration;

    /// Tells the clock what the database's clock showed. A clock that stands still ignores it.
    fn follow(&self, reading: &Reading) -> Step;

    /// Time has been at `mark` already, in a process before this one.
    fn recall(&self, mark: Timestamp);

    /// How far the moment may be believed by what ends, deletes or replaces because time has passed.
    fn trust(&self) -> Trust;

    /// How far it is ahead of the database's clock, which it waits for without standing still.
    fn ahead(&self) -> Duration;
}

/// Where monotonic time comes from.
pub trait Ticks: Send + Sync + fmt::Debug {
    /// Monotonic time since an arbitrary start.
    fn monotonic(&self) -> Duration;
}

/// The machine's.
#[derive(Debug)]
pub struct Machine;

impl Ticks for Machine {
    /// Counts while the machine sleeps, too: what was known before is old afterwards.
    #[cfg(target_os = "linux")]
    fn monotonic(&self) -> Duration {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
    }

    #[cfg(not(target_os = "linux"))]
    fn monotonic(&self) -> Duration {
        static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
        START.elapsed()
    }
}

/// A clock that the database's leads.
#[derive(Debug)]
pub struct FollowingClock<T> {
    ticks: T,
    led: RwLock<LedClock>,
}

/// The system's clock, led by the database's.
pub type SystemClock = FollowingClock<Machine>;

impl SystemClock {
    /// Starts from the system's wall clock.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the system's time")]
    pub fn new() -> Self {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::starting_at(Timestamp::from_micros(i64::try_from(wall.as_micros()).unwrap_or(i64::MAX)), Machine)
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Ticks> FollowingClock<T> {
    /// Starts on a machine whose own clock shows `wall`.
    #[must_use]
    pub fn starting_at(wall: Timestamp, ticks: T) -> Self {
        let led = RwLock::new(LedClock::new(wall, ticks.monotonic()));
        Self { ticks, led }
    }

    /// Where its monotonic time comes from.
    #[must_use]
    pub const fn ticks(&self) -> &T {
        &self.ticks
    }

    /// Monotonic time is read while nobody moves the clock: read before, it would be of before the move.
    fn read<R>(&self, look: impl FnOnce(&LedClock, Duration) -> R) -> R {
        let led = self.led.read().unwrap_or_else(PoisonError::into_inner);
        look(&led, self.ticks.monotonic())
    }

    fn write<R>(&self, change: impl FnOnce(&mut LedClock, Duration) -> R) -> R {
        let mut led = self.led.write().unwrap_or_else(PoisonError::into_inner);
        let monotonic = self.ticks.monotonic();
        change(&mut led, monotonic)
    }
}

impl<T: Ticks> Clock for FollowingClock<T> {
    fn now(&self) -> Timestamp {
        self.read(LedClock::now)
    }

    fn monotonic(&self) -> Duration {
        self.ticks.monotonic()
    }

    fn follow(&self, reading: &Reading) -> Step {
        self.write(|led, monotonic| led.follow(reading, monotonic))
    }

    fn recall(&self, mark: Timestamp) {
        self.write(|led, monotonic| led.recall(mark, monotonic));
    }

    fn trust(&self) -> Trust {
        self.read(LedClock::trust)
    }

    fn ahead(&self) -> Duration {
        self.read(LedClock::ahead)
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

    fn follow(&self, _reading: &Reading) -> Step {
        Step::Followed
    }

    fn recall(&self, _mark: Timestamp) {}

    fn trust(&self) -> Trust {
        Trust::Sure
    }

    fn ahead(&self) -> Duration {
        Duration::ZERO
    }
}
