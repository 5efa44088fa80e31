//! What may be a password: its length after normalisation, and, where a person chooses one, that it is none
//! of those tried first; no composition rules, no trimming (NIST SP 800-63B-4 section 3.1.1.2, B-46).

use std::fmt;

use unicode_normalization::{UnicodeNormalization, is_nfc};

use crate::domain::model::realm::PasswordPolicy;
use crate::domain::signin::weak_password;

/// Characters at most, after normalisation.
pub const MAX_CHARS: usize = 256;
/// Bytes at most, after normalisation.
pub const MAX_BYTES: usize = 1024;

/// Why a text may not be a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyFault {
    /// Fewer characters than the realm asks for.
    TooShort {
        /// Characters at least.
        min: u16,
    },
    /// More than can be looked at. Never cut: two passwords would be one.
    TooLong,
    /// Among those that are tried first: a common one, a name around the account, a pattern.
    Weak,
}

impl fmt::Display for PolicyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort { min } => write!(f, "a password has at least {min} characters"),
            Self::TooLong => write!(f, "a password has at most {MAX_CHARS} characters and {MAX_BYTES} bytes"),
            Self::Weak => {
                f.write_str("the password is among those that are tried first; a few unrelated words are not")
            }
        }
    }
}

impl std::error::Error for PolicyFault {}

/// Normalisation form C (UAX #15), so that a password typed on another keyboard is the same.
pub fn normalise(password: &str) -> Result<String, PolicyFault> {
    // Composing shortens at most to a third of the bytes; what is longer than that cannot fit.
    if password.len() > MAX_BYTES * 4 {
        return Err(PolicyFault::TooLong);
    }
    let text: String = if is_nfc(password) { password.to_owned() } else { password.nfc().collect() };
    if text.len() > MAX_BYTES || text.chars().count() > MAX_CHARS { Err(PolicyFault::TooLong) } else { Ok(text) }
}

/// Checks a new password and gives its normal form.
pub fn check(password: &str, policy: &PasswordPolicy) -> Result<String, PolicyFault> {
    let text = normalise(password)?;
    if text.chars().count() < usize::from(policy.min_length) {
        return Err(PolicyFault::TooShort { min: policy.min_length });
    }
    Ok(text)
}

/// Checks a password that a person chooses; `names` are those around the account.
pub fn check_chosen(password: &str, policy: &PasswordPolicy, names: &[&str]) -> Result<String, PolicyFault> {
    let text = check(password, policy)?;
    if weak_password::weakness(&text, names).is_some() { Err(PolicyFault::Weak) } else { Ok(text) }
}
