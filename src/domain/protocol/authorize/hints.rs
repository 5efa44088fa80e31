//! `display`, `ui_locales`, `login_hint`, `acr_values` (OpenID Connect Core 3.1.2.1): wishes. None of
//! them can make a request fail; what is unknown, too long or misshapen is left out.

use super::request::{AuthorizeRequest, Display};
use super::table::Asked;
use crate::protocol::refusal::Refusal;

/// Values of one list that are kept.
const LIST_MAX: usize = 16;
/// Characters of a login hint that is offered; no name is longer.
const LOGIN_HINT_MAX: usize = 255;

pub(super) fn check(asked: &Asked<'_>, request: &mut AuthorizeRequest) -> Result<(), Refusal> {
    let params = asked.params;
    request.display = params.get("display").and_then(Display::from_name);
    request.ui_locales = list(params.get("ui_locales"), is_language_tag);
    request.login_hint = params.get("login_hint").filter(|hint| is_offered(hint)).map(str::to_owned);
    request.acr_values = match params.get("acr_values") {
        Some(text) => list(Some(text), |value| value.len() <= 255),
        None => asked.client.metadata.default_acr_values.clone(),
    };
    Ok(())
}

fn list(text: Option<&str>, keep: impl Fn(&str) -> bool) -> Vec<String> {
    let values = text.unwrap_or_default().split(' ');
    values.filter(|value| !value.is_empty() && keep(value)).take(LIST_MAX).map(str::to_owned).collect()
}

/// The shape of BCP 47: letters and digits in groups of one to eight.
fn is_language_tag(text: &str) -> bool {
    text.split('-').all(|part| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// Text that a sign-in page can show in its field as it is: no controls, no invisible or turning
/// characters.
fn is_offered(hint: &str) -> bool {
    hint.chars().count() <= LOGIN_HINT_MAX && !hint.chars().any(crate::signin::identifier::is_invisible)
}
