//! A node's clock as the product has it, led by the database's: on a machine whose own clock is wrong, with
//! pauses and jumps made by the test. The database's time seems to begin at the tests' [`START`].

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use doorward::clock::{Clock, FollowingClock, Machine, SystemClock, Ticks};
use doorward::domain::clock::{Reading, Step, Trust};
use doorward::domain::model::timestamp::Timestamp;

use super::op::START;

/// What the clock of the nodes' database shows: the real one, moved to the tests' time and by their jumps.
#[derive(Debug, Clone)]
pub struct DatabaseTime(Arc<AtomicI64>);

impl DatabaseTime {
    /// About [`START`] now.
    pub fn new() -> Self {
        let real = SystemClock::new().now().as_micros();
        Self(Arc::new(AtomicI64::new(START.as_micros() - real)))
    }

    /// The database's clock is set.
    pub fn jump(&self, micros: i64) {
        self.0.fetch_add(micros, Ordering::SeqCst);
    }

    /// A node on a machine whose own clock is wrong by so many microseconds.
    pub fn node(&self, wrong: i64) -> Arc<NodeClock> {
        let ticks = LeapingTicks { leapt: AtomicU64::new(0) };
        let wall = SystemClock::new().now().as_micros() + self.0.load(Ordering::SeqCst) + wrong;
        let led = FollowingClock::starting_at(Timestamp::from_micros(wall), ticks);
        Arc::new(NodeClock { led, database: self.clone() })
    }
}

#[derive(Debug)]
struct LeapingTicks {
    leapt: AtomicU64,
}

impl Ticks for LeapingTicks {
    fn monotonic(&self) -> Duration {
        Machine.monotonic() + Duration::from_micros(self.leapt.load(Ordering::SeqCst))
    }
}

/// The clock of one node.
#[derive(Debug)]
pub struct NodeClock {
    led: FollowingClock<LeapingTicks>,
    database: DatabaseTime,
}

impl NodeClock {
    /// The node was paused, and only its own time went on.
    pub fn leap(&self, by: Duration) {
        self.led.ticks().leapt.fetch_add(u64::try_from(by.as_micros()).expect("a span"), Ordering::SeqCst);
    }
}

impl Clock for NodeClock {
    fn now(&self) -> Timestamp {
        self.led.now()
    }

    fn monotonic(&self) -> Duration {
        self.led.monotonic()
    }

    fn follow(&self, reading: &Reading) -> Step {
        let shown = reading.shown.as_micros() + self.database.0.load(Ordering::SeqCst);
        self.led.follow(&Reading { shown: Timestamp::from_micros(shown), ..*reading })
    }

    fn recall(&self, mark: Timestamp) {
        self.led.recall(mark);
    }

    fn trust(&self) -> Trust {
        self.led.trust()
    }

    fn ahead(&self) -> Duration {
        self.led.ahead()
    }
}
