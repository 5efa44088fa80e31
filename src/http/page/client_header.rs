//! The client as people see it: name, logo, policy and terms (OpenID Connect Core 3.1.2.4,
//! Dynamic Registration 2). Names come from strangers, so they are cleaned before they are shown.

/// The client on sign-in, consent and logout pages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClientHeader {
    /// Its name, cleaned by [`clean_title`].
    pub title: String,
    /// Its logo, from our own copy: an address on our host.
    pub logo: Option<String>,
    /// Its privacy policy.
    pub policy_uri: Option<String>,
    /// Its terms of service.
    pub tos_uri: Option<String>,
    /// Its home page.
    pub client_uri: Option<String>,
}

impl ClientHeader {
    /// A client with nothing but a name; the name is cleaned.
    #[must_use]
    pub fn named(title: &str) -> Self {
        Self { title: clean_title(title), ..Self::default() }
    }

    /// Whether there is anything to link to.
    #[must_use]
    pub fn has_links(&self) -> bool {
        self.policy().is_some() || self.terms().is_some() || self.home().is_some()
    }

    /// Its privacy policy, if it is an address of the web.
    #[must_use]
    pub fn policy(&self) -> Option<&str> {
        web_address(self.policy_uri.as_deref())
    }

    /// Its home page, if it is an address of the web.
    #[must_use]
    pub fn home(&self) -> Option<&str> {
        web_address(self.client_uri.as_deref())
    }

    /// Its terms, if they are an address of the web.
    #[must_use]
    pub fn terms(&self) -> Option<&str> {
        web_address(self.tos_uri.as_deref())
    }
}

/// An address that may stand in a link: registration refuses other schemes, and so does the page.
pub(super) fn web_address(uri: Option<&str>) -> Option<&str> {
    uri.filter(|uri| uri.starts_with("https://") || uri.starts_with("http://"))
}

/// Longest name that is shown, in characters.
const TITLE_LIMIT: usize = 80;

/// Makes a stranger's text safe to stand beside our own words: no control characters, no characters
/// that turn the reading direction or are invisible, white space folded, at most 80 characters
/// (Dynamic Registration 9.1; `behaviour-cases` B-40).
#[must_use]
pub fn clean_title(raw: &str) -> String {
    clean(raw, TITLE_LIMIT)
}

/// As [`clean_title`], with room for so many characters.
pub(super) fn clean(raw: &str, limit: usize) -> String {
    let mut title = String::new();
    let mut length = 0;
    for word in raw.split(|c: char| c.is_whitespace() || c.is_control()) {
        let mut is_first = true;
        for character in word.chars().filter(|&c| !is_deceptive(c)) {
            if length >= limit {
                title.push('…');
                return title;
            }
            if is_first && !title.is_empty() {
                title.push(' ');
                length += 1;
            }
            is_first = false;
            title.push(character);
            length += 1;
        }
    }
    title
}

/// Characters that change how other characters are read without being seen themselves.
fn is_deceptive(c: char) -> bool {
    matches!(c,
        '\u{00AD}'                    // soft hyphen
        | '\u{034F}'                  // combining grapheme joiner
        | '\u{061C}'                  // Arabic letter mark
        | '\u{115F}' | '\u{1160}'     // Hangul fillers
        | '\u{17B4}' | '\u{17B5}'
        | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}'     // zero width, direction marks
        | '\u{2028}'..='\u{202E}'     // separators, embeddings, overrides
        | '\u{2060}'..='\u{206F}'     // word joiner, isolates, deprecated formats
        | '\u{3164}' | '\u{FFA0}'
        | '\u{FE00}'..='\u{FE0F}'     // variation selectors
        | '\u{FEFF}'
        | '\u{FFF0}'..='\u{FFFF}'
        | '\u{1D173}'..='\u{1D17A}'
        | '\u{E0000}'..='\u{E0FFF}'   // tags, variation selectors supplement
    )
}
