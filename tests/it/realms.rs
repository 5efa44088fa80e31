//! A second realm complete, and a third with a host of its own: own issuer, keys, users, clients and
//! cookies; nothing of one is taken by another, and nothing sealed for one purpose is taken for
//! another (`security-design` rule 14, `security` invariant I6).

use std::collections::BTreeSet;

use doorward::clock::Clock;
use doorward::domain::model::secret::Secret;
use doorward::service::setup;

use crate::kit::browser::Browser;
use crate::kit::flow::{ASKER, CHALLENGE, OPAQUE, STRANGER, WEB, decode, post_as, text};
use crate::kit::house::{self, HOUSES, House, MAIN, OTHER, THIRD};
use crate::kit::op::Op;

#[tokio::test]
async fn each_realm_is_a_provider_of_its_own() {
    let op = house::start().await;
    let mut kids = BTreeSet::new();
    for house in HOUSES {
        let metadata = op.get(&house.at("/.well-known/openid-configuration"), &[]).await.json();
        assert_eq!(metadata["issuer"], house.issuer);
        for (name, value) in metadata.as_object().expect("a document") {
            if name.ends_with("_endpoint") || name == "jwks_uri" {
                assert!(value.as_str().expect("a URL").starts_with(&house.at("/")), "{name}: {value}");
            }
        }
        let jwks = op.get(text(&metadata, "jwks_uri"), &[]).await.json();
        for key in jwks["keys"].as_array().expect("keys") {
            assert!(kids.insert(text(key, "kid").to_owned()), "two realms share a key");
        }
        let mut browser = op.browser();
        let answer = house.answer(&mut browser, WEB, "openid profile").await;
        assert_eq!(answer.location_param("iss").as_deref(), Some(house.issuer));
        let tokens = house.redeem(&op, WEB, &answer.location_param("code").expect("a code")).await.json();
        assert_eq!(decode(text(&tokens, "id_token")).1["iss"], house.issuer);
        assert_eq!(decode(text(&tokens, "access_token")).1["aud"], house.issuer);
        let userinfo = house.userinfo(&op, text(&tokens, "access_token")).await.json();
        assert_eq!(userinfo["family_name"], house.family_name);
        assert_eq!(house.refresh(&op, WEB, text(&tokens, "refresh_token")).await.status, 200);
        let login = browser.get(&house.authorize(WEB, "openid", &[("prompt", "login")])).await;
        assert_eq!(login.status, 200, "its own pages: {}", login.body);
        for (_, attributes) in login.page().tags.iter().filter(|(name, _)| name == "link" || name == "img") {
            for (_, target) in attributes.iter().filter(|(name, _)| name == "href" || name == "src") {
                let asset = op.get(&op.resolve(&login.url, target), &[]).await;
                assert_eq!(asset.status, 200, "{target} on the pages of {}", house.issuer);
            }
        }
    }
    assert_eq!(kids.len(), 12, "four keys each");
}

#[tokio::test]
async fn a_person_of_one_realm_is_unknown_in_the_others() {
    let op = house::start().await;
    for at in HOUSES {
        for from in HOUSES.iter().filter(|from| **from != at) {
            let mut browser = op.browser();
            browser.get(&at.authorize(WEB, "openid", &[])).await;
            let answer = browser.sign_in("alice", from.password).await;
            assert_eq!(answer.status, 422, "{} with the password of {}", at.issuer, from.issuer);
        }
    }
    let mut browser = op.browser();
    browser.get(&OTHER.authorize(WEB, "openid", &[])).await;
    assert_eq!(browser.sign_in("bob", "bob has a long password").await.status, 422, "bob lives in main only");
}

#[tokio::test]
async fn a_client_of_one_realm_is_unknown_in_the_others() {
    let op = house::start().await;
    for house in [OTHER, THIRD] {
        let page = op.get(&house.authorize(ASKER, "openid", &[]), &[("accept", "text/html")]).await;
        assert_eq!(page.status, 400, "an error page, no redirect: {}", page.body);
        let answer = post_as(&op, STRANGER, &house.at("/token"), &[("grant_type", "client_credentials")]).await;
        assert_eq!((answer.status.as_u16(), text(&answer.json(), "error")), (401, "invalid_client"));
    }
}

#[tokio::test]
async fn each_realm_has_cookies_of_its_own_and_one_browser_may_be_signed_in_in_all() {
    let op = house::start().await;
    let mut browser = op.browser();
    for (index, house) in HOUSES.iter().enumerate() {
        assert_eq!(house.silent(&mut browser, &[]).await.as_deref(), Some("login_required"), "{}", house.issuer);
        house.code(&mut browser, WEB, "openid").await;
        for signed_in in &HOUSES[..=index] {
            assert_eq!(signed_in.silent(&mut browser, &[]).await, None, "{}", signed_in.issuer);
        }
    }
    let names = browser.cookie_names();
    let unique: BTreeSet<&String> = names.iter().map(|(name, _)| name).collect();
    assert_eq!(unique.len(), names.len(), "no name twice: {names:?}");
    for (name, path) in &names {
        let is_other = path == "/realms/other";
        assert!(is_other || path == "/", "{name} at {path}");
        let prefix = if is_other { "__Secure-doorward-" } else { "__Host-doorward-" };
        assert!(name.starts_with(prefix), "{name} at {path}");
    }
    assert_eq!(names.iter().filter(|(_, path)| path == "/realms/other").count(), 3, "{names:?}");
    // Signing out in one leaves the others.
    browser.get(&OTHER.at("/logout")).await;
    assert_eq!(browser.submit("logout-yes", &[]).await.status, 200);
    assert_eq!(OTHER.silent(&mut browser, &[]).await.as_deref(), Some("login_required"));
    for house in [MAIN, THIRD] {
        assert_eq!(house.silent(&mut browser, &[]).await, None, "{}", house.issuer);
    }
}

#[tokio::test]
async fn a_realm_has_one_address_only() {
    let op = house::start().await;
    let paths = ["/", "/.well-known/openid-configuration", "/.well-known/jwks.json", "/authorize", "/login", "/logout"];
    for realm in ["main", "third", "closed", "nosuch", "Other", "other%2f", "-", ""] {
        for path in paths {
            let answer = op.get(&format!("/realms/{realm}{path}"), &[("accept", "text/html")]).await;
            assert_eq!(answer.status, 404, "/realms/{realm}{path}: {}", answer.body);
        }
        let inserted = op.get(&format!("/.well-known/oauth-authorization-server/realms/{realm}"), &[]).await;
        assert_eq!(inserted.status, 404, "{realm}");
    }
    // A path under the realm's own host is no realm either.
    assert_eq!(op.get("https://login.example/realms/other/", &[]).await.status, 404);
    assert_eq!(op.get("https://login.example/realms/main/", &[]).await.status, 404);
    assert_eq!(op.get("https://elsewhere.example/", &[]).await.status, 421);
}

#[tokio::test]
async fn a_realm_that_is_disabled_answers_nothing_and_takes_nothing() {
    let op = house::start().await;
    let mut browser = op.browser();
    let tokens = OTHER.tokens(&op, &mut browser, WEB, "openid profile offline_access").await;
    op.apply("realm: other\nenabled: false\n").await;
    assert_eq!(OTHER.userinfo(&op, text(&tokens, "access_token")).await.status, 404);
    assert_eq!(OTHER.refresh(&op, WEB, text(&tokens, "refresh_token")).await.status, 404);
    assert_eq!(op.get(&OTHER.at("/.well-known/openid-configuration"), &[]).await.status, 404);
    op.apply("realm: other\nenabled: true\n").await;
    assert_eq!(OTHER.userinfo(&op, text(&tokens, "access_token")).await.status, 200);
    assert_eq!(OTHER.refresh(&op, WEB, text(&tokens, "refresh_token")).await.status, 200);
}

/// Everything that leaves the product for one realm and one purpose.
struct Loot {
    kinds: Vec<(&'static str, String)>,
}

impl Loot {
    fn get(&self, kind: &str) -> &str {
        &self.kinds.iter().find(|(name, _)| *name == kind).expect("a kind").1
    }
}

async fn loot(op: &Op, at: House) -> Loot {
    let mut browser = op.browser();
    let tokens = at.tokens(op, &mut browser, WEB, "openid profile").await;
    let opaque = at.tokens(op, &mut browser, OPAQUE, "openid").await;
    let code = at.code(&mut browser, WEB, "openid").await;
    let fields: Vec<(String, String)> = form_urlencoded::parse(request().as_bytes()).into_owned().collect();
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let handed = op.post(&at.at("/authorize"), &fields, &[]).await;
    browser.get(&at.authorize(WEB, "openid", &[("prompt", "login")])).await;
    let form = browser.form("login-submit");
    let cookie = |part| browser.cookie(part).expect("a cookie");
    let kinds = vec![
        ("code", code),
        ("access", text(&tokens, "access_token").to_owned()),
        ("opaque", text(&opaque, "access_token").to_owned()),
        ("refresh", text(&tokens, "refresh_token").to_owned()),
        ("id_token", text(&tokens, "id_token").to_owned()),
        ("session", cookie("-session-")),
        ("device", cookie("-device-")),
        ("browser", cookie("-browser-")),
        ("csrf", form.value("csrf").expect("a form token")),
        ("flow", form.value("flow").expect("a flow")),
        ("request", handed.location_param("request").expect("a handle")),
    ];
    Loot { kinds }
}

fn request() -> String {
    let pairs = [
        ("response_type", "code"),
        ("client_id", WEB.id),
        ("redirect_uri", WEB.redirect_uri),
        ("scope", "openid"),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
    ];
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

/// Where a kind is good, in its own realm.
fn is_good(kind: &str, place: &str) -> bool {
    matches!(
        (kind, place),
        ("access" | "opaque", "userinfo" | "introspect") | ("refresh", "introspect") | ("id_token", "hint")
    ) || kind == place
}

const PLACES: [&str; 12] = [
    "code",
    "refresh",
    "userinfo",
    "introspect",
    "hint",
    "session",
    "device",
    "browser",
    "csrf",
    "flow",
    "request",
    "setup",
];

/// Presents `it` at a place of a realm and expects to be refused, calmly. `signed_in` is alice's
/// browser there.
async fn is_refused(op: &Op, at: House, signed_in: &Browser<'_>, (kind, it): (&str, &str), place: &str) {
    let say = format!("{kind} as {place} at {}", at.issuer);
    let mut browser = op.browser();
    match place {
        "code" | "refresh" => {
            let answer = if place == "code" { at.redeem(op, WEB, it).await } else { at.refresh(op, WEB, it).await };
            assert_eq!((answer.status.as_u16(), text(&answer.json(), "error")), (400, "invalid_grant"), "{say}");
        }
        "userinfo" => {
            let answer = at.userinfo(op, it).await;
            assert_eq!((answer.status.as_u16(), text(&answer.json(), "error")), (401, "invalid_token"), "{say}");
        }
        "introspect" => {
            assert_eq!(at.introspect(op, WEB, it).await, serde_json::json!({ "active": false }), "{say}");
        }
        "hint" => {
            browser.steal(signed_in, "");
            let refused = at.silent(&mut browser, &[("id_token_hint", it)]).await;
            assert_eq!(refused.as_deref(), Some("invalid_request"), "{say}");
            let query = [("id_token_hint", it), ("post_logout_redirect_uri", "https://app.example/out")];
            let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish();
            let answer = browser.get(&at.at(&format!("/logout?{query}"))).await;
            assert!(!answer.status.is_redirection(), "{say}: {}", answer.status);
            assert_eq!(at.silent(&mut browser, &[]).await, None, "{say}: still signed in");
        }
        "session" | "device" => {
            browser.steal(signed_in, "");
            browser.set_cookie(&format!("-{place}-"), it);
            assert_eq!(at.silent(&mut browser, &[]).await.as_deref(), Some("login_required"), "{say}");
        }
        "browser" | "csrf" => {
            browser.get(&at.authorize(WEB, "openid", &[])).await;
            let mut fill = vec![("username", "alice"), ("password", at.password)];
            if place == "browser" {
                browser.set_cookie("-browser-", it);
            } else {
                fill.push(("csrf", it));
            }
            let answer = browser.submit("login-submit", &fill).await;
            assert_eq!(answer.status, 422, "{say}: {}", answer.body);
            assert!(answer.page().has_id("login-submit"), "{say}: a way on");
            assert_eq!(browser.cookie("-session-"), None, "{say}");
        }
        "flow" | "request" => {
            let page = if place == "flow" { format!("/login?flow={it}") } else { format!("/login/start?request={it}") };
            let answer = browser.get(&at.at(&page)).await;
            assert_eq!(answer.status, 400, "{say}: {}", answer.body);
        }
        "setup" => {
            let answer = browser.get(&at.at(&format!("/setup/{it}"))).await;
            assert_eq!(answer.status, 404, "{say}: {}", answer.body);
        }
        other => panic!("no such place: {other}"),
    }
}

/// What was only ever shown to the wrong door still opens the right one.
async fn is_unhurt(op: &Op, at: House, loot: &Loot) {
    assert_eq!(at.redeem(op, WEB, loot.get("code")).await.status, 200, "{}", at.issuer);
    assert_eq!(at.refresh(op, WEB, loot.get("refresh")).await.status, 200, "{}", at.issuer);
    assert_eq!(at.userinfo(op, loot.get("access")).await.status, 200, "{}", at.issuer);
    assert_eq!(at.userinfo(op, loot.get("opaque")).await.status, 200, "{}", at.issuer);
    let restarted = op.get(&at.at(&format!("/login/start?request={}", loot.get("request"))), &[]).await;
    assert_eq!(restarted.status, 303, "{}", restarted.body);
}

#[tokio::test]
async fn what_is_sealed_for_one_purpose_is_taken_for_no_other() {
    let op = house::start().await;
    let loot = loot(&op, MAIN).await;
    let link = setup::make_link(&op.app, op.clock.now()).await.expect("the store answers").expect("a link");
    let mut signed_in = op.browser();
    MAIN.code(&mut signed_in, WEB, "openid").await;
    let kinds = loot.kinds.iter().map(|(kind, it)| (*kind, it.as_str()));
    for (kind, it) in kinds.chain([("setup", Secret::expose(&link))]) {
        for place in PLACES.into_iter().filter(|place| !is_good(kind, place)) {
            is_refused(&op, MAIN, &signed_in, (kind, it), place).await;
        }
    }
    is_unhurt(&op, MAIN, &loot).await;
}

#[tokio::test]
async fn nothing_of_one_realm_is_taken_by_another() {
    let op = house::start().await;
    let link = setup::make_link(&op.app, op.clock.now()).await.expect("the store answers").expect("a link");
    let mut loots = Vec::new();
    for house in HOUSES {
        loots.push((house, loot(&op, house).await));
    }
    for at in HOUSES {
        let mut signed_in = op.browser();
        at.code(&mut signed_in, WEB, "openid").await;
        for (_, loot) in loots.iter().filter(|(from, _)| *from != at) {
            for (kind, it) in &loot.kinds {
                for place in PLACES.into_iter().filter(|place| is_good(kind, place)) {
                    is_refused(&op, at, &signed_in, (kind, it), place).await;
                }
            }
        }
        if at != MAIN {
            is_refused(&op, at, &signed_in, ("setup", link.expose()), "setup").await;
        }
    }
    for (house, loot) in &loots {
        is_unhurt(&op, *house, loot).await;
    }
    assert_eq!(op.get(&MAIN.at(&format!("/setup/{}", link.expose())), &[]).await.status, 200);
}
