//! The pages as documents: every state of every page, looked at without a server. What only a browser
//! can see (contrast, overflow, focus, targets) is in `e2e/looks.rs`.

use doorward::http::page::text::{self, Key, Language, negotiate};
use doorward::http::page::{ErrorPage, Fault, LoginError, LoginPage, ScopeLine, assets, clean_title, sample};

/// Budget of `ux` section 2: 30 KB compressed with style and scripts; plain text must keep near it.
const DOCUMENT_LIMIT: usize = 24 * 1024;

/// Every start tag of a document.
fn tags(html: &str) -> impl Iterator<Item = &str> {
    html.split('<').skip(1).filter_map(|rest| rest.split_once('>')).map(|(tag, _)| tag)
}

/// Value of an attribute of a start tag.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    rest.split_once('"').map(|(value, _)| value)
}

fn is(tag: &str, element: &str) -> bool {
    tag.split([' ', '/']).next() == Some(element)
}

#[test]
fn every_page_is_one_document_with_one_heading_and_one_main_part() {
    for (name, html) in sample::samples() {
        let count = |element| tags(&html).filter(|tag| is(tag, element)).count();
        assert!(html.starts_with("<!doctype html>"), "{name}: {html}");
        assert_eq!(count("h1"), 1, "{name}");
        assert_eq!(count("main"), 1, "{name}");
        assert_eq!(count("title"), 1, "{name}");
        let root = tags(&html).find(|tag| is(tag, "html")).unwrap();
        assert!(attribute(root, "lang").is_some_and(|lang| !lang.is_empty()), "{name}");
        assert!(html.len() < DOCUMENT_LIMIT, "{name}: {} bytes", html.len());
    }
}

#[test]
fn everything_on_a_page_stands_in_a_landmark() {
    for (name, html) in sample::samples() {
        let (_, column) = html.split_once("<div class=\"column\">").unwrap_or_else(|| panic!("{name}: {html}"));
        let inside = column.trim_start();
        assert!(inside.starts_with("<header "), "{name}: {inside:.60}");
        // The page for our own faults has no footer.
        for (end, starts) in [("</header>", &["<main "][..]), ("</main>", &["<footer ", "</div>"])] {
            let (_, rest) = inside.split_once(end).unwrap_or_else(|| panic!("{name}: no {end}"));
            let rest = rest.trim_start();
            assert!(starts.iter().any(|start| rest.starts_with(start)), "{name}: after {end} comes {rest:.60}");
        }
        let after = inside.rsplit_once("</footer>").map_or("</div>", |(_, rest)| rest.trim_start());
        assert!(after.starts_with("</div>"), "{name}: after the footer comes {after:.60}");
    }
}

#[test]
fn no_page_carries_a_script_or_a_style_inside() {
    for (name, html) in sample::samples() {
        for tag in tags(&html) {
            assert!(!is(tag, "style"), "{name}: {tag}");
            assert!(!is(tag, "script") || attribute(tag, "src").is_some(), "{name}: {tag}");
            assert!(attribute(tag, "style").is_none(), "{name}: {tag}");
            assert!(!tag.contains(" on") || !tag.contains(" onclick=\""), "{name}: {tag}");
            assert!(!tag.contains("javascript:"), "{name}: {tag}");
        }
    }
}

#[test]
fn every_field_has_a_label_and_every_reference_leads_somewhere() {
    for (name, html) in sample::samples() {
        let ids: Vec<&str> = tags(&html).filter_map(|tag| attribute(tag, "id")).collect();
        for id in &ids {
            assert_eq!(ids.iter().filter(|other| other == &id).count(), 1, "{name}: id {id} twice");
        }
        let labels: Vec<&str> =
            tags(&html).filter(|tag| is(tag, "label")).filter_map(|tag| attribute(tag, "for")).collect();
        for tag in tags(&html) {
            if is(tag, "input") && attribute(tag, "type") != Some("hidden") {
                let id = attribute(tag, "id").unwrap_or_else(|| panic!("{name}: {tag}"));
                assert!(labels.contains(&id), "{name}: {id} has no label");
            }
            for reference in ["aria-describedby", "aria-labelledby", "aria-controls"] {
                for id in attribute(tag, reference).unwrap_or_default().split_whitespace() {
                    assert!(ids.contains(&id), "{name}: {reference} names {id}");
                }
            }
            if let Some(target) = attribute(tag, "href").and_then(|href| href.strip_prefix('#')) {
                assert!(ids.contains(&target), "{name}: link to #{target}");
            }
            if is(tag, "img") {
                assert!(attribute(tag, "alt").is_some(), "{name}: {tag}");
            }
        }
    }
}

#[test]
fn no_text_is_left_open_and_every_asset_exists() {
    for (name, html) in sample::samples() {
        assert!(!html.contains(['{', '}']), "{name} has a placeholder left");
        for tag in tags(&html) {
            for path in [attribute(tag, "src"), attribute(tag, "href")].into_iter().flatten() {
                if path.starts_with("/static/") {
                    assert!(assets::find(path).is_some_and(|asset| asset.is_immutable), "{name}: {path}");
                }
            }
        }
    }
}

#[test]
fn an_error_is_announced_in_the_title_and_as_an_alert() {
    let pages = sample::samples();
    let find = |wanted: &str| &pages.iter().find(|(name, _)| name == wanted).unwrap().1;
    let wrong = find("login/wrong-en");
    assert!(wrong.contains("<title>Error: Sign in to Photo Shop"));
    assert!(wrong.contains("role=\"alert\""));
    assert!(wrong.contains("The name or password is not right."));
    assert!(find("login/wrong-de").contains("<title>Fehler: Bei "));
    assert!(!find("login/full-en").contains("role=\"alert\""));
}

#[test]
fn the_sign_in_form_has_the_ids_and_attributes_that_password_managers_and_tests_look_for() {
    let pages = sample::samples();
    let (_, html) = pages.iter().find(|(name, _)| name == "login/wrong-en").unwrap();
    let by_id = |id| tags(html).find(|tag| attribute(tag, "id") == Some(id)).unwrap();
    assert_eq!(attribute(by_id("username"), "autocomplete"), Some("username"));
    assert_eq!(attribute(by_id("username"), "value"), Some("alice"));
    assert_eq!(attribute(by_id("username"), "type"), Some("text"));
    assert_eq!(attribute(by_id("password"), "autocomplete"), Some("current-password"));
    assert_eq!(attribute(by_id("password"), "type"), Some("password"));
    assert_eq!(attribute(by_id("password"), "value"), None);
    assert!(by_id("password").contains(" autofocus"), "after a wrong password the cursor stands there");
    assert!(is(by_id("login-submit"), "button"));
    let (_, empty) = pages.iter().find(|(name, _)| name == "login/full-en").unwrap();
    assert!(tags(empty).any(|tag| attribute(tag, "id") == Some("username") && tag.contains(" autofocus")));
    for (page, id) in [
        ("consent/few-en", "consent-allow"),
        ("consent/few-en", "consent-deny"),
        ("logout/en", "logout-yes"),
        ("setup/en", "setup-submit"),
    ] {
        let (_, html) = pages.iter().find(|(name, _)| name == page).unwrap();
        assert!(tags(html).any(|tag| attribute(tag, "id") == Some(id)), "{page}: {id}");
    }
}

#[test]
fn allow_and_deny_weigh_the_same() {
    let pages = sample::samples();
    let (_, html) = pages.iter().find(|(name, _)| name == "consent/few-en").unwrap();
    let class = |id| tags(html).find(|tag| attribute(tag, "id") == Some(id)).and_then(|tag| attribute(tag, "class"));
    assert_eq!(class("consent-allow"), class("consent-deny"));
    assert!(!html.contains("autofocus"));
}

#[test]
fn what_strangers_send_stays_text() {
    for (name, html) in sample::samples() {
        assert!(!html.contains("<script>alert"), "{name}");
        assert!(!html.contains("onclick=\"alert"), "{name}");
        assert!(!html.contains("kcab\u{202E}"), "{name}");
    }
}

#[test]
fn names_are_cleaned_of_what_deceives() {
    for (raw, shown) in [
        ("Photo Shop", "Photo Shop"),
        ("  Photo\t\n Shop ", "Photo Shop"),
        ("<b>Bank</b>\u{202E}kcab", "<b>Bank</b>kcab"),
        ("Pay\u{200B}Pal\u{0000}\u{2066}x\u{2069}", "PayPal x"),
        ("\u{FEFF}\u{200F}", ""),
        ("Größe 東京 🚪", "Größe 東京 🚪"),
    ] {
        assert_eq!(clean_title(raw), shown, "{raw:?}");
    }
    let long = clean_title(&"x".repeat(500));
    assert_eq!(long.chars().count(), 81);
    assert!(long.ends_with('…'));
    let words = clean_title(&"ab ".repeat(500));
    assert!(words.chars().count() <= 81, "{words}");
}

#[test]
fn both_languages_say_the_same_things() {
    assert_eq!(text::faults(), Vec::<String>::new());
    for &key in Key::ALL {
        assert_ne!(text::get(Language::En, key), key.name());
        assert_ne!(text::get(Language::De, key), key.name());
    }
}

#[test]
fn the_pseudo_language_is_two_parts_in_five_longer() {
    for &key in Key::ALL {
        let (plain, long) = (text::get(Language::En, key), text::get(Language::Xa, key));
        assert!(long.chars().count() * 5 >= plain.chars().count() * 7, "{}: {long}", key.name());
    }
    assert_eq!(Language::Xb.dir(), "rtl");
    assert!(!Language::ALL.contains(&Language::Xa) && !Language::ALL.contains(&Language::Xb));
}

#[test]
fn numbers_take_their_plural_and_their_separator() {
    assert_eq!(text::count(Language::En, Key::TryAgainIn, 1), "Try again in 1 second.");
    assert_eq!(text::count(Language::En, Key::TryAgainIn, 1200), "Try again in 1,200 seconds.");
    assert_eq!(text::count(Language::De, Key::TryAgainIn, 1), "Versuchen Sie es in 1 Sekunde erneut.");
    assert_eq!(text::count(Language::De, Key::TryAgainIn, 1200), "Versuchen Sie es in 1.200 Sekunden erneut.");
    assert_eq!(text::count(Language::De, Key::TryAgainIn, 0), "Versuchen Sie es in 0 Sekunden erneut.");
}

#[test]
fn the_language_is_asked_for_chosen_preferred_or_the_default() {
    use Language::{De, En};
    let all = &Language::ALL;
    for (asked, cookie, accept, supported, expected) in [
        (None, None, None, &all[..], En),
        (Some("de"), Some("en"), Some("en"), &all[..], De),
        (Some("fr de-AT en"), None, None, &all[..], De),
        (Some("fr"), Some("de"), Some("en"), &all[..], De),
        (Some("de"), None, None, &[En][..], En),
        (None, Some("xx"), Some("de-CH, en;q=0.8"), &all[..], De),
        (None, None, Some("en;q=0.5, de;q=0.7"), &all[..], De),
        (None, None, Some("fr, de;q=0, en;q=0.1"), &all[..], En),
        (None, None, Some("de;q=banana, en;q=0.1"), &all[..], En),
        (None, None, Some("de;q=7"), &all[..], En),
        (None, None, Some("en-XA, ar-XB, *"), &all[..], En),
        (Some("DE_at"), None, None, &all[..], De),
        (Some(""), Some(""), Some(", ;q=, \u{0}"), &all[..], En),
    ] {
        assert_eq!(negotiate(asked, cookie, accept, supported, En), expected, "{asked:?} {cookie:?} {accept:?}");
    }
}

#[test]
fn assets_are_found_by_their_own_address_only() {
    for path in assets::paths() {
        let asset = assets::find(path).unwrap();
        assert!(asset.is_immutable && !asset.bytes.is_empty(), "{path}");
    }
    let style = assets::asset("css/doorward.css");
    assert!(style.starts_with("/static/css/doorward-") && style.strip_suffix(".css").is_some());
    assert_eq!(assets::find(style).unwrap().media_type, "text/css; charset=utf-8");
    let other = assets::find("/static/css/doorward-0123456789abcdef.css").unwrap();
    assert!(!other.is_immutable, "another version's name is served, but not kept for ever");
    for path in [
        "/static/css/doorward.css",
        "/static/css/doorward-.css",
        "/static/css/doorward-0123456789abcdeg.css",
        "/static/../Cargo.toml",
        "/static/missing",
        "/static/",
        "",
    ] {
        assert!(assets::find(path).is_none(), "{path}");
    }
}

#[test]
fn style_and_scripts_call_nobody() {
    for path in assets::paths() {
        let text = String::from_utf8(assets::find(path).unwrap().bytes.to_vec()).unwrap();
        let text = text.replace("http://www.w3.org/2000/svg", "");
        assert!(!text.contains("http:") && !text.contains("https:") && !text.contains("@import"), "{path}");
        assert!(!text.contains("innerHTML") && !text.contains("eval("), "{path}");
    }
}

#[test]
fn every_fault_has_a_code_of_its_own_and_words_in_both_languages() {
    let mut codes: Vec<&str> = Fault::ALL.into_iter().map(Fault::code).collect();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), Fault::ALL.len());
    for (state, page) in ErrorPage::samples() {
        assert!(!page.heading.is_empty() && !page.text.is_empty() && !page.what_to_do.is_empty(), "{state}");
    }
}

#[test]
fn scopes_of_the_standard_have_sentences_and_others_their_name() {
    for scope in ["openid", "profile", "email", "phone", "address", "offline_access", "roles", "groups"] {
        assert!(ScopeLine::standard(Language::De, scope).is_some(), "{scope}");
    }
    assert!(ScopeLine::of(Language::En, "en", "orders:write", None).text.contains("orders:write"));
}

#[test]
fn a_wrong_password_and_an_unknown_name_cannot_look_different() {
    // There is one variant for all of them; this test fails to compile when somebody adds another.
    for (_, page) in LoginPage::samples() {
        match page.error {
            None
            | Some(
                LoginError::Wrong
                | LoginError::Stale
                | LoginError::NoCookie
                | LoginError::Busy { .. }
                | LoginError::Unavailable,
            ) => {}
        }
    }
}

#[test]
fn pages_look_as_they_did() {
    for (name, html) in sample::samples() {
        let html = assets::paths().fold(html, |html, path| {
            let (stem, rest) = path.rsplit_once('-').unwrap();
            let (_, extension) = rest.rsplit_once('.').unwrap();
            html.replace(path, &format!("{stem}-HASH.{extension}"))
        });
        insta::with_settings!({ snapshot_path => "snapshots/pages", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(name.replace('/', "--"), html);
        });
    }
}
