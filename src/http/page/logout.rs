//! The question before signing out (RP-Initiated Logout 1.0 section 2).
//!
//! The form posts `csrf`, the given hidden fields and `action`: `logout` or `stay`.

use askama::Template;

use super::chrome::Chrome;
use super::client_header::ClientHeader;
use super::sample;
use super::text::{Key, Language, Markup};

/// The confirmation page.
#[derive(Debug, Clone, Template)]
#[template(path = "signin/logout.html")]
pub struct LogoutPage {
    /// What surrounds it.
    pub chrome: Chrome,
    /// Who asks, when it is known and trustworthy.
    pub client: Option<ClientHeader>,
    /// Who is signed in; empty when not said.
    pub person: String,
    /// Where the form goes.
    pub action: String,
    /// Token of this form.
    pub csrf: String,
    /// The request that is carried along.
    pub fields: Vec<(String, String)>,
}

impl LogoutPage {
    fn title(&self) -> String {
        self.chrome.title(&self.chrome.with(Key::LogoutHeading, "realm", &self.chrome.realm_title), false)
    }

    fn text(&self) -> Markup {
        match &self.client {
            Some(client) => self.chrome.bold(Key::LogoutTextApp, "app", &client.title),
            None => Markup::plain(self.chrome.t(Key::LogoutText)),
        }
    }

    /// Every state.
    #[must_use]
    pub fn samples() -> Vec<(&'static str, Self)> {
        let page = |lang, client, person: &str| Self {
            chrome: sample::chrome(lang),
            client,
            person: person.into(),
            action: "/logout".into(),
            csrf: "csrf-token".into(),
            fields: vec![("state".into(), "\"></form><script>alert(1)</script>".into())],
        };
        vec![
            ("en", page(Language::En, None, "alice")),
            ("app-en", page(Language::En, Some(sample::client(Language::En)), "alice")),
            ("app-de", page(Language::De, Some(sample::client(Language::De)), sample::username(Language::De))),
            ("app-xb", page(Language::Xb, Some(sample::client(Language::Xb)), "")),
        ]
    }
}
