//! `response_mode` (OAuth 2.0 Multiple Response Types 2.1, Form Post Response Mode): `query` by default,
//! `form_post` when asked for. A refusal travels in the same mode, in `query` where it is not readable.

use super::request::{AuthorizeRequest, ResponseMode};
use super::table::Asked;
use crate::protocol::params::Params;
use crate::protocol::refusal::{OauthCode, Refusal};

pub(super) fn check(asked: &Asked<'_>, request: &mut AuthorizeRequest) -> Result<(), Refusal> {
    if let Some(text) = asked.params.get("response_mode") {
        request.response_mode = ResponseMode::from_name(text).ok_or(Refusal::new(
            OauthCode::InvalidRequest,
            "response_mode_unsupported",
            "response_mode must be query or form_post",
        ))?;
    }
    Ok(())
}

/// The mode in which a refusal travels.
pub(super) fn for_refusal(params: &Params) -> ResponseMode {
    params.get("response_mode").and_then(ResponseMode::from_name).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::example::{client, outcome_for, refused, request};
    use super::super::table::Outcome;
    use super::*;

    #[test]
    fn query_is_the_default_and_fragment_is_not_built() {
        assert_eq!(request(&[]).response_mode, ResponseMode::Query);
        assert_eq!(request(&[("response_mode", "query")]).response_mode, ResponseMode::Query);
        assert_eq!(request(&[("response_mode", "form_post")]).response_mode, ResponseMode::FormPost);
        for other in ["fragment", "jwt", "QUERY", "form_post query"] {
            let expected = (OauthCode::InvalidRequest, "response_mode_unsupported");
            assert_eq!(refused(&[("response_mode", other)]), expected, "{other}");
        }
    }

    #[test]
    fn a_refusal_travels_in_the_mode_asked_for() {
        for (mode, expected) in
            [("form_post", ResponseMode::FormPost), ("", ResponseMode::Query), ("fragment", ResponseMode::Query)]
        {
            let changes = [("response_mode", mode), ("response_type", "token")];
            let Outcome::Redirect(error) = outcome_for(&client(), &changes) else { panic!("{mode}") };
            assert_eq!(error.response_mode, expected);
        }
    }
}
