//! The parameters of an authorization response (RFC 6749 sections 4.1.2, 4.1.2.1 and 4.2.2, OpenID Connect Core
//! 3.2.2.5 and 3.3.2.5, RFC 9207 section 2): the same for every response mode, with `iss` in success and error
//! alike.

use crate::protocol::refusal::Refusal;

/// What a response gives: the parts that the response type names.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Given {
    /// The code.
    pub code: Option<String>,
    /// The access token.
    pub access_token: Option<GivenAccessToken>,
    /// The ID token.
    pub id_token: Option<String>,
}

/// An access token in a response. A refresh token never comes along (RFC 6749 section 4.2.2).
#[derive(Clone, PartialEq, Eq)]
pub struct GivenAccessToken {
    /// The token; always `Bearer`.
    pub text: String,
    /// Its life in seconds.
    pub expires_in: u64,
    /// What it allows, where that differs from what was asked for.
    pub scope: Option<String>,
}

/// What the client is told.
#[derive(Clone, Copy)]
pub enum Answer<'a> {
    /// What it asked for.
    Given(&'a Given),
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
    let mut parameters = Vec::with_capacity(9);
    match answer {
        Answer::Given(given) => give(given, &mut parameters),
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

fn give(given: &Given, parameters: &mut Vec<(&'static str, String)>) {
    if let Some(code) = &given.code {
        parameters.push(("code", code.clone()));
    }
    if let Some(token) = &given.access_token {
        parameters.push(("access_token", token.text.clone()));
        parameters.push(("token_type", "Bearer".to_owned()));
        parameters.push(("expires_in", token.expires_in.to_string()));
        parameters.extend(token.scope.as_ref().map(|scope| ("scope", scope.clone())));
    }
    if let Some(id_token) = &given.id_token {
        parameters.push(("id_token", id_token.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::refusal::OauthCode;

    const ISS: (&str, &str) = ("iss", "https://op.example");

    fn written(answer: Answer<'_>, state: Option<&str>) -> Vec<(&'static str, String)> {
        parameters(answer, state, ISS.1, None)
    }

    fn owned(pairs: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
        pairs.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()
    }

    #[test]
    fn iss_and_state_are_in_success_and_error() {
        let given = Given { code: Some("c".to_owned()), ..Given::default() };
        assert_eq!(written(Answer::Given(&given), Some("s &")), owned(&[("code", "c"), ("state", "s &"), ISS]));
        let refusal = Refusal::new(OauthCode::AccessDenied, "denied", "the person said no");
        let watched = parameters(Answer::Refused(&refusal), None, ISS.1, Some("hash.salt".to_owned()));
        assert_eq!(
            watched,
            owned(&[
                ("error", "access_denied"),
                ("error_description", "the person said no"),
                ISS,
                ("session_state", "hash.salt"),
            ])
        );
    }

    #[test]
    fn each_part_that_was_asked_for_is_written_once_and_the_scope_only_where_it_differs() {
        let token = |scope: Option<&str>| {
            Some(GivenAccessToken { text: "at".to_owned(), expires_in: 300, scope: scope.map(str::to_owned) })
        };
        let all =
            Given { code: Some("c".to_owned()), access_token: token(Some("openid")), id_token: Some("it".to_owned()) };
        let expected = [
            ("code", "c"),
            ("access_token", "at"),
            ("token_type", "Bearer"),
            ("expires_in", "300"),
            ("scope", "openid"),
            ("id_token", "it"),
            ("state", "s"),
            ISS,
        ];
        assert_eq!(written(Answer::Given(&all), Some("s")), owned(&expected));
        let plain = Given { access_token: token(None), ..Given::default() };
        let expected = [("access_token", "at"), ("token_type", "Bearer"), ("expires_in", "300"), ISS];
        assert_eq!(written(Answer::Given(&plain), None), owned(&expected));
    }
}
