//! What is wrong with the settings: all of it at once, never a secret value.

use std::fmt;
use std::path::PathBuf;

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A line of the configuration file.
    File {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1; 0 = the file as a whole.
        line: usize,
    },
    /// An environment variable.
    Variable(String),
    /// A file that an environment variable names.
    VariableFile {
        /// The variable.
        variable: String,
        /// The file.
        path: PathBuf,
    },
    /// Nowhere: it was not set.
    Unset,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, line: 0 } => write!(f, "{}", path.display()),
            Self::File { path, line } => write!(f, "{} line {line}", path.display()),
            Self::Variable(variable) => f.write_str(variable),
            Self::VariableFile { variable, path } => write!(f, "{} named by {variable}", path.display()),
            Self::Unset => f.write_str("not set"),
        }
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The setting's name, or what stands in its place.
    pub key: String,
    /// Where it came from.
    pub origin: Origin,
    /// What is wrong with it.
    pub fault: String,
    /// What would be right.
    pub allowed: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.key, self.origin, self.fault)?;
        if self.allowed.is_empty() { Ok(()) } else { write!(f, ". Allowed: {}", self.allowed) }
    }
}

/// The settings are wrong; the caller ends with exit status 78.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// Everything that is wrong, not just the first.
    pub problems: Vec<Problem>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.problems.len();
        write!(f, "{count} setting{} wrong:", if count == 1 { " is" } else { "s are" })?;
        self.problems.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
    }
}

impl std::error::Error for ConfigError {}
