//! Metadata and keys as relying parties find them: OpenID Connect Discovery 4, RFC 8414 section 3,
//! behaviour cases B-27 and B-28, `security` 3.2, and the conformance module
//! `oidcc-discovery-endpoint-verification`.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{Method, Request};
use serde_json::{Value, json};

use crate::kit::browser::Answer;
use crate::kit::flow::{
    API, ASKER, Client, NATIVE, OPAQUE, WEB, authorize, code, code_answer, decode, introspect, post_as, redeem, text,
    tokens, userinfo,
};
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
const REGISTERED: [&str; 29] = [
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
    "token_endpoint_auth_methods_supported",
    "introspection_endpoint_auth_methods_supported",
    "revocation_endpoint_auth_methods_supported",
    "code_challenge_methods_supported",
    "display_values_supported",
    "prompt_values_supported",
    "claim_types_supported",
    "claims_supported",
    "ui_locales_supported",
    "claims_parameter_supported",
    "request_parameter_supported",
    "request_uri_parameter_supported",
    "authorization_response_iss_parameter_supported",
    "service_documentation",
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
            } else if name.ends_with("_parameter_supported") {
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
        assert_eq!(list(&document, "subject_types_supported"), ["public"]);
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
async fn every_listed_endpoint_answers_and_unbuilt_ones_do_not_exist() {
    let op = Op::start().await;
    let document = metadata(&op).await;
    for (name, value) in document.as_object().expect("a document") {
        if name.ends_with("_endpoint") || name == "jwks_uri" {
            let status = op.get(value.as_str().expect("a URL"), &[]).await.status;
            assert_ne!(status, 404, "{name}");
        }
    }
    for path in [
        "/register",
        "/par",
        "/device_authorization",
        "/bc-authorize",
        "/device",
        "/signup",
        "/admin",
        "/api/v1/realms",
    ] {
        assert_eq!(op.get(path, &[]).await.status, 404, "{path}");
        assert_eq!(op.post(path, &[], &[]).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn every_listed_grant_type_works_and_no_other() {
    let op = Op::start().await;
    let document = metadata(&op).await;
    let mut browser = op.browser();
    let mut refresh_token = String::new();
    for grant in list(&document, "grant_types_supported") {
        let answer = match grant {
            "authorization_code" => {
                let code = code(&mut browser, WEB, "openid").await;
                redeem(&op, WEB, &code).await
            }
            "refresh_token" => {
                post_as(&op, WEB, "/token", &[("grant_type", grant), ("refresh_token", &refresh_token)]).await
            }
            other => post_as(&op, WEB, "/token", &[("grant_type", other)]).await,
        };
        assert_eq!(answer.status, 200, "{grant}: {}", answer.body);
        if let Some(token) = answer.json()["refresh_token"].as_str() {
            token.clone_into(&mut refresh_token);
        }
    }
    for grant in [
        "password",
        "implicit",
        "urn:ietf:params:oauth:grant-type:device_code",
        "urn:ietf:params:oauth:grant-type:token-exchange",
        "urn:ietf:params:oauth:grant-type:jwt-bearer",
        "urn:openid:params:grant-type:ciba",
        "Authorization_Code",
    ] {
        let answer = post_as(&op, WEB, "/token", &[("grant_type", grant)]).await;
        assert_eq!((answer.status.as_u16(), text(&answer.json(), "error")), (400, "unsupported_grant_type"), "{grant}");
    }
}

/// A client for each way to prove itself.
fn client_of(method: &str) -> Client {
    match method {
        "client_secret_basic" => WEB,
        "client_secret_post" => ASKER,
        "none" => NATIVE,
        other => panic!("no client of the tests proves itself by {other}"),
    }
}

#[tokio::test]
async fn every_listed_way_to_prove_a_client_works_and_no_other() {
    let op = Op::start().await;
    let document = metadata(&op).await;
    for method in list(&document, "token_endpoint_auth_methods_supported") {
        let client = client_of(method);
        let mut browser = op.browser();
        let code = match client.id {
            "native" => code(&mut browser, NATIVE, "openid").await,
            _ => code(&mut browser, client, "openid profile").await,
        };
        let answer = redeem(&op, client, &code).await;
        assert_eq!(answer.status, 200, "{method}: {}", answer.body);
        let access = text(&answer.json(), "access_token").to_owned();
        if list(&document, "introspection_endpoint_auth_methods_supported").contains(&method) {
            assert_eq!(introspect(&op, client, &access).await["active"], true, "{method}");
        } else {
            assert_eq!(post_as(&op, client, "/introspect", &[("token", &access)]).await.status, 401, "{method}");
        }
        assert!(list(&document, "revocation_endpoint_auth_methods_supported").contains(&method));
        assert_eq!(post_as(&op, client, "/revoke", &[("token", &access)]).await.status, 200, "{method}");
        assert_eq!(userinfo(&op, &access).await.status, 401, "{method}: revoked");
    }
    let assertion = [
        ("grant_type", "client_credentials"),
        ("client_id", "api"),
        ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
        ("client_assertion", "e30.e30.e30"),
    ];
    let answer = op.post("/token", &assertion, &[]).await;
    assert_eq!((answer.status.as_u16(), text(&answer.json(), "error")), (401, "invalid_client"));
    assert_eq!(introspect(&op, API, "x").await["active"], false);
}

#[tokio::test]
async fn every_listed_response_type_and_mode_works_and_no_other() {
    let op = Op::start().await;
    let document = metadata(&op).await;
    let mut browser = op.browser();
    code(&mut browser, WEB, "openid").await;
    for mode in list(&document, "response_modes_supported") {
        let answer = browser.get(&authorize(WEB, "openid", &[("response_mode", mode)])).await;
        match mode {
            "query" => assert!(answer.location_param("code").is_some(), "{}", answer.body),
            "form_post" => assert!(answer.body.contains("name=\"code\""), "{}", answer.body),
            other => panic!("nobody knows {other}"),
        }
    }
    for mode in ["fragment", "jwt", "query.jwt", "web_message"] {
        let answer = browser.get(&authorize(WEB, "openid", &[("response_mode", mode)])).await;
        let refused = answer.location_param("error");
        assert!(
            refused.is_some_and(|error| error == "invalid_request" || error == "unsupported_response_mode"),
            "{mode}"
        );
    }
    assert_eq!(list(&document, "response_types_supported"), ["code"]);
    for kind in ["token", "id_token", "id_token token", "code id_token", "code token", "code id_token token", "none"] {
        let answer = browser.get(&authorize(WEB, "openid", &[("response_type", kind)])).await;
        assert_eq!(answer.status, 303, "{kind}: {}", answer.body);
        assert!(answer.location().contains("error=unsupported_response_type"), "{kind}: {}", answer.location());
        assert!(!answer.location().contains("code=") && !answer.location().contains("token="), "{kind}");
    }
    for (name, value, error) in [
        ("code_challenge_method", "plain", "invalid_request"),
        ("prompt", "create", "invalid_request"),
        ("request", "e30.e30.", "request_not_supported"),
        ("request_uri", "https://app.example/r", "request_uri_not_supported"),
    ] {
        let answer = browser.get(&authorize(WEB, "openid", &[(name, value)])).await;
        assert_eq!(answer.location_param("error").as_deref(), Some(error), "{name}={value}");
    }
}

#[tokio::test]
async fn every_listed_scope_claim_and_acr_comes_back() {
    let op = Op::start().await;
    let document = metadata(&op).await;
    let mut browser = op.browser();
    for scope in list(&document, "scopes_supported") {
        let asked = if scope == "openid" { scope.to_owned() } else { format!("openid {scope}") };
        assert_eq!(text(&tokens(&op, &mut browser, WEB, &asked).await, "scope"), asked);
    }
    let all = list(&document, "scopes_supported").join(" ");
    for acr in list(&document, "acr_values_supported") {
        let answer = code_answer(&mut browser, WEB, &all, &[("acr_values", acr)]).await;
        let got = redeem(&op, WEB, &answer.location_param("code").expect("a code")).await.json();
        let id_token = decode(text(&got, "id_token")).1;
        assert_eq!(id_token["acr"], acr);
        let person = userinfo(&op, text(&got, "access_token")).await.json();
        for claim in list(&document, "claims_supported") {
            assert!(id_token.get(claim).or_else(|| person.get(claim)).is_some(), "{claim}: {id_token} {person}");
        }
    }
}

#[tokio::test]
async fn every_listed_prompt_display_and_language_works() {
    let op = Op::start().await;
    let document = metadata(&op).await;
    let mut browser = op.browser();
    code(&mut browser, WEB, "openid").await;
    for prompt in list(&document, "prompt_values_supported") {
        let answer = browser.get(&authorize(WEB, "openid", &[("prompt", prompt)])).await;
        match prompt {
            "none" => assert!(answer.location_param("code").is_some()),
            "login" => assert!(answer.page().has_id("login-submit"), "{}", answer.body),
            "consent" => assert!(answer.page().has_id("consent-allow"), "{}", answer.body),
            other => panic!("nobody knows {other}"),
        }
    }
    for display in list(&document, "display_values_supported") {
        let answer = op.browser().get(&authorize(WEB, "openid", &[("display", display)])).await;
        assert!(answer.page().has_id("login-submit"), "{display}");
    }
    for locale in list(&document, "ui_locales_supported") {
        let answer = op.browser().get(&authorize(WEB, "openid", &[("ui_locales", locale)])).await;
        assert!(answer.body.contains(&format!("<html lang=\"{locale}\"")), "{locale}: {}", answer.body);
    }
}

const BY_ALGORITHM: &str = r#"
realm: main
clients:
  - { client_id: web, id_token_signed_response_alg: RS256 }
  - { client_id: asker, id_token_signed_response_alg: PS256 }
  - { client_id: native, id_token_signed_response_alg: ES256 }
  - { client_id: opaque, id_token_signed_response_alg: EdDSA }
"#;

#[tokio::test]
async fn every_listed_algorithm_signs_with_a_published_key() {
    let op = Op::start().await;
    op.apply(BY_ALGORITHM).await;
    let document = metadata(&op).await;
    let jwks = op.get(text(&document, "jwks_uri"), &[]).await.json();
    let clients = [("RS256", WEB), ("PS256", ASKER), ("ES256", NATIVE), ("EdDSA", OPAQUE)];
    assert_eq!(list(&document, "id_token_signing_alg_values_supported"), clients.map(|(alg, _)| alg));
    for (alg, client) in clients {
        let got = tokens(&op, &mut op.browser(), client, "openid").await;
        let header = decode(text(&got, "id_token")).0;
        assert_eq!(header["alg"], alg);
        let keys = jwks["keys"].as_array().expect("keys");
        assert_eq!(keys.iter().filter(|key| key["kid"] == header["kid"] && key["alg"] == alg).count(), 1, "{alg}");
    }
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
