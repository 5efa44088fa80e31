//! Failures: one text for everybody, the reason for the log.

use std::fmt;
use std::path::PathBuf;

use super::address::Class;

/// Why nothing was fetched. `Display` says the same for each, because a difference would tell a stranger
/// what stands in our network; `Debug` is for the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The address is none that we fetch: not https, another port, a user name.
    Address,
    /// The host's name has no address.
    Unknown,
    /// The host's addresses lie where we do not go.
    Forbidden(Class),
    /// No connection, no TLS, or none that is trusted.
    Unreachable(String),
    /// It took too long.
    Timeout,
    /// Another status than 200, a redirect included.
    Status(u16),
    /// Another media type than those asked for, or an encoded body.
    MediaType,
    /// More bytes than allowed.
    TooLarge,
    /// The answer broke off or was no HTTP.
    Protocol(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the address could not be fetched")
    }
}

impl std::error::Error for Error {}

impl Error {
    /// In words, for an operator, who may know more than a stranger.
    #[must_use]
    pub fn detail(&self) -> String {
        match self {
            Self::Address => "the address is none that is called".to_owned(),
            Self::Unknown => "the host has no address".to_owned(),
            Self::Forbidden(_) => "the address lies in a network that outbound.allow_networks does not name".to_owned(),
            Self::Unreachable(_) => "no connection".to_owned(),
            Self::Timeout => "no answer in time".to_owned(),
            Self::Status(status) => format!("status {status} where 200 is expected"),
            Self::MediaType => "another media type than asked for".to_owned(),
            Self::TooLarge => "the answer is too large".to_owned(),
            Self::Protocol(_) => "the answer was no HTTP".to_owned(),
        }
    }
}

/// The client cannot be made with these settings.
#[derive(Debug)]
pub struct StartError {
    /// The file of `outbound.ca_file`.
    pub file: PathBuf,
    /// What is wrong with it.
    pub fault: String,
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "outbound.ca_file ({}): {}. Allowed: a PEM file of certificates", self.file.display(), self.fault)
    }
}

impl std::error::Error for StartError {}
