//! After signing out: says so, and where to go. Where clients are told in frames (Front-Channel Logout 1.0
//! section 3), the page loads them before it goes back: a script as soon as all are there, without scripts
//! the browser by itself after a while, and the person by the link at any time.
//!
//! A frame may run scripts and reach its own site's storage, which is what it has to empty; being sandboxed
//! it can neither lead this page elsewhere nor open windows, dialogues or downloads.

use askama::Template;

use super::chrome::{Back, Chrome};
use super::sample;
use super::text::{Key, Language};
use crate::domain::model::ids::SessionId;
use crate::domain::protocol::frontchannel_logout::Frame;

/// Seconds after which a browser without scripts goes on. Somewhat more than the script waits.
const WITHOUT_SCRIPTS: u8 = 8;

/// The signed-out page.
#[derive(Debug, Clone, Template)]
#[template(path = "signin/signed_out.html")]
pub struct SignedOutPage {
    /// What surrounds it.
    pub chrome: Chrome,
    /// The application that asked, at a registered address.
    pub back: Option<Back>,
    /// Whether the page goes back by itself once its frames are there.
    pub is_passing: bool,
    /// Where to sign in again; absent while there is no page of ours to sign in to.
    pub sign_in_href: Option<String>,
    /// The applications that are told here, their titles cleaned.
    pub frames: Vec<Frame>,
}

impl SignedOutPage {
    fn title(&self) -> String {
        self.chrome.title(self.chrome.t(Key::SignedOutHeading), false)
    }

    /// Where the page goes by itself.
    fn passes_to(&self) -> Option<&Back> {
        self.back.as_ref().filter(|_| self.is_passing)
    }

    /// What a browser without scripts is told.
    fn refresh(&self) -> Option<String> {
        Some(format!("{WITHOUT_SCRIPTS};url={}", self.passes_to()?.href))
    }

    /// Every state.
    #[must_use]
    pub fn samples() -> Vec<(&'static str, Self)> {
        let page = |lang, back, sign_in_href| Self {
            chrome: sample::chrome(lang),
            back,
            is_passing: false,
            sign_in_href,
            frames: Vec::new(),
        };
        let back = |lang| Some(Back { title: sample::client(lang).title, href: "https://app.example.com/".into() });
        let sid = SessionId::from_bytes([4; 16]);
        let frame = |title: &str, uri| Frame::new(title, uri, "https://id.example.com", sid);
        let framed = |lang, back: Option<Back>| Self {
            is_passing: back.is_some(),
            frames: [
                frame(&sample::client(lang).title, "https://app.example.com/bye?tenant=\"><script>alert(1)</script>"),
                frame("Notes", "https://notes.example.com/logout"),
                frame(&sample::hostile_client().title, "https://bank.example.com/logout"),
            ]
            .into_iter()
            .flatten()
            .collect(),
            ..page(lang, back, None)
        };
        vec![
            ("bare-en", page(Language::En, None, None)),
            ("back-en", page(Language::En, back(Language::En), None)),
            ("full-de", page(Language::De, back(Language::De), Some("/login".into()))),
            ("frames-en", framed(Language::En, None)),
            ("frames-back-en", framed(Language::En, back(Language::En))),
            ("frames-back-de", framed(Language::De, back(Language::De))),
        ]
    }
}
