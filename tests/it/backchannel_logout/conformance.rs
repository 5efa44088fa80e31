//! The modules of the conformance suite's back-channel logout plan (`conformance` section 7), by name, and
//! what they look at in a logout token.

use serde_json::json;

use super::{db_notices, send, sign_in, sign_out};
use crate::kit::flow::{ASKER, OPAQUE, WEB, decode, text, tokens, userinfo};
use crate::kit::house::{self, MAIN, OTHER, THIRD};
use crate::kit::op::Op;
use crate::kit::receiver::{Receiver, Reply};
use crate::kit::token::{names, seconds, verified};

#[tokio::test]
async fn oidcc_backchannel_logout_discovery_endpoint_verification() {
    let op = house::start().await;
    for issuer in ["", "https://id.example/realms/other", "https://login.example"] {
        let document = op.get(&format!("{issuer}/.well-known/openid-configuration"), &[]).await.json();
        assert_eq!(document["backchannel_logout_supported"], true);
        assert_eq!(document["backchannel_logout_session_supported"], true);
        assert!(text(&document, "end_session_endpoint").starts_with("https://"));
        for absent in ["frontchannel_logout_supported", "frontchannel_logout_session_supported", "check_session_iframe"]
        {
            assert!(document.get(absent).is_none(), "{absent} is off");
        }
    }
}

#[tokio::test]
async fn oidcc_backchannel_rp_initiated_logout() {
    let (op, receiver) = (Receiver::op().start().await, Receiver::start().await);
    op.apply(&receiver.realm(&["web"])).await;
    let mut browser = op.browser();
    let got = tokens(&op, &mut browser, WEB, "openid").await;
    let id = decode(text(&got, "id_token")).1;
    let pairs = [
        ("id_token_hint", text(&got, "id_token")),
        ("post_logout_redirect_uri", "https://app.example/out"),
        ("state", "a+b"),
    ];
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
    let back = browser.get(&format!("/logout?{query}")).await;
    assert_eq!((back.status.as_u16(), back.location()), (303, "https://app.example/out?state=a%2Bb"));
    assert_eq!(receiver.count(), 0, "the answer waited for nobody");
    assert_eq!(send(&op).await, 1);
    let [notice] = receiver.came("/web").try_into().expect("one POST");
    assert!(notice.head.starts_with("post /web http/1.1\r\n"), "{}", notice.head);
    assert!(notice.head.contains("content-type: application/x-www-form-urlencoded"), "{}", notice.head);
    let (header, claims) = verified(&op, notice.token()).await;
    assert_eq!((&header["typ"], &header["alg"]), (&json!("logout+jwt"), &json!("RS256")));
    assert_eq!(names(&claims), ["aud", "events", "exp", "iat", "iss", "jti", "sid", "sub"], "no nonce");
    assert_eq!((&claims["iss"], &claims["aud"]), (&id["iss"], &json!("web")));
    assert_eq!((&claims["sub"], &claims["sid"]), (&id["sub"], &id["sid"]), "as in the ID token");
    assert_eq!(claims["iat"], seconds(&op));
    assert_eq!(claims["exp"], seconds(&op) + 120);
    assert!(!text(&claims, "jti").is_empty());
    assert_eq!(claims["events"], json!({ "http://schemas.openid.net/event/backchannel-logout": {} }));
    assert_eq!(send(&op).await, 0, "once");
}

#[tokio::test]
async fn a_logout_token_is_signed_as_the_clients_id_tokens_are() {
    let (op, receiver) = (Receiver::op().start().await, Receiver::start().await);
    for alg in ["ES256", "PS256", "EdDSA"] {
        let uri = receiver.url("/web");
        op.apply(&format!("realm: main\nclients:\n  - {{ client_id: web, id_token_signed_response_alg: {alg}, backchannel_logout_uri: \"{uri}\" }}\n")).await;
        let mut browser = op.browser();
        sign_in(&op, &mut browser, WEB).await;
        sign_out(&mut browser).await;
        send(&op).await;
        let notice = receiver.came("/web").pop().expect("a POST");
        assert_eq!(verified(&op, notice.token()).await.0["alg"], alg);
    }
}

#[tokio::test]
async fn each_realm_speaks_for_itself() {
    let receiver = Receiver::start().await;
    let op = Receiver::op().public_url(MAIN.issuer).realm(&house::realms()).start().await;
    for (house, name) in [(MAIN, "main"), (OTHER, "other"), (THIRD, "third")] {
        op.apply(&receiver.realm(&["web"]).replace("realm: main", &format!("realm: {name}"))).await;
        let mut browser = op.browser();
        let id = decode(text(&house.tokens(&op, &mut browser, WEB, "openid").await, "id_token")).1;
        browser.get(&house.at("/logout")).await;
        browser.submit("logout-yes", &[]).await;
        assert_eq!(send(&op).await, 1, "{name}");
        let claims = decode(receiver.came("/web").pop().expect("a POST").token()).1;
        assert_eq!(claims["iss"], house.issuer);
        assert_eq!((&claims["sid"], &claims["sub"]), (&id["sid"], &id["sub"]), "{name}");
    }
}

#[tokio::test]
async fn a_logout_token_is_neither_an_id_token_nor_an_access_token() {
    let (op, receiver) = (Receiver::op().start().await, Receiver::start().await);
    op.apply(&receiver.realm(&["web"])).await;
    let mut browser = op.browser();
    sign_in(&op, &mut browser, WEB).await;
    sign_out(&mut browser).await;
    send(&op).await;
    let token = receiver.came("/web").pop().expect("a POST").token().to_owned();
    assert_eq!(userinfo(&op, &token).await.status, 401);
    sign_in(&op, &mut browser, WEB).await;
    let asked = browser.get(&format!("/logout?id_token_hint={token}")).await;
    assert!(asked.page().has_id("logout-yes"), "no hint of any session: {}", asked.body);
}

/// B-36. Two clients and a third that hangs; "sign out everywhere" by an administrator.
#[tokio::test]
async fn each_client_of_each_session_is_told_once_whatever_the_others_answer() {
    let (op, receiver) = (Receiver::op().start().await, Receiver::start().await);
    op.apply(&receiver.realm(&["web", "asker", "opaque"])).await;
    let mut sids = Vec::new();
    for _ in 0..2 {
        let mut browser = op.browser();
        for client in [WEB, ASKER, OPAQUE] {
            let id = sign_in(&op, &mut browser, client).await;
            sids.push((client.id, text(&id, "sid").to_owned(), text(&id, "sub").to_owned()));
        }
        // A second code in the same session is no second client.
        sign_in(&op, &mut browser, WEB).await;
    }
    receiver.set("/web", Reply::Status(204));
    receiver.set("/asker", Reply::Status(400));
    receiver.set("/opaque", Reply::Hangs);
    let alice = crate::kit::token::db_user(&op, "alice").await;
    let ended =
        doorward::service::admin::session::end_all(&op.app, &alice, doorward::service::admin::session::Offline::Keep);
    assert_eq!(ended.await.expect("ended"), 2);
    assert_eq!(db_notices(&op).await.len(), 6);

    assert_eq!(send(&op).await, 6);
    for client in ["web", "asker", "opaque"] {
        let mut told = Vec::new();
        for notice in receiver.came(&format!("/{client}")) {
            let claims = notice.claims(&op).await;
            told.push((client, text(&claims, "sid").to_owned(), text(&claims, "sub").to_owned()));
        }
        let mut wanted: Vec<_> = sids.iter().filter(|(id, ..)| *id == client).cloned().collect();
        told.sort();
        wanted.sort();
        assert_eq!(told, wanted);
    }

    // Again only to whom it may help.
    receiver.set("/opaque", Reply::Status(200));
    assert_eq!(send(&op).await, 0, "not at once");
    op.advance(std::time::Duration::from_secs(15)).await;
    assert_eq!(send(&op).await, 2);
    assert_eq!([receiver.came("/web").len(), receiver.came("/asker").len(), receiver.came("/opaque").len()], [2, 2, 4]);
    for _ in 0..30 {
        op.advance(std::time::Duration::from_hours(1)).await;
        assert_eq!(send(&op).await, 0);
    }
}

#[tokio::test]
async fn an_attempt_is_a_fresh_token() {
    let (op, receiver) = (Receiver::op().start().await, Receiver::start().await);
    op.apply(&receiver.realm(&["web"])).await;
    receiver.set("/web", Reply::Status(503));
    let mut browser = op.browser();
    sign_in(&op, &mut browser, WEB).await;
    sign_out(&mut browser).await;
    send(&op).await;
    op.advance(std::time::Duration::from_secs(600)).await;
    send(&op).await;
    let [first, second] = receiver.came("/web").try_into().expect("two POSTs");
    let (first, second) = (first.claims(&op).await, second.claims(&op).await);
    assert_ne!(first["jti"], second["jti"]);
    assert_eq!(second["iat"], seconds(&op));
    assert_eq!((&first["sid"], &first["sub"]), (&second["sid"], &second["sub"]));
    assert!(Op::is_ours(&op, text(&first, "iss")));
}
