//! Clients that sign: private_key_jwt and client_secret_jwt at token, introspection and revocation
//! (RFC 7521, RFC 7523, OpenID Connect Core 9; behaviour cases B-12 and B-13; `security` rows 48, 60, 61, 63).

mod fetched;
mod proof;
mod replay;
mod secret;

use serde_json::{Value, json};

use crate::kit::op::{Builder, Op, REALM};
use crate::kit::signing::{EC, ED, Key, RSA, jwks};

/// The usual realm with one more client, which has these lines.
fn with_client(lines: &str) -> Builder {
    let client = format!(
        "  - client_id: signer\n    grant_types: [ client_credentials ]\n    response_types: []\n    scope: read\n{lines}\nresources:\n"
    );
    Op::builder().realm(&REALM.replace("resources:\n  - identifier", &format!("{client}  - identifier")))
}

/// Adds a client with these lines to a running one.
async fn add_client(op: &Op, id: &str, lines: &str) {
    op.apply(&format!(
        "realm: main\nclients:\n  - client_id: {id}\n    grant_types: [ client_credentials ]\n    response_types: []\n    scope: read\n{lines}\n"
    ))
    .await;
}

/// A client with these keys.
fn by_keys(keys: &[Value]) -> String {
    format!("    token_endpoint_auth_method: private_key_jwt\n    jwks: {}", jwks(keys))
}

/// One with a key of each kind, one of them without a name.
async fn started() -> Op {
    let op = Op::start().await;
    add_client(&op, "signer", &by_keys(&[RSA.public(Some("rsa")), EC.public(None), ED.public(Some("ed"))])).await;
    op
}

/// Every algorithm with the key that it needs.
fn pairs() -> [(&'static str, &'static Key); 4] {
    [("RS256", &RSA), ("PS256", &RSA), ("ES256", &EC), ("EdDSA", &ED)]
}

fn header(alg: &str) -> Value {
    json!({ "alg": alg, "typ": "JWT" })
}
