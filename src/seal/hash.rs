//! SHA-256 of secrets with full entropy, as they rest in the database. Passwords never come here:
//! they have too little entropy for a fast hash.

use aws_lc_rs::digest;

use crate::domain::model::secret::SecretHash;

/// The SHA-256 (FIPS 180-4) of `data`.
#[must_use]
pub fn sha256(data: &[u8]) -> SecretHash {
    let mut hash = [0; 32];
    copy(&mut hash, digest::digest(&digest::SHA256, data).as_ref());
    SecretHash(hash)
}

/// Copies as much as both hold; callers pass equal lengths.
pub(super) fn copy(to: &mut [u8], from: &[u8]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}
