//! Rotation and its grace: a lost answer is asked for again, a token that comes back later is theft.

use std::sync::Arc;
use std::time::Duration;

use doorward::domain::model::audit::AuditKind;
use doorward::domain::model::session::EndReason;

use super::refresh_with;
use crate::kit::flow::{NATIVE, WEB, authorize, code, decode, post_as, redeem, refresh, text};
use crate::kit::op::Op;
use crate::kit::token::{
    assert_alive, assert_dead, at_once, db_audit, db_grant, given, names, refused, seconds, signed_in, signed_in_with,
    verified, works,
};

const GRACE: Duration = Duration::from_secs(10);

#[tokio::test]
async fn a_refresh_gives_new_tokens_of_the_same_sign_in() {
    let op = Op::start().await;
    let first = signed_in(&op).await;
    op.advance(Duration::from_secs(7)).await;
    let second = given(&refresh(&op, WEB, text(&first, "refresh_token")).await);
    for name in ["access_token", "refresh_token", "id_token"] {
        assert_ne!(first[name], second[name], "{name}");
    }
    assert_eq!(names(&second), ["access_token", "expires_in", "id_token", "refresh_token", "scope", "token_type"]);
    let (before, after) =
        (verified(&op, text(&first, "id_token")).await.1, verified(&op, text(&second, "id_token")).await.1);
    for name in ["iss", "sub", "aud", "azp", "auth_time", "acr", "amr", "sid"] {
        assert_eq!((before.get(name), true), (after.get(name), before.get(name).is_some()), "{name}");
    }
    assert_eq!(after["iat"].as_i64(), Some(seconds(&op)));
    assert_eq!(after["iat"].as_i64(), before["iat"].as_i64().map(|at| at + 7));
    assert_eq!((text(&before, "nonce"), after.get("nonce")), ("no", None));
    assert!(works(&op, WEB, &first).await, "the access token before lives on for its own five minutes");
    assert_alive(&op, WEB, &second).await;
    let (one, two) = (decode(text(&first, "access_token")).1, decode(text(&second, "access_token")).1);
    assert_eq!((&one["gid"], &one["sub"]), (&two["gid"], &two["sub"]));
    assert_ne!(one["jti"], two["jti"]);
}

#[tokio::test]
async fn refresh_tokens_of_one_family_do_not_tell_their_successor() {
    let op = Op::start().await;
    let first = signed_in(&op).await;
    let mut token = text(&first, "refresh_token").to_owned();
    let mut seen = vec![token.clone()];
    for _ in 0..5 {
        let next = given(&refresh(&op, WEB, &token).await);
        token = text(&next, "refresh_token").to_owned();
        assert!(token.starts_with("dwr_") && !seen.contains(&token), "{token}");
        seen.push(token.clone());
    }
    let other = signed_in(&op).await;
    assert_ne!(text(&other, "refresh_token")[8..40], seen[0][8..40]);
}

#[tokio::test]
async fn a_retry_within_the_grace_gets_the_same_successor_and_writes_nothing() {
    let op = Op::start().await;
    let first = signed_in(&op).await;
    let token = text(&first, "refresh_token");
    let second = given(&refresh(&op, WEB, token).await);
    let row = db_grant(&op, token).await;
    assert_eq!(row.generation, 1);
    for secs in [0, 3, 3, 4] {
        op.advance(Duration::from_secs(secs)).await;
        let again = given(&refresh(&op, WEB, token).await);
        assert_eq!(again["refresh_token"], second["refresh_token"]);
        assert!(works(&op, WEB, &again).await);
    }
    assert_eq!(db_grant(&op, token).await, row, "nothing is written, so the window does not move");
    // Ten seconds have passed; the retry eight seconds ago bought no time.
    op.advance(Duration::from_secs(1)).await;
    refused(&refresh(&op, WEB, token).await, 400, "invalid_grant");
    for kind in [AuditKind::RefreshRepeatedByOther, AuditKind::RefreshRefused] {
        assert!(db_audit(&op, kind).await.is_empty(), "{kind:?}");
    }
    assert_dead(&op, WEB, &second).await;
}

#[tokio::test]
async fn a_successor_used_at_once_leaves_the_lost_answer_no_second_chance() {
    let op = Op::start().await;
    let first = signed_in(&op).await;
    let second = given(&refresh(&op, WEB, text(&first, "refresh_token")).await);
    let third = given(&refresh(&op, WEB, text(&second, "refresh_token")).await);
    // Two generations behind is no lost answer, even within the grace.
    refused(&refresh(&op, WEB, text(&first, "refresh_token")).await, 400, "invalid_grant");
    for tokens in [&first, &second, &third] {
        assert_dead(&op, WEB, tokens).await;
    }
}

#[tokio::test]
async fn a_token_that_comes_back_after_the_grace_ends_its_family_with_an_audit_event() {
    for client in [WEB, NATIVE] {
        let op = Op::start().await;
        let mut browser = op.browser();
        let code = code(&mut browser, client, "openid offline_access").await;
        let first = given(&redeem(&op, client, &code).await);
        let second = given(&refresh(&op, client, text(&first, "refresh_token")).await);
        op.advance(GRACE + Duration::from_secs(1)).await;
        refused(&refresh(&op, client, text(&first, "refresh_token")).await, 400, "invalid_grant");
        for tokens in [&first, &second] {
            assert_dead(&op, client, tokens).await;
        }
        let grant = db_grant(&op, text(&first, "refresh_token")).await;
        assert_eq!(grant.ended.unwrap().reason, EndReason::RefreshReused);
        let audit = db_audit(&op, AuditKind::RefreshReused).await;
        assert_eq!(audit.len(), 1);
        assert_eq!(
            (audit[0].grant, audit[0].user, audit[0].client),
            (Some(grant.id), Some(grant.user), Some(grant.client))
        );
        assert_eq!(audit[0].address.as_deref(), Some("127.0.0.1"));
        // The family is the client's; the person stays signed in.
        let silent = browser.get(&authorize(client, "openid", &[("prompt", "none")])).await;
        assert!(silent.location_param("code").is_some(), "{}", silent.location());
    }
}

#[tokio::test]
async fn the_grace_is_the_realms_and_zero_means_none() {
    let op = Op::start().await;
    op.apply("realm: main\nsettings: { tokens: { refresh_reuse_grace: 0s } }\n").await;
    let first = signed_in(&op).await;
    let second = given(&refresh(&op, WEB, text(&first, "refresh_token")).await);
    op.advance(Duration::from_millis(1)).await;
    refused(&refresh(&op, WEB, text(&first, "refresh_token")).await, 400, "invalid_grant");
    assert_dead(&op, WEB, &second).await;
    op.apply("realm: main\nsettings: { tokens: { refresh_reuse_grace: 30s } }\n").await;
    let first = signed_in(&op).await;
    let second = given(&refresh(&op, WEB, text(&first, "refresh_token")).await);
    op.advance(Duration::from_secs(30)).await;
    let again = given(&refresh(&op, WEB, text(&first, "refresh_token")).await);
    assert_eq!(again["refresh_token"], second["refresh_token"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn twenty_refreshes_at_once_on_three_nodes_are_one_family() {
    let op = Op::start().await;
    let first = signed_in(&op).await;
    let token = text(&first, "refresh_token").to_owned();
    let (second, third) = (Op::builder().beside(&op).start().await, Op::builder().beside(&op).start().await);
    let nodes = Arc::new([op, second, third]);
    let answers = at_once(20, |number| {
        let (nodes, token) = (nodes.clone(), token.clone());
        async move { refresh(&nodes[number % 3], WEB, &token).await }
    })
    .await;
    let mut successors: Vec<String> =
        answers.iter().map(|answer| text(&given(answer), "refresh_token").to_owned()).collect();
    successors.dedup();
    assert_eq!(successors.len(), 1, "the same successor for all");
    assert_eq!(db_grant(&nodes[0], &token).await.generation, 1, "rotated once");
    let next = given(&refresh(&nodes[1], WEB, &successors[0]).await);
    assert!(works(&nodes[2], WEB, &next).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn when_the_family_ends_in_the_middle_of_the_race_nothing_of_it_lives() {
    let op = Arc::new(Op::start().await);
    for _ in 0..5 {
        let first = signed_in(&op).await;
        let second = given(&refresh(&op, WEB, text(&first, "refresh_token")).await);
        op.advance(GRACE + Duration::from_secs(1)).await;
        let (old, new) = (text(&first, "refresh_token").to_owned(), text(&second, "refresh_token").to_owned());
        let answers = at_once(10, |number| {
            let (op, token) = (op.clone(), if number == 4 { old.clone() } else { new.clone() });
            async move { refresh(&op, WEB, &token).await }
        })
        .await;
        for answer in &answers {
            assert!(
                answer.status == 200 || answer.json()["error"] == "invalid_grant",
                "{} {}",
                answer.status,
                answer.body
            );
        }
        assert!(db_grant(&op, &old).await.ended.is_some());
        for answer in answers.iter().filter(|answer| answer.status == 200) {
            assert_dead(&op, WEB, &answer.json()).await;
        }
    }
}

#[tokio::test]
async fn a_retry_on_another_node_gets_the_same_successor() {
    let op = Op::start().await;
    let other = Op::builder().beside(&op).start().await;
    let first = signed_in(&op).await;
    let here = given(&refresh(&op, WEB, text(&first, "refresh_token")).await);
    let there = given(&refresh(&other, WEB, text(&first, "refresh_token")).await);
    assert_eq!(here["refresh_token"], there["refresh_token"]);
}

#[tokio::test]
async fn a_family_survives_a_restart_and_its_end_does_too() {
    let op = Op::start().await;
    let first = signed_in(&op).await;
    let op = op.restart().await;
    let second = given(&refresh(&op, WEB, text(&first, "refresh_token")).await);
    let op = op.restart().await;
    let again = given(&refresh(&op, WEB, text(&first, "refresh_token")).await);
    assert_eq!(second["refresh_token"], again["refresh_token"], "the same string, though made by another process");
    op.advance(GRACE + Duration::from_secs(1)).await;
    refused(&refresh(&op, WEB, text(&first, "refresh_token")).await, 400, "invalid_grant");
    let op = op.restart().await;
    assert_dead(&op, WEB, &second).await;
}

#[tokio::test]
async fn a_client_without_the_grant_gets_no_refresh_token_and_may_not_use_one() {
    let op = Op::start().await;
    let tokens = signed_in(&op).await;
    op.apply("realm: main\nclients:\n  - { client_id: web, grant_types: [authorization_code] }\n").await;
    refused(&refresh(&op, WEB, text(&tokens, "refresh_token")).await, 400, "unauthorized_client");
    let without = signed_in(&op).await;
    assert!(without.get("refresh_token").is_none(), "{without}");
}

#[tokio::test]
async fn a_refresh_request_must_be_well_formed() {
    let op = Op::start().await;
    let tokens = signed_in_with(&op, &mut op.browser(), "openid").await;
    let token = text(&tokens, "refresh_token");
    refused(&post_as(&op, WEB, "/token", &[("grant_type", "refresh_token")]).await, 400, "invalid_request");
    refused(&refresh_with(&op, WEB, token, &[("refresh_token", token)]).await, 400, "invalid_request");
    refused(&refresh_with(&op, WEB, token, &[("scope", "openid"), ("scope", "openid")]).await, 400, "invalid_request");
    refused(&refresh(&op, WEB, text(&tokens, "access_token")).await, 400, "invalid_grant");
    refused(&refresh(&op, WEB, text(&tokens, "id_token")).await, 400, "invalid_grant");
    assert_eq!(db_grant(&op, token).await.generation, 0);
    assert_alive(&op, WEB, &tokens).await;
}
