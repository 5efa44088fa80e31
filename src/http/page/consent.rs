//! The consent page (`ux` 2.6; OpenID Connect Core 3.1.2.4).
//!
//! The form posts `csrf`, `flow` and `action`: `allow`, `deny` or `switch` (another account).

use askama::Template;

use super::chrome::Chrome;
use super::client_header::{ClientHeader, clean};
use super::sample;
use super::text::{Key, Language};
use crate::domain::model::scope::{ScopeTerms, Words};

/// Picture beside a scope. Never alone: the sentence says it all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeIcon {
    /// Who the person is.
    Person,
    /// Mail address.
    Mail,
    /// Telephone.
    Phone,
    /// Postal address.
    House,
    /// Works while the person is away.
    Clock,
    /// Roles and groups.
    People,
    /// Anything else.
    Key,
}

impl ScopeIcon {
    fn name(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Mail => "mail",
            Self::Phone => "phone",
            Self::House => "house",
            Self::Clock => "clock",
            Self::People => "people",
            Self::Key => "key",
        }
    }
}

/// One thing the client gets, as a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeLine {
    /// Picture beside it.
    pub icon: ScopeIcon,
    /// The sentence.
    pub text: String,
    /// Its language (BCP 47), where it is not the page's.
    pub lang: Option<String>,
    /// A sentence more.
    pub detail: Option<Detail>,
}

/// What stands below a sentence, smaller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detail {
    /// The words.
    pub text: String,
    /// Their language (BCP 47), where it is not the page's.
    pub lang: Option<String>,
}

/// Characters of an operator's sentences.
const TEXT_LIMIT: usize = 200;
const DETAIL_LIMIT: usize = 1_000;

impl ScopeLine {
    /// The sentence for a scope of the standard (Core 5.4, 11) or of ours; `None` for others, which
    /// bring their own texts.
    #[must_use]
    pub fn standard(language: Language, scope: &str) -> Option<Self> {
        let (icon, key) = match scope {
            "openid" => (ScopeIcon::Person, Key::ScopeOpenid),
            "profile" => (ScopeIcon::Person, Key::ScopeProfile),
            "email" => (ScopeIcon::Mail, Key::ScopeEmail),
            "phone" => (ScopeIcon::Phone, Key::ScopePhone),
            "address" => (ScopeIcon::House, Key::ScopeAddress),
            "offline_access" => (ScopeIcon::Clock, Key::ScopeOffline),
            "roles" => (ScopeIcon::People, Key::ScopeRoles),
            "groups" => (ScopeIcon::People, Key::ScopeGroups),
            _ => return None,
        };
        Some(Self { icon, text: super::text::get(language, key).to_owned(), lang: None, detail: None })
    }

    /// The standard's sentence, else the realm's own words in the person's language, else in `fallback` or
    /// whatever there is, else the scope's name.
    #[must_use]
    pub fn of(language: Language, fallback: &str, scope: &str, terms: Option<&ScopeTerms>) -> Self {
        if let Some(line) = Self::standard(language, scope) {
            return line;
        }
        let languages = [language.code(), fallback, Language::En.code()];
        let foreign = |words: &Words<'_>| (words.language != language.code()).then(|| words.language.to_owned());
        let detail = terms
            .and_then(|terms| terms.described(&languages))
            .map(|words| Detail { text: clean(words.text, DETAIL_LIMIT), lang: foreign(&words) });
        let (text, lang) = match terms.and_then(|terms| terms.asked(&languages)) {
            Some(words) => (clean(words.text, TEXT_LIMIT), foreign(&words)),
            None => (clean(&super::text::fill(language, Key::ScopeOther, &[("scope", scope)]), TEXT_LIMIT), None),
        };
        Self { icon: ScopeIcon::Key, text, lang, detail }
    }

    /// A place where the client will act: by its name, with the host that it really is.
    #[must_use]
    pub fn resource(language: Language, identifier: &str, title: Option<&str>) -> Self {
        let host = url::Url::parse(identifier).ok().and_then(|url| url.host_str().map(str::to_owned));
        let place = host.unwrap_or_else(|| clean(identifier, TEXT_LIMIT));
        let title = title.map(|title| clean(title, TEXT_LIMIT)).filter(|title| !title.is_empty());
        let detail = title.is_some().then(|| Detail { text: place.clone(), lang: None });
        let name = title.unwrap_or(place);
        let text = super::text::fill(language, Key::ScopeResource, &[("resource", &name)]);
        Self { icon: ScopeIcon::Key, text, lang: None, detail }
    }
}

/// Scopes of a realm's own for the samples: with words in both languages, in English alone, and with none.
fn own_lines(lang: Language) -> Vec<ScopeLine> {
    let texts = |list: &[(&str, &str)]| list.iter().map(|(lang, text)| ((*lang).into(), (*text).into())).collect();
    let read = ScopeTerms {
        consent: texts(&[("en", "See your orders"), ("de", "Ihre Bestellungen sehen")]),
        description: texts(&[
            ("en", "What you bought, when, and where it was sent. Not how you paid."),
            ("de", "Was Sie gekauft haben, wann, und wohin es ging. Nicht, wie Sie bezahlt haben."),
        ]),
        ..ScopeTerms::default()
    };
    let write = ScopeTerms { consent: texts(&[("en", "Change and cancel your orders")]), ..ScopeTerms::default() };
    vec![
        ScopeLine::of(lang, "en", "openid", None),
        ScopeLine::of(lang, "en", "orders:read", Some(&read)),
        ScopeLine::of(lang, "en", "orders:write", Some(&write)),
        ScopeLine::of(lang, "en", "returns", None),
        ScopeLine::resource(lang, "https://orders.example.com/v1", Some("Example orders")),
        ScopeLine::resource(lang, "https://api.example.com", None),
    ]
}

/// A client that registered itself (`ux` 2.6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unchecked {
    /// The day on which it did.
    pub since: String,
    /// Whether people go on to an app on their own device, whose address tells them nothing.
    pub on_device: bool,
}

/// The consent page.
#[derive(Debug, Clone, Template)]
#[template(path = "signin/consent.html")]
pub struct ConsentPage {
    /// What surrounds it.
    pub chrome: Chrome,
    /// Who asks.
    pub client: ClientHeader,
    /// That the client registered itself; absent where an operator stands for it.
    pub unchecked: Option<Unchecked>,
    /// Who is signed in, as the person knows it.
    pub person: String,
    /// Where the form goes.
    pub action: String,
    /// Token of this form.
    pub csrf: String,
    /// Names the pending request.
    pub flow: String,
    /// What is asked now.
    pub scopes: Vec<ScopeLine>,
    /// What was allowed before; folded.
    pub known: Vec<ScopeLine>,
    /// Host the person will be sent to.
    pub redirect_domain: String,
    /// The client will work while the person is away. Said once: here, or by the scope's own line.
    pub offline: bool,
    /// Where access is removed later; absent while there is no such page.
    pub manage_href: Option<String>,
}

impl ConsentPage {
    fn title(&self) -> String {
        self.chrome.title(&self.chrome.with(Key::ConsentHeading, "app", &self.client.title), false)
    }

    /// The sentence about absence, unless a scope's line says it already.
    fn absence(&self) -> Option<&'static str> {
        let is_said = self.scopes.iter().chain(&self.known).any(|line| line.icon == ScopeIcon::Clock);
        (self.offline && !is_said).then(|| self.chrome.t(Key::ScopeOffline))
    }

    /// Every state.
    #[must_use]
    pub fn samples() -> Vec<(&'static str, Self)> {
        let lines = |lang, scopes: &[&str]| scopes.iter().map(|scope| ScopeLine::of(lang, "en", scope, None)).collect();
        let few = |lang| Self {
            chrome: sample::chrome(lang),
            client: sample::client(lang),
            unchecked: None,
            person: sample::username(lang).into(),
            action: "/consent".into(),
            csrf: "csrf-token".into(),
            flow: "flow-id".into(),
            scopes: lines(lang, &["openid", "profile", "email"]),
            known: Vec::new(),
            redirect_domain: "app.example.com".into(),
            offline: false,
            manage_href: None,
        };
        let many = |lang| Self {
            scopes: lines(lang, &["phone", "address", "offline_access", "roles", "groups", "orders:write"]),
            known: lines(lang, &["openid", "profile", "email"]),
            offline: true,
            redirect_domain: "a-very-long-subdomain-of-the-shop.app.example.com".into(),
            manage_href: Some("/account/apps".into()),
            ..few(lang)
        };
        let unchecked = |on_device| Some(Unchecked { since: "2026-11-03".to_owned(), on_device });
        let own = |lang| Self { scopes: own_lines(lang), ..few(lang) };
        vec![
            ("few-en", few(Language::En)),
            ("few-de", few(Language::De)),
            ("many-en", many(Language::En)),
            ("many-de", many(Language::De)),
            ("many-xa", many(Language::Xa)),
            ("many-xb", many(Language::Xb)),
            ("offline-en", Self { offline: true, ..few(Language::En) }),
            ("unchecked-en", Self { unchecked: unchecked(false), ..few(Language::En) }),
            ("unchecked-de", Self { unchecked: unchecked(false), ..many(Language::De) }),
            ("unchecked-xa", Self { unchecked: unchecked(false), ..few(Language::Xa) }),
            (
                "device-de",
                Self { unchecked: unchecked(true), redirect_domain: "localhost".to_owned(), ..few(Language::De) },
            ),
            ("own-en", own(Language::En)),
            ("own-de", own(Language::De)),
            ("own-xb", own(Language::Xb)),
            ("hostile-en", Self { client: sample::hostile_client(), ..few(Language::En) }),
        ]
    }
}
