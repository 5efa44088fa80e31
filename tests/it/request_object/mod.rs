//! Request objects (OpenID Connect Core 6, RFC 9101), by value and by reference, good and hostile.

mod reference;
mod value;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::kit::browser::Answer;
use crate::kit::flow::{CHALLENGE, WEB, authorize};
use crate::kit::op::Op;
use crate::kit::signing::{EC, ED, RSA, jwks};

/// The first-party client with a key of each kind, two of them without a name, and these fields besides.
async fn add_keys(op: &Op, fields: &str) {
    let keys = jwks(&[RSA.public(None), EC.public(None), ED.public(Some("ed"))]);
    op.apply(&format!("realm: main\nclients: [ {{ client_id: web, jwks: {keys}{fields} }} ]")).await;
}

async fn started() -> Op {
    let op = Op::start().await;
    add_keys(&op, "").await;
    op
}

/// A request that would do without anything beside it, except the `client_id`.
fn whole(op: &Op) -> Value {
    let now = crate::kit::token::seconds(op);
    json!({
        "iss": "web", "aud": op.public_url, "iat": now, "nbf": now, "exp": now + 300, "client_id": "web",
        "response_type": "code", "redirect_uri": WEB.redirect_uri, "scope": "openid", "state": "inside",
        "nonce": "in", "code_challenge": CHALLENGE, "code_challenge_method": "S256",
    })
}

/// An object signed by the client's P-256 key.
fn signed(claims: &Value) -> String {
    EC.sign(&json!({"alg": "ES256", "typ": "oauth-authz-req+jwt"}), claims)
}

/// An object that nobody signed.
fn unsigned(claims: &Value) -> String {
    format!("{}.{}.", URL_SAFE_NO_PAD.encode(r#"{"alg":"none"}"#), URL_SAFE_NO_PAD.encode(claims.to_string()))
}

/// The usual request with an object.
fn with(object: &str, extra: &[(&str, &str)]) -> String {
    authorize(WEB, "openid", &[&[("request", object)], extra].concat())
}

/// What the client is told; nothing for a page of ours.
fn error(answer: &Answer) -> Option<String> {
    answer.header("location")?;
    answer.location_param("error")
}
