//! Client authentication: exactly one method, the registered one (RFC 6749 sections 2.3 and 5.2;
//! behaviour cases B-11 and B-12).

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use doorward::domain::model::audit::AuditKind;
use doorward::service::admin;

use crate::kit::browser::Answer;
use crate::kit::flow::{ASKER, NATIVE, WEB, basic, post_as};
use crate::kit::op::{Op, SECRET};
use crate::kit::token::{db_audit, db_realm, given, refused};

const ODD_ID: &str = "1PpG/Q+1";
const ODD_SECRET: &str = "z/tZ+9%41:uB=";

const ODD: &str = r#"
realm: main
clients:
  - client_id: "1PpG/Q+1"
    client_secret: "z/tZ+9%41:uB="
    token_endpoint_auth_method: client_secret_basic
    grant_types: [client_credentials]
    response_types: []
    scope: read
  - client_id: naive
    client_secret: "secret with %zz"
    token_endpoint_auth_method: client_secret_basic
    grant_types: [client_credentials]
    response_types: []
    scope: read
  - client_id: poster
    client_secret: "z/tZ+9%41:uB="
    token_endpoint_auth_method: client_secret_post
    grant_types: [client_credentials]
    response_types: []
    scope: read
  - client_id: off
    client_secret: "secret-of-a-disabled-one"
    enabled: false
    grant_types: [client_credentials]
    response_types: []
    scope: read
"#;

const OWN: (&str, &str) = ("grant_type", "client_credentials");

/// `Basic` of the two as they are, as naive clients send it.
fn raw_basic(text: &[u8]) -> String {
    format!("Basic {}", STANDARD.encode(text))
}

async fn with_basic(op: &Op, id: &str, secret: &str, fields: &[(&str, &str)]) -> Answer {
    op.post("/token", &[&[OWN], fields].concat(), &[("authorization", &basic(id, secret))]).await
}

async fn in_body(op: &Op, id: &str, secret: &str) -> Answer {
    op.post("/token", &[OWN, ("client_id", id), ("client_secret", secret)], &[]).await
}

/// What a stranger sees of an answer, without what differs by nature.
fn seen(answer: &Answer) -> (u16, Vec<(String, String)>, String) {
    let headers = answer.headers.iter().filter(|(name, _)| *name != "x-request-id");
    let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().expect("ASCII").to_owned())).collect();
    (answer.status.as_u16(), headers, answer.body.clone())
}

#[tokio::test]
async fn odd_signs_in_id_and_secret_arrive_form_encoded_or_in_the_body() {
    let op = Op::start().await;
    op.apply(ODD).await;
    given(&with_basic(&op, ODD_ID, ODD_SECRET, &[]).await);
    given(&in_body(&op, "poster", ODD_SECRET).await);
    // A client that does not encode means another id and another secret.
    let naive = raw_basic(format!("{ODD_ID}:{ODD_SECRET}").as_bytes());
    refused(&op.post("/token", &[OWN], &[("authorization", &naive)]).await, 401, "invalid_client");
    // A stray percent sign is no fault of ours.
    let naive = raw_basic(b"naive:secret with %zz");
    refused(&op.post("/token", &[OWN], &[("authorization", &naive)]).await, 401, "invalid_client");
    given(&with_basic(&op, "naive", "secret with %zz", &[]).await);
}

#[tokio::test]
async fn a_secret_that_we_make_reads_the_same_encoded_and_not() {
    let op = Op::start().await;
    let realm = db_realm(&op).await;
    let client = admin::client::find(&op.app, &realm, "web").await.unwrap().unwrap();
    let secret = admin::client::rotate_secret(&op.app, &realm, &client, None).await.unwrap();
    let secret = secret.expose();
    assert!(secret.starts_with("dwc_") && secret.len() >= 47, "{secret}");
    assert!(secret.bytes().all(|b| b.is_ascii_alphanumeric() || b"._~-".contains(&b)), "{secret}");
    for header in [basic("web", secret), raw_basic(format!("web:{secret}").as_bytes())] {
        given(&op.post("/token", &[OWN], &[("authorization", &header)]).await);
    }
    refused(&with_basic(&op, "web", SECRET, &[]).await, 401, "invalid_client");
}

#[tokio::test]
async fn the_same_client_id_beside_the_header_is_one_method() {
    let op = Op::start().await;
    given(&with_basic(&op, "web", SECRET, &[("client_id", "web")]).await);
    // The empty field of a form counts as absent.
    given(&with_basic(&op, "web", SECRET, &[("client_id", ""), ("client_secret", "")]).await);
}

#[tokio::test]
async fn two_methods_in_one_request_are_refused() {
    let op = Op::start().await;
    let assertion_type = ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
    for fields in [
        &[("client_id", "web"), ("client_secret", SECRET)][..],
        &[("client_secret", SECRET)],
        &[("client_id", "web"), ("client_assertion", "e30.e30.e30"), assertion_type],
        &[assertion_type],
    ] {
        refused(&with_basic(&op, "web", SECRET, fields).await, 400, "invalid_request");
    }
    let header = basic("web", SECRET);
    let twice = [("authorization", header.as_str()), ("authorization", header.as_str())];
    refused(&op.post("/token", &[OWN], &twice).await, 400, "invalid_request");
}

#[tokio::test]
async fn mixed_identities_never_give_tokens() {
    let op = Op::start().await;
    for other in ["stranger", "nobody", "WEB"] {
        refused(&with_basic(&op, "web", SECRET, &[("client_id", other)]).await, 401, "invalid_client");
    }
}

#[tokio::test]
async fn only_the_registered_method_counts() {
    let op = Op::start().await;
    op.apply(ODD).await;
    // Right secret, wrong place.
    refused(&in_body(&op, "web", SECRET).await, 401, "invalid_client");
    refused(&with_basic(&op, "poster", ODD_SECRET, &[]).await, 401, "invalid_client");
    // A confidential client without its secret.
    refused(&op.post("/token", &[OWN, ("client_id", "web")], &[]).await, 401, "invalid_client");
    let fields = [OWN, ("client_id", "web"), ("client_assertion", "e30.e30.e30")];
    refused(&op.post("/token", &fields, &[]).await, 401, "invalid_client");
}

#[tokio::test]
async fn a_public_client_has_no_secret_to_send() {
    let op = Op::start().await;
    let fields = [("grant_type", "refresh_token"), ("refresh_token", "x"), ("client_id", "native")];
    // Known and let in, refused for what it brings.
    refused(&op.post("/token", &fields, &[]).await, 400, "invalid_grant");
    let empty = [&fields[..], &[("client_secret", "")]].concat();
    refused(&op.post("/token", &empty, &[]).await, 400, "invalid_grant");
    let secret = [&fields[..], &[("client_secret", "guess-0123456789")]].concat();
    refused(&op.post("/token", &secret, &[]).await, 401, "invalid_client");
    let headers = [("authorization", &*basic("native", "guess-0123456789"))];
    refused(&op.post("/token", &fields, &headers).await, 401, "invalid_client");
    let headers = [("authorization", &*basic("native", ""))];
    refused(&op.post("/token", &fields, &headers).await, 401, "invalid_client");
}

#[tokio::test]
async fn a_confidential_client_without_a_secret_gets_in_nowhere_until_it_has_one() {
    // `security-design` rule 28: an absent secret never makes a client public.
    let op = Op::start().await;
    op.apply("realm: main\nclients:\n  - { client_id: new, grant_types: [client_credentials], response_types: [], scope: read }\n")
        .await;
    for secret in ["", "null", "new", SECRET] {
        refused(&with_basic(&op, "new", secret, &[]).await, 401, "invalid_client");
        refused(&in_body(&op, "new", secret).await, 401, "invalid_client");
    }
    refused(&op.post("/token", &[OWN, ("client_id", "new")], &[]).await, 401, "invalid_client");
    let realm = db_realm(&op).await;
    let client = admin::client::find(&op.app, &realm, "new").await.unwrap().unwrap();
    let secret = admin::client::rotate_secret(&op.app, &realm, &client, None).await.unwrap();
    given(&with_basic(&op, "new", secret.expose(), &[]).await);
}

#[tokio::test]
async fn two_secrets_live_while_one_replaces_the_other() {
    let op = Op::start().await;
    let realm = db_realm(&op).await;
    let client = admin::client::find(&op.app, &realm, "web").await.unwrap().unwrap();
    let keep = Some(Duration::from_secs(3600));
    let second = admin::client::rotate_secret(&op.app, &realm, &client, keep).await.unwrap();
    given(&with_basic(&op, "web", SECRET, &[]).await);
    given(&with_basic(&op, "web", second.expose(), &[]).await);
    op.advance(Duration::from_secs(3599)).await;
    given(&with_basic(&op, "web", SECRET, &[]).await);
    op.advance(Duration::from_secs(1)).await;
    refused(&with_basic(&op, "web", SECRET, &[]).await, 401, "invalid_client");
    given(&with_basic(&op, "web", second.expose(), &[]).await);
    // A third beside the second: never three.
    let third = admin::client::rotate_secret(&op.app, &realm, &client, keep).await.unwrap();
    let fourth = admin::client::rotate_secret(&op.app, &realm, &client, keep).await.unwrap();
    refused(&with_basic(&op, "web", second.expose(), &[]).await, 401, "invalid_client");
    given(&with_basic(&op, "web", third.expose(), &[]).await);
    given(&with_basic(&op, "web", fourth.expose(), &[]).await);
}

#[tokio::test]
async fn a_secret_replaced_without_grace_dies_at_once_on_every_node() {
    let op = Op::start().await;
    let other = Op::builder().beside(&op).start().await;
    given(&with_basic(&other, "web", SECRET, &[]).await);
    let realm = db_realm(&op).await;
    let client = admin::client::find(&op.app, &realm, "web").await.unwrap().unwrap();
    admin::client::rotate_secret(&op.app, &realm, &client, None).await.unwrap();
    refused(&with_basic(&op, "web", SECRET, &[]).await, 401, "invalid_client");
    // Within a second: the feed's next look, or a guard that has grown stale.
    other.poll().await;
    refused(&with_basic(&other, "web", SECRET, &[]).await, 401, "invalid_client");
}

#[tokio::test]
async fn unknown_client_and_wrong_secret_look_alike_and_only_the_known_one_is_audited() {
    let op = Op::start().await;
    let unknown = with_basic(&op, "nobody", "guess-0123456789", &[]).await;
    assert!(db_audit(&op, AuditKind::ClientRefused).await.is_empty(), "strangers must not fill the audit");
    let wrong = with_basic(&op, "web", "guess-0123456789", &[]).await;
    refused(&wrong, 401, "invalid_client");
    assert_eq!(seen(&unknown), seen(&wrong));
    let audit = db_audit(&op, AuditKind::ClientRefused).await;
    assert_eq!(audit.len(), 1);
    assert_eq!(audit[0].reason.as_deref(), Some("client_secret_wrong"));
    let unknown = in_body(&op, "nobody", "guess-0123456789").await;
    op.apply(ODD).await;
    assert_eq!(seen(&unknown), seen(&in_body(&op, "poster", "guess-0123456789").await));
}

#[tokio::test]
async fn a_disabled_client_gets_in_nowhere() {
    let op = Op::start().await;
    op.apply(ODD).await;
    refused(&with_basic(&op, "off", "secret-of-a-disabled-one", &[]).await, 401, "invalid_client");
    op.apply("realm: main\nclients:\n  - { client_id: web, enabled: false }\n").await;
    refused(&with_basic(&op, "web", SECRET, &[]).await, 401, "invalid_client");
    op.apply("realm: main\nclients:\n  - { client_id: web, enabled: true }\n").await;
    given(&with_basic(&op, "web", SECRET, &[]).await);
}

#[tokio::test]
async fn nobody_is_401_and_every_other_fault_is_400() {
    let op = Op::start().await;
    refused(&op.post("/token", &[OWN], &[]).await, 401, "invalid_client");
    refused(&op.post("/token", &[], &[]).await, 401, "invalid_client");
    for (fields, error) in [
        (&[][..], "invalid_request"),
        (&[("grant_type", "")][..], "invalid_request"),
        (&[("grant_type", "password")], "unsupported_grant_type"),
        (&[("grant_type", "urn:ietf:params:oauth:grant-type:device_code")], "unsupported_grant_type"),
        (&[OWN, OWN], "invalid_request"),
        (&[OWN, ("scope", "read"), ("scope", "read")], "invalid_request"),
        (&[("grant_type", "refresh_token")], "invalid_request"),
        (&[("grant_type", "authorization_code")], "invalid_request"),
    ] {
        refused(&post_as(&op, WEB, "/token", fields).await, 400, error);
    }
    refused(&post_as(&op, ASKER, "/token", &[OWN]).await, 400, "unauthorized_client");
    refused(&post_as(&op, NATIVE, "/token", &[OWN]).await, 400, "unauthorized_client");
}

#[tokio::test]
async fn a_garbage_authorization_header_is_a_refusal_everywhere_and_never_a_fault() {
    let op = Op::start().await;
    let long = format!("Basic {}", "A".repeat(9_000));
    let headers = [
        String::new(),
        "Basic".to_owned(),
        "Basic ".to_owned(),
        "Basic !!!!".to_owned(),
        "Basic =".to_owned(),
        raw_basic(b""),
        raw_basic(b":"),
        raw_basic(b"web"),
        raw_basic(b"web:"),
        raw_basic(b":web-secret-0123456789abcdef"),
        raw_basic(b"web:%"),
        raw_basic(b"web:%4"),
        raw_basic(b"%zz:x"),
        raw_basic(b"%ff:x"),
        raw_basic(&[0xff, 0xfe, b':', 0x80]),
        raw_basic(b"web\0:x"),
        raw_basic(&b"a".repeat(3_000)),
        "Bearer abc".to_owned(),
        "Digest username=web".to_owned(),
        "Negotiate YIIZ".to_owned(),
        format!("Token {}", STANDARD.encode("web:x")),
        "\t".to_owned(),
        long,
    ];
    let fields = [OWN, ("token", "x")];
    for path in ["/token", "/introspect", "/revoke"] {
        for header in &headers {
            let answer = op.post(path, &fields, &[("authorization", header)]).await;
            assert_eq!(answer.status, 401, "{path} {header:?}: {}", answer.body);
            refused(&answer, 401, "invalid_client");
            assert!(answer.header("www-authenticate").unwrap().starts_with("Basic realm="), "{path}");
        }
        let raw = http::Request::builder().method("POST").uri(path).header("host", "localhost:8080");
        let raw = raw.header("content-type", "application/x-www-form-urlencoded");
        let raw = raw.header("authorization", http::HeaderValue::from_bytes(b"Basic \xfc\xff").unwrap());
        refused(&op.send(raw.body("grant_type=client_credentials".into()).unwrap()).await, 401, "invalid_client");
    }
    // The scheme's case is free, and so is padding.
    let header = basic("web", SECRET).replace("Basic", "bASIC").replace('=', "");
    given(&op.post("/token", &[OWN], &[("authorization", &header)]).await);
}

#[tokio::test]
async fn a_client_id_that_no_database_takes_is_an_unknown_one_everywhere() {
    let op = Op::start().await;
    for id in ["\0", "we\0b", "web\0", "w\u{e9}b", "we b", "\n", &"w".repeat(300)] {
        refused(&with_basic(&op, id, SECRET, &[]).await, 401, "invalid_client");
        refused(&in_body(&op, id, SECRET).await, 401, "invalid_client");
        refused(&op.post("/token", &[OWN, ("client_id", id)], &[]).await, 401, "invalid_client");
        let query = form_urlencoded::Serializer::new(String::new()).append_pair("client_id", id).finish();
        for path in ["/authorize", "/logout"] {
            let answer = op.get(&format!("{path}?{query}"), &[]).await;
            assert!(!answer.status.is_server_error(), "{path}?{query}: {}", answer.status);
        }
    }
}

#[tokio::test]
async fn only_a_form_is_read_whatever_its_case_and_parameters() {
    let op = Op::start().await;
    let authorization = basic("web", SECRET);
    let body = "grant_type=client_credentials";
    for media in [
        "application/x-www-form-urlencoded",
        "Application/X-WWW-Form-Urlencoded",
        "application/x-www-form-urlencoded; charset=UTF-8",
        "application/x-www-form-urlencoded;charset=utf-8",
    ] {
        given(&op.raw("POST", "/token", &[("authorization", &authorization), ("content-type", media)], body).await);
    }
    let json = r#"{"grant_type":"client_credentials"}"#;
    for (media, body) in
        [("application/json", json), ("text/plain", body), ("multipart/form-data; boundary=x", "--x--"), ("", body)]
    {
        let headers = [("authorization", &*authorization), ("content-type", media)];
        refused(&op.raw("POST", "/token", &headers, body).await, 400, "invalid_request");
    }
    refused(&op.raw("POST", "/token", &[("authorization", &authorization)], body).await, 400, "invalid_request");
}
