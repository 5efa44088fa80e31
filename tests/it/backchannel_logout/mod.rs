//! Back-Channel Logout 1.0: clients are told of sessions that ended, once each, by whoever may end them, from
//! a queue that outlives crashes, by one of several nodes (behaviour cases B-07 and B-36).

mod conformance;
mod ends;
mod hostile;
mod queue;

use std::sync::Arc;

use doorward::domain::model::backchannel_logout::{LogoutNotice, NoticeOutcome};
use doorward::service::admin;
use doorward::store::repo::backchannel_logout::NoticeFilter;
use doorward::tasks::backchannel_logout;
use serde_json::Value;

use crate::kit::browser::Browser;
use crate::kit::flow::{Client, decode, text, tokens};
use crate::kit::op::Op;
use crate::kit::token::db_realm;

/// One turn of the task; how many attempts it made.
pub async fn send(op: &Op) -> usize {
    op.app.store.batch().flush().await.expect("flushed");
    backchannel_logout::run_once(&op.app, op.app.clock.now()).await.expect("the store answers")
}

/// What is queued and what was, newest first.
async fn db_notices(op: &Op) -> Vec<LogoutNotice> {
    let realm = db_realm(op).await;
    admin::client::logouts(&op.app, &realm, NoticeFilter::default(), 1000).await.expect("the store answers")
}

/// Client, attempts, how it is over, what went wrong; sorted by client.
async fn db_states(op: &Op) -> Vec<(String, u32, Option<NoticeOutcome>, Option<String>)> {
    let realm = db_realm(op).await;
    let mut states = Vec::new();
    for notice in db_notices(op).await {
        let clients = admin::client::list(&op.app, &realm, None, 100).await.expect("the store answers");
        let name = clients.iter().find(|client| client.key == notice.client).map(|client| client.client_id.clone());
        let outcome = notice.done.map(|done| done.outcome);
        states.push((name.unwrap_or_default(), notice.attempts, outcome, notice.failure));
    }
    states.sort_by(|one, other| one.0.cmp(&other.0));
    states
}

/// Signs alice in at a client; the claims of her ID token.
async fn sign_in(op: &Op, browser: &mut Browser<'_>, client: Client) -> Value {
    decode(text(&tokens(op, browser, client, "openid").await, "id_token")).1
}

/// She signs out at the provider.
async fn sign_out(browser: &mut Browser<'_>) {
    let asked = browser.get("/logout").await;
    assert!(asked.page().has_id("logout-yes"), "{}", asked.body);
    browser.submit("logout-yes", &[]).await;
}

/// A second node on the same database.
async fn beside(op: &Op) -> Arc<Op> {
    let env = ("DOORWARD_OUTBOUND__ALLOW_NETWORKS", "127.0.0.1/32");
    Arc::new(Op::builder().env(env.0, env.1).beside(op).start().await)
}
