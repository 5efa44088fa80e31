//! ID tokens: OpenID Connect Core sections 2, 3.1.3.3, 3.1.3.6, 3.2.2.10, 3.3.2.11 and 12.2; hints: 3.1.2.1
//! and RP-Initiated Logout section 2.
//!
//! No `nbf` (behaviour case B-55), and no claims about the person but those that were asked for one by one: they
//! belong in userinfo, unless there is no access token to ask for them with (5.4).

use std::time::Duration;

use aws_lc_rs::digest::{self, digest};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::json::{self, OneOrMany};
use super::refusal::{OauthCode, Refusal};
use super::token::Entitlement;
use crate::model::ids::SessionId;
use crate::model::key::Algorithm;
use crate::model::timestamp::Timestamp;

/// The `typ` header of an ID token.
pub const TYP: &str = "JWT";

/// What an ID token is made of.
#[derive(Clone, Copy)]
pub struct IdTokenFacts<'a> {
    /// The realm's issuer.
    pub issuer: &'a str,
    /// What the grant gives.
    pub entitlement: &'a Entitlement,
    /// The person, as this client knows her.
    pub sub: &'a str,
    /// The access token that comes with it.
    pub access_token: Option<&'a str>,
    /// The code that comes with it.
    pub code: Option<&'a str>,
    /// Claims about the person: those asked for by name, and those of the scopes where no access token comes.
    pub person: Option<&'a Map<String, Value>>,
    /// The algorithm of the key that really signs (behaviour case B-26).
    pub alg: Algorithm,
    /// The request's one moment.
    pub now: Timestamp,
    /// How long it lives.
    pub lifetime: Duration,
}

/// The claims of an ID token, written in one pass.
#[derive(Serialize)]
pub struct IdTokenClaims<'a> {
    iss: &'a str,
    sub: &'a str,
    aud: &'a str,
    exp: i64,
    iat: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    auth_time: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nonce: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    acr: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    amr: Vec<&'static str>,
    azp: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    c_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "json::maybe_shown")]
    sid: Option<SessionId>,
    #[serde(flatten)]
    person: Option<&'a Map<String, Value>>,
}

impl<'a> IdTokenClaims<'a> {
    /// Puts the claims together.
    #[must_use]
    pub fn new(facts: &IdTokenFacts<'a>) -> Self {
        let given = facts.entitlement;
        Self {
            iss: facts.issuer,
            sub: facts.sub,
            aud: &given.client_id,
            exp: facts.now.plus(facts.lifetime).as_secs(),
            iat: facts.now.as_secs(),
            auth_time: given.auth_time.map(Timestamp::as_secs),
            nonce: given.nonce.as_deref(),
            acr: given.acr.map(crate::model::session::Acr::as_str),
            amr: given.amr.iter().map(|amr| amr.as_str()).collect(),
            azp: &given.client_id,
            at_hash: facts.access_token.map(|token| half_hash(facts.alg, token)),
            c_hash: facts.code.map(|code| half_hash(facts.alg, code)),
            sid: given.sid,
            person: facts.person,
        }
    }

    /// The JWT's payload.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// `at_hash` of an access token, `c_hash` of a code: the left half of its hash, by the hash of the ID token's own
/// algorithm (OpenID Connect Core 3.1.3.6 and 3.3.2.11); Ed25519 hashes with SHA-512 inside.
#[must_use]
pub fn half_hash(alg: Algorithm, text: &str) -> String {
    let hash = match alg {
        Algorithm::RS256 | Algorithm::PS256 | Algorithm::ES256 => &digest::SHA256,
        Algorithm::EdDSA => &digest::SHA512,
    };
    let sum = digest(hash, text.as_bytes());
    let (left, _) = sum.as_ref().split_at(hash.output_len() / 2);
    URL_SAFE_NO_PAD.encode(left)
}

/// What an `id_token_hint` says after its signature was verified, by a key that may be retired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HintClaims {
    /// Who issued it.
    pub iss: String,
    /// Of whom it speaks.
    pub sub: String,
    /// For whom it is.
    pub aud: Vec<String>,
    /// Authorized party.
    pub azp: Option<String>,
    /// The session.
    pub sid: Option<SessionId>,
    /// Ended; not looked at, a hint may be old.
    pub exp: i64,
}

impl HintClaims {
    /// The client it was made for: the audience, or `azp` among several.
    #[must_use]
    pub fn client_id(&self) -> Option<&str> {
        match self.aud.as_slice() {
            [one] => Some(one),
            _ => self.azp.as_deref().filter(|azp| self.aud.iter().any(|aud| aud == azp)),
        }
    }
}

#[derive(Deserialize)]
struct HintForm {
    iss: String,
    sub: String,
    aud: OneOrMany,
    azp: Option<String>,
    sid: Option<String>,
    exp: i64,
}

/// Reads a hint whose signature was verified. An access token is refused by its `typ`; the times are
/// not looked at (RP-Initiated Logout section 4).
pub fn parse_hint(typ: Option<&str>, payload: &[u8], issuer: &str) -> Result<HintClaims, Refusal> {
    let refuse =
        |reason| Refusal::new(OauthCode::InvalidRequest, reason, "id_token_hint is not an ID token of this issuer");
    if typ.is_some_and(|typ| typ != TYP) {
        return Err(refuse("hint_wrong_type"));
    }
    let form: HintForm = serde_json::from_slice(payload).map_err(|_| refuse("hint_malformed"))?;
    if form.iss != issuer {
        return Err(refuse("hint_of_other_issuer"));
    }
    let sid = form.sid.map(|sid| sid.parse()).transpose().map_err(|_| refuse("hint_malformed"))?;
    Ok(HintClaims { iss: form.iss, sub: form.sub, aud: form.aud.into(), azp: form.azp, sid, exp: form.exp })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::sample::{self, ISSUER};
    use super::super::token::Subject;
    use super::*;

    fn entitlement() -> Entitlement {
        Entitlement {
            subject: Subject::Person { user: sample::USER },
            client: sample::CLIENT,
            client_id: "web".to_owned(),
            scope: sample::words("openid profile email"),
            audience: vec![ISSUER.to_owned()],
            resources: Vec::new(),
            auth_time: Some(sample::ago(600)),
            acr: Some(crate::model::session::Acr::Aal1),
            amr: vec![crate::model::session::Amr::Pwd],
            nonce: Some("n-1".to_owned()),
            sid: Some(sample::SESSION),
            claims: None,
            cnf: None,
            offline: false,
            issue_refresh: false,
            issue_id_token: true,
        }
    }

    fn written(entitlement: &Entitlement) -> Value {
        let facts = IdTokenFacts {
            issuer: ISSUER,
            entitlement,
            sub: "sub-alice",
            access_token: Some("jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y"),
            code: None,
            person: None,
            alg: Algorithm::RS256,
            now: sample::now(),
            lifetime: Duration::from_mins(5),
        };
        serde_json::from_slice(&IdTokenClaims::new(&facts).to_bytes()).unwrap()
    }

    #[test]
    fn an_id_token_says_who_signed_in_when_and_how_and_no_more() {
        assert_eq!(
            written(&entitlement()),
            json!({
                "iss": ISSUER, "sub": "sub-alice", "aud": "web", "azp": "web",
                "exp": 1_800_000_300, "iat": 1_800_000_000, "auth_time": 1_799_999_400, "nonce": "n-1",
                "acr": "aal1", "amr": ["pwd"], "at_hash": "77QmUPtjPfzWtF2AnpK9RQ",
                "sid": "ses_04040404040404040404040404040404",
            })
        );
    }

    #[test]
    fn from_the_front_channel_it_binds_what_comes_with_it_and_may_speak_of_the_person() {
        let entitlement = entitlement();
        let person = json!({"name": "Alice"});
        let facts = IdTokenFacts {
            issuer: ISSUER,
            entitlement: &entitlement,
            sub: "sub-alice",
            access_token: None,
            code: Some("Qcb0Orv1zh30vL1MPRsbm-diHiMwcLyZvn1arpZv-Jxf_11jnpEX3Tgfvk"),
            person: person.as_object(),
            alg: Algorithm::RS256,
            now: sample::now(),
            lifetime: Duration::from_mins(5),
        };
        let claims: Value = serde_json::from_slice(&IdTokenClaims::new(&facts).to_bytes()).unwrap();
        assert_eq!((&claims["c_hash"], &claims["name"]), (&json!("LDktKdoQak3Pk0cnXxCltA"), &json!("Alice")));
        assert!(claims.get("at_hash").is_none(), "{claims}");
    }

    #[test]
    fn no_nonce_was_sent_so_none_comes_back() {
        let plain = Entitlement { nonce: None, ..entitlement() };
        assert!(written(&plain).get("nonce").is_none());
    }

    #[test]
    fn the_hash_goes_by_the_algorithm_that_signs() {
        // The example of OpenID Connect Core appendix A.3 and, for Ed25519, half of SHA-512.
        let token = "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y";
        for alg in [Algorithm::RS256, Algorithm::PS256, Algorithm::ES256] {
            assert_eq!(half_hash(alg, token), "77QmUPtjPfzWtF2AnpK9RQ", "{alg:?}");
        }
        // SHA-512 of "abc" begins ddaf35a193617aba cc417349ae204131 12e6fa4e89a97ea2 0a9eeee64b55d39a.
        // OpenID Connect Core appendix A.4.
        assert_eq!(
            half_hash(Algorithm::RS256, "Qcb0Orv1zh30vL1MPRsbm-diHiMwcLyZvn1arpZv-Jxf_11jnpEX3Tgfvk"),
            "LDktKdoQak3Pk0cnXxCltA"
        );
        assert_eq!(half_hash(Algorithm::EdDSA, "abc"), "3a81oZNherrMQXNJriBBMRLm-k6JqX6iCp7u5ktV05o");
    }

    #[test]
    fn a_hint_may_be_old_but_must_be_an_id_token_of_this_issuer() {
        let old =
            json!({"iss": ISSUER, "sub": "s", "aud": ["web"], "exp": 1, "sid": "ses_04040404040404040404040404040404"});
        let read = |typ, payload: &Value| parse_hint(typ, payload.to_string().as_bytes(), ISSUER);
        let hint = read(Some("JWT"), &old).unwrap();
        assert_eq!((hint.client_id(), hint.sid, hint.exp), (Some("web"), Some(sample::SESSION), 1));
        assert!(read(None, &old).is_ok());
        let reason = |result: Result<HintClaims, Refusal>| result.unwrap_err().reason;
        assert_eq!(reason(read(Some("at+jwt"), &old)), "hint_wrong_type");
        let mut other = old.clone();
        other["iss"] = json!("https://other.example");
        assert_eq!(reason(read(Some("JWT"), &other)), "hint_of_other_issuer");
        let mut odd = old;
        odd["sid"] = json!("x");
        assert_eq!(reason(read(Some("JWT"), &odd)), "hint_malformed");
        assert_eq!(reason(read(Some("JWT"), &json!([]))), "hint_malformed");
    }

    #[test]
    fn among_several_audiences_azp_names_the_client() {
        let hint = |aud: &str, azp: Option<&str>| HintClaims {
            iss: ISSUER.to_owned(),
            sub: "s".to_owned(),
            aud: sample::words(aud),
            azp: azp.map(str::to_owned),
            sid: None,
            exp: 0,
        };
        assert_eq!(hint("web", Some("other")).client_id(), Some("web"));
        assert_eq!(hint("web app", Some("app")).client_id(), Some("app"));
        assert_eq!(hint("web app", Some("x")).client_id(), None);
        assert_eq!(hint("web app", None).client_id(), None);
    }
}
