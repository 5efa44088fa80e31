//! The key set document (RFC 7517 section 5) and key thumbprints (RFC 7638, RFC 8037 section 2).
//!
//! Only public members leave: a key with a private one is refused as a whole, whoever stored it.

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

/// Members of private and symmetric keys (RFC 7518 section 6).
pub(super) const PRIVATE: [&str; 8] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/// A stored key that must not or cannot be published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotPublishable {
    /// Its `kid`, or its place in the list.
    pub key: String,
}

impl std::fmt::Display for NotPublishable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "signing key {} is not a public key with kid, use and alg", self.key)
    }
}

impl std::error::Error for NotPublishable {}

/// The document of the given public keys, in their order; a repeated `kid` is refused.
pub fn assemble<'a>(keys: impl IntoIterator<Item = &'a str>) -> Result<String, NotPublishable> {
    let mut set = Vec::new();
    let mut kids: Vec<String> = Vec::new();
    for (place, text) in keys.into_iter().enumerate() {
        let key = read(text).ok_or_else(|| NotPublishable { key: format!("number {}", place + 1) })?;
        let kid = key.get("kid").and_then(Value::as_str).unwrap_or_default().to_owned();
        let is_public = !PRIVATE.iter().any(|member| key.contains_key(*member));
        let has_names = ["use", "alg", "kty"].iter().all(|member| key.get(*member).is_some_and(Value::is_string));
        if !is_public || !has_names || kid.is_empty() || kids.contains(&kid) {
            return Err(NotPublishable { key: kid });
        }
        kids.push(kid);
        set.push(Value::Object(key));
    }
    let mut document = Map::new();
    document.insert("keys".to_owned(), Value::Array(set));
    Ok(Value::Object(document).to_string())
}

/// The SHA-256 thumbprint of a public key, base64url; `None` when it is no key of a kind we make.
#[must_use]
pub fn thumbprint(jwk: &str) -> Option<String> {
    let key = read(jwk)?;
    let members: &[&str] = match key.get("kty")?.as_str()? {
        "RSA" => &["e", "kty", "n"],
        "EC" => &["crv", "kty", "x", "y"],
        "OKP" => &["crv", "kty", "x"],
        _ => return None,
    };
    // Required members only, in lexicographic order, without white space (RFC 7638 section 3).
    let parts: Option<Vec<String>> = members
        .iter()
        .map(|member| Some(format!("\"{member}\":{}", Value::String(key.get(*member)?.as_str()?.to_owned()))))
        .collect();
    let canonical = format!("{{{}}}", parts?.join(","));
    Some(URL_SAFE_NO_PAD.encode(digest(&SHA256, canonical.as_bytes())))
}

fn read(text: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(text).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const OKP: &str = r#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kid":"a","use":"sig","alg":"EdDSA"}"#;

    fn key(kid: &str) -> String {
        json!({"kty": "EC", "crv": "P-256", "x": "x", "y": "y", "kid": kid, "use": "sig", "alg": "ES256"}).to_string()
    }

    #[test]
    fn a_set_holds_the_keys_in_their_order() {
        let (one, two) = (key("b"), key("c"));
        let set: Value = serde_json::from_str(&assemble([OKP, &one, &two]).unwrap()).unwrap();
        let kids: Vec<&str> = set["keys"].as_array().unwrap().iter().map(|key| key["kid"].as_str().unwrap()).collect();
        assert_eq!(kids, ["a", "b", "c"]);
        assert_eq!(assemble([]).unwrap(), r#"{"keys":[]}"#);
    }

    #[test]
    fn a_private_member_a_missing_name_and_a_repeated_kid_are_refused() {
        for member in PRIVATE {
            let mut bad: Value = serde_json::from_str(&key("x")).unwrap();
            bad[member] = json!("AQAB");
            assert!(assemble([bad.to_string().as_str()]).is_err(), "{member}");
        }
        for member in ["kid", "use", "alg", "kty"] {
            let mut bad: Value = serde_json::from_str(&key("x")).unwrap();
            bad.as_object_mut().unwrap().remove(member);
            assert!(assemble([bad.to_string().as_str()]).is_err(), "{member}");
        }
        assert!(assemble([key("x").as_str(), key("x").as_str()]).is_err());
        for wrong in ["", "[]", "{", "null"] {
            assert!(assemble([wrong]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn thumbprints_are_those_of_the_standards() {
        // RFC 7638 section 3.1.
        let rsa = r#"{"kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw","e":"AQAB","alg":"RS256","kid":"2011-04-29"}"#;
        assert_eq!(thumbprint(rsa).as_deref(), Some("NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"));
        // RFC 8037 appendix A.3.
        let okp = r#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;
        assert_eq!(thumbprint(okp).as_deref(), Some("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"));
        assert_eq!(thumbprint(OKP), thumbprint(okp));
        for wrong in ["", "{}", r#"{"kty":"oct","k":"AQAB"}"#, r#"{"kty":"EC","crv":"P-256","x":"x"}"#] {
            assert_eq!(thumbprint(wrong), None, "{wrong}");
        }
    }
}
