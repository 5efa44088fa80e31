//! One line a request, under 300 bytes, whatever came; metrics without a stranger's labels.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use doorward::config::Format;
use doorward::domain::model::client::{AccessTokenFormat, GrantType};
use doorward::domain::model::timestamp::Timestamp;
use doorward::observe::log::{AccessLog, Entry, MAX_LINE};
use doorward::observe::metrics;

#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn entry(client: &str) -> Entry {
    Entry {
        at: Timestamp::from_micros(1_796_061_600_250_001),
        request_id: "0123456789abcdef".into(),
        method: "POST",
        route: "/token".into(),
        status: 400,
        micros: 1234,
        realm: Some("main".into()),
        client_id: Some(client.into()),
        reason: Some("code_replayed"),
    }
}

#[test]
fn a_request_is_one_short_line() {
    let line = entry("web").to_json();
    let read: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(read["route"], "/token");
    assert_eq!(read["ms"], 1.234);
    assert_eq!(read["level"], "info");
    assert_eq!(read["client"], "web");
    assert_eq!(entry("web").to_text(), "18:00:00 400 POST   /token 1.2 ms main web code_replayed  0123456789abcdef");
}

#[test]
fn nothing_makes_a_line_long_or_two() {
    for client in ["x".repeat(5000), "\"\\\n\r\u{0}".repeat(40), "\u{1f511}".repeat(300)] {
        let mut hostile = entry(&client);
        hostile.realm = Some("r".repeat(40).into());
        hostile.route = "/realms/{realm}/".repeat(9).into();
        hostile.request_id = "i".repeat(900).into();
        hostile.method = "PROPPATCH";
        hostile.micros = u64::MAX;
        hostile.reason = Some("a_reason_that_is_longer_than_any_other_one_of_the_list");
        let line = hostile.to_json();
        assert!(line.len() + 1 < MAX_LINE, "{} {line}", line.len());
        assert!(line.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{line}");
        assert!(serde_json::from_str::<serde_json::Value>(&line).is_ok(), "{line}");
        assert!(!hostile.to_text().contains('\n'));
    }
}

#[test]
fn lines_are_written_in_order_and_all_at_the_end() {
    let sink = Sink::default();
    let log = AccessLog::start(Format::Json, Box::new(sink.clone())).unwrap();
    for number in 0..100 {
        log.write(entry(&number.to_string()));
    }
    log.flush();
    let text = String::from_utf8(sink.0.lock().unwrap().clone()).unwrap();
    assert_eq!(text.lines().count(), 100);
    assert!(text.lines().nth(41).unwrap().contains("\"client\":\"41\""));
    log.write(entry("last"));
    drop(log);
    assert!(String::from_utf8(sink.0.lock().unwrap().clone()).unwrap().contains("last"));
}

#[test]
fn a_stuck_writer_costs_lines_and_no_time() {
    struct Stuck(Arc<Mutex<()>>);
    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            drop(self.0.lock().unwrap());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let gate = Arc::new(Mutex::new(()));
    let held = gate.lock().unwrap();
    let log = AccessLog::with_queue(Format::Json, Box::new(Stuck(Arc::clone(&gate))), 4).unwrap();
    let before = metrics().log_dropped.get();
    for _ in 0..2000 {
        log.write(entry("web"));
    }
    assert!(metrics().log_dropped.get() > before + 100);
    drop(held);
}

#[test]
fn metrics_are_rendered_as_text() {
    metrics().issued(GrantType::RefreshToken, AccessTokenFormat::Jwt, false);
    let text = metrics().render();
    assert!(text.contains("# TYPE doorward_tokens_issued_total counter"), "{text}");
    assert!(
        text.contains("doorward_tokens_issued_total{bound=\"none\",format=\"jwt\",grant=\"refresh_token\"}"),
        "{text}"
    );
}
