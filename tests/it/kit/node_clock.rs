//! A node's clock as the product has it, led by the database's: on a machine whose own clock is wrong, with
//! pauses and jumps made by the test. Nothing moves by itself: what the database's clock shows is the test's
//! too, and only the poll that brings it is real.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use doorward::clock::{Clock, FollowingClock, Ticks};
use doorward::domain::clock::{Reading, Step, Trust};
use doorward::domain::model::timestamp::Timestamp;

use super::op::START;

/// What the clock of the nodes' database shows.
#[derive(Debug, Clone)]
pub struct DatabaseTime(Arc<AtomicI64>);

impl DatabaseTime {
    /// [`START`].
    pub fn new() -> Self {
        Self(Arc::new(AtomicI64::new(START.as_micros())))
    }

    /// The database's clock is set.
    pub fn jump(&self, micros: i64) {
        self.0.fetch_add(micros, Ordering::SeqCst);
    }

    fn shown(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    /// A node on a machine whose own clock is wrong by so many microseconds.
    pub fn node(&self, wrong: i64) -> Arc<NodeClock> {
        let wall = Timestamp::from_micros(self.shown() + wrong);
        let led = FollowingClock::starting_at(wall, LeapingTicks { leapt: AtomicU64::new(0) });
        Arc::new(NodeClock { led, database: self.clone() })
    }
}

#[derive(Debug)]
struct LeapingTicks {
    leapt: AtomicU64,
}

impl Ticks for LeapingTicks {
    fn monotonic(&self) -> Duration {
        Duration::from_micros(self.leapt.load(Ordering::SeqCst))
    }
}

/// The clock of one node.
#[derive(Debug)]
pub struct NodeClock {
    led: FollowingClock<LeapingTicks>,
    database: DatabaseTime,
}

impl NodeClock {
    /// The node's own time goes on.
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
        self.led.follow(&Reading { shown: Timestamp::from_micros(self.database.shown()), ..*reading })
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
