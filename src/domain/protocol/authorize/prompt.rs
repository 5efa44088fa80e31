//! `prompt` (OpenID Connect Core 3.1.2.1): order and repeats are free, `none` stands alone. `create` is
//! not built and not advertised, so it is refused like any unknown value.

use super::request::AuthorizeRequest;
use super::table::Asked;
use crate::protocol::refusal::{OauthCode, Refusal};

pub(super) fn check(asked: &Asked<'_>, request: &mut AuthorizeRequest) -> Result<(), Refusal> {
    let text = asked.params.get("prompt").unwrap_or_default();
    let prompt = &mut request.prompt;
    for value in text.split(' ').filter(|value| !value.is_empty()) {
        match value {
            "none" => prompt.none = true,
            "login" => prompt.login = true,
            "consent" => prompt.consent = true,
            "select_account" => prompt.select_account = true,
            _ => {
                return Err(Refusal::new(
                    OauthCode::InvalidRequest,
                    "prompt_unknown",
                    "prompt may hold none, login, consent and select_account",
                ));
            }
        }
    }
    if prompt.none && (prompt.login || prompt.consent || prompt.select_account) {
        return Err(Refusal::new(OauthCode::InvalidRequest, "prompt_none_mixed", "prompt=none excludes other values"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::example::{refused, request};
    use super::super::request::Prompt;
    use super::*;

    #[test]
    fn order_and_repeats_are_free() {
        for text in ["login consent select_account", "select_account login  consent login"] {
            let expected = Prompt { none: false, login: true, consent: true, select_account: true };
            assert_eq!(request(&[("prompt", text)]).prompt, expected);
        }
        assert_eq!(request(&[("prompt", "none none")]).prompt, Prompt { none: true, ..Prompt::default() });
        assert_eq!(request(&[("prompt", "")]).prompt, Prompt::default());
    }

    #[test]
    fn none_stands_alone_and_unknown_values_are_refused() {
        for (text, reason) in [
            ("none login", "prompt_none_mixed"),
            ("select_account none", "prompt_none_mixed"),
            ("create", "prompt_unknown"),
            ("LOGIN", "prompt_unknown"),
            ("login\tconsent", "prompt_unknown"),
        ] {
            assert_eq!(refused(&[("prompt", text)]), (OauthCode::InvalidRequest, reason), "{text}");
        }
    }
}
