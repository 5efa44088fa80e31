//! The consent page (`ux` 2.6; OpenID Connect Core 3.1.2.4).
//!
//! The form posts `csrf`, `flow` and `action`: `allow`, `deny` or `switch` (another account).

use askama::Template;

use super::chrome::Chrome;
use super::client_header::ClientHeader;
use super::sample;
use super::text::{Key, Language};

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
}

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
        Some(Self { icon, text: super::text::get(language, key).to_owned() })
    }

    /// A scope of a resource: what may be done there, in its own words or by its name.
    #[must_use]
    pub fn custom(text: &str) -> Self {
        Self { icon: ScopeIcon::Key, text: super::clean_title(text) }
    }

    /// The standard's sentence, else the scope's own name.
    #[must_use]
    pub fn of(language: Language, scope: &str) -> Self {
        Self::standard(language, scope)
            .unwrap_or_else(|| Self::custom(&super::text::fill(language, Key::ScopeOther, &[("scope", scope)])))
    }
}

/// The consent page.
#[derive(Debug, Clone, Template)]
#[template(path = "signin/consent.html")]
pub struct ConsentPage {
    /// What surrounds it.
    pub chrome: Chrome,
    /// Who asks.
    pub client: ClientHeader,
    /// The day on which the client registered itself; absent where an operator stands for it.
    pub unchecked_since: Option<String>,
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
        let lines = |lang, scopes: &[&str]| scopes.iter().map(|scope| ScopeLine::of(lang, scope)).collect();
        let few = |lang| Self {
            chrome: sample::chrome(lang),
            client: sample::client(lang),
            unchecked_since: None,
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
        let day = || Some("2026-11-03".to_owned());
        vec![
            ("few-en", few(Language::En)),
            ("few-de", few(Language::De)),
            ("many-en", many(Language::En)),
            ("many-de", many(Language::De)),
            ("many-xa", many(Language::Xa)),
            ("many-xb", many(Language::Xb)),
            ("offline-en", Self { offline: true, ..few(Language::En) }),
            ("unchecked-en", Self { unchecked_since: day(), ..few(Language::En) }),
            ("unchecked-de", Self { unchecked_since: day(), ..many(Language::De) }),
            ("unchecked-xa", Self { unchecked_since: day(), ..few(Language::Xa) }),
            ("hostile-en", Self { client: sample::hostile_client(), ..few(Language::En) }),
        ]
    }
}
