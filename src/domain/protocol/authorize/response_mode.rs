//! `response_mode` (OAuth 2.0 Multiple Response Types 2.1 and 5, Form Post Response Mode): by default `query`
//! for a code, `fragment` for whatever gives more through the browser, since servers and their logs see a
//! query. A refusal travels in the same mode, in the default one where what was asked for is not readable.

use super::request::{AuthorizeRequest, ResponseMode};
use super::table::Asked;
use crate::model::response_type::ResponseType;
use crate::protocol::params::Params;
use crate::protocol::refusal::{OauthCode, Refusal};

pub(super) fn check(asked: &Asked<'_>, request: &mut AuthorizeRequest) -> Result<(), Refusal> {
    let refused = |reason, description| Err(Refusal::new(OauthCode::InvalidRequest, reason, description));
    let mode = asked.params.get("response_mode").map(ResponseMode::from_name);
    request.response_mode = match mode {
        None => for_refusal(asked.params),
        Some(Some(ResponseMode::Query)) if request.response_type.is_front_channel() => {
            return refused(
                "response_mode_query",
                "response_mode query would show tokens to servers and their logs; use fragment or form_post",
            );
        }
        Some(Some(mode)) => mode,
        Some(None) => {
            return refused("response_mode_unsupported", "response_mode must be query, fragment or form_post");
        }
    };
    Ok(())
}

/// The mode in which a refusal travels.
pub(super) fn for_refusal(params: &Params) -> ResponseMode {
    let is_front_channel = params.get("response_type").is_some_and(ResponseType::names_front_channel);
    match params.get("response_mode").and_then(ResponseMode::from_name) {
        Some(ResponseMode::Query) | None if is_front_channel => ResponseMode::Fragment,
        Some(mode) => mode,
        None => ResponseMode::Query,
    }
}

#[cfg(test)]
mod tests {
    use super::super::example::{client, legacy_client, outcome_for, refused, request};
    use super::super::table::Outcome;
    use super::*;

    #[test]
    fn a_code_travels_in_the_query_unless_another_mode_is_asked_for() {
        for (text, mode) in [
            ("", ResponseMode::Query),
            ("query", ResponseMode::Query),
            ("fragment", ResponseMode::Fragment),
            ("form_post", ResponseMode::FormPost),
        ] {
            assert_eq!(request(&[("response_mode", text)]).response_mode, mode, "{text}");
        }
        for other in ["jwt", "QUERY", "form_post query", "web_message"] {
            let expected = (OauthCode::InvalidRequest, "response_mode_unsupported");
            assert_eq!(refused(&[("response_mode", other)]), expected, "{other}");
        }
    }

    #[test]
    fn what_gives_more_than_a_code_never_travels_in_the_query() {
        for response_type in ["id_token", "code id_token", "id_token code"] {
            for (text, expected) in [
                ("", Ok(ResponseMode::Fragment)),
                ("fragment", Ok(ResponseMode::Fragment)),
                ("form_post", Ok(ResponseMode::FormPost)),
                ("query", Err(("response_mode_query", ResponseMode::Fragment))),
                ("jwt", Err(("response_mode_unsupported", ResponseMode::Fragment))),
            ] {
                let changes = [("response_type", response_type), ("response_mode", text), ("nonce", "n")];
                let got = match outcome_for(&legacy_client(), &changes) {
                    Outcome::Request(request) => Ok(request.response_mode),
                    Outcome::Redirect(error) => Err((error.refusal.reason, error.response_mode)),
                    Outcome::Page(refusal) => panic!("{refusal:?}"),
                };
                assert_eq!(got, expected, "{response_type} {text}");
            }
        }
    }

    #[test]
    fn a_refusal_travels_in_the_mode_asked_for_or_that_of_the_type() {
        for (response_type, mode, expected) in [
            ("token", "form_post", ResponseMode::FormPost),
            ("token", "", ResponseMode::Fragment),
            ("token", "query", ResponseMode::Fragment),
            ("token", "x", ResponseMode::Fragment),
            ("none", "", ResponseMode::Query),
            ("none", "fragment", ResponseMode::Fragment),
            ("", "", ResponseMode::Query),
            ("", "form_post", ResponseMode::FormPost),
        ] {
            let changes = [("response_mode", mode), ("response_type", response_type)];
            let Outcome::Redirect(error) = outcome_for(&client(), &changes) else { panic!("{mode}") };
            assert_eq!(error.response_mode, expected, "{response_type} {mode}");
        }
    }
}
