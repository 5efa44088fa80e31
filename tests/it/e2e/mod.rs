//! End to end: the real binary, a real browser, a relying party that others wrote.

mod apache;
mod harness;
mod looks;
mod signing_out;
