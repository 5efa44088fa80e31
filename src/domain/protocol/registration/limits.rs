//! How often one address may register, and when a client that registered itself goes (B-34; RFC 7591 section 5).

use std::net::IpAddr;
use std::time::Duration;

use crate::model::realm::ClientRegistration;
use crate::model::timestamp::Timestamp;

const HOUR: i64 = 3600;

/// The counter of an address, and how long it lasts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowance {
    /// Names network and hour.
    pub counter: Vec<u8>,
    /// What is left of the hour: the seconds after which to come again.
    pub resets_in: u32,
}

/// Where a registration from an address is counted: hours of the clock, so that the answer can say when the next
/// begins. Of IPv6 a household has a /64. Whoever comes without an address shares one counter.
#[must_use]
pub fn allowance(address: Option<IpAddr>, now: Timestamp) -> Allowance {
    let network = match address {
        None => Vec::new(),
        Some(IpAddr::V4(address)) => address.octets().to_vec(),
        Some(IpAddr::V6(address)) => address.octets().iter().take(8).copied().collect(),
    };
    let (hour, passed) = (now.as_secs().div_euclid(HOUR), now.as_secs().rem_euclid(HOUR));
    let counter = [b"register".as_slice(), &hour.to_be_bytes(), &network].concat();
    Allowance { counter, resets_in: u32::try_from(HOUR - passed).unwrap_or(1) }
}

/// The moments that decide which clients go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overdue {
    /// Registered before and never used.
    pub unused_before: Timestamp,
    /// Last used before.
    pub idle_before: Timestamp,
}

/// How often a use is written down at most: a mark may be this much older than the use.
pub const MARK_EVERY: Duration = Duration::from_secs(3600);

/// What is overdue at `now`.
#[must_use]
pub fn overdue(policy: &ClientRegistration, now: Timestamp) -> Overdue {
    Overdue {
        unused_before: now.minus(policy.unused_for.get()),
        idle_before: now.minus(policy.idle_for.get()).minus(MARK_EVERY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::span::Span;

    #[test]
    fn an_address_has_one_counter_an_hour_and_a_household_too() {
        let at = |secs| Timestamp::from_secs(secs);
        let v4: Option<IpAddr> = Some("192.0.2.1".parse().unwrap());
        let first = allowance(v4, at(7200));
        assert_eq!(first.resets_in, 3600);
        assert_eq!(allowance(v4, at(10_799)), Allowance { resets_in: 1, ..first.clone() });
        assert_ne!(allowance(v4, at(10_800)).counter, first.counter, "the next hour");
        let counter = |text: &str| allowance(Some(text.parse().unwrap()), at(7200)).counter;
        assert_ne!(counter("192.0.2.2"), first.counter);
        assert_eq!(counter("2001:db8:1:2::1"), counter("2001:db8:1:2:ffff::9"));
        assert_ne!(counter("2001:db8:1:2::1"), counter("2001:db8:1:3::1"));
        assert_ne!(allowance(None, at(7200)).counter, first.counter);
    }

    #[test]
    fn a_use_that_was_not_written_down_yet_counts() {
        let policy = ClientRegistration { idle_for: Span::days(1), unused_for: Span::hours(1), ..Default::default() };
        let found = overdue(&policy, Timestamp::from_secs(200_000));
        assert_eq!(found.unused_before, Timestamp::from_secs(196_400));
        assert_eq!(found.idle_before, Timestamp::from_secs(200_000 - 86_400 - 3_600));
    }
}
