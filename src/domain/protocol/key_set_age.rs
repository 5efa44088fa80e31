//! How long a fetched key set is believed, and when it may be fetched again (`security` row 63): a client
//! that changes its keys is understood at once, and whoever sends names of keys that do not exist makes the
//! server ask no more than once a minute.

use std::time::Duration;

use crate::model::timestamp::Timestamp;

/// Believed without another look.
const FRESH: Duration = Duration::from_secs(10 * 60);
/// Used as long as the host does not answer.
const USABLE: Duration = Duration::from_secs(60 * 60);
/// Between two fetches that a stranger can cause.
const COOLDOWN: Duration = Duration::from_secs(60);

/// What is known of the fetches of one set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KeySetAge {
    /// When the set that is held was fetched.
    pub fetched_at: Option<Timestamp>,
    /// When the host last failed to give one, unless it did since.
    pub failed_at: Option<Timestamp>,
    /// When a token last caused a fetch before its time.
    pub renewed_at: Option<Timestamp>,
}

impl KeySetAge {
    /// Whether the set need not be looked at again.
    #[must_use]
    pub fn is_fresh(&self, now: Timestamp) -> bool {
        within(FRESH, self.fetched_at, now)
    }

    /// Whether the set may be used if there is no newer one.
    #[must_use]
    pub fn is_usable(&self, now: Timestamp) -> bool {
        within(USABLE, self.fetched_at, now)
    }

    /// Whether a set that is not fresh may be fetched now.
    #[must_use]
    pub fn may_fetch(&self, now: Timestamp) -> bool {
        !within(COOLDOWN, self.failed_at, now)
    }

    /// Whether a token with an unknown key may cause a fetch before its time.
    #[must_use]
    pub fn may_renew(&self, now: Timestamp) -> bool {
        self.may_fetch(now) && !within(COOLDOWN, self.renewed_at, now)
    }

    /// After a fetch that gave a set.
    pub const fn fetched(&mut self, now: Timestamp) {
        self.fetched_at = Some(now);
        self.failed_at = None;
    }
}

/// Strictly within: when the span is over, it is over.
fn within(span: Duration, at: Option<Timestamp>, now: Timestamp) -> bool {
    at.is_some_and(|at| now < at.plus(span))
}

#[cfg(test)]
mod tests {
    use super::super::sample::{ago, now};
    use super::*;

    #[test]
    fn a_set_is_fresh_then_usable_then_gone() {
        for (age, fresh, usable) in
            [(0, true, true), (599, true, true), (600, false, true), (3_599, false, true), (3_600, false, false)]
        {
            let set = KeySetAge { fetched_at: Some(ago(age)), ..KeySetAge::default() };
            assert_eq!((set.is_fresh(now()), set.is_usable(now())), (fresh, usable), "{age}");
        }
        assert!(!KeySetAge::default().is_usable(now()));
    }

    #[test]
    fn a_host_that_failed_and_a_name_that_is_unknown_rest_a_minute() {
        for (failed, renewed, fetch, renew) in [
            (None, None, true, true),
            (Some(59), None, false, false),
            (Some(60), None, true, true),
            (None, Some(59), true, false),
            (None, Some(60), true, true),
        ] {
            let age = KeySetAge { fetched_at: Some(ago(1)), failed_at: failed.map(ago), renewed_at: renewed.map(ago) };
            assert_eq!((age.may_fetch(now()), age.may_renew(now())), (fetch, renew), "{failed:?} {renewed:?}");
        }
        let mut age = KeySetAge { fetched_at: None, failed_at: Some(ago(1)), renewed_at: Some(ago(1)) };
        age.fetched(now());
        assert_eq!((age.fetched_at, age.failed_at, age.renewed_at), (Some(now()), None, Some(ago(1))));
    }
}
