//! Clients that sign: keys of their own, made once per run, and assertions good and bad. Signatures are made
//! by another library than the one that verifies them.

use aws_lc_rs::hmac;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use doorward::clock::Clock;
use josekit::jwk::Jwk;
use josekit::jwk::alg::ec::EcCurve;
use josekit::jwk::alg::ed::EdCurve;
use josekit::jws::{ES256, EdDSA, JwsSigner, PS256, RS256};
use serde_json::{Value, json};

use super::browser::Answer;
use super::op::Op;

/// The one `client_assertion_type`.
pub const JWT_BEARER: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// An RSA key.
pub static RSA: LazyLock<Key> = LazyLock::new(|| Key(Jwk::generate_rsa_key(2048).expect("a key")));
/// Another one.
pub static OTHER_RSA: LazyLock<Key> = LazyLock::new(|| Key(Jwk::generate_rsa_key(2048).expect("a key")));
/// A key on P-256.
pub static EC: LazyLock<Key> = LazyLock::new(|| Key(Jwk::generate_ec_key(EcCurve::P256).expect("a key")));
/// An Ed25519 key.
pub static ED: LazyLock<Key> = LazyLock::new(|| Key(Jwk::generate_ed_key(EdCurve::Ed25519).expect("a key")));

/// A client's private key.
pub struct Key(Jwk);

impl Key {
    /// Its public part, with this name where one is given.
    pub fn public(&self, kid: Option<&str>) -> Value {
        let whole = Value::Object(self.0.as_ref().clone());
        let mut public = json!({ "kty": whole["kty"] });
        for member in ["n", "e", "crv", "x", "y"] {
            if let Some(value) = whole.get(member) {
                public[member] = value.clone();
            }
        }
        if let Some(kid) = kid {
            public["kid"] = json!(kid);
        }
        public
    }

    /// The whole key with this name, for a peer that signs by itself.
    pub fn private(&self, kid: &str) -> Value {
        let mut whole = self.0.as_ref().clone();
        whole.insert("kid".to_owned(), json!(kid));
        Value::Object(whole)
    }

    fn signer(&self, alg: &str) -> Box<dyn JwsSigner> {
        match alg {
            "RS256" => Box::new(RS256.signer_from_jwk(&self.0).expect("a signer")),
            "PS256" => Box::new(PS256.signer_from_jwk(&self.0).expect("a signer")),
            "ES256" => Box::new(ES256.signer_from_jwk(&self.0).expect("a signer")),
            "EdDSA" => Box::new(EdDSA.signer_from_jwk(&self.0).expect("a signer")),
            other => panic!("algorithm {other}"),
        }
    }

    /// A token with exactly this header and these claims.
    pub fn sign(&self, header: &Value, claims: &Value) -> String {
        compact(&*self.signer(header["alg"].as_str().expect("alg")), header, claims)
    }
}

/// A token signed with a secret.
pub fn sign_with_secret(secret: &[u8], header: &Value, claims: &Value) -> String {
    // Not by josekit, which takes no secret as short as ours may be.
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
    assemble(header, claims, |input| hmac::sign(&key, input).as_ref().to_vec())
}

fn compact(signer: &dyn JwsSigner, header: &Value, claims: &Value) -> String {
    assemble(header, claims, |input| signer.sign(input).expect("a signature"))
}

fn assemble(header: &Value, claims: &Value, sign: impl Fn(&[u8]) -> Vec<u8>) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let input = format!("{}.{}", part(header), part(claims));
    let signature = sign(input.as_bytes());
    format!("{input}.{}", URL_SAFE_NO_PAD.encode(signature))
}

/// A key set.
pub fn jwks(keys: &[Value]) -> String {
    json!({ "keys": keys }).to_string()
}

/// Claims as a client should send them, with a `jti` of their own.
pub fn claims(op: &Op, client_id: &str) -> Value {
    static COUNT: AtomicU64 = AtomicU64::new(1);
    let now = op.clock.now().as_secs();
    let jti = format!("jti-{}", COUNT.fetch_add(1, Ordering::SeqCst));
    json!({ "iss": client_id, "sub": client_id, "aud": op.public_url, "iat": now, "exp": now + 60, "jti": jti })
}

/// The claims with these in their place; `null` takes one away.
pub fn but(mut claims: Value, changes: Value) -> Value {
    let members = claims.as_object_mut().expect("an object");
    for (name, value) in changes.as_object().expect("an object") {
        if value.is_null() {
            members.remove(name);
        } else {
            members.insert(name.clone(), value.clone());
        }
    }
    claims
}

/// Posts a form with an assertion.
pub async fn post_signed(op: &Op, path: &str, assertion: &str, fields: &[(&str, &str)]) -> Answer {
    let own = [("client_assertion_type", JWT_BEARER), ("client_assertion", assertion)];
    op.post(path, &[&own[..], fields].concat(), &[]).await
}

/// A token for the client itself.
pub async fn token_by(op: &Op, assertion: &str) -> Answer {
    post_signed(op, "/token", assertion, &[("grant_type", "client_credentials")]).await
}
