//! What ended keeps its time and reason, for ninety days, and then goes.

use std::time::Duration;

use doorward::clock::Clock;
use doorward::domain::model::audit::AuditKind;
use doorward::domain::model::event::EventKind;
use doorward::domain::model::session::{EndReason, Ended};
use doorward::service::admin::Scribe;
use doorward::service::overdue::Walk;
use doorward::store::batch::EndSession;
use doorward::store::repo;
use doorward::store::repo::audit::AuditFilter;
use doorward::tasks;

use crate::kit::db::on_postgres;
use crate::kit::flow::{WEB, authorize};
use crate::kit::op::{Op, REALM};
use crate::kit::token::db_grant;

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
                crate::kit::flow::crowd(&op, &mut browser).await;
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

#[tokio::test]
async fn a_session_that_reached_a_limit_keeps_when_and_which() {
    let op = Op::builder()
        .realm(&REALM.replace("settings:\n", "settings:\n  sessions: { idle: 10m, absolute: 1h }\n"))
        .start()
        .await;
    let minute = Duration::from_mins(1);
    let (mut idle, mut busy) = (op.browser(), op.browser());
    let left = Held::get(&op, &mut idle, WEB, "openid").await;
    let began = op.clock.now();
    op.advance(minute).await;
    let used = Held::get(&op, &mut busy, WEB, "openid").await;
    let offline = Held::get(&op, &mut busy, WEB, "openid offline_access").await;
    let began_busy = op.clock.now();
    let mut walk = Walk::default();
    for _ in 0..6 {
        op.advance(minute * 9).await;
        assert!(super::is_signed_in(&mut busy).await);
    }
    op.app.store.batch().flush().await.expect("flushed");
    // The mark of a browser that another node has seen may be under way: a minute is left for it.
    let ended = async |op: &Op, walk: &mut Walk| {
        let count = tasks::end_overdue::run_once(&op.app, op.clock.now(), walk).await.expect("ended");
        op.poll().await;
        count
    };
    assert_eq!(ended(&op, &mut walk).await, 1, "the one that nobody used");
    assert_eq!(ended(&op, &mut walk).await, 0, "once");
    op.advance(minute * 6).await;
    assert_eq!(ended(&op, &mut walk).await, 0, "the limit has just been reached");
    op.advance(minute).await;
    assert_eq!(ended(&op, &mut walk).await, 1);
    let by_idle = Ended { at: began.plus(minute * 10), reason: EndReason::Idle };
    let by_limit = Ended { at: began_busy.plus(minute * 60), reason: EndReason::Expired };
    let found: Vec<_> = sessions(&op).await.iter().map(|session| session.ended).collect();
    assert_eq!(found, [Some(by_limit), Some(by_idle)], "newest first");
    for (held, end) in [(&left, by_idle), (&used, by_limit)] {
        let grant = db_grant(&op, &held.refresh).await;
        assert_eq!(grant.ended, Some(Ended { at: end.at, reason: EndReason::SessionEnded }));
        held.assert_dead(&op, end.reason.as_str()).await;
    }
    assert_eq!(db_grant(&op, &offline.refresh).await.ended, None, "it hangs on no session");
    let told = crate::kit::rows::db_audit(&op, Some(AuditKind::SessionEnded)).await;
    let mut told: Vec<_> = told.iter().map(|line| (line.actor.clone(), line.reason.clone())).collect();
    told.sort();
    let system = |reason: &str| ("system".to_owned(), Some(reason.to_owned()));
    assert_eq!(told, [system("expired"), system("idle")]);
    let events = crate::kit::rows::db_outbox(&op).await;
    assert_eq!(events.iter().filter(|event| event.kind == EventKind::SessionRevoked).count(), 2);
}

#[tokio::test]
async fn an_idle_limit_is_believed_only_as_far_as_the_row_agrees() {
    let op = Op::start().await;
    let mut browser = op.browser();
    Held::get(&op, &mut browser, WEB, "openid").await;
    let stale = sessions(&op).await.remove(0);
    op.advance(Duration::from_mins(20)).await;
    assert!(super::is_signed_in(&mut browser).await, "seen again");
    op.advance(Duration::from_mins(20)).await;
    let limit = stale.limit_reached(op.clock.now()).expect("by what was read before, it is over");
    let scribe = Scribe::operator(&op.app, stale.realm, op.clock.now());
    let audit = scribe.audit(AuditKind::SessionEnded);
    let end = EndSession { realm: stale.realm, session: stale.id, ended: limit, audit, outbox: None };
    assert!(!op.app.store.batch().end_session(end).await.expect("an answer"));
    assert_eq!(sessions(&op).await[0].ended, None);
    assert!(super::is_signed_in(&mut browser).await);
}

#[tokio::test]
async fn however_much_is_due_it_goes_in_portions() {
    let op = Op::start().await;
    let mut browser = op.browser();
    Held::get(&op, &mut browser, WEB, "openid").await;
    drop(browser);
    let rows = if on_postgres() {
        "insert into revoked_token select id, gen_random_uuid(), 1 from realm, generate_series(1, 2500) where name = 'main'"
    } else {
        "insert into revoked_token with recursive n(x) as (select 1 union all select x + 1 from n where x < 2500) \
         select id, randomblob(16), 1 from realm, n where name = 'main'"
    };
    op.db.run(rows).await;
    let mut tx = op.app.store.begin().await.expect("a transaction");
    assert_eq!(repo::purge::all(&mut tx, op.clock.now()).await.expect("purged"), repo::purge::MOST);
    tx.commit().await.expect("committed");
    assert_eq!(tasks::purge::run_once(&op.app, op.clock.now()).await.expect("purged"), 1500);
}

#[tokio::test]
async fn what_was_sent_goes_after_a_week_and_what_was_not_stays() {
    let op = Op::start().await;
    switch(&op, false).await;
    let events = count(&op, "outbox").await;
    assert!(events > 1);
    let now = op.clock.now().as_micros();
    let one = "select id from outbox order by event_seq limit 1";
    op.db.run(&format!("update outbox set sent_at = {now} where id in ({one})")).await;
    op.advance(DAY * 7).await;
    tasks::purge::run_once(&op.app, op.clock.now()).await.expect("purged");
    assert_eq!(count(&op, "outbox").await, events);
    op.advance(DAY * 83).await;
    tasks::purge::run_once(&op.app, op.clock.now()).await.expect("purged");
    assert_eq!(count(&op, "outbox").await, events - 1);
}

#[tokio::test]
async fn a_browser_goes_when_its_cookie_must_have_gone() {
    let op = Op::start().await;
    let (mut browser, mut other) = (op.browser(), op.browser());
    Held::get(&op, &mut browser, WEB, "openid").await;
    assert_eq!(count(&op, "device").await, 1);
    op.advance(DAY * 399).await;
    let purge = async |op: &Op| {
        tasks::end_overdue::run_once(&op.app, op.clock.now(), &mut Walk::default()).await.expect("ended");
        tasks::purge::devices(&op.app, op.clock.now()).await.expect("purged")
    };
    assert_eq!(purge(&op).await, 0);
    Held::get(&op, &mut other, WEB, "openid").await;
    op.advance(DAY * 2).await;
    assert_eq!(purge(&op).await, 1);
    assert_eq!((count(&op, "device").await, count(&op, "user_device").await), (1, 1), "the other is young");
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
    // Since when used assertions are remembered is remembered for ever.
    let others = count(&op, "shortlived where kind <> 'assertion'").await;
    assert_eq!((count(&op, "revoked_token").await, others), (0, 0));
}
