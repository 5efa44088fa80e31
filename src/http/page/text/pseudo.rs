//! Languages nobody speaks: English made longer, or turned. They show what a translation would break.

use super::catalogue::{Catalogue, lines, read};
use super::markup::next_placeholder;

/// English with each text changed. Called once per pseudo-language: what it makes lives as long as
/// the process.
pub(super) fn catalogue(source: &'static str, change: fn(&str) -> String) -> Catalogue {
    let mut changed = String::new();
    for (name, form, text) in lines(source) {
        changed.push_str(name);
        if !form.is_empty() {
            changed.push('[');
            changed.push_str(form);
            changed.push(']');
        }
        changed.push('=');
        changed.push_str(&change(text));
        changed.push('\n');
    }
    read(Box::leak(changed.into_boxed_str()))
}

/// Accents on the letters, and two parts in five more of them.
pub(super) fn stretch(text: &str) -> String {
    let mut out = String::from("[");
    letters(&mut out, text, |c| match c {
        'a' => 'á',
        'e' => 'é',
        'i' => 'í',
        'o' => 'ö',
        'u' => 'ü',
        'A' => 'Å',
        'E' => 'É',
        'I' => 'Î',
        'O' => 'Ø',
        'U' => 'Û',
        'n' => 'ñ',
        'y' => 'ý',
        c => c,
    });
    let more = text.chars().count() * 2 / 5;
    out.push(' ');
    out.extend("lörem ".chars().cycle().take(more));
    out.push(']');
    out
}

/// Turned: each text in a right-to-left override, placeholders isolated.
pub(super) fn mirror(text: &str) -> String {
    let mut out = String::from("\u{202E}");
    letters(&mut out, text, |c| c);
    out.push('\u{202C}');
    out
}

fn letters(out: &mut String, text: &str, change: fn(char) -> char) {
    let mut rest = text;
    while let Some((before, name, after)) = next_placeholder(rest) {
        out.extend(before.chars().map(change));
        out.push('{');
        out.push_str(name);
        out.push('}');
        rest = after;
    }
    out.extend(rest.chars().map(change));
}
