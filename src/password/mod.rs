//! Password hashing behind its gate: who may wait is decided before anything is spent, the hashing
//! itself has threads and memory of its own, and every failure costs the same (`security-design`
//! rules 23 and 24). Argon2id is RFC 9106.

mod calibrate;
mod gate;
pub mod policy;
mod pool;
mod verify;

pub use calibrate::{Calibration, calibrate};
pub use gate::{GateError, GateSettings, PasswordGate, StartError, Verdict};
pub use policy::{PolicyFault, normalise};
