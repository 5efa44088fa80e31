//! After signing out: says so, and where to go.

use askama::Template;

use super::chrome::{Back, Chrome};
use super::sample;
use super::text::{Key, Language};

/// The signed-out page.
#[derive(Debug, Clone, Template)]
#[template(path = "signin/signed_out.html")]
pub struct SignedOutPage {
    /// What surrounds it.
    pub chrome: Chrome,
    /// The application that asked, at a registered address.
    pub back: Option<Back>,
    /// Where to sign in again; absent while there is no page of ours to sign in to.
    pub sign_in_href: Option<String>,
}

impl SignedOutPage {
    fn title(&self) -> String {
        self.chrome.title(self.chrome.t(Key::SignedOutHeading), false)
    }

    /// Every state.
    #[must_use]
    pub fn samples() -> Vec<(&'static str, Self)> {
        let page = |lang, back, sign_in_href| Self { chrome: sample::chrome(lang), back, sign_in_href };
        let back = |lang| Some(Back { title: sample::client(lang).title, href: "https://app.example.com/".into() });
        vec![
            ("bare-en", page(Language::En, None, None)),
            ("back-en", page(Language::En, back(Language::En), None)),
            ("full-de", page(Language::De, back(Language::De), Some("/login".into()))),
        ]
    }
}
