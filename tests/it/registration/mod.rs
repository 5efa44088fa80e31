//! Clients that register themselves, from end to end (RFC 7591, RFC 7592; B-34; `security-design` rules 25 and 31).

mod create;
mod hostile;
mod life;
mod manage;
mod refused;
mod returned;

use std::net::IpAddr;

use doorward::domain::model::client::Client as StoredClient;
use doorward::store::repo;
use http::Request;
use serde_json::{Value, json};

use crate::kit::browser::Answer;
use crate::kit::flow::{Client, text};
use crate::kit::op::Op;
use crate::kit::rows::db_realm;

/// A realm in which anybody may register.
pub(crate) const OPEN: &str = "realm: main\nsettings:\n  client_registration:\n    enabled: true\n    \
                               require_initial_access_token: false\n    rate_per_hour: 1000\n";

/// The product with such a realm.
pub(crate) async fn open() -> Op {
    let op = Op::start().await;
    op.apply(OPEN).await;
    op
}

/// A setting of registration in addition.
pub(crate) async fn set(op: &Op, setting: &str) {
    op.apply(&format!("realm: main\nsettings: {{ client_registration: {{ {setting} }} }}\n")).await;
}

/// A request with a token and a document, where there are any.
pub(crate) async fn call(op: &Op, method: &str, path: &str, token: Option<&str>, document: Option<&Value>) -> Answer {
    call_from(op, [127, 0, 0, 1].into(), (method, path), token, document).await
}

/// As [`call`], from an address.
pub(crate) async fn call_from(
    op: &Op,
    from: IpAddr,
    (method, path): (&str, &str),
    token: Option<&str>,
    document: Option<&Value>,
) -> Answer {
    let url = op.absolute(path);
    let (host, target) = op.path_of(&url);
    let mut request = Request::builder().method(method).uri(target).header("host", host);
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    if document.is_some() {
        request = request.header("content-type", "application/json");
    }
    let body = document.map(Value::to_string).unwrap_or_default();
    op.send_from(from, url, request.body(body.into()).expect("a request")).await
}

/// Registers without a token.
pub(crate) async fn register(op: &Op, document: &Value) -> Answer {
    call(op, "POST", "/register", None, Some(document)).await
}

/// What came of a good registration.
pub(crate) async fn registered(op: &Op, document: &Value) -> Value {
    let answer = register(op, document).await;
    assert_eq!(answer.status, 201, "{}", answer.body);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    op.poll().await;
    answer.json()
}

/// A usual application.
pub(crate) fn app() -> Value {
    json!({
        "client_name": "Fresh app",
        "redirect_uris": ["https://fresh.example/cb"],
        "grant_types": ["authorization_code", "refresh_token"],
    })
}

/// The usual application with other members.
pub(crate) fn app_with(members: &Value) -> Value {
    let mut document = app();
    for (name, value) in members.as_object().expect("members") {
        document[name] = value.clone();
    }
    document
}

/// The client as the other helpers know clients.
pub(crate) fn as_client(answer: &Value) -> Client {
    let leaked = |text: &str| -> &'static str { text.to_owned().leak() };
    let secret = answer["client_secret"].as_str().map(leaked);
    Client {
        id: leaked(text(answer, "client_id")),
        secret,
        in_body: answer["token_endpoint_auth_method"] == "client_secret_post",
        redirect_uri: leaked(answer["redirect_uris"][0].as_str().expect("a redirect URI")),
    }
}

/// Path of the registration, and its token.
pub(crate) fn managed<'a>(op: &Op, answer: &'a Value) -> (&'a str, &'a str) {
    let path = text(answer, "registration_client_uri").strip_prefix(&*op.public_url).expect("below the issuer");
    (path, text(answer, "registration_access_token"))
}

/// The client as it is stored.
pub(crate) async fn db_client(op: &Op, client_id: &str) -> Option<StoredClient> {
    let realm = db_realm(op).await;
    repo::client::find_by_client_id(&op.app.store.read(), realm, client_id).await.expect("the store answers")
}

/// A refusal in JSON: its status, `error`, and a part of its description.
#[track_caller]
pub(crate) fn refused(answer: &Answer, status: u16, error: &str, told: &str) {
    assert_eq!(answer.status, status, "{}", answer.body);
    assert_eq!(answer.header("content-type"), Some("application/json"), "{}", answer.body);
    let body = answer.json();
    assert_eq!(body["error"], error, "{body}");
    let description = body["error_description"].as_str().unwrap_or_default();
    assert!(description.contains(told), "{told}: {description}");
    assert!(description.bytes().all(|byte| matches!(byte, 0x20..=0x21 | 0x23..=0x5b | 0x5d..=0x7e)), "{description}");
}

/// A challenge of RFC 6750.
#[track_caller]
pub(crate) fn challenged(answer: &Answer) {
    assert_eq!(answer.status, 401, "{}", answer.body);
    assert!(answer.header("www-authenticate").is_some_and(|value| value.starts_with("Bearer")), "{:?}", answer.headers);
}
