//! Foreign services: Apache with mod_auth_openidc, started here in a folder of its own.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::process::{free_ports, pause};
use super::webdriver::{find_program, is_root};

const PATIENCE: Duration = Duration::from_secs(30);
const MODULES: &str = "/usr/lib/apache2/modules";

/// Apache as a relying party, in the foreground, with everything it writes in a folder that goes with it.
pub(crate) struct Apache {
    folder: TempDir,
    port: u16,
    child: Option<Child>,
}

/// What the relying party is told about its provider.
pub(crate) struct Registration<'a> {
    pub(crate) issuer: &'a str,
    pub(crate) client_id: &'a str,
    pub(crate) client_secret: &'a str,
    pub(crate) response_mode: &'a str,
}

impl Apache {
    /// Whether it can be had here; `make test` sees to it.
    pub(crate) fn is_there() -> bool {
        let found = find_program("apache2").is_some() && Path::new(MODULES).join("mod_auth_openidc.so").is_file();
        assert!(found || std::env::var_os("DOORWARD_TEST_E2E").is_none(), "Apache or mod_auth_openidc is missing");
        found
    }

    /// Takes a folder and a port, so that the provider can be told the redirect address first.
    pub(crate) fn prepare() -> Self {
        let [port] = free_ports();
        Self { folder: tempfile::tempdir().expect("a folder for Apache"), port, child: None }
    }

    /// Where the application lives.
    pub(crate) fn address(&self) -> String {
        format!("http://localhost:{}", self.port)
    }

    /// Its port, for the realm file.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Starts it and waits until it answers.
    pub(crate) async fn start(&mut self, registration: &Registration<'_>) {
        self.write_files(registration);
        self.run(&["-t"]).wait().map(|status| assert!(status.success(), "{}", self.log())).expect("the check runs");
        self.child = Some(self.run(&["-D", "FOREGROUND"]));
        let until = Instant::now() + PATIENCE;
        while tokio::net::TcpStream::connect(("127.0.0.1", self.port)).await.is_err() {
            assert!(Instant::now() < until, "Apache did not start:\n{}", self.log());
            pause(Duration::from_millis(50)).await;
        }
    }

    /// Its error log.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("error.log")).unwrap_or_default()
    }

    fn write_files(&self, registration: &Registration<'_>) {
        let template = include_str!("../../peers/apache/httpd.conf");
        let filled = [
            ("@FOLDER@", self.folder.path().to_string_lossy().into_owned()),
            ("@PORT@", self.port.to_string()),
            ("@MODULES@", MODULES.to_owned()),
            ("@ISSUER@", registration.issuer.to_owned()),
            ("@CLIENT_ID@", registration.client_id.to_owned()),
            ("@CLIENT_SECRET@", registration.client_secret.to_owned()),
            ("@RESPONSE_MODE@", registration.response_mode.to_owned()),
        ]
        .iter()
        .fold(template.to_owned(), |text, (word, value)| text.replace(word, value));
        let pages = self.folder.path().join("pages");
        std::fs::create_dir_all(pages.join("protected")).expect("folders");
        std::fs::write(self.configuration(), filled).expect("the configuration is written");
        for (name, text) in [
            ("protected/index.shtml", include_str!("../../peers/apache/pages/protected/index.shtml")),
            ("goodbye.html", include_str!("../../peers/apache/pages/goodbye.html")),
        ] {
            std::fs::write(pages.join(name), text).expect("a page is written");
        }
        // Apache drops root's rights, and must still get in.
        open_to_all(self.folder.path());
    }

    fn run(&self, arguments: &[&str]) -> Child {
        let mut command = Command::new(find_program("apache2").expect("apache2"));
        command.args(arguments).arg("-f").arg(self.configuration()).stdin(Stdio::null()).stdout(Stdio::null());
        if is_root() {
            command.args(["-D", "AS_ROOT"]);
        }
        command.spawn().expect("Apache starts")
    }

    fn configuration(&self) -> std::path::PathBuf {
        self.folder.path().join("httpd.conf")
    }
}

impl Drop for Apache {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        if std::thread::panicking() {
            let log = self.log();
            let tail: Vec<&str> = log.lines().rev().take(40).collect();
            eprintln!("Apache's log:\n{}", tail.into_iter().rev().collect::<Vec<_>>().join("\n"));
        }
        // On TERM the parent ends its children; killed, it would leave them behind.
        let _ = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
        let _ = child.wait();
    }
}

fn open_to_all(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).expect("permissions");
}
