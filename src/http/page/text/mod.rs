//! The message catalogue: `templates/text/<language>.txt`, one `key = text` a line, embedded.
//!
//! Placeholders are `{name}`. A message about a number has a line per plural category
//! (`key[one]`, `key[other]`; CLDR's names). Tests hold the languages equal in keys and placeholders.

mod catalogue;
mod key;
mod language;
mod markup;
mod negotiate;
mod pseudo;

pub use catalogue::faults;
pub use key::Key;
pub use language::Language;
pub use markup::Markup;
pub use negotiate::negotiate;

/// A message as it stands.
#[must_use]
pub fn get(language: Language, key: Key) -> &'static str {
    catalogue::of(language).message(key, None)
}

/// A message with its placeholders filled in.
#[must_use]
pub fn fill(language: Language, key: Key, values: &[(&str, &str)]) -> String {
    markup::substitute(get(language, key), |out, name| {
        if let Some(value) = find(values, name) {
            out.push_str(value);
        } else {
            out.push('{');
            out.push_str(name);
            out.push('}');
        }
    })
}

/// A message with its placeholders filled in, each set apart as a name: `<strong><bdi>…`.
#[must_use]
pub fn bold(language: Language, key: Key, values: &[(&str, &str)]) -> Markup {
    Markup::bold(get(language, key), |name| find(values, name))
}

/// A message about a number: the right plural form, `{n}` filled in.
#[must_use]
pub fn count(language: Language, key: Key, n: u64) -> String {
    let form = catalogue::of(language).message(key, Some(language.plural(n)));
    let number = language.number(n);
    markup::substitute(form, |out, name| out.push_str(if name == "n" { &number } else { name }))
}

fn find<'a>(values: &[(&str, &'a str)], name: &str) -> Option<&'a str> {
    values.iter().find(|(key, _)| *key == name).map(|&(_, value)| value)
}
