//! Cookies by deployment (behaviour case B-37, `security-design` rule 26, RFC 6265bis 4.1.3): names,
//! prefixes, paths, what goes when one signs out, what a second cookie of one name means.

use std::collections::{BTreeMap, BTreeSet};

use crate::kit::browser::{Answer, Browser};
use crate::kit::flow::{CHALLENGE, Client, WEB, authorize, id_claims, sign_in_beside};
use crate::kit::op::{Op, PASSWORD};

/// A cookie as an answer sets it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Set {
    value: String,
    attributes: BTreeSet<String>,
    max_age: Option<i64>,
}

fn set(answer: &Answer) -> BTreeMap<String, Set> {
    let mut all = BTreeMap::new();
    for header in answer.headers.get_all("set-cookie") {
        let text = header.to_str().expect("ASCII");
        let mut pieces = text.split("; ");
        let (name, value) = pieces.next().and_then(|pair| pair.split_once('=')).expect("a pair");
        let (ages, attributes): (Vec<&str>, Vec<&str>) = pieces.partition(|piece| piece.starts_with("Max-Age="));
        let max_age =
            ages.first().and_then(|age| age.strip_prefix("Max-Age=")).map(|age| age.parse().expect("seconds"));
        let it =
            Set { value: value.to_owned(), attributes: attributes.into_iter().map(str::to_owned).collect(), max_age };
        assert!(all.insert(name.to_owned(), it).is_none(), "{name} is set twice in one answer");
    }
    all
}

/// Signs in and gives every cookie that was set on the way.
async fn enter(op: &Op, browser: &mut Browser<'_>) -> BTreeMap<String, Set> {
    let begun =
        browser.send(http::Method::GET, &authorize(WEB, "openid", &[]), None, &[("sec-fetch-site", "none")]).await;
    let mut all = set(&begun);
    browser.follow(begun).await;
    let entered = browser.submit_once("login-submit", &[("username", "alice"), ("password", PASSWORD)]).await;
    assert!(entered.location_param("code").is_some(), "{} {}", op.public_url, entered.body);
    all.extend(set(&entered));
    all
}

async fn leave(browser: &mut Browser<'_>) -> BTreeMap<String, Set> {
    browser.get("/logout").await;
    set(&browser.submit_once("logout-yes", &[]).await)
}

async fn is_signed_in(browser: &mut Browser<'_>) -> bool {
    browser.get(&authorize(WEB, "openid", &[("prompt", "none")])).await.location_param("code").is_some()
}

#[tokio::test]
async fn names_and_attributes_follow_the_deployment_and_go_as_they_came() {
    let cases: [(&str, &str, &[&str]); 3] = [
        ("http://localhost:8080", "doorward-", &["HttpOnly", "Path=/", "SameSite=Lax"]),
        ("https://id.example", "__Host-doorward-", &["HttpOnly", "Path=/", "SameSite=Lax", "Secure"]),
        ("https://id.example/a", "__Secure-doorward-", &["HttpOnly", "Path=/a", "SameSite=Lax", "Secure"]),
    ];
    for (public_url, prefix, attributes) in cases {
        let attributes: BTreeSet<String> = attributes.iter().map(|&attribute| attribute.to_owned()).collect();
        let op = Op::builder().public_url(public_url).start().await;
        let mut browser = op.browser();
        let first = enter(&op, &mut browser).await;
        let kinds = ["session", "browser", "device"];
        assert_eq!(first.len(), kinds.len(), "{first:?}");
        for (name, cookie) in &first {
            assert!(kinds.iter().any(|kind| name.starts_with(&format!("{prefix}{kind}-"))), "{name} at {public_url}");
            assert_eq!(cookie.attributes, attributes, "{name} at {public_url}");
            assert!(cookie.value.len() >= 22, "128 random bits at least: {name}");
            assert!(name.len() + cookie.value.len() < 200);
        }
        let session = first.keys().find(|name| name.contains("-session-")).expect("a session").clone();
        assert_eq!(first[&session].max_age, None, "not remembered: it goes with the browser");
        assert!(is_signed_in(&mut browser).await, "{public_url}");

        let cleared = leave(&mut browser).await;
        assert_eq!(cleared.keys().collect::<Vec<_>>(), [&session], "{public_url}");
        let gone = &cleared[&session];
        assert_eq!((gone.value.as_str(), gone.max_age, &gone.attributes), ("", Some(0), &attributes), "{public_url}");
        assert!(!is_signed_in(&mut browser).await, "{public_url}");
        assert_eq!(browser.cookie("-session-"), None);

        let second = enter(&op, &mut browser).await;
        assert!(is_signed_in(&mut browser).await, "{public_url}");
        assert_ne!(second[&session].value, first[&session].value, "a session's cookie is never used again");
    }
}

#[tokio::test]
async fn two_instances_on_one_host_leave_each_other_alone() {
    let a = Op::builder().public_url("https://id.example/a").start().await;
    let b = Op::builder().public_url("https://id.example/b").start().await;
    let (mut at_a, mut at_b) = (a.browser(), b.browser());
    enter(&a, &mut at_a).await;
    // One browser: what it has from one instance is there when it goes to the other.
    at_b.steal(&at_a, "");
    assert!(!is_signed_in(&mut at_b).await);
    enter(&b, &mut at_b).await;
    assert!(is_signed_in(&mut at_b).await);
    at_a.steal(&at_b, "");
    let names = at_a.cookie_names();
    assert_eq!(names.iter().map(|(name, _)| name).collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
    assert_eq!(names.len(), 6, "{names:?}");
    assert!(is_signed_in(&mut at_a).await);
    leave(&mut at_a).await;
    assert!(!is_signed_in(&mut at_a).await);
    assert!(is_signed_in(&mut at_b).await, "signing out of one leaves the other");
}

#[tokio::test]
async fn ports_of_localhost_share_cookies_and_still_tell_them_apart() {
    let one = Op::builder().public_url("http://localhost:8080").start().await;
    let two = Op::builder().public_url("http://localhost:9090").start().await;
    let (mut at_one, mut at_two) = (one.browser(), two.browser());
    enter(&one, &mut at_one).await;
    at_two.steal(&at_one, "");
    enter(&two, &mut at_two).await;
    at_one.steal(&at_two, "");
    assert_eq!(at_one.cookie_names().len(), 6);
    assert!(is_signed_in(&mut at_one).await && is_signed_in(&mut at_two).await);
}

#[tokio::test]
async fn a_remembered_session_has_an_end_and_others_go_with_the_browser() {
    let op = Op::start().await;
    let mut browser = op.browser();
    browser.get(&authorize(WEB, "openid", &[])).await;
    let fill = [("username", "alice"), ("password", PASSWORD), ("remember", "on")];
    let entered = set(&browser.submit_once("login-submit", &fill).await);
    let (_, session) = entered.iter().find(|(name, _)| name.contains("-session-")).expect("a session");
    assert_eq!(session.max_age, Some(30 * 86_400));
    let (_, device) = entered.iter().find(|(name, _)| name.contains("-device-")).expect("a device");
    assert!(device.max_age.is_some_and(|age| age <= 400 * 86_400), "browsers keep nothing longer: {device:?}");
}

#[tokio::test]
async fn a_cookie_from_before_the_sign_in_is_never_the_session_after_it() {
    let op = Op::start().await;
    // The attacker's own session, planted in the victim's browser.
    let mut attacker = op.browser();
    attacker.get(&authorize(WEB, "openid", &[])).await;
    attacker.sign_in("bob", "bob has a long password").await;
    let planted = attacker.cookie("-session-").expect("a session");
    let mut victim = op.browser();
    victim.steal(&attacker, "");
    victim.get(&authorize(WEB, "openid", &[("prompt", "login")])).await;
    victim.sign_in("alice", PASSWORD).await;
    let after = victim.cookie("-session-").expect("a session");
    assert_ne!(after, planted);
    // What was planted is still the attacker's and nobody else's; the victim's account is not in it.
    let sub = async |browser: &mut Browser<'_>| {
        let answer = browser.get(&authorize(WEB, "openid", &[("prompt", "none")])).await;
        id_claims(&op, WEB, &answer).await["sub"].clone()
    };
    assert_ne!(sub(&mut attacker).await, sub(&mut victim).await);
    let choice = attacker.get(&authorize(WEB, "openid", &[("prompt", "select_account")])).await;
    assert!(choice.page().text.contains("bob") && !choice.page().text.contains("lice"), "{}", choice.page().text);
    // The same person again: the old value dies too.
    let mut thief = op.browser();
    thief.steal(&victim, "");
    sign_in_beside(&mut victim, "alice", PASSWORD).await;
    assert_ne!(victim.cookie("-session-").expect("a session"), after);
    assert!(is_signed_in(&mut victim).await);
    assert!(
        !is_signed_in(&mut thief).await,
        "a copy from before the new sign-in is dead, and no other takes its place"
    );
}

/// Sends the cookies as given, with `prompt=none`.
async fn silent(op: &Op, client: Client, cookies: &[&str]) -> Option<String> {
    let headers: Vec<(&str, &str)> = cookies.iter().map(|cookie| ("cookie", *cookie)).collect();
    let answer =
        op.get(&authorize(client, "openid", &[("prompt", "none"), ("code_challenge", CHALLENGE)]), &headers).await;
    answer.location_param("error")
}

#[tokio::test]
async fn two_cookies_of_one_name_are_none() {
    let op = Op::start().await;
    let mut browser = op.browser();
    enter(&op, &mut browser).await;
    let names = browser.cookie_names();
    let pair = |part: &str| {
        let name = &names.iter().find(|(name, _)| name.contains(part)).expect("a name").0;
        (name.clone(), format!("{name}={}", browser.cookie(part).expect("a value")))
    };
    let ((session_name, session), (_, device)) = (pair("-session-"), pair("-device-"));
    let login_required = Some("login_required".to_owned());
    assert_eq!(silent(&op, WEB, &[&format!("{session}; {device}")]).await, None);
    assert_eq!(silent(&op, WEB, &[&session, &device]).await, None, "over two headers");
    assert_eq!(silent(&op, WEB, &[&format!(" {session} ;\t{device};")]).await, None, "blanks");
    for second in [format!("{session_name}=x"), format!("{session_name}="), session.clone()] {
        assert_eq!(silent(&op, WEB, &[&format!("{session}; {device}; {second}")]).await, login_required, "{second}");
        assert_eq!(silent(&op, WEB, &[&format!("{second}; {session}; {device}")]).await, login_required, "{second}");
        assert_eq!(silent(&op, WEB, &[&format!("{session}; {device}"), &second]).await, login_required, "{second}");
    }
    for wrong in [
        format!("{}; {device}", session.to_uppercase()),
        format!("{session}x; {device}"),
        format!("{}; {device}", &session[..session.len() - 1]),
        format!("{session}%3D; {device}"),
        session.replace('=', "=\""),
        format!("{session_name}; {device}"),
        "=; ;;=;".to_owned(),
        "\u{fffd}".to_owned(),
    ] {
        assert_eq!(silent(&op, WEB, &[&wrong]).await, login_required, "{wrong}");
    }
}

#[tokio::test]
async fn the_language_stays_chosen_and_carries_nothing_else() {
    let op = Op::builder().public_url("https://id.example").start().await;
    let mut browser = op.browser();
    let chosen = browser.get("/?lang=de").await;
    assert!(chosen.body.contains("<html lang=\"de\""));
    let cookies = set(&chosen);
    let (name, cookie) = cookies.first_key_value().expect("a cookie");
    assert!(name.starts_with("__Host-doorward-language-") && cookie.value == "de", "{name}={}", cookie.value);
    assert!(browser.get("/").await.body.contains("<html lang=\"de\""));
    for lang in ["xx", "de%22", "../de", "en-GB%0d%0ax"] {
        let answer = op.get(&format!("/?lang={lang}"), &[("accept", "text/html")]).await;
        assert_eq!(answer.status, 200);
        assert!(set(&answer).is_empty(), "{lang}");
    }
}
