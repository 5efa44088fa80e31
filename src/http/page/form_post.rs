//! The answer as a form that sends itself (OAuth 2.0 Form Post Response Mode). Without a script the
//! person presses the button.
//!
//! The endpoint adds the origin of `action` to `form-action` of its content security policy.

use askama::Template;

use super::chrome::Chrome;
use super::sample;
use super::text::{Key, Language};

/// The self-sending form.
#[derive(Debug, Clone, Template)]
#[template(path = "form_post.html")]
pub struct FormPostPage {
    /// What surrounds it.
    pub chrome: Chrome,
    /// The registered redirect URI.
    pub action: String,
    /// The parameters of the response, in order.
    pub fields: Vec<(String, String)>,
    /// Whom it goes to; empty when not known.
    pub client_title: String,
}

impl FormPostPage {
    fn title(&self) -> String {
        self.chrome.title(self.chrome.t(Key::FormPostHeading), false)
    }

    fn onward(&self) -> String {
        if self.client_title.is_empty() {
            self.chrome.t(Key::Continue).to_owned()
        } else {
            self.chrome.with(Key::AlreadyContinueApp, "app", &self.client_title)
        }
    }

    /// Every state.
    #[must_use]
    pub fn samples() -> Vec<(&'static str, Self)> {
        let page = |lang, state: &str| Self {
            chrome: sample::chrome(lang),
            action: "https://app.example.com/callback?tenant=1&x=2".into(),
            fields: vec![
                ("code".into(), "dwo_code".into()),
                ("state".into(), state.into()),
                ("iss".into(), "https://id.example.com".into()),
            ],
            client_title: sample::client(lang).title,
        };
        vec![
            ("en", page(Language::En, "af0ifjsldkj")),
            ("hostile-de", page(Language::De, "\"></form><script>alert(1)</script>")),
        ]
    }
}
