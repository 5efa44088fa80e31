//! Clients are told of sessions that a command ended, by the running server, once, a `kill -9` in between or not;
//! `client logouts` and the metrics show it.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::kit::flow::WEB;
use crate::kit::op::REALM;
use crate::kit::process::{Doorward, pause};
use crate::kit::receiver::Receiver;
use crate::kit::visitor::{Visitor, get, redeem};

fn logouts(server: &Doorward, more: &[&str]) -> Vec<Value> {
    let text = server.command_ok(&[&["client", "logouts", "--json"], more].concat());
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

async fn until(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(10);
    while !is_so() {
        assert!(Instant::now() < end, "{what}, even after ten seconds");
        pause(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn what_a_command_ends_while_the_server_is_down_is_told_once_when_it_is_back() {
    let receiver = Receiver::start().await;
    let mut server = Doorward::prepare_with("[outbound]\nallow_networks = [\"127.0.0.1/32\"]\n").await;
    server.apply(REALM);
    server.apply(&receiver.realm(&["web"]));
    server.start().await;
    let issuer = server.issuer();
    let code = Visitor::new(&issuer).code(WEB, "openid").await;
    assert_eq!(redeem(&issuer, WEB, &code).await.status, 200);
    assert!(logouts(&server, &[]).is_empty());

    server.kill();
    server.command_ok(&["session", "end-all", "--user", "alice"]);
    let [waiting] = logouts(&server, &["web", "--pending"]).try_into().expect("one notice");
    assert_eq!(
        (&waiting["client_id"], &waiting["state"], &waiting["attempts"]),
        (&"web".into(), &"pending".into(), &0.into())
    );
    assert!(waiting["next_attempt_at"].is_string() && waiting["done_at"].is_null(), "{waiting}");
    assert_eq!(receiver.count(), 0, "a command sends nothing");

    server.start().await;
    until("the client was not told", || receiver.count() > 0).await;
    until("it is not over", || logouts(&server, &["--pending"]).is_empty()).await;
    let [done] = logouts(&server, &[]).try_into().expect("one notice");
    assert_eq!((&done["state"], &done["attempts"]), (&"delivered".into(), &1.into()));
    let line = server.command_ok(&["client", "logouts"]);
    assert!(line.starts_with("web ") && line.contains("delivered"), "{line}");
    let metrics = get(&format!("{}/metrics", server.management()), &[]).await.body;
    assert!(metrics.contains("doorward_logout_deliveries_total{result=\"delivered\"} 1\n"), "{metrics}");

    server.kill();
    server.start().await;
    pause(Duration::from_millis(1_500)).await;
    assert_eq!(receiver.count(), 1, "once");
    let pending = get(&format!("{}/metrics", server.management()), &[]).await.body;
    assert!(pending.contains("doorward_outbox_pending{kind=\"logout\"} 0\n"), "{pending}");
    assert_eq!(server.command(&["client", "logouts", "nobody"]).status.code(), Some(1));
}
