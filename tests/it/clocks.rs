//! One clock decides, the database's (`security-design` rule 17): machines that are an hour off, pauses, jumps,
//! a feed that is cut. No family ends, nothing is accepted a second too long, nothing is deleted.

use std::sync::Arc;
use std::time::Duration;

use doorward::boot::management::{self, Stage};
use doorward::config::Listen;
use doorward::domain::clock::Trust;
use doorward::domain::model::session::EndReason;
use doorward::domain::model::timestamp::Timestamp;
use doorward::tasks;
use serde_json::Value;

use crate::kit::browser::Answer;
use crate::kit::flow::{WEB, post_as, refresh, text, tokens};
use crate::kit::node_clock::{DatabaseTime, NodeClock};
use crate::kit::op::Op;
use crate::kit::token::{assert_alive, db_grant, given, refused, works};
use crate::kit::visitor::get;

const SECOND: i64 = 1_000_000;
const HOUR: i64 = 3_600 * SECOND;
const WRONGS: [i64; 4] = [HOUR, -HOUR, 5 * SECOND, -5 * SECOND];
/// Lives on when the session has been idle for too long.
const OFFLINE: &str = "openid offline_access";

/// Two nodes on one database, each with a clock of its own.
struct Pair {
    time: DatabaseTime,
    one: Op,
    two: Op,
    clocks: [Arc<NodeClock>; 2],
}

impl Pair {
    /// The second one's machine has a clock that is wrong by so much.
    async fn start(wrong: i64) -> Self {
        let time = DatabaseTime::new();
        let clocks = [time.node(0), time.node(wrong)];
        let one = Op::builder().led_by(clocks[0].clone()).start().await;
        let two = Op::builder().beside(&one).led_by(clocks[1].clone()).start().await;
        Self { time, one, two, clocks }
    }

    async fn poll(&self) {
        self.one.poll().await;
        self.two.poll().await;
    }

    /// Time goes on for everybody, with the polls that belong to it.
    async fn pass(&self, secs: u32) {
        for _ in 0..secs {
            self.time.jump(SECOND);
            self.clocks.iter().for_each(|clock| clock.leap(Duration::from_secs(1)));
            self.poll().await;
        }
    }

    async fn signed_in(&self) -> Value {
        tokens(&self.one, &mut self.one.browser(), WEB, OFFLINE).await
    }

    async fn end_of(&self, tokens: &Value) -> Option<EndReason> {
        db_grant(&self.one, text(tokens, "refresh_token")).await.ended.map(|ended| ended.reason)
    }
}

async fn present(op: &Op, tokens: &Value) -> Answer {
    refresh(op, WEB, text(tokens, "refresh_token")).await
}

/// Told to come again in a moment.
#[track_caller]
fn told_to_wait(answer: &Answer) {
    refused(answer, 503, "temporarily_unavailable");
}

#[tokio::test]
async fn nodes_whose_machines_disagree_have_one_time() {
    for wrong in WRONGS {
        let pair = Pair::start(wrong).await;
        assert_eq!(pair.one.app.clock.now(), pair.two.app.clock.now(), "{wrong}");
        let mut current = pair.signed_in().await;
        for turn in 0..6 {
            let (here, there) = if turn % 2 == 0 { (&pair.one, &pair.two) } else { (&pair.two, &pair.one) };
            let next = given(&present(here, &current).await);
            let again = given(&present(there, &current).await);
            assert_eq!(next["refresh_token"], again["refresh_token"], "{wrong}: within the grace on both");
            assert!(works(there, WEB, &next).await && works(here, WEB, &again).await, "{wrong}: not of the future");
            current = next;
            pair.pass(1).await;
        }
        assert_eq!(pair.end_of(&current).await, None, "{wrong}");
        assert_alive(&pair.two, WEB, &current).await;
    }
}

#[tokio::test]
async fn a_jump_of_the_databases_clock_ends_no_family() {
    for jump in WRONGS {
        let pair = Pair::start(0).await;
        let first = pair.signed_in().await;
        let second = given(&present(&pair.one, &first).await);
        pair.time.jump(jump);
        pair.one.poll().await;
        assert_eq!(pair.one.app.clock.trust(), Trust::Unsure, "{jump}");
        for node in [&pair.one, &pair.two] {
            assert_eq!(given(&present(node, &first).await)["refresh_token"], second["refresh_token"], "{jump}: held");
        }
        // One node has two polls that agree, the other none.
        pair.one.poll().await;
        assert_eq!(pair.one.app.clock.trust(), Trust::Settling, "{jump}");
        let third = given(&present(&pair.one, &second).await);
        for node in [&pair.one, &pair.two] {
            for old in [&second] {
                let answer = present(node, old).await;
                if answer.status == 200 {
                    assert_eq!(answer.json()["refresh_token"], third["refresh_token"], "{jump}");
                } else {
                    told_to_wait(&answer);
                }
            }
        }
        assert_eq!(pair.end_of(&third).await, None, "{jump}");
        pair.poll().await;
        pair.poll().await;
        given(&present(&pair.two, &third).await);
        assert_eq!(pair.end_of(&third).await, None, "{jump}");
    }
}

#[tokio::test]
async fn a_grace_that_only_seems_to_be_over_is_waited_for_and_reuse_is_seen_afterwards() {
    let pair = Pair::start(0).await;
    let first = pair.signed_in().await;
    let second = given(&present(&pair.one, &first).await);
    pair.time.jump(HOUR);
    pair.poll().await;
    pair.poll().await;
    for node in [&pair.one, &pair.two] {
        told_to_wait(&present(node, &first).await);
    }
    assert_eq!(pair.end_of(&second).await, None);
    pair.pass(31).await;
    assert_eq!(pair.two.app.clock.trust(), Trust::Sure);
    refused(&present(&pair.two, &first).await, 400, "invalid_grant");
    assert_eq!(pair.end_of(&second).await, Some(EndReason::RefreshReused), "half a minute has passed indeed");
}

#[tokio::test]
async fn a_paused_node_and_a_cut_feed_end_no_family_and_accept_nothing_for_longer_than_a_second() {
    let pair = Pair::start(-5 * SECOND).await;
    let first = pair.signed_in().await;
    let second = given(&present(&pair.one, &first).await);
    assert!(works(&pair.two, WEB, &second).await);
    // The feed of the second node is cut, and a token is given back at the first.
    let revoked = [("token", text(&second, "access_token"))];
    assert_eq!(post_as(&pair.one, WEB, "/revoke", &revoked).await.status, 200);
    pair.clocks[1].leap(Duration::from_millis(1_001));
    assert!(!works(&pair.two, WEB, &second).await, "memory of a second ago is not believed");
    // It was paused for an hour, of which the database knows nothing.
    pair.clocks[1].leap(Duration::from_secs(3_600));
    assert_eq!(pair.two.app.clock.trust(), Trust::Unsure);
    told_to_wait(&present(&pair.two, &first).await);
    for trust in [Trust::Unsure, Trust::Settling] {
        pair.two.poll().await;
        assert_eq!(pair.two.app.clock.trust(), trust);
        let answer = present(&pair.two, &first).await;
        assert!(answer.status == 200 || answer.status == 503, "{}", answer.body);
        assert_eq!(pair.end_of(&second).await, None);
    }
    given(&present(&pair.one, &second).await);
    assert_eq!(pair.end_of(&second).await, None);
}

#[tokio::test]
async fn while_the_clock_is_not_believed_nothing_is_deleted_and_no_key_moves() {
    let pair = Pair::start(0).await;
    let op = &pair.one;
    assert!(tasks::purge::run_once(&op.app, op.app.clock.now()).await.is_ok());
    let rows = op.db.number("select count(*) from change").await;
    assert!(rows > 0, "what an hour and more will be too old for");
    pair.time.jump(100 * 24 * HOUR);
    for trust in [Trust::Unsure, Trust::Settling] {
        op.poll().await;
        assert_eq!(op.app.clock.trust(), trust);
        let now = op.app.clock.now();
        assert_eq!(tasks::purge::run_once(&op.app, now).await.expect("an answer"), 0, "{trust:?}");
        assert_eq!(tasks::rotate_keys::run_once(&op.app, now).await.expect("an answer"), 0, "{trust:?}");
        assert_eq!(op.db.number("select count(*) from change").await, rows, "{trust:?}");
    }
    pair.pass(31).await;
    let now = op.app.clock.now();
    assert!(tasks::purge::run_once(&op.app, now).await.expect("an answer") > 0);
    assert!(tasks::rotate_keys::run_once(&op.app, now).await.expect("an answer") > 0);
}

#[tokio::test]
async fn a_node_whose_clock_jumped_is_not_ready_and_says_why() {
    let pair = Pair::start(0).await;
    let stage = Arc::new(Stage::default());
    stage.start();
    let listen = Listen::Tcp("127.0.0.1:0".parse().expect("an address"));
    let address = management::start(pair.one.app.clone(), stage, &listen).await.expect("it listens");
    let ready = async || get(&format!("{address}/health/ready"), &[]).await;
    let sure = async || get(&format!("{address}/metrics"), &[]).await.body.contains("doorward_clock_sure 1\n");
    assert_eq!(ready().await.status, 200);
    assert!(sure().await);
    pair.time.jump(-5 * SECOND);
    pair.one.poll().await;
    let answer = ready().await;
    assert_eq!((answer.status.as_u16(), answer.body.as_str()), (503, "not ready: clock\n"));
    assert!(!sure().await);
    pair.one.poll().await;
    assert_eq!(ready().await.status, 200, "two polls agree");
}

#[tokio::test]
async fn time_never_runs_backwards_across_a_restart() {
    let time = DatabaseTime::new();
    let op = Op::builder().led_by(time.node(0)).start().await;
    op.app.store.batch().keep_time();
    op.app.store.batch().flush().await.expect("flushed");
    let seen =
        Timestamp::from_micros(op.db.number("select cast(value as bigint) from meta where name = 'time_seen'").await);
    assert!(seen <= op.app.clock.now());
    // What is written at the end is what was shown last.
    let last = op.app.clock.now();
    op.app.store.close().await;
    time.jump(-HOUR);
    let again = Op::builder().beside(&op).led_by(time.node(-HOUR)).start().await;
    let now = again.app.clock.now();
    assert!(now >= last, "{now} after {last}");
    assert_eq!(again.app.clock.ahead(), Duration::from_secs(3_600));
    again.app.store.batch().keep_time();
    again.app.store.batch().flush().await.expect("flushed");
    let kept = again.db.number("select cast(value as bigint) from meta where name = 'time_seen'").await;
    assert!(kept >= seen.as_micros(), "the mark only rises");
}
