//! Pairwise subjects (OpenID Connect Core 8 and 8.1; `security` row 51; behaviour cases B-20 and B-36): each
//! sector knows a person by a `sub` of its own, and by the same one wherever it meets it.

mod kept;
mod sector;

use serde_json::{Value, json};

use crate::kit::flow::{
    API, Client, WEB, authorize, code, code_answer, decode, introspect, redeem, refresh, text, tokens, userinfo,
};
use crate::kit::op::{Op, PASSWORD};
use crate::kit::receiver::Receiver;
use crate::kit::token::{db_realm, db_user, given, verified};

/// Two applications of one sector, one of another, and one with opaque tokens.
const CLIENTS: &str = r#"
realm: main
clients:
  - client_id: one
    client_secret: "one-secret-0123456789abcdef"
    redirect_uris: [ "https://pair.example/cb" ]
    post_logout_redirect_uris: [ "https://pair.example/out" ]
    grant_types: [ authorization_code, refresh_token ]
    scope: "openid profile offline_access read"
    resources: [ "https://api.example" ]
    subject_type: pairwise
    consent: skip
  - client_id: two
    client_secret: "two-secret-0123456789abcdef"
    redirect_uris: [ "https://pair.example:8443/other" ]
    scope: "openid profile"
    subject_type: pairwise
    consent: skip
  - client_id: far
    client_secret: "far-secret-0123456789abcdef"
    redirect_uris: [ "https://far.example/cb" ]
    scope: "openid profile"
    subject_type: pairwise
    consent: skip
  - client_id: dark
    client_secret: "drk-secret-0123456789abcdef"
    redirect_uris: [ "https://pair.example/dark" ]
    grant_types: [ authorization_code, refresh_token ]
    scope: "openid profile offline_access"
    subject_type: pairwise
    access_token_format: opaque
    consent: skip
"#;

const ONE: Client = Client {
    id: "one",
    secret: Some("one-secret-0123456789abcdef"),
    in_body: false,
    redirect_uri: "https://pair.example/cb",
};
const TWO: Client = Client {
    id: "two",
    secret: Some("two-secret-0123456789abcdef"),
    in_body: false,
    redirect_uri: "https://pair.example:8443/other",
};
const FAR: Client = Client {
    id: "far",
    secret: Some("far-secret-0123456789abcdef"),
    in_body: false,
    redirect_uri: "https://far.example/cb",
};
const DARK: Client = Client {
    id: "dark",
    secret: Some("drk-secret-0123456789abcdef"),
    in_body: false,
    redirect_uri: "https://pair.example/dark",
};

async fn start() -> Op {
    let op = Op::start().await;
    op.apply(CLIENTS).await;
    op
}

/// The claims of the ID token.
fn id(tokens: &Value) -> Value {
    decode(text(tokens, "id_token")).1
}

/// By which `sub` a client knows alice.
async fn known(op: &Op, client: Client) -> String {
    text(&id(&tokens(op, &mut op.browser(), client, "openid").await), "sub").to_owned()
}

#[tokio::test]
async fn clients_of_one_sector_know_a_person_by_one_sub_and_those_of_another_by_another() {
    let op = start().await;
    let own = db_user(&op, "alice").await.sub;
    let (one, two, far) = (known(&op, ONE).await, known(&op, TWO).await, known(&op, FAR).await);
    assert_eq!(one, two, "one host, whatever the port");
    assert_eq!(one, known(&op, DARK).await);
    assert_eq!(one, known(&op, ONE).await, "always the same");
    assert_eq!(known(&op, WEB).await, own);
    assert!(one != far && one != own && far != own, "{one} {far} {own}");
    assert!(one.len() == 43 && far.len() == 43 && !one.contains(&own));
    // Another person is another one.
    let mut bob = op.browser();
    bob.get(&authorize(ONE, "openid", &[])).await;
    let answer = bob.sign_in("bob", "bob has a long password").await;
    let his = given(&redeem(&op, ONE, &answer.location_param("code").expect("a code")).await);
    assert_ne!(id(&his)["sub"], one);
}

#[tokio::test]
async fn everything_that_a_client_sees_names_the_person_alike() {
    let op = start().await;
    for client in [ONE, DARK] {
        let first = tokens(&op, &mut op.browser(), client, "openid profile offline_access").await;
        let sub = text(&id(&first), "sub").to_owned();
        let next = given(&refresh(&op, client, text(&first, "refresh_token")).await);
        for tokens in [&first, &next] {
            let (_, claims) = verified(&op, text(tokens, "id_token")).await;
            assert_eq!(claims["sub"], sub, "Core 12.2: a refreshed ID token names the same person");
            let access = text(tokens, "access_token");
            let info = userinfo(&op, access).await;
            assert_eq!((info.status.as_u16(), &info.json()["sub"]), (200, &json!(sub)), "Core 5.3.2");
            assert_eq!(info.json()["given_name"], "Alice");
            assert_eq!(introspect(&op, client, access).await["sub"], sub);
            if access.contains('.') {
                assert_eq!(decode(access).1["sub"], sub);
            }
        }
        assert_eq!(introspect(&op, client, text(&next, "refresh_token")).await["sub"], sub);
    }
}

#[tokio::test]
async fn a_resource_sees_the_sub_of_the_tokens_client() {
    let op = start().await;
    let mut browser = op.browser();
    let resource = [("resource", "https://api.example")];
    let answer = code_answer(&mut browser, ONE, "openid read", &resource).await;
    let tokens = given(&redeem(&op, ONE, &answer.location_param("code").expect("a code")).await);
    let access = text(&tokens, "access_token");
    let sub = id(&tokens)["sub"].clone();
    assert_eq!(decode(access).1["sub"], sub);
    let seen = introspect(&op, API, access).await;
    assert_eq!((&seen["sub"], &seen["client_id"]), (&sub, &json!("one")), "behaviour case B-20");
}

#[tokio::test]
async fn signed_userinfo_has_it_too_and_two_sectors_never_share_an_answer() {
    let op = start().await;
    op.apply("realm: main\nclients:\n  - { client_id: far, userinfo_signed_response_alg: ES256 }\n").await;
    let mut browser = op.browser();
    let one = tokens(&op, &mut browser, ONE, "openid profile").await;
    let far = tokens(&op, &mut browser, FAR, "openid profile").await;
    let web = tokens(&op, &mut browser, WEB, "openid profile").await;
    // One session, one scope, again and again: whatever is kept in memory is kept for one client.
    for _ in 0..2 {
        for tokens in [&one, &web] {
            assert_eq!(userinfo(&op, text(tokens, "access_token")).await.json()["sub"], id(tokens)["sub"]);
        }
        let signed = userinfo(&op, text(&far, "access_token")).await;
        assert_eq!(signed.header("content-type"), Some("application/jwt"));
        assert_eq!(verified(&op, &signed.body).await.1["sub"], id(&far)["sub"]);
    }
}

#[tokio::test]
async fn a_hint_of_a_pairwise_client_names_the_person_to_that_client_only() {
    let op = start().await;
    let mut browser = op.browser();
    let first = tokens(&op, &mut browser, ONE, "openid").await;
    let hint = text(&first, "id_token");
    let silent = [("id_token_hint", hint), ("prompt", "none")];
    let answer = browser.get(&authorize(ONE, "openid", &silent)).await;
    assert!(answer.location_param("code").is_some(), "{}", answer.location());
    // Not hers: a hint that was made for another client.
    let answer = browser.get(&authorize(FAR, "openid", &silent)).await;
    assert_eq!(answer.location_param("error").as_deref(), Some("invalid_request"));
    // Somebody else is signed in.
    let mut bob = op.browser();
    bob.get(&authorize(ONE, "openid", &[])).await;
    bob.sign_in("bob", "bob has a long password").await;
    let answer = bob.get(&authorize(ONE, "openid", &silent)).await;
    assert_eq!(answer.location_param("error").as_deref(), Some("login_required"));
    let answer = bob.get(&authorize(ONE, "openid", &[("id_token_hint", hint)])).await;
    assert_eq!(bob.form("login-submit").value("username").as_deref(), Some("alice"), "the hint's, by its session");
    assert!(!answer.page().text.contains("Confirm it\u{2019}s you"), "{}", answer.page().text);
}

#[tokio::test]
async fn who_is_asked_again_is_offered_her_own_name() {
    let op = start().await;
    let mut browser = op.browser();
    let first = tokens(&op, &mut browser, ONE, "openid").await;
    for extra in [&[("prompt", "login")][..], &[("prompt", "login"), ("id_token_hint", text(&first, "id_token"))]] {
        let answer = browser.get(&authorize(ONE, "openid", extra)).await;
        assert_eq!(browser.form("login-submit").value("username").as_deref(), Some("alice"));
        assert!(answer.page().text.contains("Confirm it\u{2019}s you"), "{}", answer.page().text);
    }
    // Elsewhere, after the session has ended, its hint still tells the name.
    browser.get("/logout").await;
    browser.submit("logout-yes", &[]).await;
    let mut other = op.browser();
    other.get(&authorize(ONE, "openid", &[("id_token_hint", text(&first, "id_token"))])).await;
    assert_eq!(other.form("login-submit").value("username").as_deref(), Some("alice"));
    let answer = other.sign_in("alice", PASSWORD).await;
    let again = given(&redeem(&op, ONE, &answer.location_param("code").expect("a code")).await);
    assert_eq!(id(&again)["sub"], id(&first)["sub"]);
}

#[tokio::test]
async fn a_hint_of_a_pairwise_client_signs_out_without_a_question() {
    let op = start().await;
    let mut browser = op.browser();
    let first = tokens(&op, &mut browser, ONE, "openid").await;
    let back = "https%3A%2F%2Fpair.example%2Fout";
    let hint = text(&first, "id_token");
    let answer = browser.get(&format!("/logout?id_token_hint={hint}&post_logout_redirect_uri={back}&state=s")).await;
    assert_eq!(answer.location(), "https://pair.example/out?state=s");
    let answer = browser.get(&authorize(ONE, "openid", &[("prompt", "none")])).await;
    assert_eq!(answer.location_param("error").as_deref(), Some("login_required"));
    // By a `logout_hint` it means her by the sub that it knows, and by no other.
    let (mine, own) = (known(&op, ONE).await, known(&op, WEB).await);
    for (sub, asks) in [(own, true), (mine, false)] {
        let again = tokens(&op, &mut browser, ONE, "openid").await;
        let hint = text(&again, "id_token");
        let answer = browser.get(&format!("/logout?id_token_hint={hint}&logout_hint={sub}")).await;
        assert_eq!(answer.page().has_id("logout-yes"), asks, "{sub}: {}", answer.body);
    }
}

#[tokio::test]
async fn a_logout_token_has_the_sub_of_its_clients_id_tokens() {
    let receiver = Receiver::start().await;
    let op = Receiver::op().start().await;
    op.apply(CLIENTS).await;
    op.apply(&receiver.realm(&["one", "far", "web"])).await;
    let paths = [(ONE, "/one"), (FAR, "/far"), (WEB, "/web")];
    let mut browser = op.browser();
    let mut subs = Vec::new();
    for (client, _) in paths {
        subs.push(id(&tokens(&op, &mut browser, client, "openid").await)["sub"].clone());
    }
    browser.get("/logout").await;
    browser.submit("logout-yes", &[]).await;
    crate::backchannel_logout::send(&op).await;
    for ((client, path), sub) in paths.into_iter().zip(subs) {
        let came = receiver.came(path);
        let [notice] = came.as_slice() else { panic!("{}: {} notices", client.id, came.len()) };
        assert_eq!(notice.claims(&op).await["sub"], sub, "{}: behaviour case B-36", client.id);
    }
}

#[tokio::test]
async fn an_offline_grant_keeps_its_sub_when_its_session_is_long_gone() {
    let op = start().await;
    let mut browser = op.browser();
    let first = tokens(&op, &mut browser, ONE, "openid profile offline_access").await;
    browser.get("/logout").await;
    browser.submit("logout-yes", &[]).await;
    let realm = db_realm(&op).await;
    let sid = text(&id(&first), "sid").parse().expect("a session");
    assert!(op.app.store.models().session(realm.id, sid).await.expect("an answer").is_some());
    op.advance(std::time::Duration::from_secs(3_600 * 24)).await;
    let next = given(&refresh(&op, ONE, text(&first, "refresh_token")).await);
    let info = userinfo(&op, text(&next, "access_token")).await;
    assert_eq!((info.status.as_u16(), &info.json()["sub"]), (200, &id(&first)["sub"]));
}

#[tokio::test]
async fn two_nodes_that_need_the_first_pairwise_sub_at_once_agree() {
    let op = std::sync::Arc::new(start().await);
    let other = std::sync::Arc::new(Op::builder().beside(&op).start().await);
    known(&op, WEB).await;
    assert!(db_realm(&op).await.pairwise_key.is_none(), "drawn only when needed");
    let mut codes = Vec::new();
    for node in [&op, &other] {
        codes.push(code(&mut node.browser(), ONE, "openid").await);
    }
    let (here, there) = tokio::join!(redeem(&op, ONE, &codes[0]), redeem(&other, ONE, &codes[1]));
    assert_eq!(id(&given(&here))["sub"], id(&given(&there))["sub"]);
    for node in [&op, &other] {
        node.poll().await;
        assert_eq!(known(node, TWO).await, text(&id(&given(&here)), "sub"));
    }
}
