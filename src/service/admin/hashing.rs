//! Password hashing as an operator sees it.

use std::time::Duration;

use crate::clock::SystemClock;
pub use crate::password::Calibration;

/// Measures each recommended parameter set for `span`, with all cores at work.
#[must_use]
pub fn calibrate(span: Duration) -> Vec<Calibration> {
    crate::password::calibrate(&SystemClock::new(), span)
}
