//! The push of the change feed on PostgreSQL: another node's change is read at once and not at the next poll;
//! polling goes on without it (architecture, section 7).

use std::sync::Arc;
use std::time::Duration;

use doorward::tasks::{hear_changes, tail_changes};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::kit::db::on_postgres;
use crate::kit::flow::introspect;
use crate::kit::flow::{WEB, post_as, refresh, text, tokens};
use crate::kit::op::Op;

/// Longer than any test.
const NEVER: Duration = Duration::from_secs(100_000);
const PATIENCE: Duration = Duration::from_secs(30);

/// A node with its feed at work.
struct Following {
    op: Op,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Following {
    /// Polls after each push, and otherwise so seldom.
    async fn start(beside: &Op, every: Duration) -> Self {
        let op = Op::builder().beside(beside).start().await;
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        tasks.spawn(tail_changes::run(op.app.clone(), every, stop.clone()));
        tasks.spawn(hear_changes::run(op.app.clone(), stop.clone()));
        tasks.close();
        Self { op, stop, tasks }
    }

    /// Waits until this node's memory, which no clock makes stale here, knows that the token is dead.
    async fn learns_that_is_dead(&self, token: &str) {
        let learn = async {
            while introspect(&self.op, WEB, token).await["active"] == true {
                tokio::task::yield_now().await;
            }
        };
        assert!(tokio::time::timeout(PATIENCE, learn).await.is_ok(), "nobody told the other node");
    }

    async fn stop(self) {
        self.stop.cancel();
        self.tasks.wait().await;
    }
}

/// An access token that both nodes know to be good, and how to revoke it.
async fn known(one: &Op, other: &Op, refresh_token: &mut String) -> String {
    let tokens = refresh(one, WEB, refresh_token).await.json();
    text(&tokens, "refresh_token").clone_into(refresh_token);
    let access = text(&tokens, "access_token").to_owned();
    assert_eq!(introspect(other, WEB, &access).await["active"], true);
    access
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_nodes_change_is_pushed_and_a_cut_connection_is_made_anew() {
    if !on_postgres() {
        return;
    }
    let one = Op::start().await;
    let other = Following::start(&one, NEVER).await;
    let mut family = text(&tokens(&one, &mut one.browser(), WEB, "openid").await, "refresh_token").to_owned();
    for _ in 0..3 {
        let access = known(&one, &other.op, &mut family).await;
        assert_eq!(post_as(&one, WEB, "/revoke", &[("token", &access)]).await.status, 200);
        other.learns_that_is_dead(&access).await;
    }
    let cut = "select count(pg_terminate_backend(pid)) from pg_stat_activity \
               where datname = current_database() and query ilike 'listen %'";
    for _ in 0..2 {
        let access = known(&one, &other.op, &mut family).await;
        assert_eq!(one.db.number(cut).await, 1, "one connection listens");
        assert_eq!(post_as(&one, WEB, "/revoke", &[("token", &access)]).await.status, 200);
        other.learns_that_is_dead(&access).await;
    }
    other.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_push_polling_goes_on() {
    let one = Op::start().await;
    let op = Op::builder().beside(&one).start().await;
    let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
    tasks.spawn(tail_changes::run(Arc::clone(&op.app), tail_changes::EVERY, stop.clone()));
    tasks.close();
    assert!(tail_changes::EVERY <= Duration::from_millis(500), "at least twice a second");
    let other = Following { op, stop, tasks };
    let mut family = text(&tokens(&one, &mut one.browser(), WEB, "openid").await, "refresh_token").to_owned();
    let access = known(&one, &other.op, &mut family).await;
    assert_eq!(post_as(&one, WEB, "/revoke", &[("token", &access)]).await.status, 200);
    other.learns_that_is_dead(&access).await;
    other.stop().await;
}
