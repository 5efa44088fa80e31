//! The `scope` parameter at the token endpoint: RFC 6749 section 3.3.

use std::collections::HashSet;

use crate::protocol::refusal::{OauthCode, Refusal};
pub use crate::protocol::scope::{OFFLINE_ACCESS, OPENID};

/// Longest value that is looked at.
const SCOPE_MAX: usize = 4096;

/// Splits a `scope` value into its tokens, each once, in the order sent. Blanks without a token
/// between them are passed over; any sign outside RFC 6749 section 3.3 is refused.
pub fn parse(text: &str) -> Result<Vec<String>, Refusal> {
    let legal = |byte: u8| matches!(byte, b' ' | 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
    if text.len() > SCOPE_MAX || !text.bytes().all(legal) {
        return Err(Refusal::new(
            OauthCode::InvalidScope,
            "scope_malformed",
            "scope must be at most 4096 printable ASCII characters, separated by spaces (RFC 6749 section 3.3)",
        ));
    }
    let mut seen = HashSet::new();
    Ok(tokens(text).filter(|token| seen.insert(*token)).map(str::to_owned).collect())
}

/// The tokens of a stored, space-separated value.
pub fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(' ').filter(|token| !token.is_empty())
}

/// Whether a stored, space-separated value has the token.
#[must_use]
pub fn has(text: &str, token: &str) -> bool {
    tokens(text).any(|each| each == token)
}

/// The part of `asked` that `granted` lacks: reason to refuse a widening (RFC 6749 section 6).
pub(super) fn check_no_wider(asked: &[String], granted: &[String]) -> Result<(), Refusal> {
    match asked.iter().find(|token| !granted.contains(token)) {
        None => Ok(()),
        Some(token) => Err(Refusal::with(
            OauthCode::InvalidScope,
            "scope_widened",
            &format!("scope {token} was not granted: a refresh may only narrow (RFC 6749 section 6)"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::sample::words;

    #[test]
    fn tokens_are_taken_once_in_the_order_sent() {
        assert_eq!(parse("openid read openid  write "), Ok(words("openid read write")));
        assert_eq!(parse(""), Ok(Vec::new()));
        assert_eq!(parse("https://a.example/x!~"), Ok(words("https://a.example/x!~")));
    }

    #[test]
    fn other_signs_are_refused() {
        for wrong in ["a\"b", "a\\b", "a\tb", "a\nb", "\u{e9}", "\u{7f}", &"x".repeat(4_097)] {
            assert_eq!(parse(wrong).unwrap_err().code, OauthCode::InvalidScope, "{wrong:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,100}") {
            let _ = parse(&text);
        }

        #[test]
        fn what_reads_reads_the_same_again(text in "[ -~]{0,60}") {
            if let Ok(once) = parse(&text) {
                proptest::prop_assert_eq!(parse(&once.join(" ")), Ok(once));
            }
        }
    }
}
