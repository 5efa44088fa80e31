//! The processes that are measured, in a folder of their own, and what the operating system says of them.

use std::fmt::Write as _;
use std::fs::{DirBuilder, File};
use std::future::Future;
use std::net::TcpListener;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Method;

use super::connection::Connection;
use super::workload::build;

/// The client of the measured realm.
pub(super) const CLIENT_ID: &str = "bench";
/// Its secret: the realm lives as long as the run, on loopback.
pub(super) const CLIENT_SECRET: &str = "bench-secret-of-a-throwaway-realm";
/// The person of the measured realm.
pub(super) const USERNAME: &str = "bench";
/// Her password.
pub(super) const PASSWORD: &str = "password of a throwaway realm";
/// Where codes are sent; nobody listens there.
pub(super) const REDIRECT_URI: &str = "http://127.0.0.1/callback";

const PATIENCE: Duration = Duration::from_mins(1);
/// Linux counts processor time for user space in hundredths, whatever the kernel's own clock.
const TICKS_PER_SECOND: u32 = 100;

/// The product as a process.
pub(super) struct Product {
    pub(super) port: u16,
    child: Child,
    runtime: tokio::runtime::Runtime,
    folder: Folder,
}

impl Product {
    /// Sets up a realm and starts the server on it.
    pub(super) fn start(database: Option<&str>) -> Result<Self, String> {
        let folder = Folder::new()?;
        let (port, management) = (free_port()?, free_port()?);
        folder.write("doorward.toml", &configuration(&folder.0, port, management, database)?)?;
        folder.write("realm.yaml", &realm())?;
        for arguments in [&["migrate"][..], &["apply", "realm.yaml"]] {
            let output = program(&folder.0)?.args(arguments).output().map_err(|error| error.to_string())?;
            if !output.status.success() {
                return Err(format!("doorward {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr)));
            }
        }
        let log = File::create(folder.0.join("server.log")).map_err(|error| error.to_string())?;
        let errors = log.try_clone().map_err(|error| error.to_string())?;
        let child =
            program(&folder.0)?.arg("serve").stdout(log).stderr(errors).spawn().map_err(|error| error.to_string())?;
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
        let mut product = Self { port, child, runtime, folder };
        product.wait(management)?;
        Ok(product)
    }

    fn wait(&mut self, management: u16) -> Result<(), String> {
        let until = Instant::now() + PATIENCE;
        loop {
            let ready = self.block_on(async {
                let request = build(management, &Method::GET, "/health/ready", None, Bytes::new())?;
                Connection::open(management).await?.send(request).await
            });
            match ready {
                Ok(answer) if answer.status.is_success() => return Ok(()),
                _ if Instant::now() > until => return Err("the product was not ready in time".to_owned()),
                _ => {}
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                let log = std::fs::read_to_string(self.folder.0.join("server.log")).unwrap_or_default();
                return Err(format!("the product ended with {status}:\n{log}"));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Runs a few requests outside of the measurement.
    pub(super) fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }

    /// Processor time so far.
    pub(super) fn cpu(&self) -> Option<Duration> {
        cpu(self.child.id())
    }

    /// Resident memory.
    pub(super) fn resident_mib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) / 1024
    }
}

impl Drop for Product {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The bare route as a process.
pub(super) struct Bare {
    pub(super) port: u16,
    child: Child,
}

impl Bare {
    /// Starts it and waits until it listens.
    pub(super) fn start() -> Result<Self, String> {
        let port = free_port()?;
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        let child = Command::new(own)
            .args(["bench", "--bare-server", &port.to_string()])
            .stdin(Stdio::null())
            .spawn()
            .map_err(|error| error.to_string())?;
        let bare = Self { port, child };
        let until = Instant::now() + PATIENCE;
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            if Instant::now() > until {
                return Err("the bare route was not ready in time".to_owned());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(bare)
    }

    /// Processor time so far.
    pub(super) fn cpu(&self) -> Option<Duration> {
        cpu(self.child.id())
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Processor time of a process and of its living children: a database has one for each connection.
pub(super) fn family_cpu(parent: u32) -> Option<Duration> {
    let mut sum = cpu(parent)?;
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        if stat(id).is_some_and(|fields| fields.get(1).is_some_and(|field| *field == parent.to_string())) {
            sum += cpu(id).unwrap_or_default();
        }
    }
    Some(sum)
}

/// User and system time (`proc_pid_stat(5)`, fields 14 and 15).
fn cpu(process: u32) -> Option<Duration> {
    let fields = stat(process)?;
    let ticks: u32 = fields.get(11)?.parse::<u32>().ok()? + fields.get(12)?.parse::<u32>().ok()?;
    Some(Duration::from_secs(1) * ticks / TICKS_PER_SECOND)
}

/// The fields behind the program's name, which may hold blanks itself: the first is the state.
fn stat(process: u32) -> Option<Vec<String>> {
    let line = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    Some(line.rsplit_once(')')?.1.split_whitespace().map(str::to_owned).collect())
}

fn program(folder: &Path) -> Result<Command, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(own);
    command.current_dir(folder).stdin(Stdio::null());
    for (key, _) in std::env::vars_os() {
        if key.to_string_lossy().starts_with("DOORWARD_") {
            command.env_remove(key);
        }
    }
    command.arg("--config").arg(folder.join("doorward.toml"));
    Ok(command)
}

fn configuration(folder: &Path, port: u16, management: u16, database: Option<&str>) -> Result<String, String> {
    let mut text = format!(
        "public_url = \"http://localhost:{port}\"\nlisten = [\"127.0.0.1:{port}\"]\ndata_dir = \"{}\"\n",
        folder.join("data").display()
    );
    if database.is_some() {
        let mut key = [0_u8; 32];
        aws_lc_rs::rand::fill(&mut key).map_err(|_| "the operating system gives no random bytes".to_owned())?;
        let hex = key.iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        let _ = writeln!(text, "master_key = \"{hex}\"");
    }
    let _ = writeln!(text, "[management]\nlisten = \"127.0.0.1:{management}\"");
    if let Some(url) = database {
        let _ = writeln!(text, "[database]\nurl = \"{url}\"\nauto_migrate = true");
    }
    Ok(text)
}

/// ES256 throughout, as the budgets are; access tokens outlive the run.
fn realm() -> String {
    format!(
        "realm: main
settings:
  tokens: {{ access: 1h }}
  keys: {{ access_token_alg: ES256 }}
users:
  - username: {USERNAME}
    email: bench@example.com
    email_verified: true
    name: Bench Mark
    password: {{ value: \"{PASSWORD}\" }}
clients:
  - client_id: {CLIENT_ID}
    client_secret: \"{CLIENT_SECRET}\"
    token_endpoint_auth_method: client_secret_basic
    redirect_uris: [ \"{REDIRECT_URI}\" ]
    grant_types: [ authorization_code, refresh_token, client_credentials ]
    response_types: [ code ]
    scope: \"openid profile email offline_access\"
    consent: skip
    id_token_signed_response_alg: ES256
"
    )
}

fn free_port() -> Result<u16, String> {
    TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(|error| error.to_string())
}

/// A folder that goes away.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, String> {
        let mut mark = [0_u8; 8];
        aws_lc_rs::rand::fill(&mut mark).map_err(|_| "the operating system gives no random bytes".to_owned())?;
        let path = std::env::temp_dir().join(format!("doorward-bench-{:016x}", u64::from_ne_bytes(mark)));
        DirBuilder::new().mode(0o700).create(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self(path))
    }

    fn write(&self, name: &str, text: &str) -> Result<(), String> {
        std::fs::write(self.0.join(name), text).map_err(|error| format!("{name}: {error}"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
