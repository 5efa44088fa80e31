//! Signing keys over time: announced, active, retired, gone; by schedule and by command; on two nodes
//! at once (behaviour case B-25, `security` rows 20 and 21, OpenID Connect Core 10.1.1).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use doorward::clock::Clock;
use doorward::domain::model::key::Algorithm;
use doorward::domain::protocol::key_schedule::Rotation;
use doorward::service::rotate_keys;
use doorward::tasks;
use serde_json::json;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::kit::flow::{Client, WEB, decode, introspect, post_as, text, tokens, userinfo};
use crate::kit::op::{Op, PASSWORD, REALM};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(86_400);
const SECOND: Duration = Duration::from_secs(1);

/// One turn of the background task.
async fn turn(op: &Op) -> usize {
    let acts = tasks::rotate_keys::run_once(&op.app, op.clock.now()).await.expect("the schedule is kept");
    op.poll().await;
    acts
}

/// The published keys: `kid` and algorithm.
async fn published(op: &Op) -> BTreeMap<String, String> {
    let jwks = op.get("/.well-known/jwks.json", &[]).await.json();
    let keys = jwks["keys"].as_array().expect("keys").iter();
    keys.map(|key| (text(key, "kid").to_owned(), text(key, "alg").to_owned())).collect()
}

/// An access token signed now, and the key that signed it. Its key is published, or nobody could know it.
async fn signed(op: &Op) -> (String, String) {
    let answer = post_as(op, WEB, "/token", &[("grant_type", "client_credentials")]).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let token = text(&answer.json(), "access_token").to_owned();
    let kid = text(&decode(&token).0, "kid").to_owned();
    assert!(published(op).await.contains_key(&kid), "what signs is published");
    (token, kid)
}

async fn is_active(op: &Op, token: &str) -> bool {
    introspect(op, WEB, token).await["active"] == json!(true)
}

/// Seconds that the key set may be kept.
async fn max_age(op: &Op) -> u64 {
    let answer = op.get("/.well-known/jwks.json", &[]).await;
    let caching = answer.header("cache-control").expect("caching");
    caching.strip_prefix("public, max-age=").and_then(|age| age.parse().ok()).unwrap_or_else(|| panic!("{caching}"))
}

async fn rotate(op: &Op, rotation: Rotation) {
    let realm = op.db_realm("main").await;
    let acts = rotate_keys::rotate(&op.app, &realm, &Algorithm::ALL, rotation, op.clock.now()).await;
    assert!(acts.expect("rotated") > 0);
    op.poll().await;
}

#[tokio::test]
async fn the_schedule_announces_a_day_ahead_switches_by_time_and_forgets_what_nobody_needs() {
    let op = Op::start().await;
    let first = published(&op).await;
    assert_eq!(first.len(), 4);
    assert_eq!(turn(&op).await, 0, "nothing is due");
    op.advance(89 * DAY - SECOND).await;
    assert_eq!(turn(&op).await, 0, "nothing is due");
    let (_, old) = signed(&op).await;

    op.advance(SECOND).await;
    assert!(turn(&op).await > 0, "the successors are announced");
    assert_eq!(turn(&op).await, 0, "once");
    let both = published(&op).await;
    assert_eq!(both.len(), 8);
    assert!(first.keys().all(|kid| both.contains_key(kid)));

    op.advance(DAY - SECOND).await;
    assert_eq!(turn(&op).await, 0);
    let (token, kid) = signed(&op).await;
    assert_eq!(kid, old, "an announced key does not sign yet");

    // The switch needs nobody: phases are times.
    op.advance(SECOND).await;
    let (_, new) = signed(&op).await;
    assert_ne!(new, old);
    assert!(!first.contains_key(&new) && both.contains_key(&new));
    assert!(is_active(&op, &token).await, "signed before the switch");
    assert_eq!(published(&op).await, both, "the old ones stay until their last token ends");

    op.advance(5 * MINUTE - 2 * SECOND).await;
    turn(&op).await;
    assert!(is_active(&op, &token).await, "to its last second");
    op.advance(SECOND).await;
    assert!(!is_active(&op, &token).await, "it has ended");
    op.advance(MINUTE + SECOND).await;
    turn(&op).await;
    let last = published(&op).await;
    assert_eq!(last.len(), 4);
    assert!(last.keys().all(|kid| !first.contains_key(kid)), "the old ones are gone");
    assert_eq!(last.values().collect::<BTreeSet<_>>(), first.values().collect::<BTreeSet<_>>());
}

#[tokio::test]
async fn who_keeps_the_key_set_as_long_as_he_may_knows_each_key_before_it_signs() {
    let op = Op::start().await;
    assert!(Duration::from_secs(max_age(&op).await) <= DAY);
    op.advance(89 * DAY).await;
    // The last copy without the successors, taken just before they were announced.
    let age = Duration::from_secs(max_age(&op).await);
    turn(&op).await;
    op.advance(age).await;
    let copy = published(&op).await;
    op.advance(DAY - age).await;
    let (_, kid) = signed(&op).await;
    assert!(copy.contains_key(&kid), "a copy taken when the old one had to be thrown away knows the new key");
}

#[tokio::test]
async fn a_realm_that_announces_shortly_lets_its_key_set_be_kept_no_longer() {
    let op =
        Op::builder().realm(&REALM.replace("{ rsa_bits: 2048 }", "{ rsa_bits: 2048, announce: 90s }")).start().await;
    assert!(max_age(&op).await <= 90, "{}", max_age(&op).await);
}

#[tokio::test]
async fn an_ordered_rotation_takes_over_when_no_copy_is_older_and_spares_what_was_signed() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let (_, old) = signed(&op).await;
    let kept = Duration::from_secs(max_age(&op).await);
    rotate(&op, Rotation::Orderly).await;
    assert_eq!(published(&op).await.len(), 8, "announced at once");
    assert_eq!(signed(&op).await.1, old);
    op.advance(kept).await;
    assert_eq!(signed(&op).await.1, old, "a copy taken just before may still be in use");
    op.advance(9 * SECOND).await;
    let (token, kid) = signed(&op).await;
    assert_eq!(kid, old);
    let person = tokens(&op, &mut browser, WEB, "openid profile").await;
    op.advance(SECOND).await;
    let (_, new) = signed(&op).await;
    assert_ne!(new, old);
    assert!(is_active(&op, &token).await);
    assert_eq!(userinfo(&op, text(&person, "access_token")).await.status, 200);
    assert_eq!(published(&op).await.len(), 8, "the old ones stay published");
    op.advance(7 * MINUTE).await;
    turn(&op).await;
    assert_eq!(published(&op).await.len(), 4);
    assert!(signed(&op).await.1 == new);
}

#[tokio::test]
async fn ordered_twice_in_a_moment_it_rotates_once_and_never_leaves_a_gap() {
    let op = Op::start().await;
    // The first keys are no older than the order itself.
    rotate(&op, Rotation::Orderly).await;
    rotate(&op, Rotation::Orderly).await;
    assert_eq!(published(&op).await.len(), 8);
    for _ in 0..20 {
        op.advance(MINUTE).await;
        signed(&op).await;
    }
    turn(&op).await;
    signed(&op).await;
}

#[tokio::test]
async fn an_emergency_makes_what_the_old_keys_signed_worthless_at_once_on_every_node() {
    let op = Op::start().await;
    let beside = Op::builder().beside(&op).start().await;
    let mut browser = op.browser();
    let person = tokens(&op, &mut browser, WEB, "openid profile").await;
    let (token, old) = signed(&op).await;
    let first = published(&op).await;
    rotate(&op, Rotation::Emergency).await;
    beside.poll().await;
    for node in [&op, &beside] {
        let now = published(node).await;
        assert_eq!(now.len(), 4);
        assert!(now.keys().all(|kid| !first.contains_key(kid)));
        assert!(!is_active(node, &token).await);
        assert_eq!(userinfo(node, text(&person, "access_token")).await.status, 401);
        let (fresh, kid) = signed(node).await;
        assert_ne!(kid, old);
        assert!(is_active(&op, &fresh).await && is_active(&beside, &fresh).await);
    }
    rotate(&op, Rotation::Emergency).await;
    beside.poll().await;
    assert_eq!(signed(&op).await.1, signed(&beside).await.1, "again at once");
    // People stay signed in, and their next tokens are good.
    let again = tokens(&op, &mut browser, WEB, "openid profile").await;
    assert_eq!(userinfo(&beside, text(&again, "access_token")).await.status, 200);
}

#[tokio::test]
async fn two_nodes_plan_once_and_switch_in_the_same_moment() {
    let op = Op::start().await;
    let beside = Op::builder().beside(&op).start().await;
    op.advance(89 * DAY).await;
    beside.poll().await;
    let now = op.clock.now();
    let (one, two) =
        tokio::join!(tasks::rotate_keys::run_once(&op.app, now), tasks::rotate_keys::run_once(&beside.app, now));
    assert!(one.expect("kept") + two.expect("kept") > 0);
    op.poll().await;
    beside.poll().await;
    let both = published(&op).await;
    assert_eq!(both.len(), 8, "one successor each, whoever came first");
    assert_eq!(both, published(&beside).await);
    op.advance(DAY - SECOND).await;
    beside.poll().await;
    let (before, old) = signed(&op).await;
    assert_eq!(signed(&beside).await.1, old);
    op.advance_only(SECOND);
    let ((token, here), (_, there)) = (signed(&op).await, signed(&beside).await);
    assert_eq!(here, there);
    assert_ne!(here, old);
    assert!(is_active(&beside, &token).await && is_active(&beside, &before).await);
}

#[tokio::test]
async fn keys_outlive_a_restart() {
    let op = Op::start().await;
    rotate(&op, Rotation::Orderly).await;
    let (token, _) = signed(&op).await;
    let before = published(&op).await;
    let op = op.restart().await;
    assert_eq!(published(&op).await, before);
    assert!(is_active(&op, &token).await);
    op.advance(16 * MINUTE).await;
    assert!(before.contains_key(&signed(&op).await.1));
}

/// Signs, and has each node say what it thinks of it, until told to stop; how many were signed.
async fn load(nodes: [Arc<Op>; 2], stop: CancellationToken) -> usize {
    let mut signed = 0;
    while !stop.is_cancelled() {
        let answer = post_as(&nodes[signed % 2], WEB, "/token", &[("grant_type", "client_credentials")]).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let token = text(&answer.json(), "access_token").to_owned();
        for node in &nodes {
            assert!(is_active(node, &token).await, "token {signed} is good for nobody");
        }
        let kid = text(&decode(&token).0, "kid").to_owned();
        assert!(published(&nodes[1 - signed % 2]).await.contains_key(&kid), "the other node publishes what signs");
        signed += 1;
        tokio::task::yield_now().await;
    }
    signed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rotated_a_hundred_times_under_load_every_token_is_good_on_every_node() {
    let op = Op::start().await;
    op.apply("realm: main\nsettings: { keys: { access_token_alg: ES256, announce: 1m } }\n").await;
    let beside = Arc::new(Op::builder().beside(&op).start().await);
    let op = Arc::new(op);
    let stop = CancellationToken::new();
    let mut loads = JoinSet::new();
    for _ in 0..4 {
        loads.spawn(load([Arc::clone(&op), Arc::clone(&beside)], stop.clone()));
    }
    let realm = op.db_realm("main").await;
    let mut kids = BTreeSet::new();
    for _ in 0..100 {
        let order = rotate_keys::rotate(&op.app, &realm, &[Algorithm::ES256], Rotation::Orderly, op.clock.now());
        assert!(order.await.expect("rotated") > 0);
        beside.poll().await;
        op.advance(MINUTE).await;
        beside.poll().await;
        turn(&op).await;
        beside.poll().await;
        kids.insert(signed(&op).await.1);
    }
    stop.cancel();
    let signed: usize = loads.join_all().await.into_iter().sum();
    assert_eq!(kids.len(), 100, "each of them signed");
    assert!(signed >= 100, "{signed} tokens are no load");
    op.advance(7 * MINUTE).await;
    turn(&op).await;
    assert_eq!(published(&op).await.len(), 4, "the old ones are gone");
}

const OUT: &str = "https://app.example/out";

fn logout_query(client: Client, hint: &str) -> String {
    let pairs =
        [("id_token_hint", hint), ("client_id", client.id), ("post_logout_redirect_uri", OUT), ("state", "a+b")];
    format!("/logout?{}", form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish())
}

#[tokio::test]
async fn a_hint_signed_by_a_key_that_somebody_knows_is_refused_everywhere_and_for_ever() {
    let op = Op::start().await;
    let beside = Op::builder().beside(&op).start().await;
    let mut browser = op.browser();
    let gone = text(&tokens(&op, &mut browser, WEB, "openid").await, "id_token").to_owned();
    // One whose key went in good order before: the emergency makes an end of that too.
    rotate(&op, Rotation::Orderly).await;
    op.advance(HOUR).await;
    turn(&op).await;
    let active = text(&tokens(&op, &mut browser, WEB, "openid").await, "id_token").to_owned();
    assert!(published(&op).await.contains_key(text(&decode(&active).0, "kid")));
    assert!(!published(&op).await.contains_key(text(&decode(&gone).0, "kid")));
    for hint in [&gone, &active] {
        let asked = browser.get(&hinted(hint)).await;
        assert!(asked.location_param("code").is_some(), "{}", asked.location());
    }

    rotate(&op, Rotation::Emergency).await;
    beside.poll().await;
    let op = op.restart().await;
    let mut browser = op.browser();
    tokens(&op, &mut browser, WEB, "openid").await;
    let silent = crate::kit::flow::authorize(WEB, "openid", &[("prompt", "none")]);
    for hint in [&gone, &active] {
        let asked = browser.get(&hinted(hint)).await;
        assert_eq!(asked.location_param("error").as_deref(), Some("invalid_request"), "{}", asked.location());
        let answer = browser.get(&logout_query(WEB, hint)).await;
        assert_ne!(answer.status, 303, "nobody is led on by it");
        assert!(browser.get(&silent).await.location_param("code").is_some(), "nor signed out");
        let stranger = beside.browser().get(&logout_query(WEB, hint)).await;
        assert_ne!(stranger.status, 303, "{}", stranger.body);
    }
}

/// Silent authorization with a hint.
fn hinted(hint: &str) -> String {
    crate::kit::flow::authorize(WEB, "openid", &[("prompt", "none"), ("id_token_hint", hint)])
}

#[tokio::test]
async fn a_hint_signed_by_a_key_that_is_gone_still_signs_out_and_leads_back() {
    let op = Op::start().await;
    let mut browser = op.browser();
    browser.get(&crate::kit::flow::authorize(WEB, "openid", &[])).await;
    let answer =
        browser.submit("login-submit", &[("username", "alice"), ("password", PASSWORD), ("remember", "on")]).await;
    let code = answer.location_param("code").expect("a code");
    let got = crate::kit::flow::redeem(&op, WEB, &code).await.json();
    let hint = text(&got, "id_token").to_owned();
    let kid = text(&decode(&hint).0, "kid").to_owned();

    // B-35: the token expired two days ago, its key was rotated out yesterday.
    op.advance(DAY).await;
    rotate(&op, Rotation::Orderly).await;
    op.advance(HOUR).await;
    turn(&op).await;
    assert!(!published(&op).await.contains_key(&kid), "its key is gone");
    op.advance(DAY).await;
    let silent = crate::kit::flow::authorize(WEB, "openid", &[("prompt", "none")]);
    assert!(browser.get(&silent).await.location_param("code").is_some(), "a remembered session is alive");
    for round in ["with the session", "with the session gone"] {
        let answer = browser.get(&logout_query(WEB, &hint)).await;
        assert_eq!(answer.status, 303, "{round}: {}", answer.body);
        assert_eq!(answer.location(), format!("{OUT}?state=a%2Bb"), "{round}");
        assert_eq!(browser.get(&silent).await.location_param("error").as_deref(), Some("login_required"), "{round}");
    }
    // Access tokens are judged otherwise: the key of this one is not published.
    assert_eq!(userinfo(&op, text(&got, "access_token")).await.status, 401);
}
