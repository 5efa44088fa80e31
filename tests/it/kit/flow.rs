//! The code flow as tests say it: an authorization request, a sign-in, a redemption.

use std::net::IpAddr;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::Value;

use super::browser::{Answer, Browser};
use super::op::{Op, PASSWORD, SECRET};

/// A verifier and its S256 challenge (RFC 7636 appendix B).
pub const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
/// As above.
pub const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// A client as the tests know it.
#[derive(Debug, Clone, Copy)]
pub struct Client {
    /// `client_id`.
    pub id: &'static str,
    /// Its secret; none for a public one.
    pub secret: Option<&'static str>,
    /// Whether the secret goes into the body.
    pub in_body: bool,
    /// Where answers go.
    pub redirect_uri: &'static str,
}

/// The confidential first-party client.
pub const WEB: Client =
    Client { id: "web", secret: Some(SECRET), in_body: false, redirect_uri: "https://app.example/cb" };
/// The client that asks for consent.
pub const ASKER: Client = Client {
    id: "asker",
    secret: Some("ask-secret-0123456789abcdef"),
    in_body: true,
    redirect_uri: "https://asker.example/cb",
};
/// The public client.
pub const NATIVE: Client =
    Client { id: "native", secret: None, in_body: false, redirect_uri: "http://localhost:63785/callback" };
/// The client with opaque access tokens.
pub const OPAQUE: Client = Client {
    id: "opaque",
    secret: Some("opq-secret-0123456789abcdef"),
    in_body: false,
    redirect_uri: "https://opaque.example/cb",
};
/// The resource server.
pub const API: Client =
    Client { id: "api", secret: Some("api-secret-0123456789abcdef"), in_body: false, redirect_uri: "" };
/// A client that has nothing to do with it.
pub const STRANGER: Client =
    Client { id: "stranger", secret: Some("str-secret-0123456789abcdef"), in_body: false, redirect_uri: "" };

/// `/authorize` with code, PKCE, state `st` and nonce `no`; `extra` replaces, an empty value removes.
pub fn authorize(client: Client, scope: &str, extra: &[(&str, &str)]) -> String {
    authorize_at("", client, scope, extra)
}

/// As [`authorize`], below a realm's path such as `/realms/other`.
pub fn authorize_at(base: &str, client: Client, scope: &str, extra: &[(&str, &str)]) -> String {
    let mut pairs = vec![
        ("response_type", "code"),
        ("client_id", client.id),
        ("redirect_uri", client.redirect_uri),
        ("scope", scope),
        ("state", "st"),
        ("nonce", "no"),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
    ];
    for (name, value) in extra {
        pairs.retain(|(known, _)| known != name);
        if !value.is_empty() {
            pairs.push((name, value));
        }
    }
    format!("{base}/authorize?{}", form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish())
}

/// `Authorization: Basic` for a client, form-encoded first (RFC 6749 section 2.3.1).
pub fn basic(id: &str, secret: &str) -> String {
    let encode = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    format!("Basic {}", STANDARD.encode(format!("{}:{}", encode(id), encode(secret))))
}

/// Posts to an endpoint as this client.
pub async fn post_as(op: &Op, client: Client, path: &str, fields: &[(&str, &str)]) -> Answer {
    post_as_from(op, ([127, 0, 0, 1].into(), None), client, path, fields).await
}

/// As [`post_as`], from an address and with a `User-Agent`.
pub async fn post_as_from(
    op: &Op,
    (from, agent): (IpAddr, Option<&str>),
    client: Client,
    path: &str,
    fields: &[(&str, &str)],
) -> Answer {
    let mut fields = fields.to_vec();
    let mut headers: Vec<(&str, &str)> = agent.map(|agent| ("user-agent", agent)).into_iter().collect();
    let header;
    match client.secret {
        Some(secret) if client.in_body => fields.extend([("client_id", client.id), ("client_secret", secret)]),
        Some(secret) => {
            header = basic(client.id, secret);
            headers.push(("authorization", header.as_str()));
        }
        None => fields.push(("client_id", client.id)),
    }
    op.post_from(from, path, &fields, &headers).await
}

/// Redeems a code.
pub async fn redeem(op: &Op, client: Client, code: &str) -> Answer {
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", code),
        ("redirect_uri", client.redirect_uri),
        ("code_verifier", VERIFIER),
    ];
    post_as(op, client, "/token", &fields).await
}

/// Refreshes.
pub async fn refresh(op: &Op, client: Client, token: &str) -> Answer {
    post_as(op, client, "/token", &[("grant_type", "refresh_token"), ("refresh_token", token)]).await
}

/// Somebody signs in beside those who are there; the answer of the web shop's request.
pub async fn sign_in_beside(browser: &mut Browser<'_>, username: &str, password: &str) -> Answer {
    let asked = browser.get(&authorize(WEB, "openid", &[("prompt", "select_account")])).await;
    if asked.page().has_id("another-account") {
        browser.submit("another-account", &[]).await;
    }
    let answer = browser.sign_in(username, password).await;
    assert!(answer.status.is_redirection(), "{username}: {} {}", answer.status, answer.body);
    answer
}

/// Five more people sign in in this browser: as many as fit, so that whoever was there before has to go.
pub async fn crowd(op: &Op, browser: &mut Browser<'_>) {
    let users: String =
        (1..=5).map(|n| format!("  - {{ username: guest{n}, password: {{ value: \"{PASSWORD}\" }} }}\n")).collect();
    op.apply(&format!("realm: main\nusers:\n{users}")).await;
    for n in 1..=5 {
        sign_in_beside(browser, &format!("guest{n}"), PASSWORD).await;
    }
}

/// Signs alice in (where she is not yet) and comes back with a code.
pub async fn code(browser: &mut Browser<'_>, client: Client, scope: &str) -> String {
    let answer = code_answer(browser, client, scope, &[]).await;
    answer.location_param("code").unwrap_or_else(|| panic!("no code: {}", answer.location()))
}

/// As [`code`], with the whole answer and extra parameters.
pub async fn code_answer(browser: &mut Browser<'_>, client: Client, scope: &str, extra: &[(&str, &str)]) -> Answer {
    let mut answer = browser.get(&authorize(client, scope, extra)).await;
    if answer.page().has_id("login-submit") {
        answer = browser.sign_in("alice", PASSWORD).await;
    }
    if answer.page().has_id("consent-allow") {
        answer = browser.submit("consent-allow", &[]).await;
    }
    assert!(answer.status.is_redirection(), "{} {}", answer.status, answer.body);
    answer
}

/// A whole sign-in of alice: the token endpoint's answer.
pub async fn tokens(op: &Op, browser: &mut Browser<'_>, client: Client, scope: &str) -> Value {
    let code = code(browser, client, scope).await;
    let answer = redeem(op, client, &code).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()
}

/// A text member.
pub fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_else(|| panic!("{name} in {value}"))
}

/// A JWT's header and payload, not verified.
pub fn decode(jwt: &str) -> (Value, Value) {
    let mut parts = jwt.split('.').map(|part| {
        let bytes = URL_SAFE_NO_PAD.decode(part).expect("base64url");
        serde_json::from_slice::<Value>(&bytes).unwrap_or(Value::Null)
    });
    (parts.next().expect("a header"), parts.next().expect("a payload"))
}

/// Redeems the code of an answer: the claims of the ID token.
pub async fn id_claims(op: &Op, client: Client, answer: &Answer) -> Value {
    let code = answer.location_param("code").unwrap_or_else(|| panic!("no code: {}", answer.location()));
    let redeemed = redeem(op, client, &code).await;
    assert_eq!(redeemed.status, 200, "{}", redeemed.body);
    decode(text(&redeemed.json(), "id_token")).1
}

/// Userinfo with a token.
pub async fn userinfo(op: &Op, access_token: &str) -> Answer {
    op.get("/userinfo", &[("authorization", &format!("Bearer {access_token}"))]).await
}

/// Introspection by a client.
pub async fn introspect(op: &Op, caller: Client, token: &str) -> Value {
    let answer = post_as(op, caller, "/introspect", &[("token", token)]).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()
}
