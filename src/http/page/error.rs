//! The error page (`ux` 2.10): what happened, whether anything was changed, what to do now, a way
//! back, a code, a reference. No stack, no apology. Registered values are never shown here.

use askama::Template;

use super::chrome::{Back, Chrome};
use super::sample;
use super::text::{Key, Language};

/// What went wrong, as far as a person needs to tell it apart. Gives heading, text and advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// No such client, or it is switched off.
    UnknownClient,
    /// The redirect URI is missing or not registered.
    RedirectUri,
    /// The request of the application is not right in another way.
    Request,
    /// An error stays here, since the application registered itself and nobody is signed in.
    NotReturned,
    /// The pending sign-in is gone: too old, or pushed out by newer ones.
    FlowGone,
    /// The browser sent no cookie, or a foreign one.
    NoCookie,
    /// A form came from elsewhere or without its token.
    ForeignForm,
    /// The person may not do this.
    Forbidden,
    /// No such page.
    NotFound,
    /// The address exists, the method does not.
    MethodNotAllowed,
    /// The request is too large.
    TooLarge,
    /// The set-up link is wrong, used or too old.
    SetupLink,
    /// The address after logout is not registered; the person is asked or told, never redirected.
    LogoutRequest,
    /// Something this needs does not answer.
    Unavailable,
    /// A fault of ours.
    Internal,
}

impl Fault {
    /// All of them, for samples and tests.
    pub const ALL: [Self; 15] = [
        Self::UnknownClient,
        Self::RedirectUri,
        Self::Request,
        Self::NotReturned,
        Self::FlowGone,
        Self::NoCookie,
        Self::ForeignForm,
        Self::Forbidden,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::TooLarge,
        Self::SetupLink,
        Self::LogoutRequest,
        Self::Unavailable,
        Self::Internal,
    ];

    /// Stable code on the page, the same as in the documentation.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::UnknownClient => "unknown_client",
            Self::RedirectUri => "redirect_uri_mismatch",
            Self::Request => "invalid_request",
            Self::NotReturned => "not_returned",
            Self::FlowGone => "sign_in_expired",
            Self::NoCookie => "cookie_missing",
            Self::ForeignForm => "form_rejected",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::TooLarge => "too_large",
            Self::SetupLink => "setup_link_invalid",
            Self::LogoutRequest => "logout_request_invalid",
            Self::Unavailable => "temporarily_unavailable",
            Self::Internal => "server_error",
        }
    }

    /// Keys of heading, text and advice.
    fn keys(self) -> (Key, Key, Key) {
        match self {
            Self::UnknownClient => (Key::ErrorAppHeading, Key::ErrorClientText, Key::ErrorAppAdvice),
            Self::RedirectUri => (Key::ErrorAppHeading, Key::ErrorRedirectText, Key::ErrorAppAdvice),
            Self::Request => (Key::ErrorAppHeading, Key::ErrorRequestText, Key::ErrorAppAdvice),
            Self::NotReturned => (Key::ErrorNotReturnedHeading, Key::ErrorNotReturnedText, Key::ErrorNotReturnedAdvice),
            Self::FlowGone => (Key::ErrorFlowHeading, Key::ErrorFlowText, Key::ErrorFlowAdvice),
            Self::NoCookie => (Key::ErrorCookieHeading, Key::ErrorCookieText, Key::ErrorCookieAdvice),
            Self::ForeignForm => (Key::ErrorFormHeading, Key::ErrorFormText, Key::ErrorFormAdvice),
            Self::Forbidden => (Key::ErrorForbiddenHeading, Key::ErrorForbiddenText, Key::ErrorForbiddenAdvice),
            Self::NotFound => (Key::ErrorNotFoundHeading, Key::ErrorNotFoundText, Key::ErrorNotFoundAdvice),
            Self::MethodNotAllowed => (Key::ErrorMethodHeading, Key::ErrorMethodText, Key::ErrorNotFoundAdvice),
            Self::TooLarge => (Key::ErrorTooLargeHeading, Key::ErrorTooLargeText, Key::ErrorAppAdvice),
            Self::SetupLink => (Key::ErrorSetupHeading, Key::ErrorSetupText, Key::ErrorSetupAdvice),
            Self::LogoutRequest => (Key::ErrorLogoutHeading, Key::ErrorLogoutText, Key::ErrorAppAdvice),
            Self::Unavailable => (Key::ErrorUnavailableHeading, Key::ErrorUnavailableText, Key::ErrorUnavailableAdvice),
            Self::Internal => (Key::ErrorInternalHeading, Key::ErrorInternalText, Key::ErrorInternalAdvice),
        }
    }
}

/// One line for the application's developer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetailLine {
    /// Name of the parameter, or what the value is ("sent", "difference").
    pub name: String,
    /// What was sent, or the kind of difference; shown escaped, as text.
    pub value: String,
}

/// The error page.
#[derive(Debug, Clone, Template)]
#[template(path = "signin/error.html")]
pub struct ErrorPage {
    /// What surrounds it; its request id is the reference.
    pub chrome: Chrome,
    /// What it is.
    pub heading: String,
    /// What happened, in one sentence.
    pub text: String,
    /// What to do now.
    pub what_to_do: String,
    /// Say that nothing was changed.
    pub changed_nothing: bool,
    /// Stable code.
    pub code: String,
    /// Time in UTC, RFC 3339.
    pub time: String,
    /// Back to the application, where its address is trustworthy.
    pub back: Option<Back>,
    /// A page of ours to go on with ("Start again"); empty when there is none.
    pub onward: Option<Back>,
    /// For the developer; folded.
    pub detail: Vec<DetailLine>,
}

impl ErrorPage {
    /// A page in the words of the catalogue, without ways back and details.
    #[must_use]
    pub fn new(chrome: Chrome, fault: Fault, time: impl Into<String>) -> Self {
        let (heading, text, advice) = fault.keys();
        Self {
            heading: chrome.t(heading).to_owned(),
            text: chrome.t(text).to_owned(),
            what_to_do: chrome.t(advice).to_owned(),
            changed_nothing: fault != Fault::Internal,
            code: fault.code().to_owned(),
            time: time.into(),
            back: None,
            onward: None,
            detail: Vec::new(),
            chrome,
        }
    }

    /// With one more line for the developer.
    #[must_use]
    pub fn detail(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.detail.push(DetailLine { name: name.into(), value: value.into() });
        self
    }

    fn title(&self) -> String {
        self.chrome.title(&self.heading, true)
    }

    /// Every state.
    #[must_use]
    pub fn samples() -> Vec<(&'static str, Self)> {
        const TIME: &str = "2026-11-03T09:41:07Z";
        let mut samples = Vec::new();
        for fault in Fault::ALL {
            samples.push((fault.code(), Self::new(sample::chrome(Language::De), fault, TIME)));
        }
        let page = |lang, fault| Self::new(sample::chrome(lang), fault, TIME);
        samples.push((
            "redirect-en",
            page(Language::En, Fault::RedirectUri)
                .detail("client_id", "photo-shop")
                .detail("redirect_uri", "https://app.example.com/callback/<script>alert(1)</script>")
                .detail("difference", "The path differs: a trailing slash more than registered."),
        ));
        samples.push((
            "not-returned-en",
            page(Language::En, Fault::NotReturned)
                .detail("error", "login_required")
                .detail("error_description", "nobody is signed in"),
        ));
        samples.push((
            "back-de",
            Self {
                chrome: Chrome { sign_out: Some("/logout".into()), ..sample::chrome(Language::De) },
                back: Some(Back { title: sample::client(Language::De).title, href: "https://app.example.com/".into() }),
                ..page(Language::De, Fault::FlowGone)
            },
        ));
        samples.push((
            "onward-en",
            Self {
                onward: Some(Back { title: "Start again".into(), href: "/login".into() }),
                ..page(Language::En, Fault::NoCookie)
            },
        ));
        samples.push(("not-found-xb", page(Language::Xb, Fault::NotFound)));
        samples
    }
}
