//! An assertion is used once (`security-design` rules 13 and 15).

use std::sync::Arc;
use std::time::Duration;

use doorward::domain::model::audit::AuditKind;
use doorward::service::replay::MOST;
use serde_json::json;

use super::{add_client, by_keys, header, started};
use crate::kit::db::on_postgres;
use crate::kit::op::Op;
use crate::kit::signing::{EC, ED, but, claims, post_signed, token_by};
use crate::kit::token::{at_once, db_audit, given, refused};

fn fresh(op: &Op) -> String {
    EC.sign(&header("ES256"), &claims(op, "signer"))
}

#[tokio::test]
async fn it_is_spent_at_every_endpoint_on_every_node_and_after_a_crash() {
    let op = started().await;
    let other = Op::builder().beside(&op).start().await;
    let assertion = fresh(&op);
    given(&token_by(&op, &assertion).await);
    let token = [("token", "x")];
    for node in [&op, &other] {
        refused(&token_by(node, &assertion).await, 401, "invalid_client");
        for path in ["/introspect", "/revoke"] {
            refused(&post_signed(node, path, &assertion, &token).await, 401, "invalid_client");
        }
    }
    assert_eq!(db_audit(&op, AuditKind::ClientRefused).await[0].reason.as_deref(), Some("assertion_replayed"));
    drop(other);
    let op = op.restart().await;
    let answer = token_by(&op, &assertion).await;
    refused(&answer, 401, "invalid_client");
    assert!(answer.body.contains("jti"), "{}", answer.body);
    given(&token_by(&op, &fresh(&op)).await);
    // Until its very end.
    op.advance(Duration::from_secs(59)).await;
    refused(&token_by(&op, &assertion).await, 401, "invalid_client");
}

#[tokio::test]
async fn the_id_counts_and_not_the_text() {
    let op = started().await;
    let own = claims(&op, "signer");
    given(&token_by(&op, &EC.sign(&header("ES256"), &own)).await);
    // The same id, signed anew, by another key, with another end, in other words.
    for again in [EC.sign(&header("ES256"), &own), ED.sign(&header("EdDSA"), &but(own.clone(), json!({ "nbf": 1 })))] {
        refused(&token_by(&op, &again).await, 401, "invalid_client");
    }
    // Another client may use the same word.
    add_client(&op, "other", &by_keys(&[EC.public(None)])).await;
    given(&token_by(&op, &EC.sign(&header("ES256"), &but(own, json!({ "iss": "other", "sub": "other" })))).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_any_number_at_once_one_gets_in() {
    let op = Arc::new(started().await);
    let assertion = fresh(&op);
    let answers = at_once(20, |_| {
        let (op, assertion) = (op.clone(), assertion.clone());
        async move { token_by(&op, &assertion).await }
    })
    .await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    assert_eq!(answers.iter().filter(|answer| answer.status == 401).count(), 19);
}

#[tokio::test]
async fn what_is_refused_for_something_else_is_not_spent() {
    let op = started().await;
    op.apply("realm: main\nclients: [{ client_id: signer, enabled: false }]\n").await;
    let assertion = fresh(&op);
    refused(&token_by(&op, &assertion).await, 401, "invalid_client");
    op.apply("realm: main\nclients: [{ client_id: signer, enabled: true }]\n").await;
    given(&token_by(&op, &assertion).await);
}

#[tokio::test]
async fn a_memory_that_was_lost_refuses_what_it_may_have_forgotten() {
    let op = started().await;
    let spent = fresh(&op);
    given(&token_by(&op, &spent).await);
    op.advance(Duration::from_secs(5)).await;
    op.db.run("delete from shortlived").await;
    let answer = token_by(&op, &spent).await;
    refused(&answer, 401, "invalid_client");
    assert_eq!(db_audit(&op, AuditKind::ClientRefused).await[0].reason.as_deref(), Some("assertion_predates"));
    // What was certainly made after it gets in: by its own clock a minute ahead, or by an end that only such has.
    op.advance(Duration::from_secs(1)).await;
    refused(&token_by(&op, &fresh(&op)).await, 401, "invalid_client");
    let now = crate::kit::token::seconds(&op);
    let long = but(claims(&op, "signer"), json!({ "exp": now + 300 }));
    let long = EC.sign(&header("ES256"), &long);
    given(&token_by(&op, &long).await);
    refused(&token_by(&op, &long).await, 401, "invalid_client");
    op.advance(Duration::from_secs(60)).await;
    given(&token_by(&op, &fresh(&op)).await);
    refused(&token_by(&op, &spent).await, 401, "invalid_client");
}

#[tokio::test]
async fn a_full_memory_refuses_and_forgets_nothing() {
    let op = started().await;
    add_client(&op, "other", &by_keys(&[ED.public(None)])).await;
    let first = fresh(&op);
    given(&token_by(&op, &first).await);
    // As if so many had come: copies of the one, each under a key of its own.
    let fill = format!(
        "insert into shortlived (realm_id, kind, key, owner, value, version, created_at, expires_at) \
         with recursive n(i) as (select 1 union all select i + 1 from n where i < {}) \
         select realm_id, kind, cast(cast(i as text) as bytea), owner, value, version, created_at, expires_at \
         from shortlived, n where kind = 'assertion' and owner is not null",
        MOST - 1
    );
    let fill = if on_postgres() { fill } else { fill.replace("as bytea", "as blob") };
    op.db.run(&fill).await;
    let answer = token_by(&op, &fresh(&op)).await;
    refused(&answer, 503, "temporarily_unavailable");
    assert!(answer.header("retry-after").is_some());
    refused(&token_by(&op, &first).await, 401, "invalid_client");
    // It is this client's memory alone, and it empties by itself.
    given(&token_by(&op, &ED.sign(&header("EdDSA"), &claims(&op, "other"))).await);
    op.advance(Duration::from_secs(121)).await;
    given(&token_by(&op, &fresh(&op)).await);
}
