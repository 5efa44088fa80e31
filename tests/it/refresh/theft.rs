//! Somebody else repeats a token within the grace: seen, counted, and at the third time in a row the end.

use std::time::Duration;

use doorward::domain::model::audit::AuditKind;
use doorward::domain::model::session::EndReason;

use super::{refresh_from, refresh_with};
use crate::kit::flow::{ASKER, Client, NATIVE, WEB, code, redeem, text};
use crate::kit::op::Op;
use crate::kit::token::{assert_alive, assert_dead, db_audit, db_grant, given, refused, signed_in, works};

const HOME: [u8; 4] = [198, 51, 100, 7];
const AWAY: [u8; 4] = [203, 0, 113, 9];
const APP: &str = "App/1.0";

async fn family(op: &Op) -> String {
    let code = code(&mut op.browser(), WEB, "openid offline_access").await;
    let tokens = given(&redeem(op, WEB, &code).await);
    // The first rotation makes the app at home the presenter.
    next(op, HOME, text(&tokens, "refresh_token")).await
}

/// A refresh that succeeds; the successor.
async fn next(op: &Op, from: [u8; 4], token: &str) -> String {
    text(&given(&refresh_from(op, from, APP, WEB, token).await), "refresh_token").to_owned()
}

#[tokio::test]
async fn one_repeat_after_a_change_of_network_is_noted_and_ends_nothing() {
    let op = Op::start().await;
    let first = family(&op).await;
    let second = next(&op, HOME, &first).await;
    assert_eq!(next(&op, AWAY, &first).await, second, "the same successor");
    assert_eq!(next(&op, AWAY, &first).await, second);
    let audit = db_audit(&op, AuditKind::RefreshRepeatedByOther).await;
    assert_eq!(audit.len(), 2);
    let grant = db_grant(&op, &first).await;
    assert_eq!((audit[0].grant, audit[0].address.as_deref()), (Some(grant.id), Some("203.0.113.9")));
    assert_eq!(grant.grace_streak, 1, "one generation counts once");
    let mut token = second;
    for _ in 0..5 {
        token = next(&op, AWAY, &token).await;
    }
    assert_eq!(db_grant(&op, &first).await.grace_streak, 0);
}

#[tokio::test]
async fn the_same_network_and_app_is_nobody_else() {
    let op = Op::start().await;
    let first = family(&op).await;
    let second = next(&op, HOME, &first).await;
    let neighbour = [HOME[0], HOME[1], HOME[2], 250];
    assert_eq!(next(&op, neighbour, &first).await, second);
    assert!(db_audit(&op, AuditKind::RefreshRepeatedByOther).await.is_empty());
    // Another app at the same address is.
    let other = given(&refresh_from(&op, HOME, "curl/8", WEB, &first).await);
    assert_eq!(text(&other, "refresh_token"), second);
    assert_eq!(db_audit(&op, AuditKind::RefreshRepeatedByOther).await.len(), 1);
}

#[tokio::test]
async fn a_shadow_from_another_network_is_ended_by_its_third_repeat_in_a_row() {
    let op = Op::start().await;
    let mut token = family(&op).await;
    let mut shadows = Vec::new();
    for round in 1..=3 {
        op.advance(Duration::from_mins(4)).await;
        let successor = next(&op, HOME, &token).await;
        op.advance(Duration::from_secs(2)).await;
        let shadow = refresh_from(&op, AWAY, APP, WEB, &token).await;
        if round < 3 {
            shadows.push(given(&shadow));
            assert_eq!(text(&shadows[round - 1], "refresh_token"), successor);
        } else {
            refused(&shadow, 400, "invalid_grant");
        }
        token = successor;
    }
    refused(&refresh_from(&op, HOME, APP, WEB, &token).await, 400, "invalid_grant");
    assert!(!works(&op, WEB, &shadows[1]).await, "the shadow's access tokens too");
    assert_eq!(db_grant(&op, &token).await.ended.unwrap().reason, EndReason::RefreshReused);
    assert_eq!(db_audit(&op, AuditKind::RefreshReused).await.len(), 1);
    assert_eq!(db_audit(&op, AuditKind::RefreshRepeatedByOther).await.len(), 3);
}

#[tokio::test]
async fn a_generation_without_a_foreign_repeat_starts_the_count_anew() {
    let op = Op::start().await;
    let mut token = family(&op).await;
    for round in 0..9 {
        let successor = next(&op, HOME, &token).await;
        if round % 3 != 2 {
            assert_eq!(next(&op, AWAY, &token).await, successor);
        }
        token = successor;
    }
    assert!(db_grant(&op, &token).await.ended.is_none(), "never three in a row");
    next(&op, HOME, &token).await;
}

#[tokio::test]
async fn a_public_clients_thief_is_told_from_it_in_the_same_way() {
    let op = Op::start().await;
    let code = code(&mut op.browser(), NATIVE, "openid offline_access").await;
    let mut token = text(&given(&redeem(&op, NATIVE, &code).await), "refresh_token").to_owned();
    for round in 1..=3 {
        let successor = given(&refresh_from(&op, HOME, APP, NATIVE, &token).await);
        let shadow = refresh_from(&op, AWAY, APP, NATIVE, &token).await;
        assert_eq!(shadow.status == 200, round < 3, "{round}: {}", shadow.body);
        token = text(&successor, "refresh_token").to_owned();
    }
    refused(&refresh_from(&op, HOME, APP, NATIVE, &token).await, 400, "invalid_grant");
}

#[tokio::test]
async fn another_clients_token_is_refused_and_its_family_lives_on() {
    let op = Op::start().await;
    let tokens = signed_in(&op).await;
    let token = text(&tokens, "refresh_token");
    for thief in [ASKER, NATIVE] {
        refused(&refresh_with(&op, thief, token, &[]).await, 400, "invalid_grant");
    }
    refused(
        &refresh_with(&op, Client { secret: Some("guess-0123456789"), ..WEB }, token, &[]).await,
        401,
        "invalid_client",
    );
    assert_eq!(db_grant(&op, token).await.generation, 0);
    assert_eq!(db_audit(&op, AuditKind::RefreshRefused).await.len(), 2);
    let next = assert_alive(&op, WEB, &tokens).await;
    // Even a token that is spent long ago ends nothing in strange hands.
    op.advance(Duration::from_mins(1)).await;
    refused(&refresh_with(&op, ASKER, token, &[]).await, 400, "invalid_grant");
    assert_alive(&op, WEB, &next).await;
}

#[tokio::test]
async fn a_refused_request_never_rotates() {
    let op = Op::start().await;
    let tokens = signed_in(&op).await;
    let token = text(&tokens, "refresh_token");
    for (more, error) in [
        (&[("scope", "openid email")][..], "invalid_scope"),
        (&[("scope", "openid \"")], "invalid_scope"),
        (&[("resource", "https://api.example")], "invalid_target"),
        (&[("resource", "https://api.example#f")], "invalid_target"),
    ] {
        refused(&refresh_with(&op, WEB, token, more).await, 400, error);
        assert_eq!(db_grant(&op, token).await.generation, 0, "{more:?}");
    }
    assert_alive(&op, WEB, &tokens).await;
}

#[tokio::test]
async fn a_reused_token_ends_its_family_whatever_else_is_wrong_with_the_request() {
    for more in [&[][..], &[("scope", "openid email")], &[("scope", "\"")], &[("resource", "https://nowhere.example")]]
    {
        let op = Op::start().await;
        let first = signed_in(&op).await;
        let second = given(&refresh_with(&op, WEB, text(&first, "refresh_token"), &[]).await);
        op.advance(Duration::from_secs(11)).await;
        refused(&refresh_with(&op, WEB, text(&first, "refresh_token"), more).await, 400, "invalid_grant");
        assert_dead(&op, WEB, &second).await;
        assert_eq!(db_audit(&op, AuditKind::RefreshReused).await.len(), 1, "{more:?}");
    }
}

#[tokio::test]
async fn a_reused_token_ends_its_family_even_when_its_session_has_run_out() {
    let op = Op::start().await;
    let first = signed_in(&op).await;
    let second = given(&refresh_with(&op, WEB, text(&first, "refresh_token"), &[]).await);
    op.advance(Duration::from_mins(31)).await;
    refused(&refresh_with(&op, WEB, text(&first, "refresh_token"), &[]).await, 400, "invalid_grant");
    assert_eq!(db_grant(&op, text(&second, "refresh_token")).await.ended.unwrap().reason, EndReason::RefreshReused);
}
