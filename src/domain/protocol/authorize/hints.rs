//! `display`, `ui_locales`, `login_hint`, `acr_values` (OpenID Connect Core 3.1.2.1): wishes. None of
//! them can make a request fail; what is unknown, too long or misshapen is left out.

use super::request::{AuthorizeRequest, Display};
use super::table::Asked;
use crate::protocol::ui_locales;

/// Values of one list that are kept.
const LIST_MAX: usize = 16;
/// Characters of a login hint that is offered; no name is longer.
const LOGIN_HINT_MAX: usize = 255;

pub(super) fn fill(asked: &Asked<'_>, request: &mut AuthorizeRequest) {
    let params = asked.params;
    request.display = params.get("display").and_then(Display::from_name);
    request.ui_locales = ui_locales::of(params);
    request.login_hint = params.get("login_hint").filter(|hint| is_offered(hint)).map(str::to_owned);
    request.acr_values = match params.get("acr_values") {
        Some(text) => list(text),
        None => asked.client.metadata.default_acr_values.clone(),
    };
}

fn list(text: &str) -> Vec<String> {
    let values = text.split(' ').filter(|value| (1..=255).contains(&value.len()));
    values.take(LIST_MAX).map(str::to_owned).collect()
}

/// Text that a sign-in page can show in its field as it is: no controls, no invisible or turning
/// characters.
fn is_offered(hint: &str) -> bool {
    hint.chars().count() <= LOGIN_HINT_MAX && !hint.chars().any(crate::signin::identifier::is_invisible)
}

#[cfg(test)]
mod tests {
    use super::super::example::{client, outcome_for, request};
    use super::super::table::Outcome;
    use super::*;

    #[test]
    fn known_hints_are_kept() {
        let request = request(&[
            ("display", "popup"),
            ("ui_locales", "de-CH  se <b> en"),
            ("login_hint", "buffy@op.example"),
            ("acr_values", "phr aal1"),
        ]);
        assert_eq!(request.display, Some(Display::Popup));
        assert_eq!(request.ui_locales, ["de-CH", "se", "en"]);
        assert_eq!(request.login_hint.as_deref(), Some("buffy@op.example"));
        assert_eq!(request.acr_values, ["phr", "aal1"]);
    }

    #[test]
    fn no_hint_makes_a_request_fail() {
        let long = "x".repeat(5000);
        for text in ["<script>", "\u{202e}evil", "a\r\nb", "\u{1f511}", long.as_str()] {
            let changes = ["display", "ui_locales", "login_hint", "acr_values"].map(|name| (name, text));
            let request = request(&changes);
            assert_eq!((request.display, request.ui_locales.len()), (None, 0), "{text}");
        }
        // Escaped by the page, so harmless as text; what cannot be shown is dropped.
        assert_eq!(request(&[("login_hint", "a@x<script>")]).login_hint.as_deref(), Some("a@x<script>"));
        assert_eq!(request(&[("login_hint", &long)]).login_hint, None);
        assert_eq!(request(&[("login_hint", "\u{202e}evil")]).login_hint, None);
    }

    #[test]
    fn the_clients_default_acr_values_apply_where_the_request_is_silent() {
        let mut client = client();
        client.metadata.default_acr_values = vec!["aal2".to_owned()];
        for (sent, expected) in [("", "aal2"), ("aal1", "aal1")] {
            let Outcome::Request(request) = outcome_for(&client, &[("acr_values", sent)]) else { panic!("{sent}") };
            assert_eq!(request.acr_values, [expected]);
        }
    }
}
