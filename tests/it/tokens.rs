//! What tokens say: access tokens by RFC 9068 or opaque, ID tokens by OpenID Connect Core 2, audiences by
//! RFC 8707 (behaviour cases B-19, B-26 and B-55; `security` rows 44 to 48).

use std::time::Duration;

use aws_lc_rs::{digest, hmac};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::kit::browser::{Answer, Browser};
use crate::kit::flow::{
    API, Client, OPAQUE, STRANGER, VERIFIER, WEB, authorize, code, code_answer, decode, introspect, post_as, redeem,
    text, userinfo,
};
use crate::kit::op::Op;
use crate::kit::token::{given, names, refused, seconds, signed_in, signed_in_with, verified, works};

#[tokio::test]
async fn an_access_token_has_the_form_of_rfc_9068() {
    let op = Op::start().await;
    let tokens = signed_in(&op).await;
    let (header, claims) = verified(&op, text(&tokens, "access_token")).await;
    assert_eq!(names(&header), ["alg", "kid", "typ"]);
    assert_eq!((text(&header, "alg"), text(&header, "typ")), ("ES256", "at+jwt"));
    let expected =
        ["acr", "amr", "aud", "auth_time", "client_id", "exp", "gid", "iat", "iss", "jti", "scope", "sid", "sub"];
    assert_eq!(names(&claims), expected);
    let now = seconds(&op);
    assert_eq!((claims["iat"].as_i64(), claims["exp"].as_i64()), (Some(now), Some(now + 300)));
    assert_eq!((text(&claims, "iss"), text(&claims, "aud")), (op.public_url.as_str(), op.public_url.as_str()));
    assert_eq!((text(&claims, "client_id"), text(&claims, "scope")), ("web", "openid profile"));
    assert_eq!(
        (text(&claims, "acr"), &claims["amr"], claims["auth_time"].as_i64()),
        ("aal1", &json!(["pwd"]), Some(now))
    );
    let (_, id_claims) = verified(&op, text(&tokens, "id_token")).await;
    assert_eq!((&claims["sub"], &claims["sid"]), (&id_claims["sub"], &id_claims["sid"]));
}

#[tokio::test]
async fn roles_and_groups_are_in_the_access_token_only_when_asked_for() {
    let op = Op::start().await;
    let tokens = signed_in_with(&op, &mut op.browser(), "openid roles groups").await;
    let (_, claims) = verified(&op, text(&tokens, "access_token")).await;
    assert_eq!((&claims["roles"], &claims["groups"]), (&json!(["editor", "reader"]), &json!(["/staff"])));
    let (_, claims) = verified(&op, text(&tokens, "id_token")).await;
    assert!(claims.get("roles").is_none() && claims.get("groups").is_none(), "{claims}");
}

#[tokio::test]
async fn an_id_token_says_who_when_and_how_and_nothing_about_the_person() {
    let op = Op::start().await;
    let tokens = signed_in_with(&op, &mut op.browser(), "openid profile email address phone roles groups").await;
    let (header, claims) = verified(&op, text(&tokens, "id_token")).await;
    assert_eq!((text(&header, "alg"), text(&header, "typ")), ("RS256", "JWT"));
    let expected = ["acr", "amr", "at_hash", "aud", "auth_time", "azp", "exp", "iat", "iss", "nonce", "sid", "sub"];
    assert_eq!(names(&claims), expected, "no nbf (B-55), no scope claims");
    let now = seconds(&op);
    assert_eq!((claims["iat"].as_i64(), claims["exp"].as_i64()), (Some(now), Some(now + 300)));
    assert_eq!((text(&claims, "aud"), text(&claims, "azp"), text(&claims, "nonce")), ("web", "web", "no"));
    assert_eq!((text(&claims, "acr"), &claims["amr"]), ("aal1", &json!(["pwd"])));
    assert!(text(&claims, "sid").starts_with("ses_"));
    assert_eq!(text(&claims, "iss"), op.public_url);
    assert_eq!(text(&claims, "sub"), text(&userinfo(&op, text(&tokens, "access_token")).await.json(), "sub"));
}

#[tokio::test]
async fn no_nonce_comes_back_when_none_was_sent_and_no_id_token_without_openid() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let answer = code_answer(&mut browser, WEB, "openid", &[("nonce", "")]).await;
    let tokens = given(&redeem(&op, WEB, &answer.location_param("code").unwrap()).await);
    assert!(decode(text(&tokens, "id_token")).1.get("nonce").is_none());
    let answer = code_answer(&mut browser, WEB, "profile", &[("nonce", "")]).await;
    let tokens = given(&redeem(&op, WEB, &answer.location_param("code").unwrap()).await);
    assert!(tokens.get("id_token").is_none(), "{tokens}");
    assert_eq!(userinfo(&op, text(&tokens, "access_token")).await.status, 403);
}

#[tokio::test]
async fn a_nonce_comes_back_as_it_was_sent() {
    let op = Op::start().await;
    let mut browser = op.browser();
    for nonce in ["a\0b", "\"\\/<>&+ %41", "\u{1f511} \u{e9}", "null"] {
        let answer = code_answer(&mut browser, WEB, "openid", &[("nonce", nonce)]).await;
        let tokens = given(&redeem(&op, WEB, &answer.location_param("code").expect("a code")).await);
        assert_eq!(text(&verified(&op, text(&tokens, "id_token")).await.1, "nonce"), nonce);
    }
}

/// OpenID Connect Core 3.1.3.6 for the four algorithms; Ed25519 hashes with SHA-512.
fn at_hash(alg: &str, access_token: &str) -> String {
    let hash = if alg == "EdDSA" { &digest::SHA512 } else { &digest::SHA256 };
    let sum = digest::digest(hash, access_token.as_bytes());
    URL_SAFE_NO_PAD.encode(&sum.as_ref()[..sum.as_ref().len() / 2])
}

#[tokio::test]
async fn each_algorithm_signs_and_hashes_as_registered() {
    let op = Op::start().await;
    for (alg, bytes) in [("RS256", 16), ("PS256", 16), ("ES256", 16), ("EdDSA", 32)] {
        op.apply(&format!("realm: main\nclients:\n  - {{ client_id: web, id_token_signed_response_alg: {alg} }}\n"))
            .await;
        let tokens = signed_in(&op).await;
        let (header, claims) = verified(&op, text(&tokens, "id_token")).await;
        assert_eq!(text(&header, "alg"), alg);
        assert_eq!(text(&claims, "at_hash"), at_hash(alg, text(&tokens, "access_token")));
        assert_eq!(URL_SAFE_NO_PAD.decode(text(&claims, "at_hash")).unwrap().len(), bytes, "{alg}");
        // An opaque access token is hashed in the same way.
        op.apply(&format!("realm: main\nclients:\n  - {{ client_id: opaque, id_token_signed_response_alg: {alg} }}\n"))
            .await;
        let code = code(&mut op.browser(), OPAQUE, "openid").await;
        let tokens = given(&redeem(&op, OPAQUE, &code).await);
        let (_, claims) = verified(&op, text(&tokens, "id_token")).await;
        assert_eq!(text(&claims, "at_hash"), at_hash(alg, text(&tokens, "access_token")));
    }
}

#[tokio::test]
async fn the_realm_chooses_the_algorithm_of_access_tokens() {
    let op = Op::start().await;
    for alg in ["RS256", "PS256", "EdDSA"] {
        op.apply(&format!("realm: main\nsettings: {{ keys: {{ access_token_alg: {alg} }} }}\n")).await;
        let tokens = signed_in(&op).await;
        assert_eq!(text(&verified(&op, text(&tokens, "access_token")).await.0, "alg"), alg);
        assert!(works(&op, WEB, &tokens).await);
    }
}

#[tokio::test]
async fn an_opaque_token_is_read_by_nobody_else_and_works_the_same() {
    let op = Op::start().await;
    let code = code(&mut op.browser(), OPAQUE, "openid profile").await;
    let tokens = given(&redeem(&op, OPAQUE, &code).await);
    let access = text(&tokens, "access_token");
    assert!(access.starts_with("dwa_") && !access.contains('.'), "{access}");
    let sealed = URL_SAFE_NO_PAD.decode(&access[4..access.len() - 6]).expect("base64url");
    assert!(!String::from_utf8_lossy(&sealed).contains("openid"), "sealed");
    assert_eq!(userinfo(&op, access).await.json()["name"], "Alice Adams");
    let seen = introspect(&op, OPAQUE, access).await;
    assert_eq!(
        (text(&seen, "client_id"), text(&seen, "scope"), text(&seen, "iss")),
        ("opaque", "openid profile", op.public_url.as_str())
    );
    for at in [0, 3, 4, 40, access.len() - 1] {
        let mut other = access.to_owned().into_bytes();
        other[at] = if other[at] == b'A' { b'B' } else { b'A' };
        assert_eq!(userinfo(&op, &String::from_utf8(other).unwrap()).await.status, 401, "{at}");
    }
    op.advance(Duration::from_secs(300)).await;
    assert!(!works(&op, OPAQUE, &tokens).await);
}

#[tokio::test]
async fn lifetimes_are_the_realms() {
    let op = Op::start().await;
    op.apply("realm: main\nsettings: { tokens: { access: 1m, id_token: 2m } }\n").await;
    let tokens = signed_in(&op).await;
    let now = seconds(&op);
    assert_eq!(tokens["expires_in"], 60);
    assert_eq!(decode(text(&tokens, "access_token")).1["exp"].as_i64(), Some(now + 60));
    assert_eq!(decode(text(&tokens, "id_token")).1["exp"].as_i64(), Some(now + 120));
    op.advance(Duration::from_secs(59)).await;
    assert!(works(&op, WEB, &tokens).await);
    op.advance(Duration::from_secs(1)).await;
    assert!(!works(&op, WEB, &tokens).await);
}

fn join(header: &Value, payload: &Value, signature: &[u8]) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}.{}", part(header), part(payload), URL_SAFE_NO_PAD.encode(signature))
}

/// Signed with the public key as if it were a shared secret, and so on: what anybody can make.
fn anybodys(jwks: &Value, header: &Value, claims: &Value, signature: &[u8]) -> Vec<String> {
    let mac = |header: &Value, key: &[u8]| {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let input = format!("{}.{}", part(header), part(claims));
        join(header, claims, hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), input.as_bytes()).as_ref())
    };
    let with = |name: &str, value: Value| {
        let mut header = header.clone();
        header[name] = value;
        header
    };
    let mut other = claims.clone();
    other["sub"] = json!("somebody-else");
    let key = jwks["keys"].as_array().unwrap().iter().find(|key| key["kid"] == header["kid"]).unwrap();
    let mut all = vec![
        join(&json!({"alg": "none", "typ": "at+jwt"}), claims, b""),
        join(&with("alg", json!("none")), claims, b""),
        join(&with("alg", json!("None")), claims, signature),
        mac(&with("alg", json!("HS256")), key.to_string().as_bytes()),
        mac(&with("alg", json!("HS256")), b""),
        join(header, &other, signature),
        join(header, claims, b""),
        join(header, claims, &[0; 64]),
        join(header, claims, &signature[..63]),
        join(&with("alg", json!("RS256")), claims, signature),
        join(&with("jwk", key.clone()), claims, signature),
        join(&with("jku", json!("https://evil.example/jwks")), claims, signature),
        join(&with("crit", json!(["exp"])), claims, signature),
        join(&with("b64", json!(false)), claims, signature),
        join(&with("typ", json!("JWT")), claims, signature),
    ];
    for kid in ["", "../../etc/passwd", "' or 1=1 --", &"k".repeat(10_000)] {
        all.push(join(&with("kid", json!(kid)), claims, signature));
    }
    all
}

#[tokio::test]
async fn a_token_that_anybody_could_have_made_is_no_token() {
    let op = Op::start().await;
    let tokens = signed_in(&op).await;
    let access = text(&tokens, "access_token");
    let jwks = op.get("/.well-known/jwks.json", &[]).await.json();
    let (header, claims) = decode(access);
    let signature = URL_SAFE_NO_PAD.decode(access.rsplit('.').next().unwrap()).unwrap();
    let mut all = anybodys(&jwks, &header, &claims, &signature);
    all.extend([
        format!("{access}="),
        format!("{access}."),
        format!(".{access}"),
        access.to_lowercase(),
        access.replace('.', ".."),
    ]);
    for forged in &all {
        let answer = userinfo(&op, forged).await;
        assert_eq!(answer.status, 401, "{forged}: {}", answer.body);
        assert!(answer.header("www-authenticate").unwrap().contains("invalid_token"));
        assert_eq!(introspect(&op, WEB, forged).await, json!({ "active": false }), "{forged}");
        let revoked = post_as(&op, WEB, "/revoke", &[("token", forged)]).await;
        assert_eq!((revoked.status.as_u16(), revoked.body.as_str()), (200, ""), "{forged}");
    }
    assert!(works(&op, WEB, &tokens).await, "and none of them revoked the genuine one");
}

const MCP: &str = r#"
realm: main
resources:
  - { identifier: "https://mcp.example.com", scopes: [read], introspection_clients: [api] }
  - { identifier: "https://mcp.example.com/mcp", scopes: [write], introspection_clients: [stranger] }
  - { identifier: "https://other.example", scopes: [] }
clients:
  - client_id: web
    scope: "openid profile offline_access read write"
    resources: ["https://mcp.example.com", "https://mcp.example.com/mcp"]
"#;
const HOST: &str = "https://mcp.example.com";
const DEEP: &str = "https://mcp.example.com/mcp";

/// An authorization with these `resource` parameters.
async fn asked(browser: &mut Browser<'_>, scope: &str, resources: &[&str]) -> Answer {
    code_answer(browser, WEB, scope, &[]).await;
    let mut url = authorize(WEB, scope, &[]);
    for resource in resources {
        url.push_str("&resource=");
        url.extend(form_urlencoded::byte_serialize(resource.as_bytes()));
    }
    browser.get(&url).await
}

async fn redeem_for(op: &Op, code: &str, resources: &[&str]) -> Answer {
    let mut fields = vec![
        ("grant_type", "authorization_code"),
        ("code", code),
        ("redirect_uri", WEB.redirect_uri),
        ("code_verifier", VERIFIER),
    ];
    fields.extend(resources.iter().map(|resource| ("resource", *resource)));
    post_as(op, WEB, "/token", &fields).await
}

async fn granted(op: &Op, scope: &str, authorize: &[&str], token: &[&str]) -> Value {
    let answer = asked(&mut op.browser(), scope, authorize).await;
    given(&redeem_for(op, &answer.location_param("code").expect("a code"), token).await)
}

fn aud(tokens: &Value) -> Value {
    decode(text(tokens, "access_token")).1["aud"].clone()
}

#[tokio::test]
async fn a_slash_after_the_host_changes_nothing_and_the_registered_spelling_is_the_audience() {
    let op = Op::start().await;
    op.apply(MCP).await;
    for (at_authorize, at_token) in [
        (&[HOST][..], &[][..]),
        (&["https://mcp.example.com/"], &[]),
        (&["https://mcp.example.com/"], &["https://mcp.example.com/"]),
        (&[HOST, "https://mcp.example.com/"], &[HOST]),
        (&[HOST, DEEP], &["https://mcp.example.com/"]),
    ] {
        let tokens = granted(&op, "read", at_authorize, at_token).await;
        assert_eq!(aud(&tokens), HOST, "{at_authorize:?} {at_token:?}");
    }
    let tokens = granted(&op, "read write", &[HOST, DEEP], &[]).await;
    assert_eq!(aud(&tokens), json!([HOST, DEEP]));
    // With openid and nothing narrowed the token is good for userinfo too.
    let tokens = granted(&op, "openid read", &[HOST], &[]).await;
    assert_eq!(aud(&tokens), json!([HOST, op.public_url]));
    assert_eq!(userinfo(&op, text(&tokens, "access_token")).await.status, 200);
    let tokens = granted(&op, "openid read", &[""], &[""]).await;
    assert_eq!(aud(&tokens), op.public_url.as_str(), "empty counts as absent");
}

#[tokio::test]
async fn a_token_request_may_narrow_to_one_resource_and_its_scopes() {
    let op = Op::start().await;
    op.apply(MCP).await;
    let tokens = granted(&op, "openid read write", &[HOST, DEEP], &[DEEP]).await;
    assert_eq!((aud(&tokens), text(&tokens, "scope")), (json!(DEEP), "openid write"));
    let access = text(&tokens, "access_token");
    assert_eq!(introspect(&op, STRANGER, access).await["active"], true, "the server of the one");
    assert_eq!(introspect(&op, API, access).await, json!({ "active": false }), "not that of the other");
    assert_eq!(userinfo(&op, access).await.status, 401, "nor userinfo");
    let refresh = |more: &'static str, token: String| {
        let op = &op;
        async move {
            let fields = [("grant_type", "refresh_token"), ("refresh_token", token.as_str()), ("resource", more)];
            post_as(op, WEB, "/token", &fields).await
        }
    };
    let both = given(&refresh("", text(&tokens, "refresh_token").to_owned()).await);
    assert_eq!(aud(&both), json!([HOST, DEEP, op.public_url]), "narrowing touched only that token");
    let one = given(&refresh(HOST, text(&both, "refresh_token").to_owned()).await);
    assert_eq!((aud(&one), text(&one, "scope")), (json!(HOST), "openid read"));
    for wrong in
        ["https://other.example", "https://api.example", "https://mcp.example.com/mcp/", "https://x.example/#f"]
    {
        refused(&refresh(wrong, text(&one, "refresh_token").to_owned()).await, 400, "invalid_target");
    }
}

#[tokio::test]
async fn widening_and_unknown_resources_are_invalid_target() {
    let op = Op::start().await;
    op.apply(MCP).await;
    let mut browser = op.browser();
    for wrong in [
        "https://x.example",
        "https://x/#f",
        "https://mcp.example.com/#f",
        "https://mcp.example.com/mcp/",
        "https://mcp.example.com/MCP",
        "http://mcp.example.com",
        "https://other.example",
        "mcp.example.com",
    ] {
        let answer = asked(&mut browser, "openid read", &[wrong]).await;
        assert!(answer.location().starts_with(WEB.redirect_uri), "by redirect: {}", answer.location());
        assert_eq!(answer.location_param("error").as_deref(), Some("invalid_target"), "{wrong}");
        assert_eq!(answer.location_param("state").as_deref(), Some("st"));
        assert!(answer.location_param("code").is_none());
        let code = asked(&mut browser, "openid read", &[HOST]).await.location_param("code").unwrap();
        refused(&redeem_for(&op, &code, &[wrong]).await, 400, "invalid_target");
        // It was the right party: the code is still good.
        given(&redeem_for(&op, &code, &[]).await);
    }
    let code = asked(&mut browser, "openid read", &[HOST]).await.location_param("code").unwrap();
    refused(&redeem_for(&op, &code, &[DEEP]).await, 400, "invalid_target");
    let client = Client { redirect_uri: "https://opaque.example/cb", ..OPAQUE };
    let answer = code_answer(&mut browser, client, "openid", &[("resource", HOST)]).await;
    assert_eq!(answer.location_param("error").as_deref(), Some("invalid_target"), "not this client's");
}
