//! A moment: microseconds of UTC since 1970, as the database stores it. Outside it is RFC 3339.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A moment in microseconds since the Unix epoch. Arithmetic saturates: no clock can overflow it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default)]
#[serde(transparent)]
pub struct Timestamp(i64);

/// Clocks that follow one database differ by less than this between two polls.
const SKEW: Duration = Duration::from_secs(2);

impl Timestamp {
    /// From the stored form.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// From whole seconds, the unit of JWT's NumericDate (RFC 7519 section 2).
    #[must_use]
    pub const fn from_secs(secs: i64) -> Self {
        Self(secs.saturating_mul(1_000_000))
    }

    /// The stored form.
    #[must_use]
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Whole seconds, rounded down: a token is never dated into the future by rounding.
    #[must_use]
    pub const fn as_secs(self) -> i64 {
        self.0.div_euclid(1_000_000)
    }

    /// Whole milliseconds, rounded down.
    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.0.div_euclid(1_000)
    }

    /// This moment and `span` later.
    #[must_use]
    pub fn plus(self, span: Duration) -> Self {
        Self(self.0.saturating_add(micros(span)))
    }

    /// This moment and `span` earlier.
    #[must_use]
    pub fn minus(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(micros(span)))
    }

    /// The span since `earlier`; zero when `earlier` lies ahead.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// Whether this moment is at most `limit` after `earlier`, and not before it: a moment of the future is
    /// within no span, but for the little by which clocks of nodes may differ (`security-design` rule 17).
    #[must_use]
    pub fn is_within(self, limit: Duration, earlier: Self) -> bool {
        !earlier.is_ahead_of(self) && self.since(earlier) <= limit
    }

    /// Whether this moment lies further ahead of `now` than clocks of nodes may differ.
    #[must_use]
    pub fn is_ahead_of(self, now: Self) -> bool {
        self > now.plus(SKEW)
    }

    /// The RFC 3339 form, with microseconds only where there are any.
    #[must_use]
    pub fn to_rfc3339(self) -> String {
        OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000)
            .ok()
            .and_then(|moment| moment.format(&Rfc3339).ok())
            .unwrap_or_else(|| format!("{}us", self.0))
    }

    /// Reads an RFC 3339 moment; `None` when the text is not one.
    #[must_use]
    pub fn from_rfc3339(text: &str) -> Option<Self> {
        let moment = OffsetDateTime::parse(text, &Rfc3339).ok()?;
        i64::try_from(moment.unix_timestamp_nanos() / 1_000).ok().map(Self)
    }
}

fn micros(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_rfc3339())
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_and_read_back() {
        let moment = Timestamp::from_micros(1_796_061_600_250_000);
        assert_eq!(Timestamp::from_rfc3339(&moment.to_rfc3339()), Some(moment));
        assert_eq!(Timestamp::from_secs(0).to_rfc3339(), "1970-01-01T00:00:00Z");
    }

    #[test]
    fn arithmetic_never_overflows() {
        let end = Timestamp::from_micros(i64::MAX);
        assert_eq!(end.plus(Duration::from_secs(1)), end);
        assert_eq!(Timestamp::from_secs(1).since(end), Duration::ZERO);
        assert_eq!(Timestamp::from_micros(-1).as_secs(), -1);
    }

    #[test]
    fn within_a_span_is_neither_older_nor_of_the_future() {
        let now = Timestamp::from_secs(1_000);
        let ten = Duration::from_secs(10);
        for (earlier, want) in [(989, false), (990, true), (1_000, true), (1_002, true), (1_003, false), (9_000, false)]
        {
            assert_eq!(now.is_within(ten, Timestamp::from_secs(earlier)), want, "{earlier}");
        }
        assert!(now.is_within(Duration::ZERO, now));
        assert!(!now.is_within(ten, Timestamp::from_micros(i64::MAX)));
    }
}
