//! The queue: it outlives a crash, one of several nodes sends, it gives up after a day and forgets after a week.

use std::sync::Arc;
use std::time::Duration;

use doorward::clock::Clock;
use doorward::domain::model::backchannel_logout::NoticeOutcome;
use doorward::domain::model::session::EndReason;
use doorward::observe::metrics::metrics;
use doorward::store::repo;
use doorward::store::repo::backchannel_logout::Backlog;
use doorward::tasks;

use super::{beside, db_notices, db_states, send, sign_in, sign_out};
use crate::kit::flow::WEB;
use crate::kit::op::Op;
use crate::kit::receiver::{Receiver, Reply};
use crate::kit::rows::db_sessions;

const MINUTE: Duration = Duration::from_mins(1);

/// So many sessions of alice at the web client, all ended.
async fn ended(count: usize) -> (Op, Receiver) {
    let (op, receiver) = (Receiver::op().start().await, Receiver::start().await);
    op.apply(&receiver.realm(&["web"])).await;
    for _ in 0..count {
        let mut browser = op.browser();
        sign_in(&op, &mut browser, WEB).await;
        sign_out(&mut browser).await;
    }
    (op, receiver)
}

#[tokio::test]
async fn a_restart_in_between_delivers_once() {
    let (op, receiver) = ended(2).await;
    assert_eq!(db_notices(&op).await.len(), 2);
    let op = op.restart().await;
    assert_eq!(send(&op).await, 2);
    let op = op.restart().await;
    assert_eq!((send(&op).await, receiver.count()), (0, 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_nodes_one_sends_each_notice() {
    let (op, receiver) = ended(12).await;
    let other = beside(&op).await;
    let op = Arc::new(op);
    let (one, two) = (op.clone(), other.clone());
    let (one, two) =
        tokio::join!(tokio::spawn(async move { send(&one).await }), tokio::spawn(async move { send(&two).await }));
    assert_eq!(one.expect("sent") + two.expect("sent"), 12);
    let mut sids = Vec::new();
    for notice in receiver.came("/web") {
        sids.push(notice.claims(&op).await["sid"].to_string());
    }
    sids.sort();
    sids.dedup();
    assert_eq!((receiver.count(), sids.len()), (12, 12), "each session once");
}

#[tokio::test]
async fn what_a_node_took_into_a_crash_is_sent_by_another_and_the_slow_one_settles_nothing() {
    let (op, receiver) = ended(1).await;
    let now = op.app.clock.now();
    let mut tx = op.app.store.begin().await.expect("a transaction");
    let taken = repo::backchannel_logout::claim(&mut tx, now, MINUTE, 10).await.expect("claimed");
    tx.commit().await.expect("committed");
    let [taken] = taken.try_into().expect("one notice");
    let other = beside(&op).await;
    op.advance(Duration::from_secs(59)).await;
    other.poll().await;
    assert_eq!((send(&other).await, receiver.count()), (0, 0), "it is the other's for a minute");
    op.advance(Duration::from_secs(1)).await;
    other.poll().await;
    assert_eq!((send(&other).await, receiver.count()), (1, 1));
    doorward::service::backchannel_logout::postpone(&op.app, &taken, "too slow").await.expect("the store answers");
    assert_eq!(db_states(&op).await, [("web".to_owned(), 2, Some(NoticeOutcome::Delivered), None)]);
    assert_eq!(send(&op).await, 0);
}

#[tokio::test]
async fn it_is_tried_for_a_day_with_growing_waits_and_then_given_up() {
    let (op, receiver) = ended(1).await;
    receiver.set("/web", Reply::Status(503));
    let mut gaps = Vec::new();
    let mut last = 0;
    for minute in 0..26 * 60 {
        if send(&op).await > 0 {
            gaps.push(minute - last);
            last = minute;
        }
        op.advance(MINUTE).await;
    }
    assert!(gaps.is_sorted_by(|one, next| next + 20 >= *one) && gaps.len() > 20 && gaps.len() < 35, "{gaps:?}");
    assert_eq!(receiver.count(), gaps.len());
    assert!((22 * 60..25 * 60).contains(&last), "{last}");
    let attempts = u32::try_from(gaps.len()).expect("few");
    let wanted = ("web".to_owned(), attempts, Some(NoticeOutcome::GivenUp), Some("status 503".to_owned()));
    assert_eq!(db_states(&op).await, [wanted]);
}

#[tokio::test]
async fn a_client_that_comes_back_is_told_then() {
    let (op, receiver) = ended(1).await;
    receiver.set("/web", Reply::Status(500));
    send(&op).await;
    assert_eq!(db_states(&op).await, [("web".to_owned(), 1, None, Some("status 500".to_owned()))]);
    receiver.set("/web", Reply::Status(200));
    op.advance(MINUTE).await;
    assert_eq!(send(&op).await, 1);
    assert_eq!(db_states(&op).await, [("web".to_owned(), 2, Some(NoticeOutcome::Delivered), None)]);
}

#[tokio::test]
async fn what_waits_is_measured_and_what_is_over_goes_after_a_week() {
    let (op, receiver) = ended(3).await;
    receiver.set("/web", Reply::Status(503));
    send(&op).await;
    op.advance(MINUTE).await;
    let backlog = repo::backchannel_logout::backlog(&op.app.store.read()).await.expect("the store answers");
    assert_eq!((backlog.pending, backlog.oldest), (3, Some(op.clock.now().minus(MINUTE))));
    receiver.set("/web", Reply::Status(200));
    let delivered = metrics().logout_deliveries.with_label_values(&["delivered"]).get();
    send(&op).await;
    assert!(metrics().logout_deliveries.with_label_values(&["delivered"]).get() >= delivered + 3);
    let backlog = repo::backchannel_logout::backlog(&op.app.store.read()).await.expect("the store answers");
    assert_eq!(backlog, Backlog::default());
    for (days, left) in [(6, 3), (8, 0)] {
        let now = op.clock.now().plus(Duration::from_hours(24 * days));
        tasks::purge::run_once(&op.app, now).await.expect("purged");
        assert_eq!(op.db.number("select count(*) from backchannel_logout").await, left, "{days} days");
    }
}

#[tokio::test]
async fn an_end_that_is_rolled_back_tells_nobody() {
    let (op, receiver) = (Receiver::op().start().await, Receiver::start().await);
    op.apply(&receiver.realm(&["web"])).await;
    sign_in(&op, &mut op.browser(), WEB).await;
    let session = db_sessions(&op, "alice").await.pop().expect("a session");
    let ended = doorward::domain::model::session::Ended { at: op.clock.now(), reason: EndReason::EndedByAdmin };
    let mut tx = op.app.store.begin().await.expect("a transaction");
    assert!(repo::session::end(&mut tx, session.realm, session.id, ended).await.expect("ended"));
    drop(tx);
    assert_eq!((send(&op).await, receiver.count()), (0, 0));
}
