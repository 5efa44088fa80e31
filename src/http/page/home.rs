//! What stands at the issuer's own address: a name, and where things are.

use askama::Template;

use super::chrome::Chrome;
use super::sample;
use super::text::{Key, Language};

/// The page at `/`.
#[derive(Debug, Clone, Template)]
#[template(path = "home.html")]
pub struct HomePage {
    /// What surrounds it.
    pub chrome: Chrome,
    /// The issuer, exactly.
    pub issuer: String,
    /// Address of the discovery document.
    pub discovery_href: String,
    /// The demo relying party, with `--dev`.
    pub demo_href: Option<String>,
    /// Who is signed in here.
    pub person: Option<String>,
}

impl HomePage {
    fn title(&self) -> String {
        self.chrome.title(self.chrome.t(Key::HomeTitle), false)
    }

    /// Every state.
    #[must_use]
    pub fn samples() -> Vec<(&'static str, Self)> {
        let page = |lang, demo_href, person: Option<&str>| Self {
            chrome: Chrome { sign_out: person.map(|_| "/logout".into()), ..sample::chrome(lang) },
            issuer: "https://id.example.com/realms/kunden".into(),
            discovery_href: "https://id.example.com/realms/kunden/.well-known/openid-configuration".into(),
            demo_href,
            person: person.map(Into::into),
        };
        vec![
            ("bare-en", page(Language::En, None, None)),
            ("demo-en", page(Language::En, Some("/demo".into()), None)),
            ("signed-in-de", page(Language::De, Some("/demo".into()), Some(sample::username(Language::De)))),
        ]
    }
}
