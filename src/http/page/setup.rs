//! Set-up of the first administrator by the one-time link (`security-design` rule 30). The form posts
//! `csrf`, `username` and `password`; GET changes nothing.

use askama::Template;

use super::chrome::Chrome;
use super::sample;
use super::text::{self, Key, Language};

/// Why the form is shown again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetupError {
    /// No name, or one that cannot be a name.
    UsernameInvalid,
    /// The name is in use.
    UsernameTaken,
    /// Shorter than `min_length`.
    PasswordTooShort,
    /// Over 256 characters or 1024 bytes.
    PasswordTooLong,
    /// The name, or among known ones.
    PasswordWeak,
    /// The form had expired; nothing was made.
    Stale,
    /// No capacity or no database right now; nothing was made.
    Busy,
}

impl SetupError {
    fn is_about_name(self) -> bool {
        matches!(self, Self::UsernameInvalid | Self::UsernameTaken)
    }

    fn is_about_password(self) -> bool {
        matches!(self, Self::PasswordTooShort | Self::PasswordTooLong | Self::PasswordWeak)
    }

    fn key(self) -> Key {
        match self {
            Self::UsernameInvalid => Key::SetupNameInvalid,
            Self::UsernameTaken => Key::SetupNameTaken,
            Self::PasswordTooShort => Key::PasswordTooShort,
            Self::PasswordTooLong => Key::PasswordTooLong,
            Self::PasswordWeak => Key::PasswordWeak,
            Self::Stale => Key::SetupStale,
            Self::Busy => Key::SetupBusy,
        }
    }
}

/// The set-up page.
#[derive(Debug, Clone, Template)]
#[template(path = "setup.html")]
pub struct SetupPage {
    /// What surrounds it.
    pub chrome: Chrome,
    /// Where the form goes: the link itself.
    pub action: String,
    /// Token of this form.
    pub csrf: String,
    /// Kept from the last try.
    pub username: String,
    /// What is wrong; several at once.
    pub errors: Vec<SetupError>,
    /// Shortest password.
    pub min_length: u32,
}

impl SetupPage {
    fn title(&self) -> String {
        self.chrome.title(self.chrome.t(Key::SetupHeading), !self.errors.is_empty())
    }

    fn sentence(&self, error: SetupError) -> String {
        match error {
            SetupError::PasswordTooShort => self.chrome.count(error.key(), u64::from(self.min_length)),
            _ => self.chrome.t(error.key()).to_owned(),
        }
    }

    fn rule(&self) -> String {
        text::count(self.chrome.lang, Key::PasswordRule, u64::from(self.min_length))
    }

    fn name_error(&self) -> Option<String> {
        self.errors.iter().copied().find(|e| e.is_about_name()).map(|e| self.sentence(e))
    }

    fn password_error(&self) -> Option<String> {
        self.errors.iter().copied().find(|e| e.is_about_password()).map(|e| self.sentence(e))
    }

    /// The summary: each fault with the field it is about.
    fn summary(&self) -> Vec<(&'static str, String)> {
        let target = |e: SetupError| {
            if e.is_about_name() {
                "#username"
            } else if e.is_about_password() {
                "#password"
            } else {
                ""
            }
        };
        self.errors.iter().map(|&e| (target(e), self.sentence(e))).collect()
    }

    fn focus_name(&self) -> bool {
        self.name_error().is_some() || self.password_error().is_none()
    }

    /// Every state.
    #[must_use]
    pub fn samples() -> Vec<(&'static str, Self)> {
        let page = |lang, username: &str, errors: &[SetupError]| Self {
            chrome: sample::chrome(lang),
            action: "/setup/link".into(),
            csrf: "csrf-token".into(),
            username: username.into(),
            errors: errors.to_vec(),
            min_length: 12,
        };
        vec![
            ("en", page(Language::En, "", &[])),
            ("de", page(Language::De, "", &[])),
            ("short-en", page(Language::En, "admin", &[SetupError::PasswordTooShort])),
            ("both-de", page(Language::De, "", &[SetupError::UsernameInvalid, SetupError::PasswordWeak])),
            ("taken-en", page(Language::En, "admin", &[SetupError::UsernameTaken, SetupError::PasswordTooLong])),
            ("stale-de", page(Language::De, "admin", &[SetupError::Stale])),
            ("busy-en", page(Language::En, "admin", &[SetupError::Busy])),
            ("both-xb", page(Language::Xb, "", &[SetupError::UsernameInvalid, SetupError::PasswordWeak])),
        ]
    }
}

/// After the set-up.
#[derive(Debug, Clone, Template)]
#[template(path = "setup_done.html")]
pub struct SetupDonePage {
    /// What surrounds it.
    pub chrome: Chrome,
    /// The administrator's name.
    pub username: String,
    /// The issuer, for the first relying party.
    pub issuer: String,
    /// A page to sign in to; absent while there is none.
    pub sign_in_href: Option<String>,
}

impl SetupDonePage {
    fn title(&self) -> String {
        self.chrome.title(self.chrome.t(Key::SetupDoneHeading), false)
    }

    /// Every state.
    #[must_use]
    pub fn samples() -> Vec<(&'static str, Self)> {
        let page = |lang, sign_in_href| Self {
            chrome: sample::chrome(lang),
            username: "admin".into(),
            issuer: "https://id.example.com".into(),
            sign_in_href,
        };
        vec![("en", page(Language::En, None)), ("de", page(Language::De, Some("/login".into())))]
    }
}
