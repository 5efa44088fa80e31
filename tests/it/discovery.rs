//! Metadata and keys as relying parties find them: OpenID Connect Discovery 4, RFC 8414 section 3,
//! behaviour cases B-27 and B-28, `security` 3.2, and the conformance module
//! `oidcc-discovery-endpoint-verification`.

mod listed;

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{Method, Request};
use serde_json::{Value, json};

use crate::kit::browser::Answer;
use crate::kit::flow::{WEB, authorize, code_answer, decode, redeem, text, userinfo};
use crate::kit::house::{self, HOUSES, MAIN, OTHER};
use crate::kit::op::Op;

const OPENID: &str = "/.well-known/openid-configuration";
const OAUTH: &str = "/.well-known/oauth-authorization-server";

async fn metadata(op: &Op) -> Value {
    op.get(OPENID, &[]).await.json()
}

fn list<'v>(document: &'v Value, name: &str) -> Vec<&'v str> {
    let values = document[name].as_array().unwrap_or_else(|| panic!("{name} in {document}"));
    values.iter().map(|value| value.as_str().expect("a text")).collect()
}

#[tokio::test]
async fn both_documents_stand_at_every_address_that_the_standards_name() {
    let op = Op::builder().public_url("https://id.example/sso").realm(&house::realms()).start().await;
    let host = "https://id.example";
    let cases: [(&str, &[&str]); 2] = [
        (
            "https://id.example/sso",
            &[
                // As the browser asks; and as it arrives behind a proxy that takes the prefix off.
                "/sso/.well-known/openid-configuration",
                "/.well-known/openid-configuration",
                "/sso/.well-known/oauth-authorization-server",
                "/.well-known/oauth-authorization-server",
                // The issuer's path inserted behind the well-known name (RFC 8414 section 3.1).
                "/.well-known/oauth-authorization-server/sso",
                "/.well-known/openid-configuration/sso",
            ],
        ),
        (
            "https://id.example/sso/realms/other",
            &[
                "/sso/realms/other/.well-known/openid-configuration",
                "/realms/other/.well-known/openid-configuration",
                "/sso/realms/other/.well-known/oauth-authorization-server",
                "/.well-known/oauth-authorization-server/sso/realms/other",
                "/.well-known/openid-configuration/sso/realms/other",
                "/.well-known/oauth-authorization-server/realms/other",
            ],
        ),
    ];
    for (issuer, paths) in cases {
        let first = op.get(&format!("{host}{}", paths[0]), &[]).await;
        for path in paths {
            let answer = op.get(&format!("{host}{path}"), &[]).await;
            assert_eq!(answer.status, 200, "{path}: {}", answer.body);
            assert_eq!(answer.body, first.body, "{path}");
            let document = answer.json();
            assert_eq!(document["issuer"], issuer, "{path}");
            for (name, value) in document.as_object().expect("a document") {
                if name.ends_with("_endpoint") || name == "jwks_uri" {
                    assert!(
                        value.as_str().expect("a URL").starts_with(&format!("{issuer}/")),
                        "{path} {name}: {value}"
                    );
                }
            }
        }
    }
    for path in
        ["/.well-known/oauth-authorization-server/nosuch", "/.well-known/openid-configuration/sso/nosuch", "/ssonot/"]
    {
        assert_eq!(op.get(&format!("{host}{path}"), &[]).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn a_whole_sign_in_works_under_a_prefix_with_and_without_the_proxy_taking_it_off() {
    let op = Op::builder().public_url("https://id.example/sso").start().await;
    let mut browser = op.browser();
    let answer = code_answer(&mut browser, WEB, "openid profile", &[]).await;
    assert_eq!(answer.location_param("iss").as_deref(), Some("https://id.example/sso"));
    for (name, path) in browser.cookie_names() {
        assert!(name.starts_with("__Secure-") && path == "/sso", "{name} at {path}");
    }
    let got = redeem(&op, WEB, &answer.location_param("code").expect("a code")).await.json();
    assert_eq!(decode(text(&got, "id_token")).1["iss"], "https://id.example/sso");
    let bearer = format!("Bearer {}", text(&got, "access_token"));
    let stripped = op.get("https://id.example/userinfo", &[("authorization", &bearer)]).await;
    assert_eq!(stripped.json(), userinfo(&op, text(&got, "access_token")).await.json());
    // The links of a page that arrived stripped carry the prefix.
    let login = browser.get(&authorize(WEB, "openid", &[("prompt", "login")])).await;
    let query = login.url.split_once('?').expect("a flow").1.to_owned();
    let path = op.get(&format!("https://id.example/login?{query}"), &[("accept", "text/html")]).await;
    assert!(path.location().starts_with("/sso/") || path.body.contains("action=\"/sso/login\""), "{}", path.body);
}

#[tokio::test]
async fn the_issuer_is_the_same_bytes_in_document_token_and_answer() {
    let op = house::start().await;
    for house in HOUSES {
        let issuer = op.get(&house.at(OPENID), &[]).await.json()["issuer"].clone();
        assert_eq!(issuer, house.issuer);
        let mut browser = op.browser();
        let answer = house.answer(&mut browser, WEB, "openid").await;
        assert_eq!(answer.location_param("iss").as_deref(), issuer.as_str());
        let got = house.redeem(&op, WEB, &answer.location_param("code").expect("a code")).await.json();
        assert_eq!(decode(text(&got, "id_token")).1["iss"], issuer);
        assert_eq!(decode(text(&got, "access_token")).1["iss"], issuer);
        assert_eq!(house.introspect(&op, WEB, text(&got, "access_token")).await["iss"], issuer);
        assert_eq!(house.silent(&mut op.browser(), &[]).await.as_deref(), Some("login_required"));
        let refused = browser.get(&house.authorize(WEB, "openid", &[("prompt", "none login")])).await;
        assert_eq!(refused.location_param("iss").as_deref(), issuer.as_str(), "on errors too (B-27)");
    }
}

async fn head(op: &Op, path: &str) -> Answer {
    let request = Request::builder().method(Method::HEAD).uri(path).header("host", "localhost:8080");
    op.send(request.body(axum::body::Body::empty()).expect("a request")).await
}

#[tokio::test]
async fn documents_can_be_kept_and_asked_for_again() {
    let op = Op::start().await;
    for path in [OPENID, OAUTH, "/.well-known/jwks.json"] {
        let answer = op.get(path, &[]).await;
        let etag = answer.header("etag").expect("a validator").to_owned();
        assert!(etag.starts_with('"') && etag.ends_with('"') && etag.len() > 10, "a strong one: {etag}");
        assert_eq!(answer.header("content-type"), Some("application/json"), "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"), "{path}");
        let caching = answer.header("cache-control").expect("caching").to_owned();
        assert!(caching.starts_with("public, max-age="), "{path}: {caching}");
        for known in [etag.clone(), format!("W/{etag}"), format!("\"x\", {etag}"), "*".to_owned()] {
            let same = op.get(path, &[("if-none-match", &known)]).await;
            assert_eq!((same.status.as_u16(), same.body.as_str()), (304, ""), "{path} {known}");
            assert_eq!(same.header("etag"), Some(etag.as_str()), "{path}");
            assert_eq!(same.header("cache-control"), Some(caching.as_str()), "{path}");
        }
        for unknown in ["\"x\"", "", "nonsense"] {
            assert_eq!(op.get(path, &[("if-none-match", unknown)]).await.status, 200, "{path} {unknown}");
        }
        let head = head(&op, path).await;
        assert_eq!((head.status.as_u16(), head.body.as_str()), (200, ""), "{path}");
        assert_eq!(head.header("etag"), Some(etag.as_str()), "{path}");
        assert_eq!(head.header("content-type"), Some("application/json"), "{path}");
    }
}

#[tokio::test]
async fn a_changed_realm_changes_document_and_validator() {
    let op = Op::start().await;
    let before = op.get(OPENID, &[]).await;
    op.apply("realm: main\nsettings: { locales: { supported: [de], default: de } }\n").await;
    let after = op.get(OPENID, &[("if-none-match", before.header("etag").expect("a validator"))]).await;
    assert_eq!(after.status, 200);
    assert_eq!(after.json()["ui_locales_supported"], json!(["de"]));
    assert_ne!(after.header("etag"), before.header("etag"));
}

#[tokio::test]
async fn the_document_is_this() {
    let op = Op::builder().public_url("https://id.example").start().await;
    let document = metadata(&op).await;
    insta::assert_snapshot!("discovery", serde_json::to_string_pretty(&document).expect("text"));
}

/// Registered names (IANA, OAuth Authorization Server Metadata) that we may use.
const REGISTERED: [&str; 37] = [
    "issuer",
    "authorization_endpoint",
    "token_endpoint",
    "userinfo_endpoint",
    "jwks_uri",
    "introspection_endpoint",
    "revocation_endpoint",
    "end_session_endpoint",
    "scopes_supported",
    "response_types_supported",
    "response_modes_supported",
    "grant_types_supported",
    "acr_values_supported",
    "subject_types_supported",
    "id_token_signing_alg_values_supported",
    "userinfo_signing_alg_values_supported",
    "token_endpoint_auth_methods_supported",
    "token_endpoint_auth_signing_alg_values_supported",
    "introspection_endpoint_auth_methods_supported",
    "introspection_endpoint_auth_signing_alg_values_supported",
    "revocation_endpoint_auth_methods_supported",
    "revocation_endpoint_auth_signing_alg_values_supported",
    "code_challenge_methods_supported",
    "display_values_supported",
    "prompt_values_supported",
    "claim_types_supported",
    "claims_supported",
    "ui_locales_supported",
    "claims_parameter_supported",
    "request_parameter_supported",
    "request_uri_parameter_supported",
    "require_request_uri_registration",
    "request_object_signing_alg_values_supported",
    "authorization_response_iss_parameter_supported",
    "service_documentation",
    // OpenID Connect Back-Channel Logout 1.0 section 2.1.
    "backchannel_logout_supported",
    "backchannel_logout_session_supported",
];

#[tokio::test]
async fn oidcc_discovery_endpoint_verification() {
    let op = house::start().await;
    for house in HOUSES {
        let url = house.at(OPENID);
        let answer = op.get(&url, &[]).await;
        assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, Some("application/json")));
        let document = answer.json();
        let issuer = text(&document, "issuer");
        assert_eq!(url.strip_suffix(OPENID), Some(issuer));
        assert!(!issuer.contains(['?', '#']));
        for (name, value) in document.as_object().expect("an object") {
            assert!(REGISTERED.contains(&name.as_str()), "{name} is no registered name");
            if name.ends_with("_endpoint") || name == "jwks_uri" || name == "issuer" {
                let url = url::Url::parse(value.as_str().expect("a text")).expect("a URL");
                assert_eq!(url.scheme(), "https", "{name}");
            } else if name.ends_with("_parameter_supported")
                || name.starts_with("backchannel_logout_")
                || name == "require_request_uri_registration"
            {
                assert!(value.is_boolean(), "{name}");
            } else {
                assert!(!list(&document, name).is_empty(), "{name}");
            }
        }
        for name in
            ["authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri", "end_session_endpoint"]
        {
            assert!(document.get(name).is_some(), "{name}");
        }
        assert!(list(&document, "response_types_supported").contains(&"code"));
        assert_eq!(list(&document, "subject_types_supported"), ["public", "pairwise"]);
        assert!(list(&document, "id_token_signing_alg_values_supported").contains(&"RS256"));
        assert!(list(&document, "scopes_supported").contains(&"openid"));
        assert!(document.get("claims_supported").is_some());
        assert_eq!(list(&document, "code_challenge_methods_supported"), ["S256"]);
        assert_eq!(document["authorization_response_iss_parameter_supported"], true);
        for locale in list(&document, "ui_locales_supported") {
            assert!((2..=3).contains(&locale.len()) && locale.bytes().all(|b| b.is_ascii_lowercase()), "{locale}");
        }
    }
    // What is announced beside the document's own host is there.
    assert_eq!(op.get(&format!("{}{OAUTH}", MAIN.issuer), &[]).await.status, 200);
    assert_eq!(op.get(&OTHER.at(OAUTH), &[]).await.status, 200);
}

#[tokio::test]
async fn the_key_set_holds_public_members_only() {
    let op = Op::start().await;
    let jwks = op.get("/.well-known/jwks.json", &[]).await.json();
    assert_eq!(jwks.as_object().expect("a set").keys().collect::<Vec<_>>(), ["keys"]);
    let (mut kids, mut algorithms) = (BTreeSet::new(), BTreeSet::new());
    for key in jwks["keys"].as_array().expect("keys") {
        let members = key.as_object().expect("a key");
        let allowed: &[&str] = match text(key, "kty") {
            "RSA" => &["kty", "use", "alg", "kid", "n", "e"],
            "EC" => &["kty", "use", "alg", "kid", "crv", "x", "y"],
            "OKP" => &["kty", "use", "alg", "kid", "crv", "x"],
            other => panic!("nobody knows {other}"),
        };
        assert_eq!(
            members.keys().map(String::as_str).collect::<BTreeSet<_>>(),
            allowed.iter().copied().collect::<BTreeSet<_>>(),
        );
        assert_eq!(key["use"], "sig");
        assert!(kids.insert(text(key, "kid").to_owned()), "a kid twice");
        algorithms.insert(text(key, "alg").to_owned());
        for member in ["n", "e", "x", "y"] {
            if let Some(value) = key[member].as_str() {
                let bytes = URL_SAFE_NO_PAD.decode(value).expect("unpadded base64url");
                match member {
                    "n" => assert!(bytes.len() >= 256 && bytes[0] != 0, "2048 bits at least, no leading zero"),
                    "e" => assert_eq!(bytes, [1, 0, 1]),
                    _ => assert_eq!(bytes.len(), 32),
                }
            }
        }
    }
    assert_eq!(algorithms.into_iter().collect::<Vec<_>>(), ["ES256", "EdDSA", "PS256", "RS256"]);
}
