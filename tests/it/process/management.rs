//! The management listener: health and metrics, and none of it where the public comes.

use crate::kit::flow::{API, WEB};
use crate::kit::process::Doorward;
use crate::kit::visitor::{Visitor, get, post_as, redeem, refresh};

#[tokio::test]
async fn health_and_metrics_are_told_apart_from_the_public() {
    let server = Doorward::running().await;
    for path in ["/health/live", "/health/started", "/health/ready"] {
        let answer = get(&format!("{}{path}", server.management()), &[]).await;
        assert_eq!((answer.status.as_u16(), answer.body.as_str()), (200, "ok\n"), "{path}");
    }
    for path in ["/health/live", "/health/started", "/health/ready", "/metrics"] {
        let answer = get(&format!("{}{path}", server.issuer()), &[]).await;
        assert_eq!(answer.status, 404, "{path} is public: {}", answer.body);
    }
    for path in ["/", "/authorize", "/.well-known/openid-configuration", "/login"] {
        let answer = get(&format!("{}{path}", server.management()), &[]).await;
        assert_eq!(answer.status, 404, "{path} is served by the management listener");
    }
}

#[tokio::test]
async fn metrics_count_what_happened() {
    let server = Doorward::running().await;
    let issuer = server.issuer();
    let mut visitor = Visitor::new(&issuer);
    let login = visitor.open(&crate::kit::flow::authorize(WEB, "openid offline_access", &[])).await;
    assert!(login.page().has_id("login-submit"));
    visitor.submit("login-submit", &[("username", "alice"), ("password", "wrong")]).await;
    let code = visitor.code(WEB, "openid offline_access").await;
    let tokens = redeem(&issuer, WEB, &code).await.json();
    let refreshed = refresh(&issuer, WEB, tokens["refresh_token"].as_str().expect("a refresh token")).await;
    assert_eq!(refreshed.status, 200, "{}", refreshed.body);
    assert_eq!(post_as(&issuer, API, "/token", &[("grant_type", "client_credentials")]).await.status, 200);
    assert_eq!(redeem(&issuer, WEB, "nonsense").await.status, 400);

    let answer = get(&format!("{}/metrics", server.management()), &[]).await;
    assert_eq!(answer.header("content-type"), Some("text/plain; version=0.0.4"));
    let value = |name: &str| {
        let line = answer.body.lines().find(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(' ')));
        let line = line.unwrap_or_else(|| panic!("no {name} in:\n{}", answer.body));
        line.rsplit(' ').next().expect("a value").parse::<f64>().expect("a number")
    };
    let is = |name: &str, wanted: f64| assert!((value(name) - wanted).abs() < 0.01, "{name} is {}", value(name));
    is("doorward_sign_ins_total{outcome=\"ok\"}", 1.0);
    is("doorward_sign_ins_total{outcome=\"refused\"}", 1.0);
    is("doorward_tokens_issued_total{grant=\"authorization_code\"}", 1.0);
    is("doorward_tokens_issued_total{grant=\"refresh_token\"}", 1.0);
    is("doorward_tokens_issued_total{grant=\"client_credentials\"}", 1.0);
    is("doorward_http_requests_total{route=\"/token\",status=\"2xx\"}", 3.0);
    is("doorward_http_requests_total{route=\"/token\",status=\"4xx\"}", 1.0);
    is("doorward_http_request_seconds_count{route=\"/token\"}", 4.0);
    is("doorward_password_hash_seconds_count", 2.0);
    is("doorward_password_queue", 0.0);
    is("doorward_log_lines_dropped_total", 0.0);
    is("doorward_batch_refusals_total", 0.0);
    assert!(value("doorward_batch_commit_seconds_count") >= 3.0);
    assert!(value("doorward_feed_lag_milliseconds") < 5000.0);
    // What a stranger types never becomes a label.
    get(&format!("{issuer}/planted-path?planted=query"), &[("user-agent", "planted-agent")]).await;
    let metrics = get(&format!("{}/metrics", server.management()), &[]).await.body;
    assert!(!metrics.contains("planted"), "{metrics}");
}
