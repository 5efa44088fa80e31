//! A browser without a screen that talks to a running server over the network: cookies, redirects
//! inside the server, forms. The browser in [`super::browser`] does the same in process and checks more.

use std::collections::BTreeMap;

use openidconnect::reqwest::{self, Client, Method, redirect};
use serde_json::Value;

use super::browser::Answer;
use super::flow::{self, VERIFIER};
use super::op::PASSWORD;
use super::page::Form;

/// A person at a browser.
#[derive(Clone)]
pub(crate) struct Visitor {
    issuer: String,
    client: Client,
    jar: BTreeMap<String, String>,
    at: Option<Answer>,
}

impl Visitor {
    /// A new browser that knows where the provider is.
    pub(crate) fn new(issuer: &str) -> Self {
        Self { issuer: issuer.to_owned(), client: client(), jar: BTreeMap::new(), at: None }
    }

    /// Opens a path below the issuer, or an address, and follows redirects inside the issuer.
    pub(crate) async fn open(&mut self, path: &str) -> Answer {
        let url = if path.contains("://") { path.to_owned() } else { format!("{}{path}", self.issuer) };
        let answer = self.send(Method::GET, &url, None).await;
        self.follow(answer).await
    }

    /// Fills the form on the present page and presses the button with this id; follows.
    pub(crate) async fn submit(&mut self, button: &str, fill: &[(&str, &str)]) -> Answer {
        let at = self.at.clone().expect("a page");
        let form: Form = at
            .page()
            .form_with(button)
            .unwrap_or_else(|| panic!("no #{button} at {} {}:\n{}", at.status, at.url, at.body));
        let target = url::Url::parse(&at.url).expect("an address").join(&form.action).expect("a target");
        let fields = form.filled(button, fill);
        let answer = self.send(Method::POST, target.as_str(), Some(&fields)).await;
        self.follow(answer).await
    }

    /// Signs alice in on the page it stands on.
    pub(crate) async fn sign_in(&mut self) -> Answer {
        self.submit("login-submit", &[("username", "alice"), ("password", PASSWORD)]).await
    }

    /// Asks for a code, signing alice in where she is not yet.
    pub(crate) async fn code(&mut self, client: flow::Client, scope: &str) -> String {
        let mut answer = self.open(&flow::authorize(client, scope, &[])).await;
        if answer.page().has_id("login-submit") {
            answer = self.sign_in().await;
        }
        answer.location_param("code").unwrap_or_else(|| panic!("no code: {}", answer.location()))
    }

    /// All its cookies' values.
    pub(crate) fn cookies(&self) -> Vec<String> {
        self.jar.values().cloned().collect()
    }

    async fn send(&mut self, method: Method, url: &str, form: Option<&[(String, String)]>) -> Answer {
        let mut request =
            self.client.request(method, url).header("accept", "text/html").header("accept-language", "en");
        if !self.jar.is_empty() {
            let pairs: Vec<_> = self.jar.iter().map(|(name, value)| format!("{name}={value}")).collect();
            request = request.header("cookie", pairs.join("; "));
        }
        if let Some(fields) = form {
            let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
            request = request
                .header("content-type", "application/x-www-form-urlencoded")
                .header("origin", &self.issuer)
                .header("sec-fetch-site", "same-origin")
                .body(body);
        }
        let answer = read(request).await;
        for header in answer.headers.get_all("set-cookie") {
            let text = header.to_str().expect("ASCII");
            let (name, rest) = text.split_once('=').expect("name=value");
            let value = rest.split(';').next().unwrap_or("");
            if text.contains("Max-Age=0") {
                self.jar.remove(name);
            } else {
                self.jar.insert(name.to_owned(), value.to_owned());
            }
        }
        self.at = Some(answer.clone());
        answer
    }

    async fn follow(&mut self, mut answer: Answer) -> Answer {
        for _ in 0..10 {
            if !answer.status.is_redirection() {
                break;
            }
            let target = url::Url::parse(&answer.url).expect("an address").join(answer.location()).expect("a target");
            if !target.as_str().starts_with(&self.issuer) {
                break;
            }
            answer = self.send(Method::GET, target.as_str(), None).await;
        }
        answer
    }
}

fn client() -> Client {
    Client::builder().redirect(redirect::Policy::none()).no_proxy().build().expect("a client")
}

async fn read(request: reqwest::RequestBuilder) -> Answer {
    let response = request.send().await.expect("the server answers");
    let (url, status, headers) = (response.url().to_string(), response.status(), response.headers().clone());
    Answer { url, status, headers, body: response.text().await.expect("a body") }
}

/// Gets an address.
pub(crate) async fn get(url: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = client().get(url);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    read(request).await
}

/// Posts a form to one of the provider's endpoints as a client.
pub(crate) async fn post_as(issuer: &str, as_client: flow::Client, path: &str, fields: &[(&str, &str)]) -> Answer {
    let mut fields = fields.to_vec();
    let mut request = client().post(format!("{issuer}{path}"));
    match as_client.secret {
        Some(secret) if as_client.in_body => fields.extend([("client_id", as_client.id), ("client_secret", secret)]),
        Some(secret) => request = request.header("authorization", flow::basic(as_client.id, secret)),
        None => fields.push(("client_id", as_client.id)),
    }
    let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    read(request.header("content-type", "application/x-www-form-urlencoded").body(body)).await
}

/// Redeems a code.
pub(crate) async fn redeem(issuer: &str, client: flow::Client, code: &str) -> Answer {
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", code),
        ("redirect_uri", client.redirect_uri),
        ("code_verifier", VERIFIER),
    ];
    post_as(issuer, client, "/token", &fields).await
}

/// Refreshes.
pub(crate) async fn refresh(issuer: &str, client: flow::Client, token: &str) -> Answer {
    post_as(issuer, client, "/token", &[("grant_type", "refresh_token"), ("refresh_token", token)]).await
}

/// Introspects.
pub(crate) async fn introspect(issuer: &str, client: flow::Client, token: &str) -> Value {
    let answer = post_as(issuer, client, "/introspect", &[("token", token)]).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()
}
