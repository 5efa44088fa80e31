//! What an answer tells the log line besides its status; taken off before it is sent.

/// Rides on a response as an extension.
#[derive(Debug, Clone, Default)]
pub struct Note {
    /// The client concerned.
    pub client: Option<String>,
    /// The closed word for why it was refused.
    pub reason: Option<&'static str>,
}
