//! The page that lists who is signed in in this browser (`ux` row 13; OpenID Connect Core 3.1.2.1).
//!
//! Each account's form posts `csrf`, `flow`, `account` and `action`: `choose` or `sign_out`. The last form posts
//! `csrf`, `flow` and `action`: `another` or `cancel`.

use askama::Template;

use super::chrome::Chrome;
use super::client_header::ClientHeader;
use super::sample;
use super::text::{Key, Language};

/// One account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountLine {
    /// Full name; empty when none is known.
    pub name: String,
    /// The name the person signs in with.
    pub username: String,
    /// The session, for the form.
    pub session: String,
    /// Token of this account's form.
    pub csrf: String,
}

impl AccountLine {
    /// What stands first.
    fn title(&self) -> &str {
        if self.name.is_empty() { &self.username } else { &self.name }
    }

    /// What stands below it, unless it says the same.
    fn below(&self) -> Option<&str> {
        (!self.name.is_empty() && self.name != self.username).then_some(&*self.username)
    }
}

/// The list.
#[derive(Debug, Clone, Template)]
#[template(path = "signin/select_account.html")]
pub struct SelectAccountPage {
    /// What surrounds it.
    pub chrome: Chrome,
    /// Where the person is going.
    pub client: ClientHeader,
    /// Where the forms go.
    pub action: String,
    /// Names the pending request.
    pub flow: String,
    /// Token of the form without an account.
    pub csrf: String,
    /// Who is signed in, the latest used first; never empty.
    pub accounts: Vec<AccountLine>,
    /// The choice could not be taken: the list has changed since it was shown.
    pub is_stale: bool,
}

impl SelectAccountPage {
    fn title(&self) -> String {
        self.chrome.title(self.chrome.t(Key::SelectHeading), self.is_stale)
    }

    /// Every state.
    #[must_use]
    pub fn samples() -> Vec<(&'static str, Self)> {
        let line = |name: &str, username: &str, number: usize| AccountLine {
            name: name.into(),
            username: username.into(),
            session: format!("ses_{number}"),
            csrf: "csrf-token".into(),
        };
        let page = |lang, accounts| Self {
            chrome: sample::chrome(lang),
            client: sample::client(lang),
            action: "/login/select-account".into(),
            flow: "flow-id".into(),
            csrf: "csrf-token".into(),
            accounts,
            is_stale: false,
        };
        let one = || vec![line("Alice Adams", "alice", 1)];
        let five = |lang| {
            let long = "Maximiliane Alexandra Theresia Freifrau von und zu Hohenlohe-Waldenburg-Schillingsfürst";
            vec![
                line("Alice Adams", "alice", 1),
                line(long, sample::username(lang), 2),
                line("", "bob", 3),
                line("", sample::username(Language::De), 4),
                line("\"><script>alert(1)</script>", "\"><b>mallory</b>", 5),
            ]
        };
        vec![
            ("one-en", page(Language::En, one())),
            ("five-en", page(Language::En, five(Language::En))),
            ("five-de", page(Language::De, five(Language::De))),
            ("five-xa", page(Language::Xa, five(Language::Xa))),
            ("five-xb", page(Language::Xb, five(Language::Xb))),
            ("stale-en", Self { is_stale: true, ..page(Language::En, one()) }),
            ("stale-de", Self { is_stale: true, ..page(Language::De, five(Language::De)) }),
        ]
    }
}
