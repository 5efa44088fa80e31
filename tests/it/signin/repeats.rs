//! An application that sends one `code_challenge` or `nonce` with every request is noticed (RFC 9700 section
//! 2.1.1, `security` row 28), and goes on working.

use std::time::Duration;

use doorward::domain::model::audit::{Actor, AuditKind};

use crate::kit::flow::{NATIVE, WEB, authorize};
use crate::kit::op::Op;
use crate::kit::rows::db_audit;

async fn told(op: &Op) -> Vec<String> {
    let events = db_audit(op, Some(AuditKind::ValueRepeated)).await;
    assert!(events.iter().all(|event| event.client.is_some() && event.actor == Actor::Client.as_str()));
    let mut reasons: Vec<String> = events.into_iter().filter_map(|event| event.reason).collect();
    reasons.sort();
    reasons
}

#[tokio::test]
async fn a_constant_over_a_hundred_requests_is_told_once_an_hour() {
    let op = Op::start().await;
    for round in 0..100 {
        let nonce = format!("n{round}");
        let answer = op.get(&authorize(WEB, "openid", &[("nonce", &nonce)]), &[]).await;
        assert_eq!(answer.status, 303, "it goes on working");
        assert!(answer.location().contains("/login"), "{}", answer.location());
        if round == 48 {
            assert_eq!(told(&op).await, [] as [&str; 0], "reloading a page is nothing to tell");
        }
    }
    assert_eq!(told(&op).await, ["code_challenge"]);
    op.advance(Duration::from_secs(3_600)).await;
    for _ in 0..100 {
        op.get(&authorize(WEB, "openid", &[]), &[]).await;
    }
    assert_eq!(told(&op).await, ["code_challenge", "code_challenge", "nonce"]);
    let metrics = doorward::observe::metrics().render();
    for parameter in ["code_challenge", "nonce"] {
        let name = format!("doorward_repeated_values_total{{parameter=\"{parameter}\"}} ");
        assert!(metrics.lines().any(|line| line.starts_with(&name)), "{metrics}");
    }
}

#[tokio::test]
async fn values_that_differ_and_requests_that_are_refused_are_nothing_to_tell() {
    let op = Op::start().await;
    for round in 0..100 {
        let challenge = format!("{round:043}");
        op.get(&authorize(WEB, "openid", &[("code_challenge", &challenge), ("nonce", &format!("{round}"))]), &[]).await;
        // One value from two clients is two values; a request that is not right is not counted.
        let client = if round % 2 == 0 { WEB } else { NATIVE };
        if round < 60 {
            op.get(&authorize(client, "openid", &[("nonce", "")]), &[]).await;
        }
        op.get(&authorize(WEB, "openid", &[("max_age", "x")]), &[]).await;
    }
    assert_eq!(told(&op).await, [] as [&str; 0]);
}
