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
    let signed_in = |reason: &str, result: &str| {
        format!("doorward_sign_ins_total{{method=\"password\",realm=\"main\",reason=\"{reason}\",result=\"{result}\"}}")
    };
    is(&signed_in("none", "success"), 1.0);
    is(&signed_in("password", "failure"), 1.0);
    for grant in ["authorization_code", "refresh_token", "client_credentials"] {
        is(&format!("doorward_tokens_issued_total{{bound=\"none\",format=\"jwt\",grant=\"{grant}\"}}"), 1.0);
    }
    let requests = |status: u16| {
        let labels = "http_request_method=\"POST\",http_response_status_code";
        format!("http_server_request_duration_seconds_count{{{labels}=\"{status}\",http_route=\"/token\"}}")
    };
    is(&requests(200), 3.0);
    is(&requests(400), 1.0);
    is("doorward_token_errors_total{endpoint=\"token\",error=\"invalid_grant\"}", 1.0);
    is("doorward_refresh_total{result=\"ok\"}", 1.0);
    is("doorward_password_hash_duration_seconds_count{algorithm=\"argon2id\"}", 2.0);
    is("doorward_password_queue_wait_seconds_count", 2.0);
    is("doorward_password_queue_depth", 0.0);
    is("doorward_log_lines_dropped_total", 0.0);
    is("doorward_dependency_up{dependency=\"database\"}", 1.0);
    is(&format!("doorward_build_info{{commit=\"unknown\",version=\"{}\"}}", env!("CARGO_PKG_VERSION")), 1.0);
    assert!(value("doorward_batch_commit_duration_seconds_count") >= 3.0);
    assert!(value("doorward_feed_lag_seconds") < 5.0);
    assert!(
        value("doorward_db_pool_connections{state=\"max\"}") >= value("doorward_db_pool_connections{state=\"used\"}")
    );
    assert!(value("doorward_cache_requests_total{cache=\"client\",result=\"hit\"}") > 0.0);
    assert!(!answer.body.contains("doorward_admission_refused_total{"), "{}", answer.body);
    // What a stranger types never becomes a label.
    get(&format!("{issuer}/planted-path?planted=query"), &[("user-agent", "planted-agent")]).await;
    let metrics = get(&format!("{}/metrics", server.management()), &[]).await.body;
    assert!(!metrics.contains("planted"), "{metrics}");
}
