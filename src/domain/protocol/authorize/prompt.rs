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
