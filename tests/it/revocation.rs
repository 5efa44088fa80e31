//! Revocation (RFC 7009; behaviour case B-21; `security` row 73; `security-design` rule 3): it lasts.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use doorward::domain::model::audit::AuditKind;
use serde_json::json;

use crate::kit::browser::Answer;
use crate::kit::flow::{
    ASKER, Client, NATIVE, OPAQUE, WEB, authorize, code, introspect, post_as, redeem, refresh, text, userinfo,
};
use crate::kit::op::Op;
use crate::kit::token::{assert_alive, assert_dead, db_audit, given, refused, signed_in, signed_in_with, works};

async fn revoke(op: &Op, client: Client, token: &str) -> Answer {
    post_as(op, client, "/revoke", &[("token", token)]).await
}

#[track_caller]
fn done(answer: &Answer) {
    assert_eq!((answer.status.as_u16(), answer.body.as_str()), (200, ""));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
}

#[tokio::test]
async fn unknown_expired_and_revoked_tokens_are_a_success() {
    let op = Op::start().await;
    let tokens = signed_in(&op).await;
    let long = "A".repeat(60_000);
    for token in ["x", "a.b.c", "dwr_x", "dwa_x", "\u{fc}\0", text(&tokens, "id_token"), &long] {
        done(&revoke(&op, WEB, token).await);
    }
    let next = assert_alive(&op, WEB, &tokens).await;
    op.advance(Duration::from_secs(301)).await;
    done(&revoke(&op, WEB, text(&next, "access_token")).await);
    let next = given(&refresh(&op, WEB, text(&next, "refresh_token")).await);
    for name in ["access_token", "refresh_token", "refresh_token", "access_token"] {
        done(&revoke(&op, WEB, text(&next, name)).await);
    }
    assert_dead(&op, WEB, &next).await;
}

#[tokio::test]
async fn an_access_token_is_revoked_alone() {
    let op = Op::start().await;
    let first = signed_in(&op).await;
    let second = given(&refresh(&op, WEB, text(&first, "refresh_token")).await);
    done(&revoke(&op, WEB, text(&second, "access_token")).await);
    assert!(!works(&op, WEB, &second).await);
    let challenge = userinfo(&op, text(&second, "access_token")).await;
    assert!(challenge.header("www-authenticate").unwrap().contains("invalid_token"));
    assert!(works(&op, WEB, &first).await, "its sister lives");
    given(&refresh(&op, WEB, text(&second, "refresh_token")).await);
    let audit = db_audit(&op, AuditKind::TokenRevoked).await;
    assert_eq!(audit.len(), 1);
    assert!(audit[0].grant.is_some() && audit[0].client.is_some());
}

#[tokio::test]
async fn a_refresh_token_takes_its_access_tokens_with_it_and_the_session_stays() {
    for client in [WEB, NATIVE] {
        let op = Op::start().await;
        let mut browser = op.browser();
        let code = code(&mut browser, client, "openid offline_access").await;
        let first = given(&redeem(&op, client, &code).await);
        let second = given(&refresh(&op, client, text(&first, "refresh_token")).await);
        done(&revoke(&op, client, text(&second, "refresh_token")).await);
        assert_dead(&op, client, &first).await;
        assert_dead(&op, client, &second).await;
        let silent = browser.get(&authorize(client, "openid", &[("prompt", "none")])).await;
        assert!(silent.location_param("code").is_some(), "{}", silent.location());
        assert_eq!(db_audit(&op, AuditKind::TokenRevoked).await.len(), 1);
    }
}

#[tokio::test]
async fn an_older_refresh_token_of_the_family_ends_it_too() {
    let op = Op::start().await;
    let first = signed_in(&op).await;
    let second = given(&refresh(&op, WEB, text(&first, "refresh_token")).await);
    done(&revoke(&op, WEB, text(&first, "refresh_token")).await);
    assert_dead(&op, WEB, &second).await;
}

#[tokio::test]
async fn one_family_is_revoked_and_its_neighbours_live() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let one = signed_in_with(&op, &mut browser, "openid profile").await;
    let two = signed_in_with(&op, &mut browser, "openid profile").await;
    done(&revoke(&op, WEB, text(&one, "refresh_token")).await);
    assert_dead(&op, WEB, &one).await;
    assert_alive(&op, WEB, &two).await;
}

#[tokio::test]
async fn the_hint_only_orders_the_search() {
    for hint in ["refresh_token", "access_token", "foo", ""] {
        for name in ["access_token", "refresh_token"] {
            let op = Op::start().await;
            let tokens = signed_in(&op).await;
            let fields = [("token", text(&tokens, name)), ("token_type_hint", hint)];
            done(&post_as(&op, WEB, "/revoke", &fields).await);
            assert!(!works(&op, WEB, &tokens).await, "{name} with hint {hint}");
        }
    }
}

#[tokio::test]
async fn an_opaque_token_is_revoked_like_any() {
    let op = Op::start().await;
    let code = code(&mut op.browser(), OPAQUE, "openid").await;
    let tokens = given(&redeem(&op, OPAQUE, &code).await);
    assert!(works(&op, OPAQUE, &tokens).await);
    done(&revoke(&op, OPAQUE, text(&tokens, "access_token")).await);
    assert!(!works(&op, OPAQUE, &tokens).await);
    given(&refresh(&op, OPAQUE, text(&tokens, "refresh_token")).await);
}

#[tokio::test]
async fn another_clients_token_is_never_revoked() {
    let op = Op::start().await;
    let tokens = signed_in(&op).await;
    for thief in [ASKER, NATIVE] {
        for name in ["access_token", "refresh_token"] {
            refused(&revoke(&op, thief, text(&tokens, name)).await, 400, "invalid_grant");
        }
    }
    assert_alive(&op, WEB, &tokens).await;
    assert!(db_audit(&op, AuditKind::TokenRevoked).await.is_empty());
}

#[tokio::test]
async fn who_does_not_prove_itself_revokes_nothing() {
    let op = Op::start().await;
    let tokens = signed_in(&op).await;
    let fields = [("token", text(&tokens, "refresh_token"))];
    refused(&op.post("/revoke", &fields, &[]).await, 401, "invalid_client");
    refused(&op.post("/revoke", &[fields[0], ("client_id", "web")], &[]).await, 401, "invalid_client");
    refused(&revoke(&op, Client { secret: Some("guess-0123456789"), ..WEB }, fields[0].1).await, 401, "invalid_client");
    assert_alive(&op, WEB, &tokens).await;
}

#[tokio::test]
async fn a_revocation_outlives_the_process_and_reaches_the_other_node() {
    let op = Op::start().await;
    let tokens = signed_in(&op).await;
    let other = Op::builder().beside(&op).start().await;
    let next = given(&refresh(&op, WEB, text(&tokens, "refresh_token")).await);
    assert!(works(&other, WEB, &tokens).await && works(&other, WEB, &next).await);
    done(&revoke(&op, WEB, text(&tokens, "access_token")).await);
    other.poll().await;
    assert!(!works(&other, WEB, &tokens).await && works(&other, WEB, &next).await);
    // A crash, and the node starts with nothing in memory.
    let op = op.restart().await;
    assert!(!works(&op, WEB, &tokens).await && works(&op, WEB, &next).await);
    done(&revoke(&op, WEB, text(&next, "refresh_token")).await);
    let op = op.restart().await;
    assert_dead(&op, WEB, &next).await;
    other.poll().await;
    assert_dead(&other, WEB, &next).await;
}

#[tokio::test]
async fn a_node_whose_feed_is_silent_asks_the_database() {
    let op = Op::start().await;
    let other = Op::builder().beside(&op).start().await;
    let tokens = signed_in(&op).await;
    let next = given(&refresh(&op, WEB, text(&tokens, "refresh_token")).await);
    assert!(works(&other, WEB, &tokens).await);
    done(&revoke(&op, WEB, text(&tokens, "access_token")).await);
    // Nobody tells the other node; after a second it does not trust its memory any more.
    op.advance_only(Duration::from_millis(1_100));
    assert!(!works(&other, WEB, &tokens).await && works(&other, WEB, &next).await);
    done(&revoke(&op, WEB, text(&next, "refresh_token")).await);
    assert!(!works(&other, WEB, &next).await);
    // And neither does one that has just thrown everything away.
    other.app.store.models().clear();
    assert!(!works(&other, WEB, &tokens).await && !works(&other, WEB, &next).await);
    op.poll().await;
    assert_eq!(introspect(&op, WEB, text(&next, "access_token")).await, json!({ "active": false }));
}

#[tokio::test]
async fn the_request_must_be_a_post_with_a_token() {
    let op = Op::start().await;
    refused(&post_as(&op, WEB, "/revoke", &[]).await, 400, "invalid_request");
    refused(&post_as(&op, WEB, "/revoke", &[("token", "x"), ("token", "y")]).await, 400, "invalid_request");
    for method in ["GET", "HEAD", "PUT", "DELETE"] {
        let answer = op.raw(method, "/revoke?token=x", &[], "").await;
        assert_eq!((answer.status.as_u16(), answer.header("allow")), (405, Some("POST")), "{method}");
    }
    for path in
        ["/.well-known/openid-configuration", "/.well-known/oauth-authorization-server", "/.well-known/jwks.json"]
    {
        let (get, head) = (op.get(path, &[]).await, op.raw("HEAD", path, &[], "").await);
        assert_eq!((get.status.as_u16(), head.status.as_u16(), head.body.as_str()), (200, 200, ""), "{path}");
        let kept = |answer: &Answer| {
            let mut headers = answer.headers.clone();
            headers.remove("x-request-id");
            headers.remove("content-length");
            headers
        };
        assert_eq!(kept(&get), kept(&head), "{path}");
    }
}

/// The order of P-256.
const ORDER: [u8; 32] = [
    0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6, 0xfa, 0xad, 0xa7,
    0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
];

/// The other signature of ECDSA: (r, n - s) verifies wherever (r, s) does.
fn twin(jwt: &str) -> String {
    let (input, signature) = jwt.rsplit_once('.').expect("a signature");
    let mut signature = URL_SAFE_NO_PAD.decode(signature).expect("base64url");
    let mut borrow = 0i16;
    for at in (0..32).rev() {
        let digit = i16::from(ORDER[at]) - i16::from(signature[32 + at]) - borrow;
        borrow = i16::from(digit < 0);
        signature[32 + at] = u8::try_from(digit.rem_euclid(256)).expect("a byte");
    }
    format!("{input}.{}", URL_SAFE_NO_PAD.encode(signature))
}

#[tokio::test]
async fn a_revoked_token_stays_revoked_however_it_is_respelled() {
    // `security-design` rule 13: deny lists know the id inside, not the text.
    for revoke_the_twin in [false, true] {
        let op = Op::start().await;
        let tokens = signed_in(&op).await;
        let access = text(&tokens, "access_token");
        let twin = twin(access);
        assert_ne!(twin, access);
        assert_eq!(userinfo(&op, access).await.status, 200);
        assert_eq!(userinfo(&op, &twin).await.status, 200, "the case exists: the twin is a genuine signature");
        done(&revoke(&op, WEB, if revoke_the_twin { &twin } else { access }).await);
        let (input, last) = access.split_at(access.len() - 1);
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        let neighbours = alphabet.chars().filter(|sign| !last.contains(*sign)).map(|sign| format!("{input}{sign}"));
        for spelled in neighbours.chain([access.to_owned(), twin.clone(), format!("{access}="), format!("{access} ")]) {
            assert_eq!(introspect(&op, WEB, &spelled).await, json!({ "active": false }), "{spelled}");
            assert_eq!(userinfo(&op, &spelled).await.status, 401, "{spelled}");
        }
    }
}
