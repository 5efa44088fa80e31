//! Pages for people: one struct per page with plain fields, rendered by askama from `templates/`.
//!
//! A page knows nothing of requests, sessions or the store; an endpoint fills in what it found out.
//! Each page has `samples()`: every state in both languages with the longest texts, so that tests
//! can look at all of them (`samples`). No page carries a script or a style inside itself.

pub mod already_signed_in;
pub mod assets;
pub mod broken;
pub mod busy;
pub mod chrome;
pub mod client_header;
pub mod consent;
pub mod demo;
pub mod error;
pub mod form_post;
pub mod home;
pub mod login;
pub mod logout;
pub mod sample;
pub mod select_account;
pub mod setup;
pub mod signed_out;
pub mod text;

pub use already_signed_in::AlreadySignedInPage;
pub use busy::BusyPage;
pub use chrome::{Back, Chrome, LanguageLink};
pub use client_header::{ClientHeader, clean_title};
pub use consent::{ConsentPage, ScopeIcon, ScopeLine, Unchecked};
pub use demo::{DemoSignedInPage, DemoStartPage};
pub use error::{DetailLine, ErrorPage, Fault};
pub use form_post::FormPostPage;
pub use home::HomePage;
pub use login::{LoginError, LoginNotice, LoginPage};
pub use logout::LogoutPage;
pub use select_account::{AccountLine, SelectAccountPage};
pub use setup::{SetupDonePage, SetupError, SetupPage};
pub use signed_out::SignedOutPage;
