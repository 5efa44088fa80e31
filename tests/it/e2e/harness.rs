//! The browser and the peers do what the other tests here rest on, shown without the provider.

use crate::kit::services::{Apache, Registration};
use crate::kit::webdriver::{self, Browser, Script};
use axum::Router;
use axum::response::Html;
use axum::routing::get;

const PAGE: &str = "<!doctype html><title>Test</title><h1>Static</h1><form action='/next'><input id='name' name='name'>
    <button id='go'>Go</button></form><script>document.querySelector('h1').textContent = 'Scripted'</script>";

async fn site() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let app = Router::new().route("/", get(|| async { Html(PAGE) })).route(
        "/next",
        get(|request: axum::extract::Request| async move {
            Html(format!("<h1 id='asked'>{}</h1>", request.uri().query().unwrap_or_default()))
        }),
    );
    tokio::spawn(async move { axum::serve(listener, app).await });
    format!("http://localhost:{port}")
}

#[tokio::test]
async fn the_browser_fills_forms_with_and_without_scripts() {
    if !webdriver::is_there() {
        return;
    }
    let site = site().await;
    for (script, heading) in [(Script::On, "Scripted"), (Script::Off, "Static")] {
        let browser = Browser::start(script).await;
        browser.open(&site).await;
        assert_eq!(browser.text("h1").await, heading);
        browser.fill("#name", "wrong").await;
        browser.fill("#name", "Ann Lee").await;
        assert_eq!(browser.value("#name").await, "Ann Lee");
        browser.click("#go").await;
        assert_eq!(browser.text("#asked").await, "name=Ann+Lee");
        assert_eq!(browser.url().await, format!("{site}/next?name=Ann+Lee"));
        browser.back().await;
        browser.wait_for("#name").await;
        assert_eq!(browser.title().await, "Test");
    }
}

#[tokio::test]
async fn the_browser_has_tabs_sizes_cookies_and_pictures() {
    if !webdriver::is_there() {
        return;
    }
    let site = site().await;
    let browser = Browser::start(Script::On).await;
    browser.open(&site).await;
    browser.run("document.cookie = 'crumb=1; path=/'").await;
    assert_eq!(browser.cookies().await.iter().map(|cookie| cookie.name.as_str()).collect::<Vec<_>>(), ["crumb"]);
    browser.new_tab().await;
    browser.open(&site).await;
    browser.resize(500, 600).await;
    assert_eq!(browser.run("return window.outerWidth").await, 500);
    browser.forget_cookies().await;
    browser.reload().await;
    assert!(browser.cookies().await.is_empty());
    let picture = tempfile::NamedTempFile::new().expect("a file");
    browser.screenshot(picture.path()).await;
    assert!(std::fs::read(picture.path()).expect("a picture").starts_with(b"\x89PNG"));
}

#[tokio::test]
async fn apache_starts_without_its_provider() {
    if !Apache::is_there() {
        return;
    }
    let mut apache = Apache::prepare();
    let issuer = "http://localhost:9";
    apache.start(&Registration { issuer, client_id: "apache", client_secret: "secret", response_mode: "query" }).await;
    let answer = openidconnect::reqwest::get(format!("{}/goodbye.html", apache.address())).await.expect("an answer");
    assert_eq!(answer.status(), 200);
    let refused = openidconnect::reqwest::get(format!("{}/protected/", apache.address())).await.expect("an answer");
    assert_eq!(refused.status(), 500, "the provider is not there");
}
