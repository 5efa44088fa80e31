//! What a use case answers when it does not do what was asked. Each dialect of `http/render` gives
//! every variant its own form, in one match without a wildcard.

use std::fmt;

use crate::domain::protocol::params::WholeFault;
use crate::domain::protocol::refusal::{OauthCode, Refusal};
use crate::keys;
use crate::password::GateError;
use crate::store;

/// A field of a form or document that cannot be taken, RFC 9457 style.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// JSON pointer (RFC 6901) or form field.
    pub pointer: String,
    /// What is wrong and what is allowed.
    pub detail: String,
}

/// Why a use case did not do it.
#[derive(Debug)]
pub enum Error {
    /// A rule said no.
    Refused(Refusal),
    /// Fields that cannot be taken.
    Invalid(Vec<Fault>),
    /// The body is larger than the server takes; nothing of it was looked at.
    TooLarge {
        /// Bytes that it takes.
        limit: usize,
    },
    /// There is no such thing, or not for this caller.
    NotFound,
    /// Past capacity: nothing was checked.
    Busy {
        /// Seconds after which to try again, jittered.
        retry_after: u32,
    },
    /// Over its rate.
    Throttled {
        /// Seconds after which to try again.
        retry_after: u32,
        /// So many are let through in the window that ends then.
        limit: u32,
    },
    /// Something this needs is down.
    Unavailable {
        /// Which: `database`, …
        dependency: &'static str,
        /// For the log.
        source: String,
    },
    /// A fault of ours; the text is for the log only.
    Internal(String),
}

impl Error {
    /// A refusal as an error.
    #[must_use]
    pub const fn refused(code: OauthCode, reason: &'static str, description: &'static str) -> Self {
        Self::Refused(Refusal::new(code, reason, description))
    }

    /// The closed word for metrics and the log line.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Refused(refusal) => refusal.reason,
            Self::Invalid(_) => "invalid",
            Self::TooLarge { .. } => "body_too_large",
            Self::NotFound => "not_found",
            Self::Busy { .. } => "busy",
            Self::Throttled { .. } => "throttled",
            Self::Unavailable { dependency, .. } => dependency,
            Self::Internal(_) => "internal",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => write!(f, "{}: {}", refusal.code, refusal.description),
            Self::Invalid(faults) => {
                for (number, fault) in faults.iter().enumerate() {
                    let between = if number == 0 { "" } else { "; " };
                    write!(f, "{between}{}: {}", fault.pointer, fault.detail)?;
                }
                Ok(())
            }
            Self::TooLarge { limit } => write!(f, "the body has more than {limit} bytes"),
            Self::NotFound => f.write_str("there is no such thing"),
            Self::Busy { retry_after } => write!(f, "busy, try again in {retry_after} s"),
            Self::Throttled { retry_after, .. } => write!(f, "over its rate, try again in {retry_after} s"),
            Self::Unavailable { dependency, source } => write!(f, "{dependency} is not available: {source}"),
            Self::Internal(source) => write!(f, "internal fault: {source}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<WholeFault> for Error {
    fn from(fault: WholeFault) -> Self {
        Self::Refused(fault.into())
    }
}

impl From<GateError> for Error {
    fn from(error: GateError) -> Self {
        match error {
            GateError::Busy { retry_after } => {
                Self::Busy { retry_after: u32::try_from(retry_after.as_secs()).unwrap_or(u32::MAX).max(1) }
            }
            GateError::Broken => Self::Internal("the hashing threads are gone".to_owned()),
        }
    }
}

impl From<keys::Error> for Error {
    fn from(error: keys::Error) -> Self {
        match error {
            keys::Error::Unavailable(source) => Self::Unavailable { dependency: "keys", source },
            other => Self::Internal(other.to_string()),
        }
    }
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::Busy => Self::Busy { retry_after: 1 },
            store::Error::Unavailable(source) => Self::Unavailable { dependency: "database", source },
            other => Self::Internal(other.to_string()),
        }
    }
}
