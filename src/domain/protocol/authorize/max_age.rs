//! `max_age` (OpenID Connect Core 3.1.2.1): a number of seconds, else the client's `default_max_age`.
//! Whoever asks for it gets `auth_time` in the ID token, and so does who registered `require_auth_time`.

use super::request::AuthorizeRequest;
use super::table::Asked;
use crate::protocol::refusal::{OauthCode, Refusal};

pub(super) fn check(asked: &Asked<'_>, request: &mut AuthorizeRequest) -> Result<(), Refusal> {
    let metadata = &asked.client.metadata;
    request.max_age = match asked.params.get("max_age") {
        Some(text) => Some(seconds(text).ok_or(Refusal::new(
            OauthCode::InvalidRequest,
            "max_age_malformed",
            "max_age must be a whole number of seconds, 0 or more",
        ))?),
        None => metadata.default_max_age,
    };
    request.require_auth_time = metadata.require_auth_time || request.max_age.is_some();
    Ok(())
}

/// Digits only: the library would take a sign as well.
fn seconds(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::super::example::{client, outcome_for, refused, request};
    use super::super::table::Outcome;
    use super::*;

    #[test]
    fn a_number_of_seconds_and_nothing_else() {
        for (text, expected) in [("0", Some(0)), ("10000", Some(10_000)), ("007", Some(7)), ("", None)] {
            let request = request(&[("max_age", text)]);
            assert_eq!((request.max_age, request.require_auth_time), (expected, expected.is_some()), "{text}");
        }
        for text in ["-1", "abc", "+1", "1.5", " 1", "1s", "99999999999999999999"] {
            assert_eq!(refused(&[("max_age", text)]), (OauthCode::InvalidRequest, "max_age_malformed"), "{text}");
        }
    }

    #[test]
    fn the_clients_defaults_apply_where_the_request_is_silent() {
        let mut client = client();
        client.metadata.default_max_age = Some(60);
        for (sent, expected) in [("", Some(60)), ("5", Some(5))] {
            let Outcome::Request(request) = outcome_for(&client, &[("max_age", sent)]) else { panic!("{sent}") };
            assert_eq!((request.max_age, request.require_auth_time), (expected, true));
        }
        client.metadata.default_max_age = None;
        client.metadata.require_auth_time = true;
        let Outcome::Request(request) = outcome_for(&client, &[]) else { panic!("refused") };
        assert_eq!((request.max_age, request.require_auth_time), (None, true));
    }
}
