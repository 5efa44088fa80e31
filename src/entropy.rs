//! The only place that draws random bytes, ids and tokens.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use aws_lc_rs::{digest, rand};
use uuid::Uuid;

use doorward_domain::model::timestamp::Timestamp;

/// Draws random bytes. Injected everywhere; `purpose` keeps seeded draws apart, so that one more draw
/// in one place does not shift all others.
pub trait Entropy: Send + Sync + fmt::Debug {
    /// Fills `buffer`.
    fn fill(&self, purpose: &'static str, buffer: &mut [u8]);

    /// An id of version 7 (RFC 9562 section 5.7): ordered by birth, 74 random bits.
    fn uuid(&self, purpose: &'static str, now: Timestamp) -> Uuid {
        let mut random = [0; 10];
        self.fill(purpose, &mut random);
        uuid::Builder::from_unix_timestamp_millis(u64::try_from(now.as_millis()).unwrap_or(0), &random).into_uuid()
    }
}

/// Draws `N` random bytes.
#[must_use]
pub fn bytes<const N: usize>(entropy: &dyn Entropy, purpose: &'static str) -> [u8; N] {
    let mut buffer = [0; N];
    entropy.fill(purpose, &mut buffer);
    buffer
}

/// The operating system's generator.
#[derive(Debug, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, _purpose: &'static str, buffer: &mut [u8]) {
        // Without random bytes nothing here may go on: no answer is better than a guessable one.
        assert!(rand::fill(buffer).is_ok(), "the operating system gives no random bytes");
    }
}

/// Bytes that follow from a seed, for tests.
pub struct SeededEntropy {
    seed: u64,
    counters: Mutex<HashMap<&'static str, u64>>,
}

impl SeededEntropy {
    /// Draws that follow from `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed, counters: Mutex::new(HashMap::new()) }
    }
}

impl fmt::Debug for SeededEntropy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SeededEntropy").field("seed", &self.seed).finish_non_exhaustive()
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, purpose: &'static str, buffer: &mut [u8]) {
        let mut counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        let counter = counters.entry(purpose).or_default();
        for chunk in buffer.chunks_mut(32) {
            *counter += 1;
            let mut context = digest::Context::new(&digest::SHA256);
            context.update(&self.seed.to_be_bytes());
            context.update(purpose.as_bytes());
            context.update(&counter.to_be_bytes());
            for (to, from) in chunk.iter_mut().zip(context.finish().as_ref()) {
                *to = *from;
            }
        }
    }
}
