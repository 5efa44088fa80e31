//! `security-design` rule 10 at the endpoint: every generation with every fault. What a genuine token is
//! comes before whatever else is wrong with the request, what is refused never rotates, and who did not
//! prove to be the client touches nothing.

use std::time::Duration;

use doorward::domain::model::audit::AuditKind;
use doorward::domain::model::session::EndReason;
use doorward::domain::protocol::refresh_token_text::{GrantSecret, RefreshToken};

use super::forged::{db_tagged, parsed};
use super::refresh_with;
use crate::kit::browser::Answer;
use crate::kit::flow::{ASKER, Client, WEB, refresh, text};
use crate::kit::op::Op;
use crate::kit::token::{db_audit, db_grant, given, refused, signed_in};

/// What the presented token is against its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    Current,
    InGrace,
    AfterGrace,
    TwoBehind,
    Ahead,
    WrongSecret,
}

const TOKENS: [Token; 6] =
    [Token::Current, Token::InGrace, Token::AfterGrace, Token::TwoBehind, Token::Ahead, Token::WrongSecret];

/// What else is wrong with the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    WiderScope,
    BrokenScope,
    ForeignResource,
    BrokenResource,
    GrantTakenAway,
    OtherClient,
    NotProven,
}

const FAULTS: [Fault; 8] = [
    Fault::None,
    Fault::WiderScope,
    Fault::BrokenScope,
    Fault::ForeignResource,
    Fault::BrokenResource,
    Fault::GrantTakenAway,
    Fault::OtherClient,
    Fault::NotProven,
];

/// A token of this kind of a new family.
async fn token(op: &Op, kind: Token) -> String {
    let first = signed_in(op).await;
    let token = text(&first, "refresh_token").to_owned();
    let parsed = parsed(&token);
    match kind {
        Token::Current => token,
        Token::Ahead => db_tagged(op, &RefreshToken { generation: 1, ..parsed }).await,
        Token::WrongSecret => db_tagged(op, &RefreshToken { secret: GrantSecret::new([7; 16]), ..parsed }).await,
        Token::InGrace | Token::AfterGrace | Token::TwoBehind => {
            let second = given(&refresh(op, WEB, &token).await);
            if kind == Token::TwoBehind {
                given(&refresh(op, WEB, text(&second, "refresh_token")).await);
            }
            op.advance(Duration::from_secs(if kind == Token::AfterGrace { 11 } else { 2 })).await;
            token
        }
    }
}

async fn present(op: &Op, token: &str, fault: Fault) -> Answer {
    match fault {
        Fault::None => refresh_with(op, WEB, token, &[]).await,
        Fault::WiderScope => refresh_with(op, WEB, token, &[("scope", "openid email")]).await,
        Fault::BrokenScope => refresh_with(op, WEB, token, &[("scope", "openid \"")]).await,
        Fault::ForeignResource => refresh_with(op, WEB, token, &[("resource", "https://elsewhere.example")]).await,
        Fault::BrokenResource => refresh_with(op, WEB, token, &[("resource", "x#y")]).await,
        Fault::GrantTakenAway => {
            let grants = |types| format!("realm: main\nclients:\n  - {{ client_id: web, grant_types: [{types}] }}\n");
            op.apply(&grants("authorization_code")).await;
            let answer = refresh_with(op, WEB, token, &[]).await;
            op.apply(&grants("authorization_code, refresh_token, client_credentials")).await;
            answer
        }
        Fault::OtherClient => refresh_with(op, ASKER, token, &[]).await,
        Fault::NotProven => refresh_with(op, Client { secret: Some("guess-0123456789"), ..WEB }, token, &[]).await,
    }
}

/// Status and error for a token that is good in itself.
const fn own_error(fault: Fault) -> (u16, &'static str) {
    match fault {
        Fault::None => (200, ""),
        Fault::WiderScope | Fault::BrokenScope => (400, "invalid_scope"),
        Fault::ForeignResource | Fault::BrokenResource => (400, "invalid_target"),
        Fault::GrantTakenAway => (400, "unauthorized_client"),
        Fault::OtherClient => (400, "invalid_grant"),
        Fault::NotProven => (401, "invalid_client"),
    }
}

#[tokio::test]
async fn detection_cannot_be_dodged_whatever_is_wrong_with_the_request() {
    let op = Op::start().await;
    for kind in TOKENS {
        for fault in FAULTS {
            let cell = format!("{kind:?} x {fault:?}");
            let token = token(&op, kind).await;
            let before = db_grant(&op, &token).await;
            let alarms = db_audit(&op, AuditKind::KeyCompromiseSuspected).await.len();
            let reuses = db_audit(&op, AuditKind::RefreshReused).await.len();
            let answer = present(&op, &token, fault).await;
            let after = db_grant(&op, &token).await;
            let alarms = db_audit(&op, AuditKind::KeyCompromiseSuspected).await.len() - alarms;
            let reuses = db_audit(&op, AuditKind::RefreshReused).await.len() - reuses;

            let is_client = !matches!(fault, Fault::OtherClient | Fault::NotProven);
            let (ends, alarm) = match kind {
                Token::AfterGrace | Token::TwoBehind if is_client => (Some(EndReason::RefreshReused), 0),
                Token::Ahead if is_client => (Some(EndReason::RefreshAhead), 1),
                Token::WrongSecret if is_client => (None, 1),
                _ => (None, 0),
            };
            assert_eq!(after.ended.map(|ended| ended.reason), ends, "{cell}");
            assert_eq!((alarms, reuses), (alarm, usize::from(ends == Some(EndReason::RefreshReused))), "{cell}");

            let is_good = matches!(kind, Token::Current | Token::InGrace);
            let (status, error) = if is_good || !is_client { own_error(fault) } else { (400, "invalid_grant") };
            if status == 200 {
                given(&answer);
            } else {
                refused(&answer, status, error);
            }
            let rotated = kind == Token::Current && fault == Fault::None;
            assert_eq!(after.generation, before.generation + i64::from(rotated), "{cell}");
            if ends.is_none() && !rotated {
                assert_eq!(after, before, "{cell}: nothing of the family moved");
            }
        }
    }
}
