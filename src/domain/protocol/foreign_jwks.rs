//! Reading of a client's key set (RFC 7517 section 5), registered with it or fetched, and the choice of the
//! keys that may have made a signature.
//!
//! A key of a kind that is not known is passed over (section 5), and so is one that is not for signatures; a
//! private key is never used, because whoever reads the set could have signed with it.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value, json};

use super::jwks::PRIVATE;
use crate::model::key::Algorithm;

/// Keys of one set, those passed over included.
const KEYS_MAX: usize = 50;
/// Keys that are tried for one signature.
pub const TRIES: usize = 8;
const KID_MAX: usize = 256;

/// A public key of somebody else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignKey {
    /// Its name, where it has one.
    pub kid: Option<String>,
    /// What it verifies: one algorithm where the key says so, otherwise each that its kind allows.
    pub algorithms: Vec<Algorithm>,
    /// Its public members, and nothing else.
    pub jwk: Map<String, Value>,
}

/// The keys of a set that can be used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForeignKeySet {
    /// In their order.
    pub keys: Vec<ForeignKey>,
    /// Whether a private key stood among them.
    pub has_private: bool,
}

/// Why a document is no key set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotAKeySet {
    /// Not an object with a list `keys` of objects.
    Form,
    /// More keys than are looked at.
    TooMany,
}

impl fmt::Display for NotAKeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form => f.write_str("expected a JWK set: a mapping with keys, a list of keys (RFC 7517 section 5)"),
            Self::TooMany => write!(f, "more than {KEYS_MAX} keys"),
        }
    }
}

impl std::error::Error for NotAKeySet {}

/// What became of a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignatureVerdict {
    /// A key of the set made it.
    Good,
    /// Keys could have made it, and none did.
    Wrong,
    /// There is no key that could have made it.
    NoKey,
}

/// Reads a document that was fetched.
pub fn parse(bytes: &[u8]) -> Result<ForeignKeySet, NotAKeySet> {
    let value: Value = serde_json::from_slice(bytes).map_err(|_| NotAKeySet::Form)?;
    read(&value)
}

/// Reads a set.
pub fn read(value: &Value) -> Result<ForeignKeySet, NotAKeySet> {
    let list = value.get("keys").and_then(Value::as_array).ok_or(NotAKeySet::Form)?;
    if list.len() > KEYS_MAX {
        return Err(NotAKeySet::TooMany);
    }
    let mut set = ForeignKeySet::default();
    for item in list {
        let members = item.as_object().ok_or(NotAKeySet::Form)?;
        // `k` alone makes a symmetric key, which is passed over by its kind.
        if PRIVATE.iter().any(|member| *member != "k" && members.contains_key(*member)) {
            set.has_private = true;
        } else if let Some(key) = key(members) {
            set.keys.push(key);
        }
    }
    Ok(set)
}

impl ForeignKeySet {
    /// The set as it is kept: public members only, in one form, so that the same keys are the same text.
    #[must_use]
    pub fn to_value(&self) -> Value {
        json!({ "keys": self.keys.iter().map(|key| Value::Object(key.jwk.clone())).collect::<Vec<_>>() })
    }

    /// The places of the keys that may have made a signature, the likeliest first and at most [`TRIES`]:
    /// with a `kid` those of this name, then those without any; without one each that fits.
    #[must_use]
    pub fn candidates(&self, alg: Algorithm, kid: Option<&str>) -> Vec<usize> {
        let fitting = |named: bool| {
            self.keys.iter().enumerate().filter_map(move |(place, key)| {
                let is_named = kid.is_some() && key.kid.as_deref() == kid;
                let may = if named { is_named } else { !is_named && (kid.is_none() || key.kid.is_none()) };
                (may && key.algorithms.contains(&alg)).then_some(place)
            })
        };
        fitting(true).chain(fitting(false)).take(TRIES).collect()
    }

    /// Whether a newer set may hold the key: the token names none of these, or no key at all.
    #[must_use]
    pub fn may_be_outdated(&self, kid: Option<&str>) -> bool {
        kid.is_none_or(|kid| self.keys.iter().all(|key| key.kid.as_deref() != Some(kid)))
    }
}

fn key(members: &Map<String, Value>) -> Option<ForeignKey> {
    let text = |name: &str| members.get(name).and_then(Value::as_str);
    if members.contains_key("use") && text("use") != Some("sig") {
        return None;
    }
    if let Some(operations) = members.get("key_ops")
        && !operations.as_array()?.iter().any(|operation| operation == "verify")
    {
        return None;
    }
    let (possible, material): (&[Algorithm], Vec<(&str, String)>) = match text("kty")? {
        "RSA" => {
            (&[Algorithm::RS256, Algorithm::PS256], vec![("e", exponent(text("e")?)?), ("n", modulus(text("n")?)?)])
        }
        "EC" if text("crv")? == "P-256" => {
            (&[Algorithm::ES256], vec![("x", point(text("x")?)?), ("y", point(text("y")?)?)])
        }
        "OKP" if text("crv")? == "Ed25519" => (&[Algorithm::EdDSA], vec![("x", point(text("x")?)?)]),
        _ => return None,
    };
    let algorithms: Vec<Algorithm> = match members.get("alg") {
        None => possible.to_vec(),
        Some(alg) => possible.iter().copied().filter(|known| alg == known.as_str()).collect(),
    };
    let kid = match members.get("kid") {
        None => None,
        Some(kid) => Some(kid.as_str().filter(|kid| (1..=KID_MAX).contains(&kid.len()))?.to_owned()),
    };
    if algorithms.is_empty() {
        return None;
    }
    let mut jwk = Map::new();
    for name in ["kty", "crv", "use", "alg", "kid"] {
        // `crv` of an RSA key would be nothing but noise.
        if let Some(value) = text(name).filter(|_| name != "crv" || text("kty") != Some("RSA")) {
            jwk.insert(name.to_owned(), value.into());
        }
    }
    jwk.extend(material.into_iter().map(|(name, value)| (name.to_owned(), value.into())));
    Some(ForeignKey { kid, algorithms, jwk })
}

fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// A number without leading zeros. Some libraries put one before it (RFC 7518 section 6.3.1.1).
fn number(text: &str) -> Option<Vec<u8>> {
    let bytes = decode(text)?;
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    Some(bytes.get(zeros..)?.to_vec())
}

/// 2048 to 8192 bits.
fn modulus(text: &str) -> Option<String> {
    let bytes = number(text)?;
    (256..=1024).contains(&bytes.len()).then(|| URL_SAFE_NO_PAD.encode(bytes))
}

/// Odd and more than one: with 1 everybody signs.
fn exponent(text: &str) -> Option<String> {
    let bytes = number(text)?;
    let good = (1..=4).contains(&bytes.len()) && bytes.last()? % 2 == 1 && bytes != [1];
    good.then(|| URL_SAFE_NO_PAD.encode(bytes))
}

/// A coordinate on P-256, or an Ed25519 key.
fn point(text: &str) -> Option<String> {
    decode(text).filter(|bytes| bytes.len() == 32).map(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const X: &str = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";

    fn n(bytes: usize) -> String {
        URL_SAFE_NO_PAD.encode(vec![0xc5; bytes])
    }

    fn rsa(extra: Value) -> Value {
        with(json!({ "kty": "RSA", "e": "AQAB", "n": n(256) }), extra)
    }

    fn okp(extra: Value) -> Value {
        with(json!({ "kty": "OKP", "crv": "Ed25519", "x": X }), extra)
    }

    fn with(mut key: Value, extra: Value) -> Value {
        key.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        key
    }

    fn set(keys: &[Value]) -> ForeignKeySet {
        read(&json!({ "keys": keys })).unwrap()
    }

    fn usable(key: Value) -> usize {
        set(&[key]).keys.len()
    }

    #[test]
    fn keys_of_every_kind_are_read_with_what_they_may_verify() {
        use Algorithm::{ES256, EdDSA, PS256, RS256};
        let ec = json!({ "kty": "EC", "crv": "P-256", "x": X, "y": X });
        for (key, want) in [
            (rsa(json!({})), &[RS256, PS256][..]),
            (rsa(json!({ "alg": "PS256" })), &[PS256]),
            (ec, &[ES256]),
            (okp(json!({ "use": "sig", "key_ops": ["verify"], "kid": "k" })), &[EdDSA]),
        ] {
            assert_eq!(set(&[key]).keys[0].algorithms, want);
        }
    }

    #[test]
    fn what_is_not_for_signatures_or_not_known_is_passed_over() {
        for key in [
            json!({}),
            json!({ "kty": "oct", "k": "AQAB" }),
            json!({ "kty": "AKP", "alg": "ML-DSA-44", "pub": "AQAB" }),
            json!({ "kty": "EC", "crv": "P-384", "x": X, "y": X }),
            json!({ "kty": "EC", "crv": "P-256", "x": X }),
            json!({ "kty": "OKP", "crv": "X25519", "x": X }),
            okp(json!({ "x": "AQAB" })),
            okp(json!({ "x": format!("{X}=") })),
            okp(json!({ "use": "enc" })),
            okp(json!({ "use": 7 })),
            okp(json!({ "key_ops": ["sign"] })),
            okp(json!({ "key_ops": "verify" })),
            okp(json!({ "alg": "RS256" })),
            okp(json!({ "kid": "" })),
            okp(json!({ "kid": 7 })),
            rsa(json!({ "alg": "RSA-OAEP" })),
            rsa(json!({ "n": n(255) })),
            rsa(json!({ "n": n(1025) })),
            rsa(json!({ "e": "AQ" })),
            rsa(json!({ "e": "AAAAAQ" })),
            rsa(json!({ "e": "AA" })),
            rsa(json!({ "e": "Ag" })),
            rsa(json!({ "e": "" })),
        ] {
            assert_eq!(usable(key.clone()), 0, "{key}");
        }
    }

    #[test]
    fn a_private_key_is_told_and_never_used() {
        for member in ["d", "p", "q", "dp", "dq", "qi", "oth"] {
            let set = set(&[rsa(json!({ member: "AQAB" })), okp(json!({}))]);
            assert!(set.has_private && set.keys.len() == 1, "{member}");
            assert!(!set.to_value().to_string().contains("RSA"), "{member}");
        }
        assert!(!set(&[json!({ "kty": "oct", "k": "AQAB" })]).has_private);
    }

    #[test]
    fn a_modulus_with_a_zero_before_it_is_the_same_number() {
        let padded = URL_SAFE_NO_PAD.encode([&[0][..], &[0xc5; 256]].concat());
        assert_eq!(set(&[rsa(json!({ "n": padded, "e": "AAEAAQ" }))]), set(&[rsa(json!({}))]));
    }

    #[test]
    fn a_set_is_kept_in_one_form() {
        let key = okp(json!({ "kid": "k", "x5c": ["MII"], "ext": true, "mine": 1 }));
        let kept = set(&[key]).to_value();
        assert_eq!(kept, json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "x": X, "kid": "k" }] }));
        assert_eq!(read(&kept).unwrap().to_value(), kept);
    }

    #[test]
    fn the_named_key_comes_first_and_a_nameless_one_may_stand_for_any_name() {
        let keys = set(&[
            okp(json!({})),
            okp(json!({ "kid": "a" })),
            okp(json!({ "kid": "b" })),
            rsa(json!({ "kid": "b" })),
            rsa(json!({})),
        ]);
        for (alg, kid, want) in [
            (Algorithm::EdDSA, Some("b"), &[2, 0][..]),
            (Algorithm::EdDSA, Some("z"), &[0]),
            (Algorithm::EdDSA, None, &[0, 1, 2]),
            (Algorithm::RS256, Some("b"), &[3, 4]),
            (Algorithm::RS256, Some("a"), &[4]),
            (Algorithm::PS256, None, &[3, 4]),
            (Algorithm::ES256, None, &[]),
        ] {
            assert_eq!(keys.candidates(alg, kid), want, "{alg:?} {kid:?}");
        }
        assert!(keys.may_be_outdated(None) && keys.may_be_outdated(Some("z")) && !keys.may_be_outdated(Some("a")));
    }

    #[test]
    fn tries_and_keys_are_bounded() {
        let many: Vec<Value> = (0..50).map(|_| okp(json!({}))).collect();
        assert_eq!(set(&many).candidates(Algorithm::EdDSA, None).len(), TRIES);
        let more: Vec<Value> = (0..51).map(|_| json!({})).collect();
        assert_eq!(read(&json!({ "keys": more })), Err(NotAKeySet::TooMany));
        for text in ["", "{}", "[]", "null", r#"{"keys":{}}"#, r#"{"keys":[1]}"#, r#"{"keys":[]} x"#, "\u{feff}{}"] {
            assert_eq!(parse(text.as_bytes()), Err(NotAKeySet::Form), "{text}");
        }
        assert_eq!(parse(br#"{"keys":[]}"#), Ok(ForeignKeySet::default()));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse(&bytes);
        }

        #[test]
        fn any_members_are_read_or_passed_over(
            kty in "RSA|EC|OKP|oct|x", crv in "P-256|Ed25519|x", x in "[A-Za-z0-9_=-]{0,60}", alg in "RS256|ES256|EdDSA|x", kid in "\\PC{0,5}", private in any::<bool>(),
        ) {
            let mut key = json!({ "kty": kty, "crv": crv, "x": x, "y": x, "n": x, "e": x, "alg": alg, "kid": kid });
            if private { key["d"] = json!(x); }
            let set = set(&[key]);
            prop_assert!(!set.has_private || set.keys.is_empty());
            // What is kept reads back to the very same.
            prop_assert_eq!(read(&set.to_value()).unwrap().keys, set.keys);
        }
    }
}
