//! Password hashing and its admission control.

use std::time::Duration;

use super::key::{Key, Kind};
use super::reader::Reader;

const MEMORY: Key = Key {
    name: "password.argon2.memory_kib",
    kind: Kind::Integer,
    default: "7168",
    allowed: "64 to 262144, at least 8 for each lane",
    meaning: "Memory of one hash. `doorward hash calibrate` measures the sets that OWASP lists as equal",
    secret: false,
};
const ITERATIONS: Key = Key {
    name: "password.argon2.iterations",
    kind: Kind::Integer,
    default: "5",
    allowed: "1 to 64",
    meaning: "Passes over that memory",
    secret: false,
};
const PARALLELISM: Key = Key {
    name: "password.argon2.parallelism",
    kind: Kind::Integer,
    default: "1",
    allowed: "1 to 8",
    meaning: "Lanes; one hash runs on one thread whatever this says",
    secret: false,
};
const WORKERS: Key = Key {
    name: "password.workers",
    kind: Kind::IntegerOrAuto,
    default: "auto",
    allowed: "1 to 256, or `auto` for one per core",
    meaning: "Threads that hash",
    secret: false,
};
const QUEUE: Key = Key {
    name: "password.queue",
    kind: Kind::IntegerOrAuto,
    default: "auto",
    allowed: "1 to 10000, or `auto` for 150 ms of measured capacity",
    meaning: "Sign-ins that may wait; the next is answered 503",
    secret: false,
};
const DEADLINE: Key = Key {
    name: "password.deadline_ms",
    kind: Kind::Integer,
    default: "1000",
    allowed: "50 to 30000",
    meaning: "A sign-in that would wait longer is answered 503 and never verified afterwards",
    secret: false,
};

pub(super) const KEYS: &[&Key] = &[&MEMORY, &ITERATIONS, &PARALLELISM, &WORKERS, &QUEUE, &DEADLINE];

/// The settings of this section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Password {
    /// Argon2id memory.
    pub memory_kib: u32,
    /// Argon2id passes.
    pub iterations: u32,
    /// Argon2id lanes.
    pub parallelism: u32,
    /// Hashing threads; one per core when absent.
    pub workers: Option<usize>,
    /// Waiting jobs; measured when absent.
    pub queue: Option<usize>,
    /// The longest wait.
    pub deadline: Duration,
}

impl Password {
    pub(super) fn read(reader: &mut Reader) -> Option<Self> {
        let memory_kib = reader.integer(&MEMORY, 64..=262_144);
        let iterations = reader.integer(&ITERATIONS, 1..=64);
        let parallelism = reader.integer(&PARALLELISM, 1..=8);
        let workers = reader.integer_or_auto(&WORKERS, 1_u16..=256);
        let queue = reader.integer_or_auto(&QUEUE, 1_u16..=10_000);
        let deadline = reader.integer(&DEADLINE, 50..=30_000);
        Some(Self {
            memory_kib: memory_kib?,
            iterations: iterations?,
            parallelism: parallelism?,
            workers: workers?.map(usize::from),
            queue: queue?.map(usize::from),
            deadline: Duration::from_millis(deadline?),
        })
    }
}
