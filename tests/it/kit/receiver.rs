//! Clients' back-channel logout endpoints on this machine: each path answers as it is told to, and what came
//! is kept.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use super::op::{Builder, Op};
use super::token::verified;

/// What a path does with a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// Answers with this status and no body.
    Status(u16),
    /// Takes it and never answers.
    Hangs,
}

/// A notice as it came.
#[derive(Debug, Clone)]
pub struct Notice {
    /// Request line and headers, in lower case.
    pub head: String,
    /// Where it came to.
    pub path: String,
    /// The form.
    pub form: Vec<(String, String)>,
}

impl Notice {
    /// The logout token.
    pub fn token(&self) -> &str {
        let [(name, token)] = self.form.as_slice() else { panic!("more than one field: {:?}", self.form) };
        assert_eq!(name, "logout_token");
        token
    }

    /// The token's claims, its signature verified.
    pub async fn claims(&self, op: &Op) -> Value {
        verified(op, self.token()).await.1
    }
}

#[derive(Default)]
struct State {
    replies: Mutex<BTreeMap<String, Reply>>,
    came: Mutex<Vec<Notice>>,
    heard: Notify,
}

/// The endpoints; gone when dropped.
pub struct Receiver {
    port: u16,
    state: Arc<State>,
    running: tokio::task::JoinHandle<()>,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.running.abort();
    }
}

impl Receiver {
    /// Starts; each path answers 200 until it is told otherwise.
    pub async fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let state = Arc::new(State::default());
        let shared = state.clone();
        let running = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let state = shared.clone();
                tokio::spawn(async move {
                    let _ = take(stream, &state).await;
                });
            }
        });
        Self { port, state, running }
    }

    /// The address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// How a path answers from now on.
    pub fn set(&self, path: &str, reply: Reply) {
        self.state.replies.lock().expect("replies").insert(path.to_owned(), reply);
    }

    /// What came to a path, in order.
    pub fn came(&self, path: &str) -> Vec<Notice> {
        self.state.came.lock().expect("notices").iter().filter(|notice| notice.path == path).cloned().collect()
    }

    /// Waits until so many came to a path.
    pub async fn until(&self, path: &str, count: usize) {
        loop {
            let heard = self.state.heard.notified();
            if self.came(path).len() >= count {
                return;
            }
            heard.await;
        }
    }

    /// How many notices came, wherever.
    pub fn count(&self) -> usize {
        self.state.came.lock().expect("notices").len()
    }

    /// An [`Op`] that may call this machine.
    pub fn op() -> Builder {
        Op::builder().env("DOORWARD_OUTBOUND__ALLOW_NETWORKS", "127.0.0.1/32")
    }

    /// A realm file that gives these clients of the usual realm their endpoints, `/` and their id.
    pub fn realm(&self, clients: &[&str]) -> String {
        let line = |id: &&str| {
            format!("  - {{ client_id: {id}, backchannel_logout_uri: \"{}\" }}\n", self.url(&format!("/{id}")))
        };
        format!("realm: main\nclients:\n{}", clients.iter().map(line).collect::<String>())
    }
}

async fn take(mut stream: TcpStream, state: &State) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    let (head, body) = loop {
        let mut some = [0; 4096];
        match stream.read(&mut some).await? {
            0 => return Ok(()),
            read => bytes.extend_from_slice(&some[..read]),
        }
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let head = head.to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
        if body.len() >= length.parse::<usize>().expect("a number") {
            break (head, body.to_owned());
        }
    };
    let path = head.split(' ').nth(1).unwrap_or("").to_owned();
    let form = form_urlencoded::parse(body.as_bytes()).into_owned().collect();
    let reply = state.replies.lock().expect("replies").get(&path).copied().unwrap_or(Reply::Status(200));
    state.came.lock().expect("notices").push(Notice { head, path, form });
    state.heard.notify_waiters();
    match reply {
        Reply::Status(status) => {
            let head = format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            stream.write_all(head.as_bytes()).await
        }
        // Until the other side hangs up.
        Reply::Hangs => stream.read(&mut [0; 1]).await.map(drop),
    }
}
