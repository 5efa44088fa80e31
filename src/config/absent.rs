//! Settings whose feature is not built yet. Their names are fixed, so they are known; setting one is
//! refused instead of ignored, with what to do meanwhile.

use super::key::{Key, Kind};
use super::reader::Reader;

macro_rules! absent {
    ($name:literal, $instead:literal, $meaning:literal) => {
        &Key {
            name: $name,
            kind: Kind::Text,
            default: "",
            allowed: concat!("nothing yet; ", $instead),
            meaning: $meaning,
            secret: true,
        }
    };
}

pub(super) const KEYS: &[&Key] = &[
    absent!("redis.url", "short-lived state is kept in the database", "Short-lived state shared by nodes"),
    absent!("broker.url", "events are kept in the outbox", "Where events are published"),
    absent!("smtp.url", "no built feature needs mail", "Where mail is handed over"),
    absent!("smtp.from", "no built feature needs mail", "The sender of mails"),
];

/// Refuses those that are set.
pub(super) fn refuse(reader: &mut Reader) {
    for key in KEYS {
        if reader.is_set(key) {
            reader.fault(key, "is not built in this version");
        }
    }
}
