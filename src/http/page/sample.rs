//! What samples are made of, and all of them rendered.

use askama::Template;

use super::chrome::{Chrome, LanguageLink};
use super::client_header::ClientHeader;
use super::demo::{Claim, DecodedToken};
use super::text::Language;

/// A realm's surroundings with everything on it.
pub(super) fn chrome(lang: Language) -> Chrome {
    let is_short = lang == Language::En;
    Chrome {
        policy_uri: Some("https://example.com/privacy".into()),
        tos_uri: Some("https://example.com/terms".into()),
        domain: if is_short { "id.example.com" } else { "anmeldung.verkehrsbetriebe.example.com" }.into(),
        languages: Language::ALL
            .iter()
            .map(|&l| LanguageLink::new(l, format!("/login?flow=flow-id&ui_locales={}", l.code()), lang))
            .collect(),
        request_id: "01JBQ8Z6V1Y2M3N4P5Q6R7S8T9".into(),
        ..Chrome::new(lang, "", if is_short { "Example" } else { "Verkehrsbetriebe Donaudampfschifffahrt" })
    }
}

/// A client: short in English, as long as it gets elsewhere.
pub(super) fn client(lang: Language) -> ClientHeader {
    let title = match lang {
        Language::En => "Photo Shop",
        _ => "Rechnungsprüfungsverwaltungsanwendung der Donaudampfschifffahrtsgesellschaft",
    };
    ClientHeader {
        policy_uri: Some("https://app.example.com/privacy".into()),
        tos_uri: Some("https://app.example.com/terms".into()),
        logo: (lang == Language::De).then(|| super::assets::asset("img/mark.svg").to_owned()),
        client_uri: Some("https://app.example.com/".into()),
        ..ClientHeader::named(title)
    }
}

/// A client that tries to be more than text (`behaviour-cases` B-40).
pub(super) fn hostile_client() -> ClientHeader {
    ClientHeader {
        policy_uri: Some("javascript:alert(1)".into()),
        tos_uri: Some("https://app.example.com/\" onclick=\"alert(1)".into()),
        ..ClientHeader::named("<b>Bank</b>\u{202E}kcab\u{0000}\n<script>alert(1)</script>")
    }
}

/// What was typed as a name.
pub(super) fn username(lang: Language) -> &'static str {
    match lang {
        Language::En => "alice",
        _ => "maximiliane.freifrau-von-und-zu-hohenlohe@verkehrsbetriebe.example.com",
    }
}

/// A decoded token.
pub(super) fn token(typ: &str) -> DecodedToken {
    DecodedToken {
        raw: "eyJhbGciOiJSUzI1NiIsImtpZCI6IjFhMmIifQ.".to_owned() + &"eyJzdWIiOiI4YzFmMmY2ZSJ9".repeat(8),
        header: vec![Claim::new("alg", "RS256"), Claim::new("kid", "1a2b"), Claim::new("typ", typ)],
        claims: vec![
            Claim::new("iss", "http://localhost:8080"),
            Claim::new("sub", "8c1f2f6e-3c1b-4a53-9d0f-0b7a5f1d2c3e"),
            Claim::new("aud", "demo"),
            Claim { note: "2026-11-03 09:46:07 UTC".into(), ..Claim::new("exp", "1793699167") },
            Claim { note: "2026-11-03 09:41:07 UTC".into(), ..Claim::new("iat", "1793698867") },
            Claim::new("amr", "[\"pwd\"]"),
            Claim::new("sid", "ses_019a4a7e1f2b7c3d8e9f0a1b2c3d4e5f"),
        ],
    }
}

/// Every sample of every page: its name ("login/wrong-de") and the document. A page that cannot be
/// rendered comes as its error's text, which no test takes for a page.
#[must_use]
pub fn samples() -> Vec<(String, String)> {
    let mut all = Vec::new();
    add(&mut all, "login", super::LoginPage::samples());
    add(&mut all, "busy", super::BusyPage::samples());
    add(&mut all, "consent", super::ConsentPage::samples());
    add(&mut all, "select-account", super::SelectAccountPage::samples());
    add(&mut all, "logout", super::LogoutPage::samples());
    add(&mut all, "signed-out", super::SignedOutPage::samples());
    add(&mut all, "already-signed-in", super::AlreadySignedInPage::samples());
    add(&mut all, "error", super::ErrorPage::samples());
    add(&mut all, "form-post", super::FormPostPage::samples());
    add(&mut all, "setup", super::SetupPage::samples());
    add(&mut all, "setup-done", super::SetupDonePage::samples());
    add(&mut all, "home", super::HomePage::samples());
    add(&mut all, "demo-start", super::DemoStartPage::samples());
    add(&mut all, "demo-signed-in", super::DemoSignedInPage::samples());
    all.push(("broken/page".into(), super::broken::page("", "01JBQ8Z6V1Y2M3N4P5Q6R7S8T9")));
    all
}

fn add<P: Template>(all: &mut Vec<(String, String)>, page: &str, samples: Vec<(&'static str, P)>) {
    all.extend(
        samples.into_iter().map(|(state, sample)| {
            (format!("{page}/{state}"), sample.render().unwrap_or_else(|error| error.to_string()))
        }),
    );
}
