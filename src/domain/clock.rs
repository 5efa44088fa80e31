//! How a process's clock follows the database's (`security-design` rule 17): monotonic time plus an offset
//! that each poll of the change feed shows anew. The clock never goes backwards, and a jump is not believed
//! before two polls agree on it; until then, and a little longer, nothing may end because time has passed.

use std::time::Duration;

use crate::model::timestamp::Timestamp;

/// A larger step is a jump; two polls that differ by less agree; a poll that took longer shows too little.
const JUMP: Duration = Duration::from_secs(2);

/// Without a poll for so long nobody knows whether the clock is still right.
const STALE: Duration = Duration::from_secs(10);

/// After a jump the age of what was noted before it is wrong by the jump. The longest grace of a refresh
/// token is thirty seconds: what is still older then is truly older.
const SETTLING: Duration = Duration::from_secs(30);

/// One look at the database's clock. What it showed was true at some moment between the two others, which
/// are monotonic time of this process: an answer that was long on its way shows little, but nothing wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// When the question was sent.
    pub sent: Duration,
    /// When the answer was there.
    pub received: Duration,
    /// What the database's clock showed.
    pub shown: Timestamp,
}

/// How far the clock may be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// It shows the database's time.
    Sure,
    /// It does, but jumped a moment ago: an age that spans the jump says nothing.
    Settling,
    /// It jumped and two polls have not agreed yet, or there was no poll for a while.
    Unsure,
}

impl Trust {
    /// Whether something may end, be deleted or be replaced because time has passed.
    #[must_use]
    pub const fn may_act(self) -> bool {
        matches!(self, Self::Sure)
    }
}

/// What a reading did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The clock follows. The first reading may be far from the machine's own clock.
    Followed,
    /// The database's clock is so many microseconds elsewhere than a moment ago: not believed yet.
    Jumped(i64),
    /// Still another time than the reading before, so many microseconds from ours.
    Wandering(i64),
    /// Two readings agree: ours has moved there, by so many microseconds.
    Settled(i64),
}

/// Where the database's time may lie, in microseconds to be added to monotonic time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bounds {
    low: i64,
    high: i64,
}

impl Bounds {
    fn of(reading: &Reading) -> Self {
        let shown = reading.shown.as_micros();
        let high = shown.saturating_sub(micros(reading.sent));
        Self { low: shown.saturating_sub(micros(reading.received)).min(high), high }
    }

    fn are_narrow(self) -> bool {
        self.high.saturating_sub(self.low) <= micros(JUMP)
    }

    /// How far an offset has to move to lie inside.
    fn step_from(self, offset: i64) -> i64 {
        offset.clamp(self.low, self.high).saturating_sub(offset)
    }

    fn agree(self, other: Self) -> bool {
        self.low.saturating_sub(other.high).max(other.low.saturating_sub(self.high)) <= micros(JUMP)
    }
}

/// What the clock knows about the last reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sight {
    /// There was none.
    None,
    /// The clock shows what it showed.
    Followed,
    /// It was elsewhere; its bounds, if they tell anything.
    Elsewhere(Option<Bounds>),
}

/// A clock that is led.
#[derive(Debug, Clone)]
pub struct LedClock {
    /// Microseconds from monotonic to the database's time.
    offset: i64,
    /// How much ahead of the database's time this clock was when it last had to go back, and when that was.
    ahead: (i64, Duration),
    /// What this database has seen before this process began.
    floor: Timestamp,
    sight: Sight,
    /// When the last reading was asked for.
    read_at: Duration,
    /// Until when ages may span a jump.
    settled_at: Duration,
}

impl LedClock {
    /// Shows the machine's own time until the first reading.
    #[must_use]
    pub fn new(wall: Timestamp, monotonic: Duration) -> Self {
        Self {
            offset: wall.as_micros().saturating_sub(micros(monotonic)),
            ahead: (0, monotonic),
            floor: Timestamp::from_micros(i64::MIN),
            sight: Sight::None,
            read_at: monotonic,
            settled_at: Duration::ZERO,
        }
    }

    /// The moment that decides. A clock that is ahead runs at half speed until the database's has caught up:
    /// it neither goes back nor stands still, so that spans still end.
    #[must_use]
    pub fn now(&self, monotonic: Duration) -> Timestamp {
        let (ahead, since) = self.ahead;
        let left = ahead.saturating_sub(micros(monotonic.saturating_sub(since)) / 2).max(0);
        Timestamp::from_micros(self.led(monotonic).saturating_add(left))
    }

    /// How far this clock is ahead of the database's.
    #[must_use]
    pub fn ahead(&self, monotonic: Duration) -> Duration {
        self.now(monotonic).since(Timestamp::from_micros(self.led(monotonic)))
    }

    /// Time has been at `mark` already, in a process before this one.
    pub fn recall(&mut self, mark: Timestamp, monotonic: Duration) {
        self.floor = self.floor.max(mark);
        self.raise_to(self.now(monotonic).max(mark), monotonic);
    }

    /// Takes a reading in.
    pub fn follow(&mut self, reading: &Reading, monotonic: Duration) -> Step {
        let bounds = Bounds::of(reading);
        self.read_at = reading.sent;
        let step = bounds.step_from(self.offset);
        match self.sight {
            Sight::None => {
                // Nothing was decided by the machine's own clock yet: going back from it is no harm.
                self.offset = bounds.low.saturating_add(bounds.high.saturating_sub(bounds.low) / 2);
                self.raise_to(self.floor, monotonic);
                self.sight = Sight::Followed;
                Step::Followed
            }
            Sight::Followed if step.unsigned_abs() <= micros(JUMP).unsigned_abs() => {
                self.move_by(step, monotonic);
                Step::Followed
            }
            Sight::Followed => {
                self.sight = Sight::Elsewhere(bounds.are_narrow().then_some(bounds));
                Step::Jumped(step)
            }
            Sight::Elsewhere(Some(before)) if bounds.are_narrow() && bounds.agree(before) => {
                self.move_by(step, monotonic);
                self.sight = Sight::Followed;
                self.settled_at = monotonic.saturating_add(SETTLING);
                Step::Settled(step)
            }
            Sight::Elsewhere(_) => {
                self.sight = Sight::Elsewhere(bounds.are_narrow().then_some(bounds));
                Step::Wandering(step)
            }
        }
    }

    /// How far it may be believed.
    #[must_use]
    pub fn trust(&self, monotonic: Duration) -> Trust {
        match self.sight {
            Sight::Followed if monotonic.saturating_sub(self.read_at) > STALE => Trust::Unsure,
            Sight::Followed if monotonic < self.settled_at => Trust::Settling,
            Sight::Followed => Trust::Sure,
            Sight::None | Sight::Elsewhere(_) => Trust::Unsure,
        }
    }

    /// Whether the last reading was elsewhere and no second one agreed.
    #[cfg(test)]
    const fn has_jumped(&self) -> bool {
        matches!(self.sight, Sight::Elsewhere(_))
    }

    /// The database's time.
    fn led(&self, monotonic: Duration) -> i64 {
        self.offset.saturating_add(micros(monotonic))
    }

    fn move_by(&mut self, step: i64, monotonic: Duration) {
        let before = self.now(monotonic);
        self.offset = self.offset.saturating_add(step);
        self.raise_to(before, monotonic);
    }

    /// At least `moment`, and from there slowly back to the database's time.
    fn raise_to(&mut self, moment: Timestamp, monotonic: Duration) {
        self.ahead = (moment.as_micros().saturating_sub(self.led(monotonic)).max(0), monotonic);
    }
}

fn micros(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
