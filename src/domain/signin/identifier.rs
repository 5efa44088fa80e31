//! Names to sign in with (RFC 8265 section 3.3, UTS 39): one canonical form for what people read as
//! one name, made the same way when a name is set and when it is typed. Names that look like others
//! (invisible characters, letters of several scripts) are refused, not repaired. What stands behind a
//! `+` in an address stays: `a+b@` and `a@` are different mailboxes (RFC 5321 section 2.4).

use std::fmt;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;
use unicode_security::GeneralSecurityProfile as _;
use unicode_security::{RestrictionLevel, RestrictionLevelDetection as _};

use crate::model::identifier::Canonical;

/// Characters of a name at most, as written and in canonical form.
pub const NAME_MAX: usize = 255;

/// Why a text cannot be a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameFault {
    /// Nothing but spaces.
    Empty,
    /// More than [`NAME_MAX`] characters.
    TooLong,
    /// A space inside.
    Space,
    /// A control, invisible or direction-changing character.
    Invisible,
    /// A character that names do not use (UTS 39 section 3.1).
    Character,
    /// Letters of scripts that are not written together (UTS 39 section 5.2).
    MixedScript,
    /// The part before the `@` is empty or holds another `@`.
    Local,
    /// The part behind the `@` is no domain name.
    Domain,
}

impl fmt::Display for NameFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("must not be empty"),
            Self::TooLong => write!(f, "must have at most {NAME_MAX} characters"),
            Self::Space => f.write_str("must not have spaces inside"),
            Self::Invisible => f.write_str("must not have invisible, control or direction-changing characters"),
            Self::Character => f.write_str("holds a character that names do not use"),
            Self::MixedScript => f.write_str("mixes letters of different scripts"),
            Self::Local => f.write_str("must have one @ with something before it"),
            Self::Domain => f.write_str("must have a domain name behind the @"),
        }
    }
}

impl std::error::Error for NameFault {}

/// The canonical form of a name that is being set: compatibility forms unified (NFKC), lower case,
/// trimmed, the domain of an address as A-labels.
pub fn canonical(text: &str) -> Result<Canonical, NameFault> {
    if text.chars().count() > NAME_MAX {
        return Err(NameFault::TooLong);
    }
    let folded = fold(text);
    let name = folded.trim();
    if name.is_empty() {
        return Err(NameFault::Empty);
    }
    if name.chars().any(is_invisible) {
        return Err(NameFault::Invisible);
    }
    if name.contains(char::is_whitespace) {
        return Err(NameFault::Space);
    }
    let name = match name.rsplit_once('@') {
        Some((local, _)) if local.is_empty() || local.contains('@') => return Err(NameFault::Local),
        Some((local, domain)) => {
            check_letters(local)?;
            format!("{local}@{}", idna::domain_to_ascii_strict(domain).map_err(|_| NameFault::Domain)?)
        }
        None => {
            check_letters(name)?;
            name.to_owned()
        }
    };
    if name.chars().count() > NAME_MAX { Err(NameFault::TooLong) } else { Ok(Canonical(name)) }
}

/// The canonical form of a name that was typed to sign in; `None` = nobody can have it.
#[must_use]
pub fn canonical_typed(text: &str) -> Option<Canonical> {
    canonical(text).ok()
}

/// Whether a character shows nothing, or turns the text around it: controls, the format characters of
/// Unicode (zero-width, bidirectional, tags), fillers and variation selectors.
#[must_use]
pub fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// NFKC and lower case until both agree: lower case may leave a form that NFKC would write otherwise.
fn fold(text: &str) -> String {
    let step = |text: &str| -> String {
        // By character: whole-word rules (final sigma) would make the form depend on its neighbours.
        text.nfkc().flat_map(char::to_lowercase).map(|c| if c == '\u{3c2}' { '\u{3c3}' } else { c }).nfkc().collect()
    };
    let mut folded = step(text);
    for _ in 0..4 {
        let next = step(&folded);
        if next == folded {
            break;
        }
        folded = next;
    }
    folded
}

fn check_letters(name: &str) -> Result<(), NameFault> {
    if name.starts_with(is_combining_mark) {
        return Err(NameFault::Character);
    }
    if !name.chars().all(|c| c.is_ascii_graphic() || c.identifier_allowed()) {
        return Err(NameFault::Character);
    }
    // Punctuation of addresses belongs to no script and is no letter of identifiers.
    let letters: String = name.chars().filter(|c| !c.is_ascii_punctuation()).collect();
    if letters.is_empty() || letters.as_str().check_restriction_level(RestrictionLevel::HighlyRestrictive) {
        Ok(())
    } else {
        Err(NameFault::MixedScript)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn form(text: &str) -> String {
        canonical(text).unwrap().as_str().to_owned()
    }

    #[test]
    fn spellings_of_one_name_have_one_form() {
        for (text, expected) in [
            ("testo@example.com", "testo@example.com"),
            ("TESTO@Example.COM", "testo@example.com"),
            ("testo@example.com ", "testo@example.com"),
            ("\u{3000}testo@example.com\t", "testo@example.com"),
            ("\u{fb01}ne@example.com", "fine@example.com"),
            ("\u{ff41}lice", "alice"),
            ("Zo\u{eb}", "zo\u{eb}"),
            ("Zoe\u{308}", "zo\u{eb}"),
            ("anna@B\u{fc}cher.example", "anna@xn--bcher-kva.example"),
            ("anna@XN--BCHER-KVA.example", "anna@xn--bcher-kva.example"),
            ("testo\u{ff20}example.com", "testo@example.com"),
            ("\u{39f}\u{394}\u{39f}\u{3a3}", "\u{3bf}\u{3b4}\u{3bf}\u{3c3}"),
            ("\u{3bf}\u{3b4}\u{3bf}\u{3c2}", "\u{3bf}\u{3b4}\u{3bf}\u{3c3}"),
            ("o'neil.k_9-x", "o'neil.k_9-x"),
            ("\u{438}\u{432}\u{430}\u{43d}", "\u{438}\u{432}\u{430}\u{43d}"),
            ("tanaka\u{592a}\u{90ce}", "tanaka\u{592a}\u{90ce}"),
            ("12345", "12345"),
        ] {
            assert_eq!(form(text), expected, "{text:?}");
            assert_eq!(canonical_typed(text).map(|name| name.as_str().to_owned()).as_deref(), Some(expected));
        }
    }

    #[test]
    fn what_stands_behind_a_plus_stays() {
        assert_eq!(form("testo+x@example.com"), "testo+x@example.com");
        assert_ne!(form("testo+x@example.com"), form("testo@example.com"));
        assert_ne!(form("te.sto@example.com"), form("testo@example.com"));
    }

    #[test]
    fn look_alikes_and_nonsense_are_refused() {
        use NameFault as F;
        for (text, fault) in [
            ("", F::Empty),
            (" \t", F::Empty),
            ("test\u{43e}@example.com", F::MixedScript),
            ("\u{3b1}dmin", F::MixedScript),
            ("te\u{200b}sto@example.com", F::Invisible),
            ("\u{feff}testo", F::Invisible),
            ("te\u{ad}sto", F::Invisible),
            ("testo\u{202e}", F::Invisible),
            ("te\u{200d}sto", F::Invisible),
            ("te\u{0}sto", F::Invisible),
            ("testo\u{fe0f}", F::Invisible),
            ("testo@exa\u{200b}mple.com", F::Invisible),
            ("anna schmidt", F::Space),
            ("anna\u{a0}schmidt", F::Space),
            ("\u{1f511}", F::Character),
            ("a\u{2215}b", F::Character),
            ("\u{301}a", F::Character),
            ("@example.com", F::Local),
            ("a@b@example.com", F::Local),
            ("a@", F::Domain),
            ("a@exa_mple.com", F::Domain),
            ("a@-x.example", F::Domain),
            ("a@x..example", F::Domain),
            ("a@[127.0.0.1]", F::Domain),
        ] {
            assert_eq!(canonical(text).err(), Some(fault), "{text:?}");
            assert_eq!(canonical_typed(text), None);
        }
        assert_eq!(canonical(&"a".repeat(NAME_MAX)).err(), None);
        assert_eq!(canonical(&"a".repeat(NAME_MAX + 1)).err(), Some(F::TooLong));
        // One character that becomes eighteen.
        assert!(canonical(&"\u{fdfa}".repeat(NAME_MAX)).is_err());
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic_and_the_form_is_final(text in any::<String>()) {
            if let Ok(name) = canonical(&text) {
                prop_assert_eq!(canonical(name.as_str()), Ok(name.clone()));
                prop_assert!(!name.as_str().chars().any(|c| is_invisible(c) || c.is_whitespace()));
            }
        }

        #[test]
        fn letters_of_one_script_make_a_final_form(text in "[\\p{Latin}\\p{Nd}._+-]{1,12}(@[\\p{Latin}-]{1,6}\\.[a-zA-Z]{2})?") {
            if let Ok(name) = canonical(&text) {
                prop_assert_eq!(canonical(name.as_str()), Ok(name.clone()));
                let padded = format!(" {text}\t");
                prop_assert_eq!(canonical(&padded), Ok(name));
            }
        }

        #[test]
        fn ascii_case_never_matters(text in "[a-zA-Z0-9.+_-]{1,20}(@[a-z]{1,5}\\.example)?") {
            prop_assert_eq!(canonical(&text), canonical(&text.to_ascii_uppercase()));
        }
    }
}
