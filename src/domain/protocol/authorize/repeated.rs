//! A `code_challenge` or `nonce` that comes again and again protects nobody: it was written into the
//! application instead of being drawn for each request. RFC 9700 section 2.1.1 asks for a reasonable effort
//! to notice that. It is told to the operator, never to the browser: reloading a page, or going back to it,
//! repeats a request rightly, and refusing would make a sign-in fail for the application's mistake.

use std::time::Duration;

use crate::model::timestamp::Timestamp;

/// So often within [`WINDOW`] no person reloads a page.
pub const MANY: u32 = 50;
/// How long a value is remembered from when it first came.
pub const WINDOW: Duration = Duration::from_secs(3600);

/// How often a value has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    since: Timestamp,
    times: u32,
}

impl Seen {
    /// A value comes, after what is known of it. `true`: this is the one time to tell of it.
    #[must_use]
    pub fn again(known: Option<Self>, now: Timestamp) -> (Self, bool) {
        match known.filter(|known| now.since(known.since) < WINDOW) {
            Some(known) => {
                let times = known.times.saturating_add(1);
                (Self { times, ..known }, times == MANY)
            }
            None => (Self { since: now, times: 1 }, false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_secs(1_800_000_000);

    /// At which of the moments a value coming then is told of.
    fn told(moments: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let mut known = None;
        let mut told = Vec::new();
        for second in moments {
            let (seen, tell) = Seen::again(known, START.plus(Duration::from_secs(second)));
            known = Some(seen);
            if tell {
                told.push(second);
            }
        }
        told
    }

    #[test]
    fn the_fiftieth_time_within_an_hour_is_told_and_no_other() {
        assert_eq!(told(0..49), [] as [u64; 0]);
        assert_eq!(told(0..1_000), [49]);
        assert_eq!(told((0..100).map(|_| 0)), [0]);
    }

    #[test]
    fn an_hour_after_the_first_it_begins_anew() {
        assert_eq!(told((0..49).chain(3_600..3_648)), [] as [u64; 0], "never fifty within one hour");
        assert_eq!(told((0..49).chain([3_599])), [3_599]);
        assert_eq!(told((0..60).chain(3_600..3_660)), [49, 3_649], "told once an hour");
    }
}
