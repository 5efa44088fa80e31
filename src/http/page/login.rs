//! The sign-in page: name and password (`ux` 2.1, 2.2).
//!
//! The form posts `csrf`, `flow`, `username`, `password`, `remember` (`on` when ticked) and, when a
//! button with a meaning was pressed, `action` (`signin` or `cancel`). Status 200, 422 with
//! [`LoginError::Wrong`] or a stale form, 503 with [`LoginError::Busy`].

use askama::Template;

use super::chrome::Chrome;
use super::client_header::ClientHeader;
use super::sample;
use super::text::{Key, Language, Markup};

/// Why the form is shown again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginError {
    /// Name or password is not right; the same words for every cause.
    Wrong,
    /// The form had expired or belonged to another flow: nothing was checked, it can be sent again.
    Stale,
    /// The browser brought no cookie, so the form could not be trusted.
    NoCookie,
    /// No capacity: nothing was checked.
    Busy {
        /// Seconds to wait, as in `Retry-After`.
        retry_after: u64,
    },
    /// Something the sign-in needs does not answer: nothing was checked.
    Unavailable,
}

/// What a person should know before signing in; not an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginNotice {
    /// A fresh sign-in was asked for (`prompt=login`, `max_age`): "Confirm it's you".
    Confirm,
    /// The session ended while the person was away.
    SessionEnded,
    /// The first administrator was just made.
    SetupDone,
}

/// The sign-in page.
#[derive(Debug, Clone, Template)]
#[template(path = "signin/login.html")]
pub struct LoginPage {
    /// What surrounds it.
    pub chrome: Chrome,
    /// For whom; absent when people sign in here for our own pages.
    pub client: Option<ClientHeader>,
    /// Where the form goes.
    pub action: String,
    /// Token of this form.
    pub csrf: String,
    /// Names the pending request; empty when there is none.
    pub flow: String,
    /// Kept from the last try, or from `login_hint`.
    pub username: String,
    /// The name is fixed: a fresh sign-in of the same person.
    pub username_readonly: bool,
    /// Whether "Keep me signed in" stands there.
    pub remember_offered: bool,
    /// Whether it is ticked.
    pub remember_checked: bool,
    /// Why the form is shown again.
    pub error: Option<LoginError>,
    /// What to know before.
    pub notice: Option<LoginNotice>,
    /// Leads back to the accounts that are signed in in this browser.
    pub choose_href: Option<String>,
    /// Whether a Cancel button leads back to the client with `access_denied`.
    pub cancel: bool,
}

impl LoginPage {
    /// An empty form.
    #[must_use]
    pub fn new(chrome: Chrome, action: impl Into<String>) -> Self {
        Self {
            chrome,
            client: None,
            action: action.into(),
            csrf: String::new(),
            flow: String::new(),
            username: String::new(),
            username_readonly: false,
            remember_offered: false,
            remember_checked: false,
            error: None,
            notice: None,
            choose_href: None,
            cancel: false,
        }
    }

    fn title(&self) -> String {
        let step = match (&self.client, self.notice) {
            (_, Some(LoginNotice::Confirm)) => self.chrome.t(Key::SigninConfirmHeading).to_owned(),
            (Some(client), _) => self.chrome.with(Key::SigninHeadingApp, "app", &client.title),
            (None, _) => self.chrome.t(Key::SigninHeading).to_owned(),
        };
        self.chrome.title(&step, self.error.is_some())
    }

    fn heading(&self) -> Markup {
        match (&self.client, self.notice) {
            (_, Some(LoginNotice::Confirm)) => Markup::plain(self.chrome.t(Key::SigninConfirmHeading)),
            (Some(client), _) => self.chrome.bold(Key::SigninHeadingApp, "app", &client.title),
            (None, _) => Markup::plain(self.chrome.t(Key::SigninHeading)),
        }
    }

    /// The heading holds a name that needs more than a line.
    fn is_long(&self) -> bool {
        self.client.as_ref().is_some_and(|client| self.chrome.is_long(&client.title))
    }

    /// The cursor goes to the first empty field, or to the password after a wrong one.
    fn focus_name(&self) -> bool {
        self.username.is_empty() && !self.username_readonly
    }

    fn is_wrong(&self) -> bool {
        self.error == Some(LoginError::Wrong)
    }

    /// Something here could not do it: who asks for help can name the line of the log.
    fn is_fault_of_ours(&self) -> bool {
        matches!(self.error, Some(LoginError::Busy { .. } | LoginError::Unavailable))
    }

    /// Where the summary leads.
    fn error_target(&self) -> &'static str {
        if self.is_wrong() { "#password" } else { "" }
    }

    fn password_error(&self) -> &'static str {
        if self.is_wrong() { self.chrome.t(Key::SigninWrongField) } else { "" }
    }

    fn error_text(&self) -> String {
        match self.error {
            None => String::new(),
            Some(LoginError::Wrong) => self.chrome.t(Key::SigninWrong).to_owned(),
            Some(LoginError::Stale) => self.chrome.t(Key::SigninStale).to_owned(),
            Some(LoginError::NoCookie) => self.chrome.t(Key::SigninNoCookie).to_owned(),
            Some(LoginError::Busy { retry_after }) => {
                format!("{} {}", self.chrome.t(Key::SigninBusy), self.chrome.count(Key::TryAgainIn, retry_after))
            }
            Some(LoginError::Unavailable) => self.chrome.t(Key::SigninUnavailable).to_owned(),
        }
    }

    fn notice_text(&self) -> Option<Markup> {
        match (self.notice?, &self.client) {
            (LoginNotice::Confirm, Some(client)) => Some(self.chrome.bold(Key::SigninConfirmApp, "app", &client.title)),
            (LoginNotice::Confirm, None) => Some(Markup::plain(self.chrome.t(Key::SigninConfirm))),
            (LoginNotice::SessionEnded, _) => Some(Markup::plain(self.chrome.t(Key::SigninSessionEnded))),
            (LoginNotice::SetupDone, _) => Some(Markup::plain(self.chrome.t(Key::SigninSetupDone))),
        }
    }

    /// Every state.
    #[must_use]
    pub fn samples() -> Vec<(&'static str, Self)> {
        let plain = |lang| Self::new(sample::chrome(lang), "/login");
        let full = |lang| Self {
            client: Some(sample::client(lang)),
            csrf: "csrf-token".into(),
            flow: "flow-id".into(),
            remember_offered: true,
            cancel: true,
            ..plain(lang)
        };
        let retried = |lang, error| Self { username: sample::username(lang).into(), error: Some(error), ..full(lang) };
        vec![
            ("plain-en", plain(Language::En)),
            ("full-en", full(Language::En)),
            ("full-de", full(Language::De)),
            ("full-xa", full(Language::Xa)),
            ("full-xb", full(Language::Xb)),
            ("wrong-en", retried(Language::En, LoginError::Wrong)),
            ("wrong-de", Self { remember_checked: true, ..retried(Language::De, LoginError::Wrong) }),
            ("wrong-xa", retried(Language::Xa, LoginError::Wrong)),
            ("stale-en", retried(Language::En, LoginError::Stale)),
            ("stale-de", retried(Language::De, LoginError::Stale)),
            ("no-cookie-de", retried(Language::De, LoginError::NoCookie)),
            ("busy-en", retried(Language::En, LoginError::Busy { retry_after: 1 })),
            ("busy-de", retried(Language::De, LoginError::Busy { retry_after: 12 })),
            ("unavailable-de", retried(Language::De, LoginError::Unavailable)),
            (
                "confirm-en",
                Self {
                    username: "alice".into(),
                    username_readonly: true,
                    notice: Some(LoginNotice::Confirm),
                    choose_href: Some("/login/select-account?flow=flow-id".into()),
                    ..full(Language::En)
                },
            ),
            (
                "confirm-de",
                Self {
                    username: sample::username(Language::De).into(),
                    username_readonly: true,
                    notice: Some(LoginNotice::Confirm),
                    error: Some(LoginError::Wrong),
                    choose_href: Some("/login/select-account?flow=flow-id".into()),
                    ..full(Language::De)
                },
            ),
            ("session-ended-en", Self { notice: Some(LoginNotice::SessionEnded), ..full(Language::En) }),
            ("setup-done-de", Self { notice: Some(LoginNotice::SetupDone), ..plain(Language::De) }),
            (
                "hostile-en",
                Self {
                    client: Some(sample::hostile_client()),
                    username: "\"><script>alert(1)</script>".into(),
                    ..full(Language::En)
                },
            ),
        ]
    }
}
