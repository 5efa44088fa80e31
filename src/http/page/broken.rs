//! The last page: for when nothing else works. Compiled in, without templates, catalogue or
//! database, in both languages at once.

use super::assets;

/// The document; `{base}`, `{style}`, `{mark}` and `{reference}` stand for what changes.
const DOCUMENT: &str = include_str!("../../../static/500.html");

/// The page. `base` as in [`super::Chrome`]; the reference is the request id.
#[must_use]
pub fn page(base: &str, reference: &str) -> String {
    let safe = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let base: String = base.chars().filter(safe).collect();
    let reference: String = reference.chars().filter(safe).collect();
    DOCUMENT
        .replace("{style}", assets::asset("css/doorward.css"))
        .replace("{mark}", assets::asset("img/mark.svg"))
        .replace("{base}", &base)
        .replace("{reference}", &reference)
}
