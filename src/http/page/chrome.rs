//! What surrounds every page: language, realm, footer, addresses of assets.

use super::assets;
use super::client_header::web_address;
use super::text::{self, Key, Language, Markup};

/// A way back to something outside this page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Back {
    /// What stands there ("Photo Shop"), cleaned by [`super::clean_title`].
    pub title: String,
    /// Where it is. Only addresses that were registered or are ours.
    pub href: String,
}

/// A language that can be chosen in the footer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LanguageLink {
    /// BCP 47 tag for `lang` and `hreflang`.
    pub code: String,
    /// Its own name, in itself.
    pub name: String,
    /// The same page in that language; keeps the flow.
    pub href: String,
    /// Whether the page is in it already.
    pub current: bool,
}

impl LanguageLink {
    /// A link to `href` for a language.
    #[must_use]
    pub fn new(language: Language, href: impl Into<String>, now: Language) -> Self {
        Self {
            code: language.code().to_owned(),
            name: language.name().to_owned(),
            href: href.into(),
            current: language == now,
        }
    }
}

/// What surrounds a page. Built once per request by the endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chrome {
    /// Language of every text on the page.
    pub lang: Language,
    /// Put in front of `/static/…`: empty, or the path of `public_url` such as `/sso`.
    pub base: String,
    /// What people know the realm as.
    pub realm_title: String,
    /// Address of the realm's logo, on our own host; the mark of the product when absent.
    pub realm_logo: Option<String>,
    /// The realm's privacy policy.
    pub policy_uri: Option<String>,
    /// The realm's terms.
    pub tos_uri: Option<String>,
    /// Our own host name, so that people can check where they are.
    pub domain: String,
    /// Languages to choose from; nothing is shown for fewer than two.
    pub languages: Vec<LanguageLink>,
    /// Finds the log line; shown on error pages.
    pub request_id: String,
    /// Address of the logout page, given while a session exists: no page without a way out.
    pub sign_out: Option<String>,
}

impl Chrome {
    /// A page of a realm with nothing optional on it.
    #[must_use]
    pub fn new(lang: Language, base: impl Into<String>, realm_title: impl Into<String>) -> Self {
        Self {
            lang,
            base: base.into(),
            realm_title: realm_title.into(),
            realm_logo: None,
            policy_uri: None,
            tos_uri: None,
            domain: String::new(),
            languages: Vec::new(),
            request_id: String::new(),
            sign_out: None,
        }
    }

    /// Tag for the `lang` attribute.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.lang.code()
    }

    /// `ltr` or `rtl`.
    #[must_use]
    pub fn dir(&self) -> &'static str {
        self.lang.dir()
    }

    /// A message without placeholders.
    #[must_use]
    pub fn t(&self, key: Key) -> &'static str {
        text::get(self.lang, key)
    }

    /// A message with one placeholder.
    #[must_use]
    pub fn with(&self, key: Key, name: &str, value: &str) -> String {
        text::fill(self.lang, key, &[(name, value)])
    }

    /// A message with one placeholder whose value is set apart as a name, ready as HTML.
    #[must_use]
    pub fn bold(&self, key: Key, name: &str, value: &str) -> Markup {
        text::bold(self.lang, key, &[(name, value)])
    }

    /// A message about a number, in the plural form it asks for.
    #[must_use]
    pub fn count(&self, key: Key, n: u64) -> String {
        text::count(self.lang, key, n)
    }

    /// Address of an embedded file, with the hash of its content in the name.
    #[must_use]
    pub fn asset(&self, name: &str) -> String {
        format!("{}{}", self.base, assets::asset(name))
    }

    /// Content of `<title>`: the step, then where.
    #[must_use]
    pub fn title(&self, step: &str, is_error: bool) -> String {
        let place = if self.realm_title.is_empty() { "Doorward" } else { &self.realm_title };
        let step = if is_error { self.with(Key::TitleError, "title", step) } else { step.to_owned() };
        format!("{step} · {place}")
    }

    /// Whether a name is so long that the heading it stands in needs a smaller size.
    #[must_use]
    pub fn is_long(&self, name: &str) -> bool {
        name.chars().count() > 24
    }

    /// The realm's privacy policy, if it is an address of the web.
    #[must_use]
    pub fn policy(&self) -> Option<&str> {
        web_address(self.policy_uri.as_deref())
    }

    /// The realm's terms, if they are an address of the web.
    #[must_use]
    pub fn terms(&self) -> Option<&str> {
        web_address(self.tos_uri.as_deref())
    }

    /// Whether the footer offers languages.
    #[must_use]
    pub fn offers_languages(&self) -> bool {
        self.languages.len() > 1
    }
}
