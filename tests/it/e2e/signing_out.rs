//! What only a browser can show of signing out: frames on other origins are loaded with their own cookies and
//! storage before the way leads back (Front-Channel Logout 1.0), and a frame of ours tells them whether the
//! sign-in changed (Session Management 1.0).

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, Uri, header};
use axum::response::Html;
use axum::routing::get;
use serde_json::{Value, json};

use super::looks::look;
use crate::kit::flow::{Client, authorize, decode, text};
use crate::kit::op::{PASSWORD, REALM, SECRET};
use crate::kit::process::{Doorward, pause};
use crate::kit::tls_host::{Behaviour, TlsHost};
use crate::kit::visitor::redeem;
use crate::kit::webdriver::{self, Browser, Script, ThirdParties};

/// An application on a port of its own: another origin, the same site.
#[derive(Clone, Default)]
struct Application {
    origin: String,
    /// Query and cookies of each load of its logout address.
    told: Arc<Mutex<Vec<(String, String)>>>,
    hangs: Arc<Mutex<bool>>,
}

const SIGNED_IN: &str = "<!doctype html><title>In</title><h1 id='in'>In</h1><script>
    localStorage.setItem('session', location.search); document.cookie = 'own=1; path=/; SameSite=Lax'</script>";
/// What a hostile application would try, and what an honest one does.
const BYE: &str = "<!doctype html><title>Bye</title><script>
    localStorage.removeItem('session'); try { top.location = '/taken' } catch {} window.open('/taken')</script>";

impl Application {
    async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let application = Self { origin: format!("http://localhost:{port}"), ..Self::default() };
        let bye = |State(own): State<Self>, uri: Uri, headers: HeaderMap| async move {
            let cookies = headers.get(header::COOKIE).and_then(|value| value.to_str().ok()).unwrap_or_default();
            own.told.lock().expect("a lock").push((uri.query().unwrap_or_default().to_owned(), cookies.to_owned()));
            let hangs = *own.hangs.lock().expect("a lock");
            if hangs {
                std::future::pending::<()>().await;
            }
            Html(BYE)
        };
        let page = |text: &'static str| get(move || async move { Html(text) });
        let routes = Router::new()
            .route("/cb", page(SIGNED_IN))
            .route("/bye", get(bye))
            .route("/out", page("<!doctype html><title>Out</title><h1 id='out'>Out</h1>"))
            .with_state(application.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        application
    }

    fn told(&self) -> Vec<(String, String)> {
        self.told.lock().expect("a lock").clone()
    }

    fn client(&self, id: &'static str) -> Client {
        Client { id, secret: Some(SECRET), in_body: false, redirect_uri: format!("{}/cb", self.origin).leak() }
    }

    fn entry(&self, id: &str) -> String {
        let at = &self.origin;
        format!(
            "  - {{ client_id: {id}, client_name: \"App {id}\", client_secret: \"{SECRET}\", consent: skip, \
             redirect_uris: [ \"{at}/cb\" ], post_logout_redirect_uris: [ \"{at}/out\" ], \
             frontchannel_logout_uri: \"{at}/bye?a=b\" }}\n"
        )
    }
}

async fn start() -> (Doorward, Application, Application) {
    let (one, two) = (Application::start().await, Application::start().await);
    let server = Doorward::running().await;
    let settings = "settings: { logout: { front_channel: true, session_management: true } }";
    server.apply(&format!("realm: main\n{settings}\nclients:\n{}{}", one.entry("one"), two.entry("two")));
    (server, one, two)
}

/// Comes back to the application with a code: the address there, and the ID token for it.
async fn sign_in(browser: &Browser, server: &Doorward, client: Client) -> (url::Url, String) {
    browser.open(&format!("{}{}", server.issuer(), authorize(client, "openid", &[]))).await;
    if browser.wait_for_any(&["#login-submit", "#in"]).await == "#login-submit" {
        browser.fill("#username", "alice").await;
        browser.fill("#password", PASSWORD).await;
        browser.click("#login-submit").await;
    }
    browser.wait_for("#in").await;
    let url = url::Url::parse(&browser.url().await).expect("an address");
    let code = parameter(&url, "code");
    let tokens = redeem(&server.issuer(), client, &code).await;
    let tokens: Value = serde_json::from_str(&tokens.body).expect("tokens");
    (url, text(&tokens, "id_token").to_owned())
}

fn parameter(url: &url::Url, name: &str) -> String {
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned()).expect(name)
}

fn logout(server: &Doorward, hint: &str, application: &Application) -> String {
    let out = format!("{}/out", application.origin);
    let pairs = [("id_token_hint", hint), ("post_logout_redirect_uri", &out), ("state", "a+b")];
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
    format!("{}/logout?{query}", server.issuer())
}

#[tokio::test]
async fn applications_are_loaded_in_frames_and_then_the_way_leads_back() {
    if !webdriver::is_there() {
        return;
    }
    let (server, one, two) = start().await;
    let browser = Browser::start(Script::On).await;
    let (_, hint) = sign_in(&browser, &server, one.client("one")).await;
    let sid = text(&decode(&hint).1, "sid").to_owned();
    sign_in(&browser, &server, two.client("two")).await;

    // One of them never answers: the other is told all the same, and the person goes on.
    *two.hangs.lock().expect("a lock") = true;
    let begun = Instant::now();
    browser.open(&logout(&server, &hint, &one)).await;
    browser.wait_for_url(&format!("{}/out?state=a%2Bb", one.origin)).await;
    assert!(begun.elapsed() < Duration::from_secs(8), "by the script, not by the refresh");
    let issuer: String = form_urlencoded::byte_serialize(server.issuer().as_bytes()).collect();
    for application in [&one, &two] {
        let [(query, cookies)] = application.told().try_into().expect("loaded once");
        assert_eq!(query, format!("a=b&iss={issuer}&sid={sid}"));
        assert!(cookies.contains("own=1"), "its own cookies came along: {cookies}");
    }
    assert_eq!(browser.run("return localStorage.getItem('session')").await, Value::Null, "and its storage was there");

    // Our own page, and all of them answer.
    *two.hangs.lock().expect("a lock") = false;
    sign_in(&browser, &server, two.client("two")).await;
    browser.open(&format!("{}/logout", server.issuer())).await;
    browser.click("#logout-yes").await;
    browser.wait_for("#told").await;
    let until = Instant::now() + Duration::from_secs(10);
    while two.told().len() < 2 && Instant::now() < until {
        pause(Duration::from_millis(20)).await;
    }
    assert_eq!((one.told().len(), two.told().len()), (1, 2));
    pause(Duration::from_millis(300)).await;
    assert!(browser.url().await.starts_with(&server.issuer()), "no frame leads the page elsewhere");
    look(&browser, "signed out with frames", "#told").await;
}

#[tokio::test]
async fn without_scripts_the_page_waits_and_the_link_goes_on() {
    if !webdriver::is_there() {
        return;
    }
    let (server, one, _) = start().await;
    let browser = Browser::start(Script::Off).await;
    let (_, hint) = sign_in(&browser, &server, one.client("one")).await;
    browser.open(&logout(&server, &hint, &one)).await;
    browser.wait_for("meta[http-equiv=refresh]").await;
    assert_eq!(one.told().len(), 1, "loaded without any script");
    browser.click("#back").await;
    browser.wait_for_url(&format!("{}/out?state=a%2Bb", one.origin)).await;
}

/// Asks the frame from the page shown.
async fn ask(browser: &Browser, issuer: &str, message: &Value) -> Value {
    let (frame, origin) = (json!(format!("{issuer}/session/check")), json!(issuer));
    browser
        .run(&format!(
            "return new Promise((done) => {{
               const frame = document.createElement('iframe');
               addEventListener('message', (event) => {{
                 if (event.source === frame.contentWindow) done(event.origin === {origin} ? event.data : 'stranger');
               }});
               frame.addEventListener('load', () => frame.contentWindow.postMessage({message}, {origin}));
               setTimeout(() => done('silence'), 5000);
               frame.src = {frame};
               document.body.append(frame);
             }})"
        ))
        .await
}

#[tokio::test]
async fn the_frame_says_unchanged_until_the_sign_in_changes_and_only_to_whom_it_was_told() {
    if !webdriver::is_there() {
        return;
    }
    let (server, one, two) = start().await;
    let browser = Browser::start(Script::On).await;
    let issuer = server.issuer();
    let (at, _) = sign_in(&browser, &server, one.client("one")).await;
    let message = json!(format!("one {}", parameter(&at, "session_state")));
    assert_eq!(ask(&browser, &issuer, &message).await, "unchanged");
    for wrong in [json!("one"), json!("one x.y"), json!(""), json!({ "a": 1 }), json!("one  0.0"), Value::Null] {
        assert_eq!(ask(&browser, &issuer, &wrong).await, "error", "{wrong}");
    }
    let other = json!(message.as_str().expect("a text").replacen("one", "two", 1));
    assert_eq!(ask(&browser, &issuer, &other).await, "changed", "another client's");
    let (there, _) = sign_in(&browser, &server, two.client("two")).await;
    assert_eq!(ask(&browser, &issuer, &message).await, "changed", "from another origin");
    let theirs = json!(format!("two {}", parameter(&there, "session_state")));
    assert_eq!(ask(&browser, &issuer, &theirs).await, "unchanged");
    browser.open(at.as_str()).await;
    assert_eq!(ask(&browser, &issuer, &message).await, "unchanged", "the other sign-in changed nothing");

    browser.open(&format!("{}/logout", server.issuer())).await;
    browser.click("#logout-yes").await;
    browser.wait_for("#told").await;
    browser.open(at.as_str()).await;
    assert_eq!(ask(&browser, &issuer, &message).await, "changed");
    sign_in(&browser, &server, one.client("one")).await;
    assert_eq!(ask(&browser, &issuer, &message).await, "changed", "a new sign-in is another");
}

/// A provider under TLS and the page of an application on another site.
async fn on_two_sites() -> (Doorward, String, TlsHost) {
    let host = TlsHost::start(&[("/", Behaviour::sends("text/html", b"<!doctype html><title>App</title>"))]).await;
    let mut server = Doorward::prepare().await;
    let key = rcgen::KeyPair::generate().expect("a key");
    let names = rcgen::CertificateParams::new(["localhost".to_owned()]).expect("a name");
    let (certificate, private) = (server.folder().join("tls.pem"), server.folder().join("tls.key"));
    std::fs::write(&certificate, names.self_signed(&key).expect("signed").pem()).expect("written");
    std::fs::write(&private, key.serialize_pem()).expect("written");
    let issuer = format!("https://localhost:{}", server.port());
    server.set("DOORWARD_PUBLIC_URL", &issuer);
    server.set("DOORWARD_TLS__CERTIFICATE", &certificate.display().to_string());
    server.set("DOORWARD_TLS__KEY", &private.display().to_string());
    server.apply(REALM);
    let there = Application { origin: host.url("127.0.0.1", ""), ..Application::default() };
    let settings = "settings: { logout: { session_management: true } }";
    server.apply(&format!("realm: main\n{settings}\nclients:\n{}", there.entry("one")));
    server.start().await;
    (server, issuer, host)
}

#[tokio::test]
async fn on_another_site_the_frame_knows_it_only_where_the_browser_gives_frames_their_cookies() {
    if !webdriver::is_there() {
        return;
    }
    let (_server, issuer, host) = on_two_sites().await;
    let page = host.url("127.0.0.1", "/");
    let client = Client { id: "one", secret: Some(SECRET), in_body: false, redirect_uri: format!("{page}cb").leak() };
    for (cookies, before, after) in
        [(ThirdParties::Allowed, "unchanged", "changed"), (ThirdParties::Blocked, "error", "error")]
    {
        let browser = Browser::start_with(Script::On, cookies).await;
        browser.open(&format!("{issuer}{}", authorize(client, "openid", &[]))).await;
        browser.fill("#username", "alice").await;
        browser.fill("#password", PASSWORD).await;
        browser.click("#login-submit").await;
        browser.wait_for_url(client.redirect_uri).await;
        let at = url::Url::parse(&browser.url().await).expect("an address");
        let message = json!(format!("one {}", parameter(&at, "session_state")));
        browser.open(&page).await;
        assert_eq!(ask(&browser, &issuer, &message).await, before, "{cookies:?}");
        browser.open(&format!("{issuer}/logout")).await;
        browser.click("#logout-yes").await;
        browser.wait_for(".outcome-ok").await;
        browser.open(&page).await;
        assert_eq!(ask(&browser, &issuer, &message).await, after, "{cookies:?}");
    }
}
