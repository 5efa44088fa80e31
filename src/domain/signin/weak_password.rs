//! Passwords that are tried first: common ones and what people make of them, the names that stand around the
//! account, runs along the keyboard, repetitions (NIST SP 800-63B-4 section 3.1.1.2). No rules of composition:
//! a few words that have nothing to do with each other pass. The list is short and bundled; a longer one of
//! passwords that are known to have leaked is a matter of its own.

use std::collections::HashSet;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;

/// Words that most guessed passwords are made of; lower case, one a line.
static COMMON: LazyLock<HashSet<&str>> = LazyLock::new(|| include_str!("weak_password/words.txt").lines().collect());

/// Names shorter than this stand in too many good passwords by chance.
const SHORTEST_NAME: usize = 4;
/// A password made of so few common words is as easy to guess as they are.
const FEW_WORDS: usize = 3;
/// A password with so few turns is a walk over the keyboard.
const FEW_TURNS: usize = 3;

/// Neighbours that a finger or a count walks along.
const WALKS: [&str; 9] = [
    "abcdefghijklmnopqrstuvwxyz",
    "12345678901234567890",
    "qwertyuiop",
    "qwertzuiop",
    "asdfghjkl",
    "zxcvbnm",
    "yxcvbnm",
    "azertyuiop",
    "1qaz2wsx3edc4rfv5tgb6yhn7ujm",
];

/// Why a password would be tried first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weakness {
    /// It is a common one, or little more.
    Common,
    /// It holds a name that everybody knows who knows the account.
    Name,
    /// It repeats itself, or walks along the keyboard.
    Pattern,
}

/// Whether `password` is one that is tried first. `names` are those around the account: user name, address,
/// product, realm.
#[must_use]
pub fn weakness(password: &str, names: &[&str]) -> Option<Weakness> {
    let text = fold(password);
    let plain = unleet(&text);
    let names = names.iter().flat_map(|name| [fold(name), fold(name.split('@').next().unwrap_or(""))]);
    let is_named = |name: String| {
        let long = name.chars().count() >= SHORTEST_NAME;
        !name.is_empty() && (text == name || (long && (text.contains(&name) || plain.contains(&unleet(&name)))))
    };
    if names.into_iter().any(is_named) {
        Some(Weakness::Name)
    } else if is_pattern(&text) {
        Some(Weakness::Pattern)
    } else if is_common(&text) || is_common(&unleet(text.trim_matches(|sign: char| !sign.is_alphabetic()))) {
        Some(Weakness::Common)
    } else {
        None
    }
}

/// Letters and digits, in lower case and one form.
fn fold(text: &str) -> String {
    text.nfkc().flat_map(char::to_lowercase).filter(|sign| sign.is_alphanumeric() || "@$!".contains(*sign)).collect()
}

/// Letters in place of the digits and signs that are written for them.
fn unleet(text: &str) -> String {
    let letter = |sign| match sign {
        '0' => 'o',
        '1' | '!' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        other => other,
    };
    text.chars().map(letter).collect()
}

/// One piece again and again, or a walk with few turns.
fn is_pattern(text: &str) -> bool {
    let signs: Vec<char> = text.chars().collect();
    let repeats = |piece: usize| signs.iter().zip(signs.iter().skip(piece)).all(|(one, next)| one == next);
    if (1..=signs.len() / 3).any(repeats) {
        return true;
    }
    let is_step = |one: char, next: char| {
        one == next
            || WALKS.iter().any(|walk| {
                let mut pairs = walk.chars().zip(walk.chars().skip(1));
                pairs.any(|pair| pair == (one, next) || pair == (next, one))
            })
    };
    let turns = signs.iter().zip(signs.iter().skip(1)).filter(|(one, next)| !is_step(**one, **next)).count();
    turns < FEW_TURNS
}

/// Whether the letters are a few common words and nothing else. Digits around and between them are what
/// every guesser adds.
fn is_common(text: &str) -> bool {
    let letters: Vec<char> = text.chars().filter(|sign| sign.is_alphabetic()).collect();
    // How few common words fill the first so many letters.
    let mut words: Vec<Option<usize>> = vec![Some(0)];
    for end in 1..=letters.len() {
        let fewest = (end.saturating_sub(30)..end).filter_map(|start| {
            let before = words.get(start).copied().flatten()?;
            let word: String = letters.get(start..end)?.iter().collect();
            COMMON.contains(word.as_str()).then_some(before + 1)
        });
        words.push(fewest.min());
    }
    words.last().copied().flatten().is_some_and(|words| words <= FEW_WORDS)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_guessed_first_is_weak() {
        for (password, weakness_of_it) in [
            ("passwordpassword", Weakness::Common),
            ("Password1234!", Weakness::Common),
            ("P@ssw0rd2026!!", Weakness::Common),
            ("administrator", Weakness::Common),
            ("Admin-Password-1", Weakness::Common),
            ("Willkommen2026", Weakness::Common),
            ("iloveyouforever", Weakness::Common),
            ("letmein-letmein", Weakness::Common),
            ("correct horse battery staple", Weakness::Common),
            ("changeme123456", Weakness::Common),
            ("123456789012", Weakness::Pattern),
            ("210987654321", Weakness::Pattern),
            ("aaaaaaaaaaaa", Weakness::Pattern),
            ("abababababab", Weakness::Pattern),
            ("abcabcabcabc", Weakness::Pattern),
            ("abcdefghijkl", Weakness::Pattern),
            ("qwertyuiop[]", Weakness::Pattern),
            ("1234qwerasdf", Weakness::Pattern),
            ("1qaz2wsx3edc", Weakness::Pattern),
            ("            ", Weakness::Pattern),
        ] {
            assert_eq!(weakness(password, &[]), Some(weakness_of_it), "{password}");
        }
    }

    #[test]
    fn names_around_the_account_are_weak_in_any_spelling() {
        let names = ["alice@wonderland.example", "Doorward", "ACME Shop", "bo"];
        for password in [
            "alice in the house",
            "so ALICE it is now",
            "4l1ce goes shopping",
            "wonderful-alice@wonderland.example",
            "my doorward server",
            "D00rw4rd rocks on",
            "acme shop forever and on",
            "acme-shop forever and on",
            "bo",
        ] {
            assert_eq!(weakness(password, &names), Some(Weakness::Name), "{password}");
        }
        // Two letters stand in everything.
        assert_eq!(weakness("rainbow under the table", &names), None);
        assert_eq!(weakness("rainbow under the table", &["", "@", "@x"]), None);
    }

    #[test]
    fn words_that_have_nothing_to_do_with_each_other_pass() {
        for password in [
            "a long enough password",
            "correct horse battery",
            "bob has a long password",
            "x7#Kp2!vQz9w",
            "Schl\u{fc}ssel f\u{fc}r alle",
            "\u{6c34}\u{706b}\u{571f}\u{91d1}\u{6728}\u{5c71}\u{5ddd}\u{6d77}\u{7a7a}\u{98a8}\u{96ea}\u{82b1}",
            "dragon shadow monkey sunshine",
        ] {
            assert_eq!(weakness(password, &["admin", "Doorward"]), None, "{password}");
        }
    }

    #[test]
    fn the_list_is_words_in_order_of_nothing_but_themselves() {
        for word in include_str!("weak_password/words.txt").lines() {
            assert!(!word.is_empty() && fold(word) == word, "{word}");
        }
    }

    proptest! {
        #[test]
        fn no_password_makes_it_panic(password in "\\PC{0,256}", name in "\\PC{0,40}") {
            let _ = weakness(&password, &[&name]);
        }

        #[test]
        fn digits_and_signs_around_a_common_password_do_not_mend_it(
            before in "[0-9!. ]{0,4}",
            after in "[0-9!. ]{0,6}",
        ) {
            let password = format!("{before}password{after}");
            prop_assert!(weakness(&password, &[]).is_some());
        }
    }
}
