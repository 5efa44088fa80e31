//! What passes through the browser besides a code: implicit and hybrid answers (OpenID Connect Core 3.2 and 3.3,
//! Multiple Response Types, behaviour cases B-26 and B-27), for clients that have registered them.

mod binding;
mod ends;
mod refused;
mod tokens;

use std::collections::BTreeMap;

use crate::kit::browser::{Answer, Browser};
use crate::kit::flow::{Client, authorize};
use crate::kit::op::{Op, PASSWORD};

/// A first-party client of every response type, one that asks, and one that may have an ID token and no more.
const CLIENTS: &str = r#"
realm: main
clients:
  - client_id: old
    client_name: Old portal
    client_secret: "old-secret-0123456789abcdef"
    redirect_uris: [ "https://old.example/cb" ]
    grant_types: [ authorization_code, implicit, refresh_token ]
    response_types: [ code, id_token, code id_token, token, id_token token, code token, code id_token token ]
    scope: "openid profile email phone offline_access roles read"
    resources: [ "https://api.example" ]
    consent: skip
  - client_id: careful
    client_name: Careful portal
    token_endpoint_auth_method: none
    redirect_uris: [ "https://careful.example/cb" ]
    grant_types: [ authorization_code, implicit ]
    response_types: [ id_token, code id_token ]
    scope: "openid profile email"
"#;

/// Access tokens pass through the browser too.
const TOKENS: &str = "realm: main\nsettings: { clients: { front_channel_tokens: true } }\n";

const OLD: Client = Client {
    id: "old",
    secret: Some("old-secret-0123456789abcdef"),
    in_body: false,
    redirect_uri: "https://old.example/cb",
};
const CAREFUL: Client =
    Client { id: "careful", secret: None, in_body: false, redirect_uri: "https://careful.example/cb" };

/// With the clients; no access tokens.
async fn start() -> Op {
    let op = Op::start().await;
    op.apply(CLIENTS).await;
    op
}

/// With access tokens too.
async fn start_with_tokens() -> Op {
    let op = start().await;
    op.apply(TOKENS).await;
    op
}

/// Alice goes through whatever is shown; what the client gets.
async fn answer(browser: &mut Browser<'_>, client: Client, scope: &str, extra: &[(&str, &str)]) -> Answer {
    let mut answer = browser.get(&authorize(client, scope, extra)).await;
    if answer.page().has_id("login-submit") {
        answer = browser.sign_in("alice", PASSWORD).await;
    }
    if answer.page().has_id("consent-allow") { browser.submit("consent-allow", &[]).await } else { answer }
}

/// As [`answer`]: the fields in the fragment, `iss` and `state` checked.
async fn fields(
    browser: &mut Browser<'_>,
    client: Client,
    scope: &str,
    extra: &[(&str, &str)],
) -> BTreeMap<String, String> {
    let answer = answer(browser, client, scope, extra).await;
    assert_eq!(answer.status, 303, "{}", answer.body);
    assert!(answer.location().starts_with(&format!("{}#", client.redirect_uri)), "{}", answer.location());
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let mut fields = answer.fragment();
    assert_eq!(fields.remove("iss").as_deref(), Some("http://localhost:8080"));
    assert_eq!(fields.remove("state").as_deref(), Some("st"));
    fields
}

/// The names of fields.
fn names(fields: &BTreeMap<String, String>) -> Vec<&str> {
    fields.keys().map(String::as_str).collect()
}
