//! The typed authorization request: what is left when every check of the table has passed (OpenID
//! Connect Core 3.1.2.1). It is kept on the server while the person signs in, so it is serialisable,
//! and nothing in it is read from the browser again.

use serde::{Deserialize, Serialize};

use crate::model::ids::SessionId;
use crate::model::response_type::ResponseType;
use crate::protocol::refusal::Refusal;
use crate::protocol::requested_claims::RequestedClaims;

/// An authorization request that may be answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthorizeRequest {
    /// The client's public id.
    pub client_id: String,
    /// As sent: the answer goes there, and the token request must repeat it.
    pub redirect_uri: String,
    /// What the answer holds.
    #[serde(default)]
    pub response_type: ResponseType,
    /// How the answer travels.
    pub response_mode: ResponseMode,
    /// What may be granted, each once, in the order asked for.
    pub scope: Vec<String>,
    /// Whether the set differs from what was asked for; then the token response names it (RFC 6749 3.3).
    pub scope_differs: bool,
    /// Echoed byte for byte.
    pub state: Option<String>,
    /// For the ID token, unchanged.
    pub nonce: Option<String>,
    /// What the client wants the person to see.
    pub prompt: Prompt,
    /// Seconds since the last proof at most; the client's default where the request has none.
    pub max_age: Option<u64>,
    /// How the pages are shown; without effect on rules.
    pub display: Option<Display>,
    /// Wished languages, best first.
    pub ui_locales: Vec<String>,
    /// Pre-fills the name on the sign-in page; never a credential.
    pub login_hint: Option<String>,
    /// Who must be answered about and no other: the subject of a valid ID token hint, or a `sub` by value in `claims`.
    pub hint_sub: Option<String>,
    /// The session of a valid ID token hint: it leads to a person whose `sub` is pairwise.
    #[serde(default)]
    pub hint_sid: Option<SessionId>,
    /// Wished authentication context classes, best first; voluntary.
    pub acr_values: Vec<String>,
    /// S256 challenge (RFC 7636).
    pub code_challenge: Option<String>,
    /// Resources (RFC 8707) in their registered spelling.
    pub resources: Vec<String>,
    /// Whether the ID token must say when the person proved herself.
    pub require_auth_time: bool,
    /// Single claims to be delivered (OpenID Connect Core 5.5).
    #[serde(default)]
    pub claims: RequestedClaims,
    /// Authentication context classes of which one must be reached (Core 5.5.1.1); empty = any will do.
    #[serde(default)]
    pub acr_demanded: Vec<String>,
}

impl AuthorizeRequest {
    /// Whether a scope is among those that may be granted.
    #[must_use]
    pub fn has_scope(&self, scope: &str) -> bool {
        self.scope.iter().any(|own| own == scope)
    }

    /// What the person is asked for: the scopes, and those that single claims belong to.
    pub fn consent_scope(&self) -> impl Iterator<Item = &str> {
        let by_claims = self.claims.scopes().into_iter().filter(|scope| !self.has_scope(scope));
        self.scope.iter().map(String::as_str).chain(by_claims)
    }

    /// Whether an ID token is asked for; without `openid` it is a plain OAuth request.
    #[must_use]
    pub fn is_openid(&self) -> bool {
        self.has_scope("openid")
    }
}

/// How the answer travels to the client (OAuth 2.0 Multiple Response Types 2.1, Form Post 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseMode {
    /// In the query of the redirect URI.
    #[default]
    Query,
    /// In its fragment, which browsers send to no server.
    Fragment,
    /// By a form that the browser posts.
    FormPost,
}

impl ResponseMode {
    /// Every mode built, in the order of discovery.
    pub const ALL: [Self; 3] = [Self::Query, Self::Fragment, Self::FormPost];

    /// The registered name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Fragment => "fragment",
            Self::FormPost => "form_post",
        }
    }

    /// Reads the registered name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == name)
    }
}

/// What the client wants the person to see. `none` excludes the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Prompt {
    /// No page at all: an answer or an error at once.
    pub none: bool,
    /// A new proof.
    pub login: bool,
    /// The consent page.
    pub consent: bool,
    /// A choice among the accounts of this browser.
    pub select_account: bool,
}

/// How the pages are shown (OpenID Connect Core 3.1.2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Display {
    /// A full page.
    Page,
    /// A popup window.
    Popup,
    /// A device with touch.
    Touch,
    /// A feature phone.
    Wap,
}

impl Display {
    /// Every value, in the order of discovery.
    pub const ALL: [Self; 4] = [Self::Page, Self::Popup, Self::Touch, Self::Wap];

    /// The registered name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Popup => "popup",
            Self::Touch => "touch",
            Self::Wap => "wap",
        }
    }

    /// Reads the registered name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|display| display.as_str() == name)
    }
}

/// A refusal that the client is told through the browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorRedirect {
    /// Where to: registered, as sent.
    pub redirect_uri: String,
    /// In the mode asked for, or that of the response type asked for where that was not readable.
    pub response_mode: ResponseMode,
    /// Echoed, unless it was sent twice or cannot be carried.
    pub state: Option<String>,
    /// Why.
    pub refusal: Refusal,
}
