//! A span of time as people write it in the realm file and in doorward.toml: `90s`, `5m`, `12h`,
//! `30d`, `1h30m`. Parts go from large to small, each at most once; `0s` is the empty span.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A whole number of milliseconds, written with units.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(Duration);

const UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// The form that is allowed, for messages.
pub const SPAN_FORM: &str = "a span such as 90s, 5m, 12h, 30d or 1h30m";

impl Span {
    /// A span of milliseconds, as it is stored.
    #[must_use]
    pub const fn millis(millis: u64) -> Self {
        Self(Duration::from_millis(millis))
    }

    /// A span of whole seconds.
    #[must_use]
    pub const fn secs(secs: u64) -> Self {
        Self(Duration::from_secs(secs))
    }

    /// A span of minutes.
    #[must_use]
    pub const fn mins(mins: u64) -> Self {
        Self(Duration::from_secs(mins * 60))
    }

    /// A span of hours.
    #[must_use]
    pub const fn hours(hours: u64) -> Self {
        Self(Duration::from_secs(hours * 3600))
    }

    /// A span of days of 24 hours.
    #[must_use]
    pub const fn days(days: u64) -> Self {
        Self(Duration::from_secs(days * 86_400))
    }

    /// The standard library's form.
    #[must_use]
    pub const fn get(self) -> Duration {
        self.0
    }

    /// Whole seconds.
    #[must_use]
    pub const fn as_secs(self) -> u64 {
        self.0.as_secs()
    }
}

/// The text was not a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotASpan;

impl fmt::Display for NotASpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {SPAN_FORM}")
    }
}

impl std::error::Error for NotASpan {}

impl FromStr for Span {
    type Err = NotASpan;

    fn from_str(text: &str) -> Result<Self, NotASpan> {
        let mut rest = text;
        let mut millis: u64 = 0;
        let mut allowed = UNITS.as_slice();
        if rest.is_empty() {
            return Err(NotASpan);
        }
        while !rest.is_empty() {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let (number, after) = rest.split_at(digits);
            let letters = after.bytes().take_while(u8::is_ascii_alphabetic).count();
            let (unit, after) = after.split_at(letters);
            let number: u64 = number.parse().map_err(|_| NotASpan)?;
            let place = allowed.iter().position(|(name, _)| *name == unit).ok_or(NotASpan)?;
            let (head, tail) = allowed.split_at(place + 1);
            let factor = head.last().ok_or(NotASpan)?.1;
            millis = number.checked_mul(factor).and_then(|part| millis.checked_add(part)).ok_or(NotASpan)?;
            allowed = tail;
            rest = after;
        }
        Ok(Self(Duration::from_millis(millis)))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut millis = u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX);
        if millis == 0 {
            return f.write_str("0s");
        }
        for (unit, factor) in UNITS {
            let count = millis / factor;
            millis %= factor;
            if count > 0 {
                write!(f, "{count}{unit}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_and_written_back() {
        for text in ["0s", "90d", "1h30m", "250ms", "12h", "1m30s", "1d2h3m4s5ms"] {
            assert_eq!(text.parse::<Span>().map(|span| span.to_string()), Ok(text.to_owned()));
        }
        assert_eq!("90s".parse::<Span>().map(|span| span.to_string()), Ok("1m30s".to_owned()));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in
            ["", "5", "m", "5x", "5m1h", "5m5m", "-5m", "1.5h", " 5m", "99999999999999999999d", "999999999999999d"]
        {
            assert_eq!(text.parse::<Span>(), Err(NotASpan), "{text}");
        }
    }
}
