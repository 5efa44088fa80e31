//! The end of the process, calm or sudden: what was under way is finished, what was acknowledged stays.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Mutex;

use crate::kit::flow::{self, API, WEB};
use crate::kit::process::{Doorward, pause};
use crate::kit::visitor::{Visitor, get, introspect, post_as, redeem, refresh};

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_else(|| panic!("{name} in {value}")).to_owned()
}

/// A token request whose body has not all come yet.
async fn half_a_request(server: &Doorward) -> (TcpStream, &'static str) {
    let mut stream = TcpStream::connect(("127.0.0.1", server.port())).await.expect("connected");
    let (first, rest) = ("grant_type=client", "_credentials");
    let head = format!(
        "POST /token HTTP/1.1\r\nHost: localhost:{}\r\nAuthorization: {}\r\nContent-Type: application/x-www-form-urlencoded\r\n\
         Content-Length: {}\r\n\r\n{first}",
        server.port(),
        flow::basic(API.id, API.secret.expect("a secret")),
        first.len() + rest.len(),
    );
    stream.write_all(head.as_bytes()).await.expect("sent");
    // The head must have been read, or the connection counts as idle.
    pause(Duration::from_millis(200)).await;
    (stream, rest)
}

async fn until_it_says(server: &Doorward, wanted: &str) {
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        let answer = get(&format!("{}/health/ready", server.management()), &[]).await;
        if answer.status == 503 && answer.body.contains(wanted) {
            return;
        }
        assert!(Instant::now() < until, "{} {}", answer.status, answer.body);
        pause(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn sigterm_finishes_open_requests_says_not_ready_and_ends_with_0() {
    let mut server = Doorward::prepare().await;
    server.apply(crate::kit::op::REALM);
    server.set("DOORWARD_LIMITS__DRAIN_DELAY_MS", "600");
    server.start().await;
    let (mut open, rest) = half_a_request(&server).await;
    let _idle = TcpStream::connect(("127.0.0.1", server.port())).await.expect("an idle connection");
    server.signal("TERM");
    until_it_says(&server, "draining").await;
    // Load balancers need a moment to look away: until then nobody is turned away.
    assert_eq!(get(&format!("{}/.well-known/jwks.json", server.issuer()), &[]).await.status, 200);
    let until = Instant::now() + Duration::from_secs(10);
    while TcpStream::connect(("127.0.0.1", server.port())).await.is_ok() {
        assert!(Instant::now() < until, "new connections are taken all the time");
        pause(Duration::from_millis(20)).await;
    }
    until_it_says(&server, "draining").await;
    open.write_all(rest.as_bytes()).await.expect("sent");
    let mut answer = String::new();
    open.read_to_string(&mut answer).await.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("access_token"), "{answer}");
    let asked = Instant::now();
    assert_eq!(server.ended().await.code(), Some(0), "{}", server.log());
    assert!(asked.elapsed() < Duration::from_secs(5), "nothing is left to wait for");
}

#[tokio::test]
async fn sighup_is_answered_in_the_log_and_changes_nothing() {
    let mut server = Doorward::running().await;
    let (mut open, rest) = half_a_request(&server).await;
    server.signal("HUP");
    let until = Instant::now() + Duration::from_secs(10);
    while !server.log().contains("SIGHUP") {
        assert!(Instant::now() < until, "{}", server.log());
        pause(Duration::from_millis(10)).await;
    }
    open.write_all(rest.as_bytes()).await.expect("sent");
    let mut answer = [0; 12];
    open.read_exact(&mut answer).await.expect("an answer");
    assert_eq!(&answer, b"HTTP/1.1 200");
    assert_eq!(get(&format!("{}/health/ready", server.management()), &[]).await.status, 200);
    drop(open);
    assert_eq!(server.terminate().await.code(), Some(0), "{}", server.log());
}

#[tokio::test]
async fn a_development_server_ends_with_its_terminal() {
    let mut server = Doorward::embedded().await;
    server.start_with(&["--dev"]).await;
    server.signal("HUP");
    assert_eq!(server.ended().await.code(), Some(0), "{}", server.log());
    assert!(server.log().contains("drained"), "{}", server.log());
}

#[tokio::test]
async fn a_second_sigterm_ends_it_at_once() {
    let mut server = Doorward::running().await;
    let (_open, _) = half_a_request(&server).await;
    server.signal("TERM");
    until_it_says(&server, "draining").await;
    let asked = Instant::now();
    server.signal("TERM");
    assert_eq!(server.ended().await.code(), Some(0), "{}", server.log());
    assert!(asked.elapsed() < Duration::from_secs(5), "it waited {:?}", asked.elapsed());
}

#[tokio::test]
async fn what_was_acknowledged_survives_kill_9() {
    let mut server = Doorward::running().await;
    let issuer = server.issuer();
    let mut visitor = Visitor::new(&issuer);
    let mut other = Visitor::new(&issuer);
    let pending = other.open(&flow::authorize(WEB, "openid", &[("state", "pending")])).await;
    assert!(pending.page().has_id("login-submit"));

    let spent = visitor.code(WEB, "openid offline_access").await;
    let replayed = redeem(&issuer, WEB, &spent).await.json();
    let code = visitor.code(WEB, "openid offline_access").await;
    let tokens = redeem(&issuer, WEB, &code).await.json();
    let first = text(&tokens, "refresh_token");
    let second = text(&refresh(&issuer, WEB, &first).await.json(), "refresh_token");
    let code = visitor.code(WEB, "openid").await;
    let revoked = text(&redeem(&issuer, WEB, &code).await.json(), "access_token");
    let unspent = visitor.code(WEB, "openid").await;
    assert_eq!(introspect(&issuer, WEB, &revoked).await["active"], true);
    assert_eq!(post_as(&issuer, WEB, "/revoke", &[("token", &revoked)]).await.status, 200);

    server.crash_and_restart().await;
    assert_eq!(introspect(&issuer, WEB, &revoked).await["active"], false, "revocation holds");
    assert_eq!(introspect(&issuer, WEB, &text(&tokens, "access_token")).await["active"], true);
    let third = refresh(&issuer, WEB, &second).await;
    assert_eq!(third.status, 200, "the refresh family goes on: {}", third.body);
    let answer = visitor.open(&flow::authorize(WEB, "openid", &[("prompt", "none")])).await;
    assert!(answer.location_param("code").is_some(), "the session lives: {}", answer.location());
    assert_eq!(redeem(&issuer, WEB, &unspent).await.status, 200, "a code that was not spent is good");
    let replay = redeem(&issuer, WEB, &spent).await;
    assert_eq!((replay.status.as_u16(), text(&replay.json(), "error").as_str()), (400, "invalid_grant"));
    assert_eq!(
        introspect(&issuer, WEB, &text(&replayed, "access_token")).await["active"],
        false,
        "a replay ends its grant"
    );
    let answer = other.sign_in().await;
    assert_eq!(answer.location_param("state").as_deref(), Some("pending"), "the page that was open goes on");
    assert!(answer.location_param("code").is_some(), "{}", answer.location());
}

/// Refreshes in a circle until the server is gone; keeps the last token that was acknowledged.
async fn keep_refreshing(issuer: String, token: Arc<Mutex<String>>) -> u32 {
    let mut rounds = 0;
    loop {
        let now = token.lock().await.clone();
        let answer = tokio::spawn({
            let issuer = issuer.clone();
            async move { refresh(&issuer, WEB, &now).await }
        });
        // The visitor panics when the connection is cut: that is the end.
        let Ok(answer) = answer.await else { return rounds };
        assert_eq!(answer.status, 200, "{}", answer.body);
        *token.lock().await = text(&answer.json(), "refresh_token");
        rounds += 1;
    }
}

#[tokio::test]
async fn a_kill_in_full_work_takes_back_nothing_that_was_answered() {
    let mut server = Doorward::running().await;
    let issuer = server.issuer();
    let mut visitor = Visitor::new(&issuer);
    let mut families = Vec::new();
    for _ in 0..6 {
        let code = visitor.code(WEB, "openid offline_access").await;
        let tokens = redeem(&issuer, WEB, &code).await.json();
        families.push(Arc::new(Mutex::new(text(&tokens, "refresh_token"))));
    }
    let work: Vec<_> =
        families.iter().map(|family| tokio::spawn(keep_refreshing(issuer.clone(), family.clone()))).collect();
    pause(Duration::from_millis(700)).await;
    server.kill();
    for worker in work {
        assert!(worker.await.expect("it ended by itself") > 0, "it worked before the kill");
    }
    server.start().await;
    for family in families {
        // One whose answer was lost is one generation behind, within the grace: the same successor.
        let answer = refresh(&issuer, WEB, &family.lock().await).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let answer = refresh(&issuer, WEB, &text(&answer.json(), "refresh_token")).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
}
