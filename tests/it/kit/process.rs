//! The real binary as a process of its own: started from a configuration file on free ports and a
//! temporary data folder, ended gently or by `kill -9`, started again on the same data.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use openidconnect::reqwest;

use super::db::{self, TestDb};

/// How long a start or a stop may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that runs, or ran, on a data folder of its own.
pub(crate) struct Doorward {
    db: TestDb,
    port: u16,
    management: u16,
    child: Option<Child>,
}

impl Doorward {
    /// Writes a configuration, brings the database up to date; does not start yet.
    pub(crate) async fn prepare() -> Self {
        Self::prepare_with("").await
    }

    /// The same with more lines for the configuration, tables first to last.
    pub(crate) async fn prepare_with(more: &str) -> Self {
        let db = TestDb::fresh().await;
        let [port, management] = free_ports();
        let mut text = format!(
            "public_url = \"http://localhost:{port}\"\nlisten = [\"127.0.0.1:{port}\"]\ndata_dir = \"{}\"\n",
            db.folder.path().join("data").display()
        );
        if db::on_postgres() {
            text.push_str("master_key = \"6a6f6b652d6b65792d666f722d74657374732d6f6e6c792d33322d62797465732e\"\n");
        }
        write!(text, "[management]\nlisten = \"127.0.0.1:{management}\"\n").expect("text");
        write!(text, "[database]\nurl = \"{}\"\n", db.url).expect("text");
        text.push_str(more);
        std::fs::write(db.folder.path().join("doorward.toml"), text).expect("the configuration is written");
        let server = Self { db, port, management, child: None };
        server.command_ok(&["migrate"]);
        server
    }

    /// The issuer of the main realm.
    pub(crate) fn issuer(&self) -> String {
        format!("http://localhost:{}", self.port)
    }

    /// The management listener.
    pub(crate) fn management(&self) -> String {
        format!("http://127.0.0.1:{}", self.management)
    }

    /// What the server printed so far, over all its lives.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.log_file()).unwrap_or_default()
    }

    /// Makes the stored realm equal to this text.
    pub(crate) fn apply(&self, realm: &str) {
        let file = self.db.folder.path().join("realm.yaml");
        std::fs::write(&file, realm).expect("the realm file is written");
        self.command_ok(&["apply", &file.to_string_lossy()]);
    }

    /// Runs another command of the binary on the same configuration.
    pub(crate) fn command(&self, arguments: &[&str]) -> Output {
        self.program().args(arguments).arg("--config").arg(self.configuration()).output().expect("the command runs")
    }

    /// The same, which must succeed; gives what it printed.
    pub(crate) fn command_ok(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "doorward {}: {}\n{said}", arguments.join(" "), output.status);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Starts the server and waits until it is ready.
    pub(crate) async fn start(&mut self) {
        assert!(self.child.is_none(), "it runs already");
        let log = OpenOptions::new().create(true).append(true).open(self.log_file()).expect("a log file");
        let errors: File = log.try_clone().expect("a second handle");
        let child = self
            .program()
            .arg("serve")
            .arg("--config")
            .arg(self.configuration())
            .stdout(log)
            .stderr(errors)
            .spawn()
            .expect("the server starts");
        self.child = Some(child);
        let ready = format!("{}/health/ready", self.management());
        let until = Instant::now() + PATIENCE;
        loop {
            if let Ok(answer) = reqwest::get(&ready).await
                && answer.status().is_success()
            {
                return;
            }
            if let Some(status) = self.child.as_mut().and_then(|child| child.try_wait().expect("a child")) {
                panic!("the server ended with {status}:\n{}", self.log());
            }
            assert!(Instant::now() < until, "the server was not ready in time:\n{}", self.log());
            pause(Duration::from_millis(50)).await;
        }
    }

    /// `kill -9`: no chance to finish anything.
    pub(crate) fn kill(&mut self) {
        let mut child = self.child.take().expect("it runs");
        child.kill().expect("it is killed");
        child.wait().expect("it is gone");
    }

    /// SIGTERM; waits until it has ended by itself.
    pub(crate) async fn terminate(&mut self) -> ExitStatus {
        self.signal("TERM");
        let mut child = self.child.take().expect("it runs");
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = child.try_wait().expect("a child") {
                return status;
            }
            if Instant::now() > until {
                let _ = child.kill();
                panic!("the server did not end after SIGTERM:\n{}", self.log());
            }
            pause(Duration::from_millis(20)).await;
        }
    }

    /// Sends a signal by name.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.as_ref().expect("it runs").id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status().expect("kill runs");
        assert!(sent.success(), "the signal was not sent");
    }

    /// Ends it without warning and starts it again on the same data.
    pub(crate) async fn crash_and_restart(&mut self) {
        self.kill();
        self.start().await;
    }

    fn program(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_doorward"));
        command.current_dir(self.db.folder.path()).stdin(Stdio::null());
        // Settings of the developer's own shell stay out.
        for (key, _) in std::env::vars_os() {
            if key.to_string_lossy().starts_with("DOORWARD_") {
                command.env_remove(key);
            }
        }
        command
    }

    fn configuration(&self) -> PathBuf {
        self.db.folder.path().join("doorward.toml")
    }

    fn log_file(&self) -> PathBuf {
        self.db.folder.path().join("server.log")
    }
}

impl Drop for Doorward {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
            if std::thread::panicking() {
                eprintln!("the server said:\n{}", self.log());
            }
        }
    }
}

/// Ports that nobody listens on now. All are taken before the first is given back, so they differ.
pub(crate) fn free_ports<const N: usize>() -> [u16; N] {
    let held: [TcpListener; N] = std::array::from_fn(|_| TcpListener::bind("127.0.0.1:0").expect("a free port"));
    held.map(|listener| listener.local_addr().expect("its address").port())
}

/// Waits for another process, whose clock cannot be moved.
#[expect(clippy::disallowed_methods, reason = "another process is waited for; its clock is the real one")]
pub(crate) async fn pause(time: Duration) {
    tokio::time::sleep(time).await;
}
