//! `doorward hash calibrate`: the parameter sets that OWASP lists as equally strong (Password Storage
//! Cheat Sheet, Argon2id), measured on this machine with all cores at work, as in a busy hour.

use std::num::NonZero;
use std::thread;
use std::time::Duration;

use argon2::Params;

use super::verify::{Arena, Hasher};
use crate::clock::Clock;

/// MiB and passes, one lane each.
const SETS: [(u32, u32); 5] = [(46, 1), (19, 2), (12, 3), (9, 4), (7, 5)];

/// What one set reaches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// Argon2id memory of one hash.
    pub memory_kib: u32,
    /// Argon2id passes.
    pub iterations: u32,
    /// Argon2id lanes.
    pub parallelism: u32,
    /// Threads at work.
    pub workers: usize,
    /// What one hash takes while all threads work.
    pub per_hash: Duration,
    /// Hashes a second of the whole machine: the ceiling of sign-ins.
    pub logins_per_second: f64,
}

/// Measures each set for `span`.
#[must_use]
pub fn calibrate(clock: &dyn Clock, span: Duration) -> Vec<Calibration> {
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    let sets = SETS.iter().filter_map(|(mib, passes)| Params::new(mib * 1024, *passes, 1, Some(32)).ok());
    sets.map(|params| measure(clock, span, workers, params)).collect()
}

fn measure(clock: &dyn Clock, span: Duration, workers: usize, params: Params) -> Calibration {
    let (memory_kib, iterations, parallelism) = (params.m_cost(), params.t_cost(), params.p_cost());
    let hasher = Hasher::new(params, [7; 16]);
    let rates: Vec<f64> = thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(|| rate(clock, span, &hasher))).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    let logins_per_second: f64 = rates.iter().sum();
    let each = rates.iter().copied().fold(0.0, f64::max);
    let per_hash = Duration::try_from_secs_f64(each.recip()).unwrap_or(Duration::MAX);
    Calibration { memory_kib, iterations, parallelism, workers, per_hash, logins_per_second }
}

/// Hashes a second on this thread. The first one pays for fresh memory and does not count.
fn rate(clock: &dyn Clock, span: Duration, hasher: &Hasher) -> f64 {
    let mut arena = Arena::new(hasher.params());
    hasher.decoy(&mut arena, "calibration");
    let begun = clock.monotonic();
    let mut hashes = 0_u32;
    loop {
        hasher.decoy(&mut arena, "calibration");
        hashes += 1;
        let took = clock.monotonic().saturating_sub(begun);
        if took >= span || hashes == u32::MAX {
            return f64::from(hashes) / took.as_secs_f64().max(f64::EPSILON);
        }
    }
}
