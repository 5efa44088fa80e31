//! For a tab whose form was overtaken by another tab: "You are signed in. Continue to App"
//! (`behaviour-cases` B-39). Never a dead end.

use askama::Template;

use super::chrome::Chrome;
use super::client_header::ClientHeader;
use super::sample;
use super::text::{Key, Language};

/// The page for a tab that came late.
#[derive(Debug, Clone, Template)]
#[template(path = "signin/already_signed_in.html")]
pub struct AlreadySignedInPage {
    /// What surrounds it.
    pub chrome: Chrome,
    /// Where the person was going.
    pub client: Option<ClientHeader>,
    /// Who is signed in.
    pub person: String,
    /// Goes on with this tab's own request.
    pub continue_href: String,
}

impl AlreadySignedInPage {
    fn title(&self) -> String {
        self.chrome.title(self.chrome.t(Key::AlreadyHeading), false)
    }

    fn onward(&self) -> String {
        match &self.client {
            Some(client) => self.chrome.with(Key::AlreadyContinueApp, "app", &client.title),
            None => self.chrome.t(Key::Continue).to_owned(),
        }
    }

    /// Every state.
    #[must_use]
    pub fn samples() -> Vec<(&'static str, Self)> {
        let page = |lang, client| Self {
            chrome: Chrome { sign_out: Some("/logout".into()), ..sample::chrome(lang) },
            client,
            person: sample::username(lang).into(),
            continue_href: "/authorize/resume?flow=flow-id".into(),
        };
        vec![
            ("en", page(Language::En, None)),
            ("app-en", page(Language::En, Some(sample::client(Language::En)))),
            ("app-de", page(Language::De, Some(sample::client(Language::De)))),
        ]
    }
}
