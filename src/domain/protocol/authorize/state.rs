//! `state` (RFC 6749 section 4.1.1): echoed byte for byte up to a stated length. What a form cannot
//! carry unchanged is refused for `form_post`, rather than given back changed.

use super::request::{AuthorizeRequest, ResponseMode};
use super::table::Asked;
use super::{request_object, response_mode};
use crate::protocol::params::Params;
use crate::protocol::refusal::{OauthCode, Refusal};

/// Bytes of a state at most.
pub(super) const STATE_MAX: usize = 4096;

pub(super) fn check(asked: &Asked<'_>, request: &mut AuthorizeRequest) -> Result<(), Refusal> {
    let Some(state) = asked.params.get("state") else { return Ok(()) };
    if state.len() > STATE_MAX {
        return Err(Refusal::new(OauthCode::InvalidRequest, "state_too_long", "state is longer than 4096 bytes"));
    }
    if !is_carried(state, response_mode::for_refusal(asked.params)) {
        return Err(Refusal::new(
            OauthCode::InvalidRequest,
            "state_not_carried",
            "state holds a NUL or a line break, which form_post cannot carry unchanged",
        ));
    }
    request.state = Some(state.to_owned());
    Ok(())
}

/// The state that goes with a refusal: the one sent, if it was sent once and can be carried.
pub(super) fn for_refusal(params: &Params, mode: ResponseMode) -> Option<String> {
    let sent = match params.get("state") {
        Some(state) => Some(state.to_owned()),
        None if params.has("state") => None,
        None => request_object::state_inside(params),
    };
    sent.filter(|state| state.len() <= STATE_MAX && is_carried(state, mode))
}

/// Browsers turn line breaks in form values into CR LF, and HTML has no NUL.
fn is_carried(state: &str, mode: ResponseMode) -> bool {
    mode != ResponseMode::FormPost || !state.contains(['\0', '\r', '\n'])
}

#[cfg(test)]
mod tests {
    use super::super::example::{client, outcome_for, request};
    use super::super::table::Outcome;
    use super::*;

    #[test]
    fn a_state_comes_back_byte_for_byte() {
        let long = "s".repeat(STATE_MAX);
        for state in ["n+eBY2D%2F==&x=1 \u{e9}", "\"></form><script>", "\u{1f511}", "a\r\nb\0", long.as_str()] {
            assert_eq!(request(&[("state", state)]).state.as_deref(), Some(state));
            let Outcome::Redirect(error) = outcome_for(&client(), &[("state", state), ("scope", "nope")]) else {
                panic!("{state}")
            };
            assert_eq!(error.state.as_deref(), Some(state));
        }
        assert_eq!(request(&[("state", "")]).state, None);
    }

    #[test]
    fn what_cannot_be_carried_is_refused_and_not_echoed() {
        let long = "s".repeat(STATE_MAX + 1);
        for (state, mode, reason) in [
            (long.as_str(), "query", "state_too_long"),
            ("a\nb", "form_post", "state_not_carried"),
            ("a\0b", "form_post", "state_not_carried"),
        ] {
            let changes = [("state", state), ("response_mode", mode)];
            let Outcome::Redirect(error) = outcome_for(&client(), &changes) else { panic!("{reason}") };
            assert_eq!((error.refusal.reason, error.state), (reason, None));
        }
    }
}
