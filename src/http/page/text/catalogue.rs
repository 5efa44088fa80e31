//! Reads the embedded catalogues, once each.

use std::sync::OnceLock;

use super::key::Key;
use super::language::{Language, Plural};
use super::markup::next_placeholder;
use super::pseudo;

/// The texts of one language, in the order of [`Key::ALL`].
pub(super) struct Catalogue {
    messages: Vec<Vec<(&'static str, &'static str)>>,
}

impl Catalogue {
    /// A message in a plural form; without one, or where the form is missing, its general form. What is
    /// missing altogether comes as its key, which tests look for.
    pub(super) fn message(&self, key: Key, form: Option<Plural>) -> &'static str {
        let Some(forms) = self.messages.get(key as usize) else { return key.name() };
        let wanted = form.map_or("", Plural::name);
        forms.iter().find(|(name, _)| *name == wanted).or(forms.last()).map_or(key.name(), |&(_, text)| text)
    }
}

/// The catalogue of a language.
pub(super) fn of(language: Language) -> &'static Catalogue {
    static EN: OnceLock<Catalogue> = OnceLock::new();
    static DE: OnceLock<Catalogue> = OnceLock::new();
    static XA: OnceLock<Catalogue> = OnceLock::new();
    static XB: OnceLock<Catalogue> = OnceLock::new();
    match language {
        Language::En => EN.get_or_init(|| read(source(language))),
        Language::De => DE.get_or_init(|| read(source(language))),
        Language::Xa => XA.get_or_init(|| pseudo::catalogue(source(language), pseudo::stretch)),
        Language::Xb => XB.get_or_init(|| pseudo::catalogue(source(language), pseudo::mirror)),
    }
}

fn source(language: Language) -> &'static str {
    match language {
        Language::De => include_str!("../../../../templates/text/de.txt"),
        Language::En | Language::Xa | Language::Xb => include_str!("../../../../templates/text/en.txt"),
    }
}

/// Reads a catalogue.
pub(super) fn read(source: &'static str) -> Catalogue {
    let mut messages: Vec<Vec<(&'static str, &'static str)>> = vec![Vec::new(); Key::ALL.len()];
    for (name, form, text) in lines(source) {
        if let Some(forms) = Key::find(name).and_then(|key| messages.get_mut(key as usize)) {
            forms.push((form, text));
        }
    }
    Catalogue { messages }
}

/// The lines of a catalogue: key, plural category or nothing, text.
pub(super) fn lines(source: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    source.lines().filter_map(|line| {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let (name, text) = line.split_once('=').unwrap_or((line, ""));
        let (name, form) = name.trim().split_once('[').unwrap_or((name.trim(), ""));
        Some((name, form.trim_end_matches(']'), text.trim()))
    })
}

/// Everything in which the catalogues are not as they should be; a test wants none: unknown, missing
/// and doubled keys, empty texts, other plural forms than the language has, other placeholders than
/// in English.
#[must_use]
pub fn faults() -> Vec<String> {
    let mut faults = Vec::new();
    for language in Language::ALL {
        let mut seen = std::collections::BTreeSet::new();
        for (name, form, text) in lines(source(language)) {
            let place = format!("{}: {name}[{form}]", language.code());
            if Key::find(name).is_none() {
                faults.push(format!("{place}: no such key"));
            }
            if text.is_empty() {
                faults.push(format!("{place}: no text"));
            }
            if !seen.insert((name, form)) {
                faults.push(format!("{place}: twice"));
            }
            if placeholders(text) != expected_placeholders(name) {
                faults.push(format!("{place}: placeholders differ from English"));
            }
        }
        for &key in Key::ALL {
            let forms: Vec<&str> = seen.iter().filter(|(name, _)| *name == key.name()).map(|&(_, form)| form).collect();
            if forms != [""] && forms != ["one", "other"] {
                faults.push(format!("{}: {}: forms are {forms:?}", language.code(), key.name()));
            }
        }
    }
    faults
}

/// Placeholders of the English message. `[one]` may spell its number out, so `n` is not compared.
fn expected_placeholders(name: &str) -> Vec<&'static str> {
    lines(source(Language::En)).find(|line| line.0 == name).map(|line| placeholders(line.2)).unwrap_or_default()
}

fn placeholders(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some((_, name, after)) = next_placeholder(rest) {
        if name != "n" {
            names.push(name);
        }
        rest = after;
    }
    names.sort_unstable();
    names
}
