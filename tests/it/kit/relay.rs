//! A place on the network that stays while what stands behind it changes: a host that gets another key set.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use tokio::net::{TcpListener, TcpStream};

use super::tls_host::TlsHost;

/// The place; gone when dropped.
pub struct Relay {
    port: u16,
    to: Arc<AtomicU16>,
    running: tokio::task::JoinHandle<()>,
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.running.abort();
    }
}

impl Relay {
    /// Leads to `host`.
    pub async fn to(host: &TlsHost) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let to = Arc::new(AtomicU16::new(host.port));
        let target = to.clone();
        let running = tokio::spawn(async move {
            while let Ok((mut from, _)) = listener.accept().await {
                let port = target.load(Ordering::SeqCst);
                tokio::spawn(async move {
                    if let Ok(mut to) = TcpStream::connect(("127.0.0.1", port)).await {
                        let _ = tokio::io::copy_bidirectional(&mut from, &mut to).await;
                    }
                });
            }
        });
        Self { port, to, running }
    }

    /// From now on it leads to another.
    pub fn turn(&self, host: &TlsHost) {
        self.to.store(host.port, Ordering::SeqCst);
    }

    /// The address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.port)
    }
}

/// A file with the authorities of several hosts.
pub fn authorities(hosts: &[&TlsHost]) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let all: Vec<String> = hosts.iter().map(|host| std::fs::read_to_string(host.authority()).expect("a PEM")).collect();
    std::fs::write(file.path(), all.concat()).expect("written");
    file
}
