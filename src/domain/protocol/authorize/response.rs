//! The parameters of an authorization response (RFC 6749 sections 4.1.2 and 4.1.2.1, RFC 9207 section
//! 2): the same for every response mode, with `iss` in success and error alike.

use crate::protocol::refusal::Refusal;

/// What the client is told.
#[derive(Debug, Clone, Copy)]
pub enum Answer<'a> {
    /// The code.
    Code(&'a str),
    /// The refusal.
    Refused(&'a Refusal),
}

/// Names and values in the order they are written, not yet encoded. `session_state` (Session Management 1.0
/// section 2) where the realm offers it, also with a refusal: the client may then watch for a change.
#[must_use]
pub fn parameters(
    answer: Answer<'_>,
    state: Option<&str>,
    iss: &str,
    session_state: Option<String>,
) -> Vec<(&'static str, String)> {
    let mut parameters = Vec::with_capacity(5);
    match answer {
        Answer::Code(code) => parameters.push(("code", code.to_owned())),
        Answer::Refused(refusal) => {
            parameters.push(("error", refusal.code.as_str().to_owned()));
            parameters.push(("error_description", refusal.description.clone().into_owned()));
        }
    }
    if let Some(state) = state {
        parameters.push(("state", state.to_owned()));
    }
    parameters.push(("iss", iss.to_owned()));
    if let Some(session_state) = session_state {
        parameters.push(("session_state", session_state));
    }
    parameters
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::refusal::OauthCode;

    #[test]
    fn iss_and_state_are_in_success_and_error() {
        let written = parameters(Answer::Code("c"), Some("s &"), "https://op.example", None);
        assert_eq!(written, [("code", "c".into()), ("state", "s &".into()), ("iss", "https://op.example".into())]);
        let refusal = Refusal::new(OauthCode::AccessDenied, "denied", "the person said no");
        let written = parameters(Answer::Refused(&refusal), None, "https://op.example", Some("hash.salt".to_owned()));
        assert_eq!(
            written,
            [
                ("error", "access_denied".into()),
                ("error_description", "the person said no".into()),
                ("iss", "https://op.example".into()),
                ("session_state", "hash.salt".into()),
            ]
        );
    }
}
