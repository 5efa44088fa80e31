//! The guard: read models are used only while the change feed is at most a second behind. It counts in
//! monotonic time from the moment a poll was SENT: what was committed before that moment has been seen, what
//! was committed while the answer was on its way may not have been (`security-design` rule 17).

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// An answer older than this is not used.
const FRESH: Duration = Duration::from_secs(1);

/// Never caught up.
const NEVER: u64 = u64::MAX;

/// When the feed last caught up.
#[derive(Debug)]
pub(super) struct Guard {
    /// Microseconds of monotonic time.
    sent: AtomicU64,
}

impl Guard {
    pub(super) const fn new() -> Self {
        Self { sent: AtomicU64::new(NEVER) }
    }

    /// A poll that was sent then has been applied.
    pub(super) fn caught_up(&self, sent: Duration) {
        let sent = u64::try_from(sent.as_micros()).unwrap_or(NEVER - 1);
        // Polls are taken in turn, so the later one is the greater one.
        self.sent.store(sent, Ordering::Release);
    }

    /// Whether read models may be used.
    pub(super) fn is_fresh(&self, now: Duration) -> bool {
        self.is_within(now, FRESH)
    }

    /// How long ago the last applied poll was sent; `None` = there was none.
    pub(super) fn age(&self, now: Duration) -> Option<Duration> {
        let sent = self.sent.load(Ordering::Acquire);
        (sent != NEVER).then(|| now.saturating_sub(Duration::from_micros(sent)))
    }

    /// Whether a poll was sent at most `span` ago and applied.
    pub(super) fn is_within(&self, now: Duration, span: Duration) -> bool {
        self.age(now).is_some_and(|age| age <= span)
    }
}
