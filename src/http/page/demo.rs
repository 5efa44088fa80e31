//! The demo relying party at `/demo`, with `--dev` only: what a developer sees of a sign-in. Forms
//! post `csrf`; each act has an address of its own.

use askama::Template;

use super::chrome::Chrome;
use super::sample;
use super::text::{Key, Language};

/// An answer of the provider that was not a success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemoError {
    /// The `error` code.
    pub error: String,
    /// The `error_description`; may be empty.
    pub description: String,
}

/// One member of a token or an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Its name.
    pub name: String,
    /// Its value as JSON, a string without quotes.
    pub value: String,
    /// What it means: a time in words, or empty.
    pub note: String,
}

impl Claim {
    /// A member without a note.
    #[must_use]
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into(), note: String::new() }
    }
}

/// A token, taken apart. An opaque one has neither header nor claims.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DecodedToken {
    /// As it was received.
    pub raw: String,
    /// Its JOSE header.
    pub header: Vec<Claim>,
    /// Its payload.
    pub claims: Vec<Claim>,
}

impl DecodedToken {
    fn is_opaque(&self) -> bool {
        self.header.is_empty() && self.claims.is_empty()
    }
}

/// Before the sign-in.
#[derive(Debug, Clone, Template)]
#[template(path = "demo/start.html")]
pub struct DemoStartPage {
    /// What surrounds it.
    pub chrome: Chrome,
    /// Starts the flow: GET, redirects to the authorization endpoint.
    pub sign_in_href: String,
    /// Name of the demo user.
    pub username: String,
    /// Password of the demo user. It protects nothing: `--dev` binds loopback only.
    pub password: String,
    /// The issuer.
    pub issuer: String,
    /// This relying party's client.
    pub client_id: String,
    /// What the last try brought.
    pub error: Option<DemoError>,
    /// Just signed out.
    pub signed_out: bool,
}

impl DemoStartPage {
    fn title(&self) -> String {
        self.chrome.title(self.chrome.t(Key::DemoTitle), self.error.is_some())
    }

    /// Every state.
    #[must_use]
    pub fn samples() -> Vec<(&'static str, Self)> {
        let page = |lang| Self {
            chrome: sample::chrome(lang),
            sign_in_href: "/demo/start".into(),
            username: "alice".into(),
            password: "correct horse battery staple".into(),
            issuer: "http://localhost:8080".into(),
            client_id: "demo".into(),
            error: None,
            signed_out: false,
        };
        vec![
            ("en", page(Language::En)),
            ("de", page(Language::De)),
            ("signed-out-en", Self { signed_out: true, ..page(Language::En) }),
            (
                "denied-de",
                Self {
                    error: Some(DemoError {
                        error: "access_denied".into(),
                        description: "the person did not allow it".into(),
                    }),
                    ..page(Language::De)
                },
            ),
        ]
    }
}

/// After the sign-in.
#[derive(Debug, Clone, Template)]
#[template(path = "demo/signed_in.html")]
pub struct DemoSignedInPage {
    /// What surrounds it.
    pub chrome: Chrome,
    /// Name or `sub` of the person, from the ID token or userinfo.
    pub person: String,
    /// The ID token.
    pub id_token: DecodedToken,
    /// The access token.
    pub access_token: DecodedToken,
    /// The refresh token as received; empty when there is none.
    pub refresh_token: String,
    /// Granted scopes.
    pub scope: String,
    /// Seconds the access token lives.
    pub expires_in: u64,
    /// What userinfo said, once asked.
    pub userinfo: Vec<Claim>,
    /// How many times the tokens were refreshed.
    pub refreshes: u64,
    /// What the last act brought.
    pub error: Option<DemoError>,
    /// Token of the forms.
    pub csrf: String,
    /// Where "Refresh" posts.
    pub refresh_action: String,
    /// Where "Ask userinfo" posts.
    pub userinfo_action: String,
    /// Where "Sign out" posts.
    pub logout_action: String,
}

impl DemoSignedInPage {
    fn title(&self) -> String {
        self.chrome.title(self.chrome.t(Key::DemoTitle), self.error.is_some())
    }

    /// Every state.
    #[must_use]
    pub fn samples() -> Vec<(&'static str, Self)> {
        let page = |lang, userinfo: Vec<Claim>| Self {
            chrome: sample::chrome(lang),
            person: sample::username(lang).into(),
            id_token: sample::token("JWT"),
            access_token: sample::token("at+jwt"),
            refresh_token: "dwr_".to_owned() + &"a1B2c3D4".repeat(12),
            scope: "openid profile email offline_access".into(),
            expires_in: 300,
            userinfo,
            refreshes: 0,
            error: None,
            csrf: "csrf-token".into(),
            refresh_action: "/demo/refresh".into(),
            userinfo_action: "/demo/userinfo".into(),
            logout_action: "/demo/logout".into(),
        };
        let userinfo = || vec![Claim::new("sub", "8c1f2f6e"), Claim::new("email", "alice@example.com")];
        vec![
            ("en", page(Language::En, userinfo())),
            ("de", Self { refreshes: 1, ..page(Language::De, userinfo()) }),
            (
                "opaque-en",
                Self {
                    access_token: DecodedToken { raw: "dwa_".to_owned() + &"x7".repeat(20), ..DecodedToken::default() },
                    refresh_token: String::new(),
                    refreshes: 12,
                    error: Some(DemoError { error: "invalid_grant".into(), description: String::new() }),
                    ..page(Language::En, Vec::new())
                },
            ),
        ]
    }
}
