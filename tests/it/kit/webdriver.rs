//! A small WebDriver client (W3C WebDriver Level 2) over ChromeDriver: a real Chromium, headless, with
//! an empty profile. One browser lives at a time, since two of them starve a machine of two cores.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine;
use openidconnect::reqwest;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::{Mutex, MutexGuard};

/// What WebDriver calls an element's reference.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
/// How long a page may take until what is looked for is there.
const PATIENCE: Duration = Duration::from_secs(20);

static ONE_BROWSER: Mutex<()> = Mutex::const_new(());

/// Whether pages may run scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Script {
    /// As browsers come.
    On,
    /// Switched off, as some companies do.
    Off,
}

/// Whether frames of other sites get their cookies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ThirdParties {
    /// As Chromium comes.
    Allowed,
    /// As careful people and other browsers have it.
    Blocked,
}

/// A running browser.
pub(crate) struct Browser {
    driver: Child,
    session: String,
    http: reqwest::Client,
    profile: TempDir,
    _alone: MutexGuard<'static, ()>,
}

/// What the browser keeps for a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cookie {
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) path: String,
    pub(crate) http_only: bool,
    pub(crate) secure: bool,
}

/// Whether a browser can be had here. `make test` installs it and sets `DOORWARD_TEST_E2E`, so that its
/// absence fails there; a plain `cargo test` goes on without.
pub(crate) fn is_there() -> bool {
    let found = ["chromedriver", "chromium"].iter().all(|name| find_program(name).is_some());
    assert!(found || std::env::var_os("DOORWARD_TEST_E2E").is_none(), "Chromium or ChromeDriver is missing");
    found
}

/// Looks a program up in `PATH` and in the folders of the administrator's programs.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).chain(["/usr/sbin".into()]).map(|folder| folder.join(name)).find(|file| file.is_file())
}

impl Browser {
    /// Starts ChromeDriver on a free port and a Chromium with it.
    pub(crate) async fn start(script: Script) -> Self {
        Self::start_with(script, ThirdParties::Allowed).await
    }

    /// The same with another setting for cookies. Certificates that nobody vouches for are taken.
    pub(crate) async fn start_with(script: Script, third_parties: ThirdParties) -> Self {
        let alone = ONE_BROWSER.lock().await;
        let profile = tempfile::tempdir().expect("a folder for the profile");
        let mut driver = Command::new(find_program("chromedriver").expect("chromedriver"))
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .expect("chromedriver starts");
        let lines = BufReader::new(driver.stdout.take().expect("its output")).lines();
        let port: u16 = lines
            .map_while(Result::ok)
            .find_map(|line| line.split("successfully on port ").nth(1)?.trim_end_matches('.').parse().ok())
            .expect("chromedriver names its port");
        let http = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(60)).build().expect("a client");
        let mut browser =
            Self { driver, session: format!("http://127.0.0.1:{port}/session"), http, profile, _alone: alone };
        let asked = json!({"capabilities": {"alwaysMatch": browser.capabilities(script, third_parties)}});
        let opened = browser.call(reqwest::Method::POST, "", &asked).await.expect("a session");
        let id = opened["sessionId"].as_str().expect("the session's id");
        browser.session = format!("{}/{id}", browser.session);
        browser
    }

    fn capabilities(&self, script: Script, third_parties: ThirdParties) -> Value {
        let mut arguments = vec![
            "--headless".to_owned(),
            "--disable-gpu".to_owned(),
            "--disable-quic".to_owned(),
            "--no-first-run".to_owned(),
            "--disable-background-networking".to_owned(),
            "--disable-component-update".to_owned(),
            "--disable-sync".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            "--lang=en".to_owned(),
            "--window-size=1280,900".to_owned(),
            format!("--user-data-dir={}", self.profile.path().display()),
        ];
        if is_root() {
            arguments.push("--no-sandbox".to_owned());
        }
        let scripts = if script == Script::On { 1 } else { 2 };
        json!({
            "browserName": "chrome",
            "acceptInsecureCerts": true,
            "goog:chromeOptions": {
                "args": arguments,
                "prefs": {
                    "profile.default_content_setting_values.javascript": scripts,
                    "profile.managed_default_content_settings.javascript": scripts,
                    "profile.cookie_controls_mode": u8::from(third_parties == ThirdParties::Blocked),
                    "profile.block_third_party_cookies": third_parties == ThirdParties::Blocked,
                    "credentials_enable_service": false,
                    "profile.password_manager_leak_detection": false,
                },
            },
        })
    }

    /// Opens an address.
    pub(crate) async fn open(&self, url: &str) {
        self.post("/url", &json!({"url": url})).await;
    }

    /// The address shown.
    pub(crate) async fn url(&self) -> String {
        self.get_text("/url").await
    }

    /// The page's title.
    pub(crate) async fn title(&self) -> String {
        self.get_text("/title").await
    }

    /// The page as the browser holds it.
    pub(crate) async fn source(&self) -> String {
        self.get_text("/source").await
    }

    /// One page back.
    pub(crate) async fn back(&self) {
        self.post("/back", &json!({})).await;
    }

    /// Loads the page again.
    pub(crate) async fn reload(&self) {
        self.post("/refresh", &json!({})).await;
    }

    /// Opens a second tab and goes there.
    pub(crate) async fn new_tab(&self) {
        let made = self.post("/window/new", &json!({"type": "tab"})).await;
        self.post("/window", &json!({"handle": made["handle"]})).await;
    }

    /// Makes the window this large.
    pub(crate) async fn resize(&self, width: u32, height: u32) {
        self.post("/window/rect", &json!({"width": width, "height": height})).await;
    }

    /// Shows pages as a screen of this width does, narrower than any window can be, in `light` or `dark`, and
    /// without transitions, so that a change is there at once.
    pub(crate) async fn emulate(&self, width: u32, scheme: &str) {
        let screen = json!({"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": false});
        let media = json!({"features": [
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]});
        for (command, parameters) in
            [("Emulation.setDeviceMetricsOverride", screen), ("Emulation.setEmulatedMedia", media)]
        {
            self.post("/goog/cdp/execute", &json!({"cmd": command, "params": parameters})).await;
        }
    }

    /// Whether an element is there now.
    pub(crate) async fn has(&self, css: &str) -> bool {
        self.find(css).await.is_some()
    }

    /// Waits until an element is there.
    pub(crate) async fn wait_for(&self, css: &str) {
        self.element(css).await;
    }

    /// Waits until the first of these elements is there, and says which.
    pub(crate) async fn wait_for_any<'a>(&self, any: &[&'a str]) -> &'a str {
        let until = Instant::now() + PATIENCE;
        loop {
            for css in any {
                if self.has(css).await {
                    return css;
                }
            }
            self.pause_or_give_up(until, &any.join(" or ")).await;
        }
    }

    /// Waits until the address begins so.
    pub(crate) async fn wait_for_url(&self, start: &str) {
        let until = Instant::now() + PATIENCE;
        while !self.url().await.starts_with(start) {
            self.pause_or_give_up(until, &format!("an address that begins {start}")).await;
        }
    }

    /// The text that a person sees in an element.
    pub(crate) async fn text(&self, css: &str) -> String {
        self.read(css, "text").await
    }

    /// A field's value.
    pub(crate) async fn value(&self, css: &str) -> String {
        self.read(css, "property/value").await
    }

    /// Clicks an element and waits for the page that follows, if one does.
    pub(crate) async fn click(&self, css: &str) {
        let element = self.element(css).await;
        self.post(&format!("/element/{element}/click"), &json!({})).await;
    }

    /// Types into a field, in place of what was there.
    pub(crate) async fn fill(&self, css: &str, text: &str) {
        let element = self.element(css).await;
        self.post(&format!("/element/{element}/clear"), &json!({})).await;
        self.post(&format!("/element/{element}/value"), &json!({"text": text})).await;
    }

    /// Runs a script in the page and gives what it returns.
    pub(crate) async fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", &json!({"script": script, "args": []})).await
    }

    /// The cookies that the shown address would be sent.
    pub(crate) async fn cookies(&self) -> Vec<Cookie> {
        let found = self.call(reqwest::Method::GET, "/cookie", &Value::Null).await.expect("cookies");
        let text = |cookie: &Value, key: &str| cookie[key].as_str().unwrap_or_default().to_owned();
        found
            .as_array()
            .into_iter()
            .flatten()
            .map(|cookie| Cookie {
                name: text(cookie, "name"),
                value: text(cookie, "value"),
                path: text(cookie, "path"),
                http_only: cookie["httpOnly"] == json!(true),
                secure: cookie["secure"] == json!(true),
            })
            .collect()
    }

    /// Forgets the cookies of the shown address.
    pub(crate) async fn forget_cookies(&self) {
        self.call(reqwest::Method::DELETE, "/cookie", &Value::Null).await.expect("cookies are forgotten");
    }

    /// Forgets the cookies of the shown address whose names begin so.
    pub(crate) async fn forget_cookies_named(&self, start: &str) {
        for cookie in self.cookies().await.iter().filter(|cookie| cookie.name.starts_with(start)) {
            let path = format!("/cookie/{}", cookie.name);
            self.call(reqwest::Method::DELETE, &path, &Value::Null).await.expect("a cookie is forgotten");
        }
    }

    /// Writes what is seen as a PNG file.
    pub(crate) async fn screenshot(&self, file: &Path) {
        let picture = self.get_text("/screenshot").await;
        let bytes = base64::engine::general_purpose::STANDARD.decode(picture).expect("base64");
        std::fs::write(file, bytes).expect("the picture is written");
    }

    async fn find(&self, css: &str) -> Option<String> {
        let asked = json!({"using": "css selector", "value": css});
        let found = self.call(reqwest::Method::POST, "/element", &asked).await.ok()?;
        found[ELEMENT].as_str().map(str::to_owned)
    }

    async fn element(&self, css: &str) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(element) = self.find(css).await {
                return element;
            }
            self.pause_or_give_up(until, css).await;
        }
    }

    /// Reads something of an element; once more where its page went away between finding and reading.
    async fn read(&self, css: &str, what: &str) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            let path = format!("/element/{}/{what}", self.element(css).await);
            if let Ok(value) = self.call(reqwest::Method::GET, &path, &Value::Null).await {
                return value.as_str().unwrap_or_default().to_owned();
            }
            self.pause_or_give_up(until, css).await;
        }
    }

    async fn pause_or_give_up(&self, until: Instant, wanted: &str) {
        if Instant::now() > until {
            let (url, source) = (self.url().await, self.source().await);
            panic!("waited for {wanted} in vain at {url}:\n{source}");
        }
        super::process::pause(Duration::from_millis(50)).await;
    }

    async fn get_text(&self, path: &str) -> String {
        let value = self.call(reqwest::Method::GET, path, &Value::Null).await.expect("an answer");
        value.as_str().unwrap_or_default().to_owned()
    }

    async fn post(&self, path: &str, body: &Value) -> Value {
        self.call(reqwest::Method::POST, path, body).await.unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// One command; an error names what WebDriver calls it.
    async fn call(&self, method: reqwest::Method, path: &str, body: &Value) -> Result<Value, String> {
        let mut request = self.http.request(method.clone(), format!("{}{path}", self.session));
        if method == reqwest::Method::POST {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        let answer = request.send().await.map_err(|error| error.to_string())?;
        let text = answer.text().await.map_err(|error| error.to_string())?;
        let mut parsed: Value = serde_json::from_str(&text).map_err(|error| format!("{error}: {text}"))?;
        let value = parsed["value"].take();
        match value["error"].as_str() {
            Some(error) => Err(format!("{error}: {}", value["message"].as_str().unwrap_or_default())),
            None => Ok(value),
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // ChromeDriver ends its browser when it is asked to stop, not when it is killed.
        let group = format!("-{}", self.driver.id());
        let _ = Command::new("kill").args(["-TERM", "--", &group]).status();
        let until = Instant::now() + Duration::from_secs(5);
        while Instant::now() < until && matches!(self.driver.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Chromium's sandbox refuses to work for root.
pub(crate) fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}
