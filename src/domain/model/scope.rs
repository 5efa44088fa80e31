//! A scope of a realm's own, with the words in which people are asked for it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ids::{RealmId, ScopeId};

/// A scope as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// Its realm.
    pub realm: RealmId,
    /// Its row.
    pub id: ScopeId,
    /// The scope token (RFC 6749 section 3.3); none of the standard ones.
    pub name: String,
    /// What is said of it.
    pub terms: ScopeTerms,
}

/// What is said of a scope, in the names of the realm file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScopeTerms {
    /// Whether discovery names it.
    pub listed: bool,
    /// What the consent page asks, by language (BCP 47).
    pub consent: BTreeMap<String, String>,
    /// A sentence more about it, by language.
    pub description: BTreeMap<String, String>,
}

impl Default for ScopeTerms {
    fn default() -> Self {
        Self { listed: true, consent: BTreeMap::new(), description: BTreeMap::new() }
    }
}

impl ScopeTerms {
    /// The words of the consent page in the first of `languages` that has any, else in whatever language there
    /// is; `None` = there are none.
    #[must_use]
    pub fn asked<'a>(&'a self, languages: &[&str]) -> Option<Words<'a>> {
        in_language(&self.consent, languages)
    }

    /// The sentence more, likewise.
    #[must_use]
    pub fn described<'a>(&'a self, languages: &[&str]) -> Option<Words<'a>> {
        in_language(&self.description, languages)
    }
}

/// Words, and the language they are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Words<'a> {
    /// The language (BCP 47).
    pub language: &'a str,
    /// The words.
    pub text: &'a str,
}

fn in_language<'a>(texts: &'a BTreeMap<String, String>, languages: &[&str]) -> Option<Words<'a>> {
    let wished = languages.iter().find_map(|language| texts.get_key_value(*language));
    let (language, text) = wished.or_else(|| texts.iter().next())?;
    Some(Words { language, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_in_the_wished_language_else_in_the_next_else_in_any() {
        let mut terms = ScopeTerms::default();
        let asked = |terms: &ScopeTerms, languages: &[&str]| {
            terms.asked(languages).map(|words| (words.language.to_owned(), words.text.to_owned()))
        };
        let english = Some(("en".to_owned(), "See your orders".to_owned()));
        assert_eq!((asked(&terms, &["de", "en"]), terms.described(&["de"])), (None, None));
        terms.consent.insert("en".to_owned(), "See your orders".to_owned());
        assert_eq!(asked(&terms, &["de", "en"]), english);
        assert_eq!(asked(&terms, &["de"]), english, "better than none");
        terms.consent.insert("de".to_owned(), "Ihre Bestellungen sehen".to_owned());
        assert_eq!(asked(&terms, &["de", "en"]), Some(("de".to_owned(), "Ihre Bestellungen sehen".to_owned())));
        assert_eq!(asked(&terms, &["ar-XB", "en"]), english);
    }
}
