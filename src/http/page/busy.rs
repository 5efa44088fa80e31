//! The busy page: 503 (or 429) with `Retry-After`. What happened, that nothing was checked, when to
//! try again. Without a script the browser reloads by itself when the time has come.
//!
//! After a sign-in form was sent, prefer [`super::LoginPage`] with `LoginError::Busy`: it keeps the
//! form. This page is for everything that is turned away earlier.

use askama::Template;

use super::chrome::Chrome;
use super::client_header::ClientHeader;
use super::sample;
use super::text::{Key, Language};

/// The busy page.
#[derive(Debug, Clone, Template)]
#[template(path = "signin/busy.html")]
pub struct BusyPage {
    /// What surrounds it.
    pub chrome: Chrome,
    /// For whom the person was signing in.
    pub client: Option<ClientHeader>,
    /// Name that stays filled in when it goes on; empty when none was typed.
    pub username: String,
    /// A password had been sent and was not checked.
    pub password_unchecked: bool,
    /// Seconds, as in `Retry-After`.
    pub retry_after: u64,
    /// A page of ours that goes on by GET.
    pub retry_href: String,
    /// Too many requests from here (429) rather than too many at all (503).
    pub is_rate_limited: bool,
}

impl BusyPage {
    fn heading(&self) -> &'static str {
        self.chrome.t(if self.is_rate_limited { Key::BusyRateHeading } else { Key::BusyHeading })
    }

    fn title(&self) -> String {
        self.chrome.title(self.heading(), true)
    }

    fn cause(&self) -> &'static str {
        self.chrome.t(if self.is_rate_limited { Key::BusyRateText } else { Key::BusyText })
    }

    fn wait(&self) -> String {
        self.chrome.count(Key::TryAgainIn, self.retry_after)
    }

    /// Every state.
    #[must_use]
    pub fn samples() -> Vec<(&'static str, Self)> {
        let page = |lang, username: &str, retry_after, is_rate_limited| Self {
            chrome: sample::chrome(lang),
            client: Some(sample::client(lang)),
            username: username.into(),
            password_unchecked: !username.is_empty(),
            retry_after,
            retry_href: "/login?flow=flow-id".into(),
            is_rate_limited,
        };
        vec![
            ("en", page(Language::En, "alice", 3, false)),
            ("de", page(Language::De, sample::username(Language::De), 1, false)),
            ("rate-de", page(Language::De, "", 120, true)),
            ("rate-xb", page(Language::Xb, "", 120, true)),
        ]
    }
}
