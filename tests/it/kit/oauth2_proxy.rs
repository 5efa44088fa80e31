//! oauth2-proxy in front of a static page, in a folder of its own.

use std::fs::File;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::peers::installed;
use super::process::{free_ports, pause};

const PATIENCE: Duration = Duration::from_secs(30);

/// The proxy; ends with its value.
pub(crate) struct OAuth2Proxy {
    folder: TempDir,
    port: u16,
    child: Option<Child>,
}

impl OAuth2Proxy {
    /// Takes a folder and a port, so that the provider can be told the redirect address first.
    pub(crate) fn prepare() -> Self {
        let [port] = free_ports();
        Self { folder: tempfile::tempdir().expect("a folder for the proxy"), port, child: None }
    }

    /// Where the page is.
    pub(crate) fn address(&self) -> String {
        format!("http://localhost:{}", self.port)
    }

    /// Its port, for the realm file.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Starts it and waits until it answers; it reads the provider's metadata first.
    pub(crate) async fn start(&mut self, issuer: &str, client_secret: &str) {
        let pages = self.folder.path().join("pages");
        std::fs::create_dir(&pages).expect("a folder");
        std::fs::write(pages.join("index.html"), include_str!("../../peers/oauth2-proxy/index.html")).expect("a page");
        let configuration = include_str!("../../peers/oauth2-proxy/oauth2-proxy.cfg")
            .replace("@FOLDER@", &pages.to_string_lossy())
            .replace("@PORT@", &self.port.to_string())
            .replace("@ISSUER@", issuer)
            .replace("@CLIENT_SECRET@", client_secret);
        let file = self.folder.path().join("oauth2-proxy.cfg");
        std::fs::write(&file, configuration).expect("the configuration is written");
        let log = File::create(self.folder.path().join("log")).expect("a log");
        let child = Command::new(installed("oauth2-proxy").join("oauth2-proxy"))
            .arg("--config")
            .arg(file)
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a second handle"))
            .stderr(log)
            .spawn()
            .expect("oauth2-proxy starts");
        self.child = Some(child);
        let until = Instant::now() + PATIENCE;
        while tokio::net::TcpStream::connect(("127.0.0.1", self.port)).await.is_err() {
            assert!(Instant::now() < until, "oauth2-proxy did not start:\n{}", self.log());
            pause(Duration::from_millis(50)).await;
        }
    }

    /// What it printed so far.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

impl Drop for OAuth2Proxy {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
            if std::thread::panicking() {
                eprintln!("oauth2-proxy said:\n{}", self.log());
            }
        }
    }
}
