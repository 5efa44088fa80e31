//! Each value that the document lists works, and what it does not list is refused (`security` row 16).

use serde_json::json;

use super::{list, metadata};
use crate::kit::browser::Answer;
use crate::kit::flow::{
    API, ASKER, NATIVE, OPAQUE, VERIFIER, WEB, authorize, code, code_answer, decode, introspect, post_as, redeem, text,
    tokens, userinfo,
};
use crate::kit::op::Op;
use crate::kit::signing::{EC, ED, RSA, claims, jwks, post_signed, sign_with_secret};
use crate::kit::token::verified;

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
    // What the authorization endpoint itself gives is shown in `front_channel`.
    for grant in list(&document, "grant_types_supported").into_iter().filter(|grant| *grant != "implicit") {
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

/// The client turned into one that proves itself in another way, by this algorithm.
async fn turned(op: &Op, method: &str) {
    let lines = match method {
        "client_secret_jwt" => format!("client_secret: {SIGNING}"),
        "private_key_jwt" => format!("jwks: {}", jwks(&[RSA.public(None), EC.public(None), ED.public(None)])),
        _ => "jwks: null".to_owned(),
    };
    op.apply(&format!(
        "realm: main\nclients:\n  - client_id: web\n    token_endpoint_auth_method: {method}\n    {lines}\n"
    ))
    .await;
}

const SIGNING: &str = "a-secret-that-signs-0123456789abcdef";

fn assertion(op: &Op, alg: &str) -> String {
    let (header, claims) = (json!({ "alg": alg }), claims(op, "web"));
    match alg {
        "RS256" | "PS256" => RSA.sign(&header, &claims),
        "ES256" => EC.sign(&header, &claims),
        "EdDSA" => ED.sign(&header, &claims),
        "HS256" => sign_with_secret(SIGNING.as_bytes(), &header, &claims),
        other => panic!("no key of the tests signs by {other}"),
    }
}

/// Posts as the client does that proves itself so.
async fn proven(op: &Op, method: &str, alg: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
    match method {
        "client_secret_basic" => post_as(op, WEB, path, fields).await,
        "client_secret_post" => post_as(op, ASKER, path, fields).await,
        "none" => post_as(op, NATIVE, path, fields).await,
        _ => post_signed(op, path, &assertion(op, alg), fields).await,
    }
}

#[tokio::test]
async fn every_listed_way_to_prove_a_client_works_and_no_other() {
    let op = Op::start().await;
    let document = metadata(&op).await;
    let algorithms = list(&document, "token_endpoint_auth_signing_alg_values_supported");
    for endpoint in ["introspection", "revocation"] {
        assert_eq!(list(&document, &format!("{endpoint}_endpoint_auth_signing_alg_values_supported")), algorithms);
    }
    for method in list(&document, "token_endpoint_auth_methods_supported") {
        let client = match method {
            "client_secret_post" => ASKER,
            "none" => NATIVE,
            _ => WEB,
        };
        if client.id == "web" {
            turned(&op, method).await;
        }
        let fitting: Vec<&str> = match method {
            "client_secret_jwt" => vec!["HS256"],
            "private_key_jwt" => algorithms.iter().copied().filter(|alg| *alg != "HS256").collect(),
            _ => vec![""],
        };
        for alg in fitting {
            let code = code(&mut op.browser(), client, "openid").await;
            let fields = [
                ("grant_type", "authorization_code"),
                ("code", &*code),
                ("redirect_uri", client.redirect_uri),
                ("code_verifier", VERIFIER),
            ];
            let answer = proven(&op, method, alg, "/token", &fields).await;
            assert_eq!(answer.status, 200, "{method} {alg}: {}", answer.body);
            let access = text(&answer.json(), "access_token").to_owned();
            let seen = proven(&op, method, alg, "/introspect", &[("token", &access)]).await;
            if list(&document, "introspection_endpoint_auth_methods_supported").contains(&method) {
                assert_eq!(seen.json()["active"], true, "{method} {alg}: {}", seen.body);
            } else {
                assert_eq!(seen.status, 401, "{method}");
            }
            assert!(list(&document, "revocation_endpoint_auth_methods_supported").contains(&method));
            let revoked = proven(&op, method, alg, "/revoke", &[("token", &access)]).await;
            assert_eq!(revoked.status, 200, "{method} {alg}");
            assert_eq!(userinfo(&op, &access).await.status, 401, "{method}: revoked");
        }
    }
    for alg in ["ES384", "RS512", "HS512", "none"] {
        assert!(!algorithms.contains(&alg));
        let file = format!("realm: main\nclients: [{{ client_id: web, token_endpoint_auth_signing_alg: {alg} }}]\n");
        assert!(op.try_apply(&file).await.is_err(), "{alg}");
    }
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
            "fragment" => assert!(answer.fragment().contains_key("code"), "{}", answer.body),
            "form_post" => assert!(answer.body.contains("name=\"code\""), "{}", answer.body),
            other => panic!("nobody knows {other}"),
        }
    }
    for mode in ["jwt", "query.jwt", "web_message"] {
        let answer = browser.get(&authorize(WEB, "openid", &[("response_mode", mode)])).await;
        let refused = answer.location_param("error");
        assert!(
            refused.is_some_and(|error| error == "invalid_request" || error == "unsupported_response_mode"),
            "{mode}"
        );
    }
    // That the others work where a client has registered them is shown in `front_channel`.
    assert_eq!(list(&document, "response_types_supported"), ["code", "id_token", "code id_token"]);
    for (kind, error) in [
        ("id_token", "unauthorized_client"),
        ("code id_token", "unauthorized_client"),
        ("token", "unsupported_response_type"),
        ("id_token token", "unsupported_response_type"),
        ("code token", "unsupported_response_type"),
        ("code id_token token", "unsupported_response_type"),
        ("none", "unsupported_response_type"),
    ] {
        let answer = browser.get(&authorize(WEB, "openid", &[("response_type", kind)])).await;
        assert_eq!(answer.status, 303, "{kind}: {}", answer.body);
        assert!(answer.location().contains(&format!("error={error}")), "{kind}: {}", answer.location());
        assert!(!answer.location().contains("code=") && !answer.location().contains("token="), "{kind}");
    }
    for (name, value, error) in [
        ("code_challenge_method", "plain", "invalid_request"),
        ("prompt", "create", "invalid_request"),
        ("request", "e30.e30.", "invalid_request_object"),
        ("request_uri", "https://app.example/r", "invalid_request_uri"),
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
        // `c_hash` comes with a code from the authorization endpoint: `front_channel` shows it.
        for claim in list(&document, "claims_supported").into_iter().filter(|claim| *claim != "c_hash") {
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
            "select_account" => assert!(answer.page().has_id("choose-1"), "{}", answer.body),
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
    for listed in ["id_token_signing_alg_values_supported", "userinfo_signing_alg_values_supported"] {
        assert_eq!(list(&document, listed), clients.map(|(alg, _)| alg), "{listed}");
    }
    for (alg, client) in clients {
        let got = tokens(&op, &mut op.browser(), client, "openid").await;
        let header = decode(text(&got, "id_token")).0;
        assert_eq!(header["alg"], alg);
        let keys = jwks["keys"].as_array().expect("keys");
        assert_eq!(keys.iter().filter(|key| key["kid"] == header["kid"] && key["alg"] == alg).count(), 1, "{alg}");
        op.apply(&format!(
            "realm: main\nclients: [{{ client_id: {}, userinfo_signed_response_alg: {alg} }}]\n",
            client.id
        ))
        .await;
        let info = userinfo(&op, text(&got, "access_token")).await;
        let (header, claims) = verified(&op, &info.body).await;
        assert_eq!((&header["alg"], &claims["aud"]), (&json!(alg), &json!(client.id)), "{alg}");
    }
}
