//! End to end: the real binary, a real browser, a relying party that others wrote.

mod apache;
mod harness;
mod looks;
mod peers;
mod signing_out;
