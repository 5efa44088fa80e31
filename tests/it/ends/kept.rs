//! What ended keeps its time and reason, for ninety days, and then goes.

use std::time::Duration;

use doorward::clock::Clock;
use doorward::domain::model::audit::AuditKind;
use doorward::domain::model::session::EndReason;
use doorward::store::repo;
use doorward::store::repo::audit::AuditFilter;
use doorward::tasks;

use crate::kit::flow::{WEB, authorize};
use crate::kit::op::Op;

use super::{Held, alice, end_all, sessions, set_password, switch};

const DAY: Duration = Duration::from_hours(24);

#[tokio::test]
async fn an_ended_session_keeps_when_and_why() {
    let op = Op::start().await;
    let mut expected = Vec::new();
    for reason in [
        EndReason::Logout,
        EndReason::Replaced,
        EndReason::EndedByAdmin,
        EndReason::CredentialChanged,
        EndReason::UserDisabled,
    ] {
        let mut browser = op.browser();
        let password = if expected.len() > 3 { "another good password" } else { crate::kit::op::PASSWORD };
        browser.get(&authorize(WEB, "openid", &[])).await;
        let answer = browser.sign_in("alice", password).await;
        let code = answer.location_param("code").unwrap_or_else(|| panic!("{reason:?}: {}", answer.body));
        let held = Held::read(WEB, &crate::kit::flow::redeem(&op, WEB, &code).await.json());
        op.advance(Duration::from_secs(7)).await;
        match reason {
            EndReason::Logout => {
                assert_eq!(browser.get(&format!("/logout?id_token_hint={}", held.id)).await.status, 200);
            }
            EndReason::Replaced => {
                browser.get(&authorize(WEB, "openid", &[("prompt", "login")])).await;
                assert_eq!(browser.sign_in("bob", "bob has a long password").await.status, 303);
            }
            EndReason::EndedByAdmin => end_all(&op).await,
            EndReason::CredentialChanged => set_password(&op, "another good password").await,
            _ => switch(&op, false).await,
        }
        held.assert_dead(&op, reason.as_str()).await;
        expected.insert(0, (reason, op.clock.now()));
        let stored: Vec<_> = sessions(&op)
            .await
            .iter()
            .map(|session| session.ended.expect("ended"))
            .map(|end| (end.reason, end.at))
            .collect();
        assert_eq!(stored, expected);
    }
    op.app.store.batch().flush().await.expect("flushed");
    let alice = alice(&op).await;
    let filter = AuditFilter { user: Some(alice.id), kind: Some(AuditKind::SessionEnded), ..AuditFilter::default() };
    let told = repo::audit::list(&op.app.store.read(), alice.realm, filter, 100).await.expect("readable");
    let told: Vec<_> = told.iter().map(|event| event.reason.clone().expect("a reason")).collect();
    let wanted: Vec<_> = expected.iter().map(|(reason, _)| reason.as_str().to_owned()).collect();
    assert_eq!(told, wanted, "who ended what is written down");
}

async fn count(op: &Op, table: &str) -> i64 {
    op.db.number(&format!("select count(*) from {table}")).await
}

#[tokio::test]
async fn ended_and_expired_sessions_go_after_ninety_days() {
    let op = Op::start().await;
    let (mut browser, mut other) = (op.browser(), op.browser());
    let ended = Held::get(&op, &mut browser, WEB, "openid").await;
    let offline = Held::get(&op, &mut other, WEB, "openid offline_access").await;
    assert_eq!(browser.get(&format!("/logout?id_token_hint={}", ended.id)).await.status, 200);
    drop((browser, other));
    let purge = async |op: &Op| tasks::purge::run_once(&op.app, op.clock.now()).await.expect("purged");
    op.advance(DAY * 89).await;
    purge(&op).await;
    assert_eq!((count(&op, "session").await, count(&op, "grant_record").await), (2, 2), "89 days");
    assert!(count(&op, "redemption").await == 0, "a day is enough for these");
    op.advance(DAY * 2).await;
    assert!(purge(&op).await > 0);
    assert_eq!(count(&op, "session").await, 0, "91 days after the one's end and the other's limit");
    assert_eq!(count(&op, "grant_record").await, 1, "the offline grant ended by its own limit a day ago");
    ended.assert_dead(&op, "gone").await;
    offline.assert_dead(&op, "past its absolute limit").await;
    op.advance(DAY * 90).await;
    purge(&op).await;
    assert_eq!(count(&op, "grant_record").await, 0);
}

#[tokio::test]
async fn short_lived_state_and_revocations_go_when_nobody_can_ask_for_them() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let held = Held::get(&op, &mut browser, WEB, "openid").await;
    held.revoke_access(&op).await;
    browser.get(&authorize(WEB, "openid", &[("prompt", "login")])).await;
    drop(browser);
    assert_eq!(count(&op, "revoked_token").await, 1);
    assert!(count(&op, "shortlived").await > 0);
    op.advance(Duration::from_mins(5)).await;
    tasks::purge::run_once(&op.app, op.clock.now()).await.expect("purged");
    assert_eq!(count(&op, "revoked_token").await, 1, "a little longer than the token, for clocks that differ");
    op.advance(DAY).await;
    tasks::purge::run_once(&op.app, op.clock.now()).await.expect("purged");
    assert_eq!((count(&op, "revoked_token").await, count(&op, "shortlived").await), (0, 0));
}
