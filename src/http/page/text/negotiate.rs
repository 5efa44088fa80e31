//! Which language a page is in: what the application asked for, what the person chose, what the
//! browser prefers, the realm's own (OpenID Connect Core 3.1.2.1 `ui_locales`; RFC 9110 12.5.4).

use super::language::Language;

/// Longest header that is looked at, in entries: preferences of strangers cost bounded work.
const ENTRY_LIMIT: usize = 32;

/// The language of a page. `ui_locales` is a list by preference, separated by blanks; the cookie one
/// tag. Unknown languages are passed over, never an error.
#[must_use]
pub fn negotiate(
    ui_locales: Option<&str>,
    cookie: Option<&str>,
    accept_language: Option<&str>,
    supported: &[Language],
    default: Language,
) -> Language {
    let known = |tag: &str| Language::from_tag(tag.trim()).filter(|language| supported.contains(language));
    let asked = ui_locales.and_then(|list| list.split(' ').take(ENTRY_LIMIT).find_map(known));
    let chosen = || cookie.and_then(known);
    let preferred = || accept_language.and_then(|header| best(header, known));
    asked.or_else(chosen).or_else(preferred).unwrap_or(default)
}

/// The first of the most wanted languages; `q=0` is a refusal.
fn best(header: &str, known: impl Fn(&str) -> Option<Language>) -> Option<Language> {
    let mut best: Option<(u16, Language)> = None;
    for entry in header.split(',').take(ENTRY_LIMIT) {
        let mut parts = entry.split(';');
        let Some(language) = parts.next().and_then(&known) else { continue };
        let weight = parts.find_map(|part| part.trim().strip_prefix("q=")).map_or(1000, weight);
        if weight > 0 && best.is_none_or(|(w, _)| weight > w) {
            best = Some((weight, language));
        }
    }
    best.map(|(_, language)| language)
}

/// A quality value in thousandths; what is not one counts as refused.
fn weight(text: &str) -> u16 {
    let (whole, part) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    if !part.bytes().all(|b| b.is_ascii_digit()) || part.len() > 3 {
        return 0;
    }
    match whole {
        "1" => 1000,
        "0" => format!("{part:0<3}").parse().unwrap_or(0),
        _ => 0,
    }
}
