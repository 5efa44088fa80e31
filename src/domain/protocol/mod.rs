//! The rules of the protocols: pure functions, each citing its paragraph.

pub mod refusal;
