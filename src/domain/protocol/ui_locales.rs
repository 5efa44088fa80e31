//! `ui_locales` (OpenID Connect Core 3.1.2.1, RP-Initiated Logout 1.0 section 2): the languages that a
//! request wishes for, best first. A wish cannot make a request fail: what is no language tag is left out,
//! and one that cannot be read or stands twice counts as absent.

use super::params::Params;

/// Languages that are kept.
const MOST: usize = 16;

/// The wished languages of a request.
#[must_use]
pub fn of(params: &Params) -> Vec<String> {
    let text = params.one("ui_locales").ok().flatten().unwrap_or_default();
    text.split(' ').filter(|tag| is_language_tag(tag)).take(MOST).map(str::to_owned).collect()
}

/// The shape of BCP 47: letters and digits in groups of one to eight.
fn is_language_tag(text: &str) -> bool {
    text.split('-').all(|part| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_come_out_in_order_and_everything_else_is_left_out() {
        let long = "x".repeat(5000);
        let many = ["en"; 40].join(" ");
        for (sent, want) in [
            ("de-CH de en", &["de-CH", "de", "en"][..]),
            ("de-CH  se <b> en", &["de-CH", "se", "en"]),
            (" de ", &["de"]),
            ("de-", &[]),
            ("<script>", &[]),
            ("\u{202e}evil", &[]),
            ("a\r\nb", &[]),
            ("", &[]),
            (long.as_str(), &[]),
            (many.as_str(), &["en"; 16]),
        ] {
            assert_eq!(of(&Params::from_pairs([("ui_locales", sent)])), want, "{sent:.20}");
        }
        assert_eq!(of(&Params::from_pairs([("ui_locales", "de"), ("ui_locales", "en")])), [""; 0], "twice is none");
        assert_eq!(of(&Params::default()), [""; 0]);
    }
}
