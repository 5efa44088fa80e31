//! The product in a test: the real handles on a database of its own, a clock that is moved, seeded
//! chance, served in process through the front. Dropped, it removes everything.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::body::Body;
use doorward::boot::build::{self, Purpose};
use doorward::clock::{Clock, ManualClock};
use doorward::config::{Config, LoadOptions};
use doorward::domain::model::realm::Realm;
use doorward::domain::model::timestamp::Timestamp;
use doorward::entropy::SeededEntropy;
use doorward::http::extract::address::Peer;
use doorward::http::front::{Front, FrontSettings};
use doorward::http::router;
use doorward::service::App;
use doorward::service::realm_file::{self, Input, Mode};
use doorward::store::repo;
use http::Request;
use http_body_util::BodyExt;

use super::browser::{Answer, Browser};
use super::db::TestDb;

/// What most tests need: a person, a public, a confidential and a service client, a resource.
pub const REALM: &str = include_str!("realm.yaml");
/// Alice's password.
pub const PASSWORD: &str = "correct horse battery";
/// The confidential client's secret.
pub const SECRET: &str = "web-secret-0123456789abcdef";

static NODES: AtomicU64 = AtomicU64::new(1);

/// When the tests' clock begins.
pub const START: Timestamp = Timestamp::from_secs(1_800_000_000);

/// How an [`Op`] is made.
pub struct Builder {
    public_url: String,
    realm: String,
    dev: bool,
    env: Vec<(String, String)>,
    db: Option<Arc<TestDb>>,
    seed: u64,
    clock: Option<Arc<ManualClock>>,
    led: Option<Arc<dyn Clock>>,
}

impl Builder {
    /// Another public address.
    pub fn public_url(mut self, url: &str) -> Self {
        url.clone_into(&mut self.public_url);
        self
    }

    /// Other realms; `{public_url}` stands for the address.
    pub fn realm(mut self, yaml: &str) -> Self {
        yaml.clone_into(&mut self.realm);
        self
    }

    /// With `--dev`.
    pub fn dev(mut self) -> Self {
        self.dev = true;
        self
    }

    /// A setting by its environment name.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With chance of its own: another installation draws other keys.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// A second node on another's database and clock.
    pub fn beside(mut self, other: &Op) -> Self {
        self.db = Some(other.db.clone());
        self.clock = Some(other.clock.clone());
        self.realm = String::new();
        // Each node draws its own chance.
        self.seed = 1_000 * NODES.fetch_add(1, Ordering::SeqCst);
        self
    }

    /// With a clock that the database leads, in place of the one that the test moves.
    pub fn led_by(mut self, clock: Arc<dyn Clock>) -> Self {
        self.led = Some(clock);
        self
    }

    /// Starts it.
    pub async fn start(self) -> Op {
        let is_usual = self.db.is_none() && self.realm == REALM && !self.dev;
        let db = match self.db {
            Some(db) => db,
            None if is_usual => Arc::new(TestDb::prepared(usual).await),
            None => Arc::new(TestDb::fresh().await),
        };
        let clock = self.clock.unwrap_or_else(|| Arc::new(ManualClock::new(START)));
        let clocks = Clocks { manual: clock, led: self.led };
        let op = open(db, clocks, self.public_url, self.dev, self.env, self.seed).await;
        if !is_usual && !self.realm.is_empty() {
            op.apply(&self.realm).await;
        }
        op
    }
}

/// The usual realm, made once per run: making its signing keys costs more than most tests.
async fn usual() -> TestDb {
    let db = Arc::new(TestDb::fresh().await);
    let clocks = Clocks { manual: Arc::new(ManualClock::new(START)), led: None };
    let op = open(db.clone(), clocks, "http://localhost:8080".to_owned(), false, Vec::new(), 0xfeed).await;
    op.apply(REALM).await;
    op.app.store.close().await;
    drop(op);
    Arc::into_inner(db).expect("a database that nobody else uses")
}

/// The clock that the test moves, and the one in its place.
#[derive(Clone)]
struct Clocks {
    manual: Arc<ManualClock>,
    led: Option<Arc<dyn Clock>>,
}

async fn open(
    db: Arc<TestDb>,
    clocks: Clocks,
    public_url: String,
    dev: bool,
    extra: Vec<(String, String)>,
    seed: u64,
) -> Op {
    let mut env: HashMap<String, String> = HashMap::from(
        [
            ("DOORWARD_PUBLIC_URL", public_url.as_str()),
            ("DOORWARD_DATA_DIR", db.folder.path().to_str().expect("a path")),
            ("DOORWARD_DATABASE__URL", &db.url),
            ("DOORWARD_DATABASE__AUTO_MIGRATE", "true"),
            ("DOORWARD_DATABASE__POOL__MAX", "6"),
            ("DOORWARD_MASTER_KEY", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="),
            ("DOORWARD_PASSWORD__ARGON2__MEMORY_KIB", "64"),
            ("DOORWARD_PASSWORD__ARGON2__ITERATIONS", "1"),
            ("DOORWARD_PASSWORD__WORKERS", "2"),
            ("DOORWARD_PASSWORD__QUEUE", "200"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned())),
    );
    env.extend(extra.iter().cloned());
    let options =
        LoadOptions { path: None, dev, env: env.into_iter().collect(), folder: db.folder.path().to_path_buf() };
    let config = Config::load(&options).expect("a good configuration");
    let settings = FrontSettings {
        public_url: config.server.public_url.as_str().to_owned(),
        trusted: config.server.trusted_proxies.clone(),
        dev,
    };
    let entropy = Arc::new(SeededEntropy::new(seed));
    let clock = clocks.led.clone().unwrap_or_else(|| clocks.manual.clone());
    let app = build::app_with(config, Purpose::Command, clock, entropy).await.expect("the product starts");
    let app = Arc::new(app);
    app.store.models().poll(app.clock.now()).await.expect("the feed answers");
    let front = Front::new(app.clone(), router::build(&app, dev), settings, None);
    Op { app, front, clock: clocks.manual, led: clocks.led, public_url, db, dev, extra, seed }
}

/// The product under test.
pub struct Op {
    /// The handles.
    pub app: Arc<App>,
    /// The front.
    pub front: Front,
    /// The clock to move.
    pub clock: Arc<ManualClock>,
    /// The address.
    pub public_url: String,
    /// The data.
    pub db: Arc<TestDb>,
    led: Option<Arc<dyn Clock>>,
    dev: bool,
    extra: Vec<(String, String)>,
    seed: u64,
}

impl Op {
    /// With the usual realm at `http://localhost:8080`.
    pub async fn start() -> Self {
        Self::builder().start().await
    }

    /// Another way.
    pub fn builder() -> Builder {
        Builder {
            public_url: "http://localhost:8080".to_owned(),
            realm: REALM.to_owned(),
            dev: false,
            env: Vec::new(),
            db: None,
            seed: 1,
            clock: None,
            led: None,
        }
    }

    /// Stops at once, without draining, and starts again on the same data: a crash.
    pub async fn restart(self) -> Self {
        let Self { app, front, clock, led, public_url, db, dev, extra, seed } = self;
        drop((app, front));
        open(db, Clocks { manual: clock, led }, public_url, dev, extra, seed + 1).await
    }

    /// Applies a realm file.
    pub async fn apply(&self, yaml: &str) {
        self.apply_with(yaml, false).await;
    }

    /// Makes the realm what the file says: what it does not name goes.
    pub async fn apply_whole(&self, yaml: &str) {
        self.apply_with(yaml, true).await;
    }

    async fn apply_with(&self, yaml: &str, prune: bool) {
        let text = yaml.replace("{public_url}", &self.public_url);
        let declared = doorward::domain::realm_file::parse("test.yaml", &text).unwrap_or_else(|faults| {
            panic!("{}", faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
        });
        let input = Input { realms: declared, prune, mode: Mode::Write };
        realm_file::apply(&self.app, &input).await.expect("the realm is applied");
    }

    /// Applies a realm file, or says every fault.
    pub async fn try_apply(&self, yaml: &str) -> Result<(), String> {
        let text = yaml.replace("{public_url}", &self.public_url);
        let realms = doorward::domain::realm_file::parse("test.yaml", &text)
            .map_err(|faults| faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
        let input = Input { realms, prune: false, mode: Mode::Write };
        realm_file::apply(&self.app, &input).await.map(|_| ()).map_err(|failure| failure.to_string())
    }

    /// A realm as stored.
    pub async fn db_realm(&self, name: &str) -> Realm {
        let found = repo::realm::find_by_name(&self.app.store.read(), name).await.expect("the store answers");
        found.expect("a realm of this name")
    }

    /// A new browser.
    pub fn browser(&self) -> Browser<'_> {
        Browser::new(self)
    }

    /// Moves the clock and lets the feed catch up.
    pub async fn advance(&self, by: Duration) {
        self.clock.advance(by);
        self.app.store.batch().flush().await.expect("flushed");
        self.app.store.models().poll(self.app.clock.now()).await.expect("the feed answers");
    }

    /// Moves the clock only: the read models go stale.
    pub fn advance_only(&self, by: Duration) {
        self.clock.advance(by);
    }

    /// Lets the feed catch up.
    pub async fn poll(&self) {
        self.app.store.models().poll(self.app.clock.now()).await.expect("the feed answers");
    }

    /// Sends a request as 127.0.0.1.
    pub async fn send(&self, request: Request<Body>) -> Answer {
        let url = request.uri().to_string();
        self.send_from([127, 0, 0, 1].into(), url, request).await
    }

    /// Sends a request from an address; `url` is remembered in the answer.
    pub async fn send_from(&self, address: IpAddr, url: String, request: Request<Body>) -> Answer {
        let peer = Peer::Tcp(SocketAddr::new(address, 40_000));
        self.send_as(peer, url, request).await
    }

    /// Sends a request from any kind of peer.
    pub async fn send_as(&self, peer: Peer, url: String, request: Request<Body>) -> Answer {
        let response = self.front.clone().serve(peer, request).await.expect("never fails");
        let (head, body) = response.into_parts();
        let bytes = body.collect().await.expect("a body").to_bytes();
        Answer { url, status: head.status, headers: head.headers, body: String::from_utf8_lossy(&bytes).into_owned() }
    }

    /// Posts a form to a path of the main realm.
    pub async fn post(&self, path: &str, fields: &[(&str, &str)], headers: &[(&str, &str)]) -> Answer {
        self.post_from([127, 0, 0, 1].into(), path, fields, headers).await
    }

    /// As [`Self::post`], from another address.
    pub async fn post_from(
        &self,
        from: IpAddr,
        path: &str,
        fields: &[(&str, &str)],
        headers: &[(&str, &str)],
    ) -> Answer {
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let url = self.absolute(path);
        let (host, target) = self.path_of(&url);
        let mut request = Request::builder().method("POST").uri(target).header("host", host);
        request = request.header("content-type", "application/x-www-form-urlencoded");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send_from(from, url, request.body(body.into()).expect("a request")).await
    }

    /// A request with any method, headers and body; no content type unless one is given.
    pub async fn raw(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let url = self.absolute(path);
        let (host, target) = self.path_of(&url);
        let mut request = Request::builder().method(method).uri(target).header("host", host);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send_from([127, 0, 0, 1].into(), url, request.body(body.to_owned().into()).expect("a request")).await
    }

    /// Gets a path of the main realm.
    pub async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        let url = self.absolute(path);
        let (host, target) = self.path_of(&url);
        let mut request = Request::builder().method("GET").uri(target).header("host", host);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send_from([127, 0, 0, 1].into(), url, request.body(Body::empty()).expect("a request")).await
    }

    /// An absolute address: paths are taken below `public_url`.
    pub fn absolute(&self, url: &str) -> String {
        if url.contains("://") { url.to_owned() } else { format!("{}{url}", self.public_url) }
    }

    /// Host and path with query of an absolute address.
    pub fn path_of(&self, url: &str) -> (String, String) {
        let rest = url.split_once("://").expect("an absolute address").1;
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        (host.to_owned(), format!("/{path}"))
    }

    /// The path of an absolute address.
    pub fn path_only(&self, url: &str) -> String {
        let path = self.path_of(url).1;
        path.split(['?', '#']).next().unwrap_or("/").to_owned()
    }

    /// Scheme and authority.
    pub fn origin_of(&self, url: &str) -> String {
        match url.split_once("://") {
            Some((scheme, _)) => format!("{scheme}://{}", self.path_of(url).0),
            // An app's own scheme has none: it is like nothing but itself.
            None => url.to_owned(),
        }
    }

    /// A target as a browser resolves it.
    pub fn resolve(&self, base: &str, target: &str) -> String {
        url::Url::parse(base).expect("a base").join(target).expect("a target").to_string()
    }

    /// Whether an address is one of this product's pages: not the callbacks of clients.
    pub fn is_ours(&self, url: &str) -> bool {
        self.origin_of(url) == self.origin_of(&self.public_url)
    }
}
