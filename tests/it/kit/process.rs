//! The real binary as a process of its own: started from a configuration file on free ports and a
//! temporary data folder, ended gently or by `kill -9`, started again on the same data.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
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
    env: Vec<(String, String)>,
    since: Instant,
}

/// The master key that configurations on PostgreSQL name.
pub(crate) const MASTER_KEY: &str = "6b65792d666f722d74657374732d6f6e6c792d33322d62797465732d6c6f6e67";

impl Doorward {
    /// Writes a configuration, brings the database up to date; does not start yet.
    pub(crate) async fn prepare() -> Self {
        Self::prepare_with("").await
    }

    /// The same with more lines for the configuration, tables first to last.
    pub(crate) async fn prepare_with(more: &str) -> Self {
        let server = Self::unmigrated(more).await;
        server.command_ok(&["migrate"]);
        server
    }

    /// Ready to serve the realm that most tests use.
    pub(crate) async fn running() -> Self {
        let mut server = Self::prepare().await;
        server.apply(super::op::REALM);
        server.start().await;
        server
    }

    /// Nothing but addresses and a data folder: an embedded database whatever the other tests run on.
    pub(crate) async fn embedded() -> Self {
        let server = Self::unmigrated("").await;
        let text = std::fs::read_to_string(server.configuration()).expect("the configuration");
        let kept =
            |line: &&str| !line.starts_with("master_key") && !line.contains("database]") && !line.starts_with("url");
        let text: Vec<&str> = text.lines().filter(kept).collect();
        std::fs::write(server.configuration(), text.join("\n")).expect("the configuration is written");
        server
    }

    /// Only writes the configuration.
    pub(crate) async fn unmigrated(more: &str) -> Self {
        let db = TestDb::fresh().await;
        let [port, management] = free_ports();
        let mut text = format!(
            "public_url = \"http://localhost:{port}\"\nlisten = [\"127.0.0.1:{port}\"]\ndata_dir = \"{}\"\n",
            db.folder.path().join("data").display()
        );
        if db::on_postgres() {
            writeln!(text, "master_key = \"{MASTER_KEY}\"").expect("text");
        }
        write!(text, "[management]\nlisten = \"127.0.0.1:{management}\"\n").expect("text");
        write!(text, "[database]\nurl = \"{}\"\n", db.url).expect("text");
        text.push_str(more);
        std::fs::write(db.folder.path().join("doorward.toml"), text).expect("the configuration is written");
        // Cheap hashes and no rest before the listeners close: tests wait for these.
        let env = [
            ("DOORWARD_PASSWORD__ARGON2__MEMORY_KIB", "64"),
            ("DOORWARD_PASSWORD__ARGON2__ITERATIONS", "1"),
            ("DOORWARD_LIMITS__DRAIN_DELAY_MS", "0"),
        ];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        Self { db, port, management, child: None, env, since: Instant::now() }
    }

    /// Sets an environment variable for whatever is started from now on; an empty value unsets it.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.env.retain(|(known, _)| known != name);
        if !value.is_empty() {
            self.env.push((name.to_owned(), value.to_owned()));
        }
    }

    /// Where it is asked whether it is ready, when a variable sets another port.
    pub(crate) fn move_management(&mut self, port: u16) {
        self.management = port;
    }

    /// The folder with everything that belongs to it.
    pub(crate) fn folder(&self) -> &Path {
        self.db.folder.path()
    }

    /// `data_dir` as the configuration names it.
    pub(crate) fn data_dir(&self) -> PathBuf {
        self.folder().join("data")
    }

    /// The database, for a look behind the curtain.
    pub(crate) fn db(&self) -> &TestDb {
        &self.db
    }

    /// The port of the public listener.
    pub(crate) fn port(&self) -> u16 {
        self.port
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
        self.command_given(arguments, "")
    }

    /// Runs the binary without naming a configuration; it must succeed.
    pub(crate) fn plain_ok(&self, arguments: &[&str]) -> String {
        let mut command = self.program();
        command.args(arguments);
        let output = finish(command, "");
        assert!(output.status.success(), "doorward {}: {output:?}", arguments.join(" "));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The same with something on standard input.
    pub(crate) fn command_given(&self, arguments: &[&str], input: &str) -> Output {
        let mut command = self.program();
        command.args(arguments).arg("--config").arg(self.configuration());
        finish(command, input)
    }

    /// A start that fails: what it said and how it ended.
    pub(crate) fn refused(&self, arguments: &[&str]) -> Refused {
        let arguments = [&["serve"], arguments].concat();
        Refused::read(&self.command(&arguments))
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
        self.start_with(&[]).await;
    }

    /// The same with more arguments for `serve`.
    pub(crate) async fn start_with(&mut self, arguments: &[&str]) {
        self.spawn(arguments);
        let ready = format!("{}/health/ready", self.management());
        loop {
            if let Ok(answer) = reqwest::get(&ready).await
                && answer.status().is_success()
            {
                return;
            }
            self.still_starting();
            pause(Duration::from_millis(50)).await;
        }
    }

    /// Starts the server and waits until it says that it runs: for one whose health has no port.
    pub(crate) async fn start_unwatched(&mut self) {
        let runs = |log: &str| log.matches("Doorward is running").count();
        let before = runs(&self.log());
        self.spawn(&[]);
        while runs(&self.log()) == before {
            self.still_starting();
            pause(Duration::from_millis(50)).await;
        }
    }

    fn spawn(&mut self, arguments: &[&str]) {
        assert!(self.child.is_none(), "it runs already");
        let log = OpenOptions::new().create(true).append(true).open(self.log_file()).expect("a log file");
        let errors: File = log.try_clone().expect("a second handle");
        let child = self
            .program()
            .arg("serve")
            .args(arguments)
            .arg("--config")
            .arg(self.configuration())
            .stdout(log)
            .stderr(errors)
            .spawn()
            .expect("the server starts");
        self.child = Some(child);
        self.since = Instant::now();
    }

    fn still_starting(&mut self) {
        if let Some(status) = self.child.as_mut().and_then(|child| child.try_wait().expect("a child")) {
            panic!("the server ended with {status}:\n{}", self.log());
        }
        assert!(self.since.elapsed() < PATIENCE, "the server was not ready in time:\n{}", self.log());
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
        self.ended().await
    }

    /// Waits until it has ended by itself.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
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
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
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

/// How a command that did not succeed ended.
#[derive(Debug)]
pub(crate) struct Refused {
    /// Exit status.
    pub(crate) status: Option<i32>,
    /// Both streams.
    pub(crate) said: String,
}

impl Refused {
    /// Reads a command's end.
    pub(crate) fn read(output: &Output) -> Self {
        let said = [output.stderr.as_slice(), &output.stdout].map(String::from_utf8_lossy).concat();
        Self { status: output.status.code(), said }
    }

    /// It ended with this status, and what it said names all of these.
    pub(crate) fn says(&self, status: i32, words: &[&str]) {
        assert_eq!(self.status, Some(status), "{}", self.said);
        for word in words {
            assert!(self.said.contains(word), "{word:?} in:\n{}", self.said);
        }
        assert!(!self.said.contains("panicked"), "{}", self.said);
    }
}

/// Runs a program to its end; one that does not end is killed and fails the test.
pub(crate) fn finish(mut command: Command, input: &str) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let id = child.id();
    // Dropped after the writing, so that the program reads an end.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    let (ended, waits) = std::sync::mpsc::channel();
    let watch = std::thread::spawn(move || {
        if waits.recv_timeout(PATIENCE).is_err() {
            let _ = Command::new("kill").args(["-9", &id.to_string()]).status();
        }
    });
    let output = child.wait_with_output().expect("the program ends");
    let _ = ended.send(());
    let _ = watch.join();
    output
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
