//! Sealing, tagging and hashing: everything that leaves the process or rests in the store and must
//! come back unread and unchanged (`security-design` rules 7, 13, 14, 16). One key per realm, purpose
//! and master key, derived by HKDF (RFC 5869); nothing here keeps state besides those keys.

mod hash;
mod master;
mod sealer;
pub mod token;

pub use hash::sha256;
pub use master::{MasterKey, MasterKeyError, load_or_create};
pub use sealer::{Purpose, SEAL_OVERHEAD, Sealer};
