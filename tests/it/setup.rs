//! The first administrator by the one-time link (`security-design` rule 30), what may be a password
//! (behaviour case B-46) and what may be a name (B-48).

mod refused;

use std::time::Duration;

use doorward::clock::Clock;
use doorward::domain::model::audit::AuditKind;
use doorward::domain::model::event::EventKind;
use doorward::service::setup;
use doorward::store::repo;
use doorward::store::repo::audit::AuditFilter;
use http::Method;

use crate::kit::browser::{Answer, Browser};
use crate::kit::flow::{WEB, authorize, text, tokens};
use crate::kit::op::{Op, PASSWORD, REALM};

const MINUTE: Duration = Duration::from_secs(60);
const GOOD: &str = "a long enough password";

async fn link(op: &Op) -> String {
    let made = setup::make_link(&op.app, op.clock.now()).await.expect("the store").expect("nobody administers this");
    format!("/setup/{}", made.expose())
}

async fn had_administrator(op: &Op) -> bool {
    repo::power::had_administrator(&op.app.store.read()).await.expect("the store")
}

async fn submit(browser: &mut Browser<'_>, username: &str, password: &str) -> Answer {
    browser.submit("setup-submit", &[("username", username), ("password", password)]).await
}

#[tokio::test]
async fn the_link_makes_an_administrator_once() {
    let op = Op::builder().public_url("https://id.example/sso").start().await;
    let link = link(&op).await;
    assert!(link.len() >= "/setup/".len() + 43, "256 bits: {link}");
    let mut browser = op.browser();
    for _ in 0..3 {
        let form = browser.get(&link).await;
        assert_eq!(form.status, 200, "looking does not spend it: {}", form.body);
    }
    let shown = browser.form("setup-submit");
    assert_eq!(shown.action, format!("/sso{link}"));
    let done = submit(&mut browser, "Admin", GOOD).await;
    assert_eq!(done.status, 200, "{}", done.body);
    assert!(done.page().text.contains("Admin") && done.page().text.contains("https://id.example/sso"));
    assert!(had_administrator(&op).await);
    // Spent for everybody: look, post again, another browser.
    assert_eq!(browser.get(&link).await.status, 404);
    let mut other = op.browser();
    assert_eq!(other.get(&link).await.status, 404);
    assert!(setup::make_link(&op.app, op.clock.now()).await.expect("the store").is_none(), "never again");
    // The account is a person like others: name as spelled, signs in in any case, told and audited.
    let mut admin = op.browser();
    admin.get(&authorize(WEB, "openid profile", &[])).await;
    assert!(admin.sign_in("ADMIN", GOOD).await.location_param("code").is_some());
    let realm = op.db_realm("main").await.id;
    let powers = repo::power::list(&op.app.store.read(), realm).await.expect("the store");
    assert_eq!(powers.len(), 1);
    let given = AuditFilter { kind: Some(AuditKind::PowerGiven), ..AuditFilter::default() };
    assert_eq!(repo::audit::list(&op.app.store.read(), realm, given, 10).await.expect("the store").len(), 1);
    let events = repo::outbox::list_unsent(&op.app.store.read(), realm, 100).await.expect("the store");
    let told = events.iter().filter(|event| event.kind == EventKind::UserCreated && event.user == powers[0].user);
    assert_eq!(told.count(), 1, "other services hear of the account");
}

#[tokio::test]
async fn two_people_at_once_make_one_administrator() {
    let op = Op::start().await;
    let link = link(&op).await;
    let (mut one, mut two) = (op.browser(), op.browser());
    one.get(&link).await;
    two.get(&link).await;
    let (first, second) = tokio::join!(submit(&mut one, "admin-one", GOOD), submit(&mut two, "admin-two", GOOD));
    let mut statuses = [first.status.as_u16(), second.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 404]);
    let realm = op.db_realm("main").await.id;
    assert_eq!(repo::power::list(&op.app.store.read(), realm).await.expect("the store").len(), 1);
}

#[tokio::test]
async fn the_link_lives_thirty_minutes_and_a_newer_one_takes_its_place() {
    let op = Op::start().await;
    let first = link(&op).await;
    op.advance(30 * MINUTE - Duration::from_secs(1)).await;
    assert_eq!(op.browser().get(&first).await.status, 200);
    let mut browser = op.browser();
    browser.get(&first).await;
    op.advance(Duration::from_secs(1)).await;
    assert_eq!(op.browser().get(&first).await.status, 404);
    assert_eq!(submit(&mut browser, "admin", GOOD).await.status, 404, "too late by a second");
    let second = link(&op).await;
    let third = link(&op).await;
    assert_eq!(op.browser().get(&second).await.status, 404);
    assert_eq!(op.browser().get(&third).await.status, 200);
    assert!(!had_administrator(&op).await);
}

#[tokio::test]
async fn a_link_dies_when_an_administrator_comes_by_another_way() {
    let op = Op::start().await;
    let link = link(&op).await;
    let mut browser = op.browser();
    browser.get(&link).await;
    op.apply("realm: main\nusers:\n  - { username: bob, administrator: instance }\n").await;
    assert!(had_administrator(&op).await);
    assert_eq!(op.browser().get(&link).await.status, 404);
    assert_eq!(submit(&mut browser, "admin", GOOD).await.status, 404);
}

#[tokio::test]
async fn a_wrong_link_is_not_found_and_costs_the_right_one_nothing() {
    let op = Op::start().await;
    let link = link(&op).await;
    let last = link.chars().last().expect("a sign");
    let other = if last == 'A' { 'B' } else { 'A' };
    for wrong in [
        format!("{}{other}", &link[..link.len() - 1]),
        link[..link.len() - 1].to_owned(),
        format!("{link}A"),
        format!("{link}%3D"),
        "/setup/x".to_owned(),
        format!("/setup/{}", "A".repeat(43)),
        format!("/setup/{}", "A".repeat(3_000)),
    ] {
        let mut browser = op.browser();
        let page = browser.get(&wrong).await;
        assert_eq!(page.status, 404, "{wrong}");
        assert!(!page.page().has_id("setup-submit"));
        let fields = [("username", "admin"), ("password", GOOD)].map(|(n, v)| (n.to_owned(), v.to_owned()));
        let own = [("origin", "http://localhost:8080"), ("sec-fetch-site", "same-origin")];
        let posted = browser.send(Method::POST, &wrong, Some(&fields), &own).await;
        assert!(!had_administrator(&op).await && posted.status.is_client_error(), "{wrong}: {}", posted.status);
    }
    assert_eq!(op.browser().get(&link).await.status, 200);
}

#[tokio::test]
async fn a_form_from_elsewhere_makes_nobody_administrator() {
    let op = Op::start().await;
    let link = link(&op).await;
    let mut browser = op.browser();
    browser.get(&link).await;
    let form = browser.form("setup-submit").filled("setup-submit", &[("username", "admin"), ("password", GOOD)]);
    let own = [("origin", "http://localhost:8080"), ("sec-fetch-site", "same-origin")];
    let cross = [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")];
    let without: Vec<(String, String)> = form.iter().filter(|(name, _)| name != "csrf").cloned().collect();
    for (fields, headers, status) in [(&form, &cross[..], 403), (&form, &[], 422), (&without, &own, 422)] {
        let answer = browser.send(Method::POST, &link, Some(fields), headers).await;
        assert_eq!(answer.status, status, "{}", answer.body);
        assert_eq!(browser.form("setup-submit").value("username").as_deref(), Some("admin"), "the name is kept");
        assert!(!answer.body.contains(GOOD), "the password is not");
    }
    // Another browser with this one's token.
    let stranger = op.browser().send(Method::POST, &link, Some(&form), &own).await;
    assert_eq!(stranger.status, 422, "{}", stranger.body);
    assert!(!had_administrator(&op).await);
    assert_eq!(submit(&mut browser, "admin", GOOD).await.status, 200, "the link is not spent");
}

#[tokio::test]
async fn what_cannot_be_taken_is_said_at_its_field_and_the_link_lives_on() {
    let op = Op::start().await;
    let link = link(&op).await;
    let mut browser = op.browser();
    let long = "x".repeat(257);
    let wide = "\u{1f511}".repeat(257);
    let name_of_all = "n".repeat(256);
    let short = "eleven sign";
    assert_eq!(short.chars().count(), 11);
    let cases: [(&str, &str, &[&str]); 12] = [
        ("", GOOD, &["username-error"]),
        ("  ", GOOD, &["username-error"]),
        ("two words", GOOD, &["username-error"]),
        ("te\u{200b}sto", GOOD, &["username-error"]),
        ("test\u{43e}", GOOD, &["username-error"]),
        (&name_of_all, GOOD, &["username-error"]),
        ("alice", GOOD, &["username-error"]),
        ("ALICE@example.com", GOOD, &["username-error"]),
        ("admin", short, &["password-error"]),
        ("admin", &long, &["password-error"]),
        ("admin", &wide, &["password-error"]),
        ("", "", &["username-error", "password-error"]),
    ];
    for (username, password, errors) in cases {
        browser.get(&link).await;
        let answer = submit(&mut browser, username, password).await;
        assert_eq!(answer.status, 422, "{username:?} {password:.20?}: {}", answer.body);
        for id in ["username-error", "password-error"] {
            assert_eq!(answer.page().has_id(id), errors.contains(&id), "{id} for {username:?} {password:.20?}");
        }
        assert!(!had_administrator(&op).await);
        if !password.is_empty() {
            assert!(!answer.body.contains(password), "a password is never shown again");
        }
    }
    assert_eq!(submit(&mut browser, "admin", "twelve signs").await.status, 200, "the page that said it goes on");
}

/// A realm with one person of this password, as JSON text is YAML too.
fn person(username: &str, password: &str) -> String {
    let password = serde_json::to_string(password).expect("JSON");
    let username = serde_json::to_string(username).expect("JSON");
    format!("realm: main\nusers:\n  - {{ username: {username}, password: {{ value: {password} }} }}\n")
}

async fn try_sign_in(op: &Op, username: &str, password: &str) -> Answer {
    let mut browser = op.browser();
    browser.get(&authorize(WEB, "openid", &[])).await;
    browser.sign_in(username, password).await
}

async fn signs_in(op: &Op, username: &str, password: &str) -> bool {
    let answer = try_sign_in(op, username, password).await;
    match answer.status.as_u16() {
        303 => answer.location_param("code").is_some(),
        422 => false,
        other => panic!("{other}: {}", answer.body),
    }
}

#[tokio::test]
async fn a_password_counts_to_its_last_sign() {
    let op = Op::start().await;
    let long: String = (0..128).map(|n| char::from(b'a' + n % 26)).collect();
    let cjk = format!("{}x", "\u{6c34}".repeat(24));
    assert_eq!(cjk.len(), 73);
    let emoji = "\u{1f511}".repeat(200);
    let most = "\u{1f511}".repeat(256);
    assert_eq!(most.len(), 1024);
    let spaced = "  kept as it is  ";
    for (name, password) in [("p1", long.as_str()), ("p2", &cjk), ("p3", &emoji), ("p4", &most), ("p5", spaced)] {
        op.apply(&person(name, password)).await;
        assert!(signs_in(&op, name, password).await, "{name}");
        let mut chars = password.chars();
        chars.next_back();
        assert!(!signs_in(&op, name, chars.as_str()).await, "{name} without its last sign");
    }
    assert!(!signs_in(&op, "p1", &long[..72]).await, "the first 72 bytes are not enough (B-46)");
    assert!(!signs_in(&op, "p1", &long.to_uppercase()).await);
    assert!(!signs_in(&op, "p2", &"\u{6c34}".repeat(24)).await);
    assert!(!signs_in(&op, "p5", spaced.trim()).await, "nothing is trimmed");
    for password in ["x".repeat(257), "\u{1f511}".repeat(257), "short".to_owned(), String::new()] {
        let refused = op.try_apply(&person("p9", &password)).await.expect_err("not a password");
        assert!(refused.contains("password"), "{refused}");
        assert!(password.len() < 6 || !refused.contains(&password), "it is not repeated in the message");
    }
    assert!(op.try_apply(&person("p8", &"x".repeat(64))).await.is_ok(), "64 at least are allowed");
}

#[tokio::test]
async fn a_password_typed_on_another_keyboard_is_the_same() {
    let op = Op::start().await;
    let (composed, decomposed) = ("Schl\u{fc}ssel f\u{fc}r alle", "Schlu\u{308}ssel fu\u{308}r alle");
    op.apply(&person("nfc", composed)).await;
    op.apply(&person("nfd", decomposed)).await;
    for name in ["nfc", "nfd"] {
        assert!(signs_in(&op, name, composed).await, "{name}");
        assert!(signs_in(&op, name, decomposed).await, "{name}");
        assert!(!signs_in(&op, name, "Schlussel fur alle").await, "{name}");
    }
}

#[tokio::test]
async fn a_password_beyond_all_bounds_costs_nothing_and_breaks_nothing() {
    let op = Op::start().await;
    for size in [257, 1025, 4_097, 16_000] {
        let answer = try_sign_in(&op, "alice", &"x".repeat(size)).await;
        assert_eq!(answer.status, 422, "{size}: {}", answer.body);
        assert!(answer.page().has_id("login-submit"));
    }
    let huge = try_sign_in(&op, "alice", &"x".repeat(5 * 1024 * 1024)).await;
    assert_eq!(huge.status, 413);
    assert!(signs_in(&op, "alice", PASSWORD).await);
}

/// People with one name or address each.
fn people(rows: &[(&str, Option<&str>)]) -> String {
    let mut yaml = "realm: main\nusers:\n".to_owned();
    for (username, email) in rows {
        let username = serde_json::to_string(username).expect("JSON");
        let password = serde_json::to_string(PASSWORD).expect("JSON");
        yaml.push_str(&format!("  - {{ username: {username}, password: {{ value: {password} }}"));
        if let Some(email) = email {
            yaml.push_str(&format!(", email: {}, email_verified: true", serde_json::to_string(email).expect("JSON")));
        }
        yaml.push_str(" }\n");
    }
    yaml
}

#[tokio::test]
async fn look_alikes_and_case_twins_do_not_become_accounts() {
    let op = Op::start().await;
    op.apply(&people(&[("testo@example.com", None), ("fine@example.com", None)])).await;
    for twin in [
        "TESTO@Example.COM",
        "testo@example.com ",
        "\u{ff54}esto@example.com",
        "\u{fb01}ne@example.com",
        "test\u{43e}@example.com",
        "te\u{200b}sto@example.com",
        "testo@example.com\u{202e}",
    ] {
        let refused = op.try_apply(&people(&[(twin, None)])).await;
        // The same name in another spelling is the same account or a clash, never a second account.
        if refused.is_ok() {
            let realm = op.db_realm("main").await.id;
            let users = repo::user::list(&op.app.store.read(), realm, None, 100).await.expect("the store");
            let alike = users.iter().filter(|user| {
                user.username.to_lowercase().contains("ne@") || user.username.to_lowercase().contains("sto@")
            });
            assert_eq!(alike.count(), 2, "{twin:?} made another account");
        }
    }
    for other in ["test\u{43e}@example.com", "te\u{200b}sto@example.com"] {
        assert!(op.try_apply(&people(&[(other, None)])).await.is_err(), "{other:?} is refused");
    }
    // Plus tags are other addresses.
    op.apply(&people(&[("testo+x@example.com", None)])).await;
    assert!(signs_in(&op, "testo+x@example.com", PASSWORD).await);
    // A verified address is a name too, and names are one space.
    let clash = op.try_apply(&people(&[("somebody", Some("Testo@EXAMPLE.com"))])).await.expect_err("taken");
    assert!(clash.contains("already means the user"), "{clash}");
}

#[tokio::test]
async fn every_spelling_of_a_name_signs_the_same_person_in() {
    let op = Op::start().await;
    op.apply(&people(&[("Zo\u{eb}", Some("Zoe.B@B\u{fc}cher.example"))])).await;
    let mut subs = std::collections::BTreeSet::new();
    for spelling in [
        "Zo\u{eb}",
        "zo\u{eb}",
        "ZO\u{cb}",
        "Zoe\u{308}",
        "  Zo\u{eb}\t",
        "zoe.b@b\u{fc}cher.example",
        "ZOE.B@B\u{dc}CHER.EXAMPLE",
        "zoe.b@xn--bcher-kva.example",
        "zoe.b\u{ff20}b\u{fc}cher.example ",
    ] {
        let mut browser = op.browser();
        browser.get(&authorize(WEB, "openid", &[])).await;
        let answer = browser.sign_in(spelling, PASSWORD).await;
        assert!(answer.location_param("code").is_some(), "{spelling:?}: {}", answer.status);
        let got = tokens(&op, &mut browser, WEB, "openid").await;
        subs.insert(text(&crate::kit::flow::decode(text(&got, "id_token")).1, "sub").to_owned());
    }
    assert_eq!(subs.len(), 1);
    for other in
        ["zoe", "zo\u{435}\u{308}", "zo\u{200b}\u{eb}", "zoe.b+x@b\u{fc}cher.example", "zoe.b", "zoe.b@", "*)(uid=*"]
    {
        assert!(!signs_in(&op, other, PASSWORD).await, "{other:?}");
    }
}

#[tokio::test]
async fn an_address_that_is_not_verified_signs_nobody_in_and_is_not_reserved() {
    let op = Op::start().await;
    let one = "realm: main\nusers:\n  - { username: one, email: shared@example.com, password: { value: \"correct horse battery\" } }\n";
    op.apply(one).await;
    assert!(!signs_in(&op, "shared@example.com", PASSWORD).await);
    op.apply(&one.replace("username: one", "username: two")).await;
    op.apply(&people(&[("three", Some("shared@example.com"))])).await;
    assert!(signs_in(&op, "shared@example.com", PASSWORD).await);
}

#[tokio::test]
async fn two_nodes_that_make_twins_in_the_same_instant_make_one() {
    let op = Op::builder().realm(REALM).start().await;
    let beside = Op::builder().beside(&op).start().await;
    for round in 0..3 {
        let (here, there) = (format!("Twin{round}@Example.com"), format!("twin{round}@example.com"));
        let (here, there) = (people(&[("one", Some(&here))]), people(&[("two", Some(&there))]));
        let (here, there) = (here.replace("one", &format!("one{round}")), there.replace("two", &format!("two{round}")));
        let (first, second) = tokio::join!(op.try_apply(&here), beside.try_apply(&there));
        assert_eq!(u8::from(first.is_ok()) + u8::from(second.is_ok()), 1, "{first:?} {second:?}");
        let refused = first.and(second).expect_err("one was refused");
        assert!(!refused.contains("internal fault"), "{refused}");
        assert!(signs_in(&op, &format!("twin{round}@example.com"), PASSWORD).await);
    }
}
