//! Tables for [`super`]: the sentences are the rules.

use base64::engine::general_purpose::STANDARD as PLAIN;
use proptest::prelude::*;

use super::*;
use crate::model::ids::ClientSecretId;
use crate::model::secret::SecretHash;
use crate::protocol::sample;

fn basic_of(text: &str) -> String {
    format!("Basic {}", PLAIN.encode(text))
}

fn read(authorization: &[&str], body: &BodyCredentials<'_>) -> Result<(String, AuthMethod, String), &'static str> {
    present(authorization, body)
        .map(|read| {
            let secret = read.secret.map(|secret| secret.expose().to_owned()).unwrap_or_default();
            (read.client_id, read.method, secret)
        })
        .map_err(|refusal| refusal.reason)
}

const NONE: BodyCredentials<'static> =
    BodyCredentials { client_id: None, client_secret: None, client_assertion: None, client_assertion_type: None };

#[test]
fn both_halves_of_basic_are_form_decoded_after_the_split() {
    let cases = [
        ("1PpG%2FQ+1:z%2FtZ%2B9%2541%3AuB%3D", "1PpG/Q 1", "z/tZ+9%41:uB="),
        ("id:secret", "id", "secret"),
        ("id:", "id", ""),
        ("id:a:b", "id", "a:b"),
        ("i%3Ad:a", "i:d", "a"),
        // A client that forgot to encode: right as long as neither + nor % is involved.
        ("id:z/tZ9:uB=", "id", "z/tZ9:uB="),
        ("id:%c3%A4", "id", "\u{e4}"),
    ];
    for (sent, id, secret) in cases {
        let want = Ok((id.to_owned(), AuthMethod::ClientSecretBasic, secret.to_owned()));
        assert_eq!(read(&[&basic_of(sent)], &NONE), want, "{sent}");
    }
}

#[test]
fn a_malformed_header_is_an_unknown_client_and_no_crash() {
    let long = format!("Basic {}", "A".repeat(5_000));
    let long_id = basic_of(&format!("{}:x", "a".repeat(256)));
    let cases = [
        basic_of("id:50%"),
        basic_of("id:5%4"),
        basic_of("id:%zz"),
        basic_of("id:%+1"),
        basic_of("id:%ff"),
        basic_of("no colon"),
        basic_of(":secret"),
        "Basic".to_owned(),
        "Basic ".to_owned(),
        "Basic !!!".to_owned(),
        "Basic aWQ6c2VjcmV0 x".to_owned(),
        long,
        long_id,
        String::new(),
    ];
    for header in cases {
        let refusal = present(&[&header], &NONE).unwrap_err();
        assert_eq!((refusal.code, refusal.reason), (OauthCode::InvalidClient, "client_basic_malformed"), "{header}");
    }
    for header in ["Bearer abc", "Digest a=b", "Negotiate YII=", "DPoP x"] {
        assert_eq!(read(&[header], &NONE), Err("client_scheme_unknown"), "{header}");
    }
}

#[test]
fn the_scheme_is_read_in_any_case_and_padding_may_lack() {
    for header in ["basic aTpz", "BASIC   aTpz", " Basic aTpz ", "Basic aTpzcw", "Basic aTpzcw=="] {
        assert!(read(&[header], &NONE).is_ok(), "{header}");
    }
}

#[test]
fn two_methods_in_one_request_are_an_invalid_request() {
    let basic = basic_of("A:secretA");
    let body = |id, secret, assertion| BodyCredentials {
        client_id: id,
        client_secret: secret,
        client_assertion: assertion,
        client_assertion_type: None,
    };
    let a = Some("A");
    let ok = Ok(("A".to_owned(), AuthMethod::ClientSecretBasic, "secretA".to_owned()));
    assert_eq!(read(&[&basic], &body(a, None, None)), ok, "(a) the same client_id is one method");
    assert_eq!(read(&[&basic], &body(a, Some(""), Some(""))), ok, "empty fields count as left out");
    for (two, authorization) in [
        (body(a, Some("secretA"), None), vec![basic.as_str()]),
        (body(None, Some("secretA"), None), vec![basic.as_str()]),
        (body(None, None, Some("eyJ")), vec![basic.as_str()]),
        (body(a, Some("secretA"), Some("eyJ")), vec![]),
    ] {
        let refusal = present(&authorization, &two).unwrap_err();
        assert_eq!((refusal.code, refusal.reason), (OauthCode::InvalidRequest, "client_two_methods"));
    }
    assert_eq!(read(&[&basic], &body(Some("B"), None, None)), Err("client_mixed_identities"), "(c)");
    assert_eq!(read(&[&basic, &basic], &NONE), Err("client_two_headers"));
}

#[test]
fn the_body_alone_tells_post_from_public() {
    let body = |id, secret| BodyCredentials { client_id: id, client_secret: secret, ..NONE };
    let got = read(&[], &body(Some("A"), Some("s+%41")));
    assert_eq!(got, Ok(("A".to_owned(), AuthMethod::ClientSecretPost, "s+%41".to_owned())), "decoded once already");
    let got = read(&[], &body(Some("A"), None));
    assert_eq!(got, Ok(("A".to_owned(), AuthMethod::None, String::new())));
    assert_eq!(read(&[], &body(Some("A"), Some(""))).map(|read| read.1), Ok(AuthMethod::None));
    assert_eq!(read(&[], &body(None, Some("s"))), Err("client_missing"));
    assert_eq!(read(&[], &body(Some(""), None)), Err("client_missing"));
    assert_eq!(read(&[], &body(Some(&"a".repeat(300)), None)), Err("client_unknown"));
}

fn secret(number: u8, expires_at: Option<Timestamp>) -> ClientSecret {
    ClientSecret {
        id: ClientSecretId::from_bytes([number; 16]),
        hash: SecretHash([number; 32]),
        sealed: None,
        created_at: sample::ago(100),
        expires_at,
    }
}

/// The test's "hash": the secret `7` fits the hash of sevens.
fn fits(known: &ClientSecret, given: &Secret) -> bool {
    given.expose().parse::<u8>().is_ok_and(|number| known.hash == SecretHash([number; 32]))
}

fn outcome(client: &Client, method: AuthMethod, given: Option<&str>) -> &'static str {
    let secret = given.map(Secret::from);
    let presented = Presented { client_id: "web".to_owned(), method, secret, assertion: None };
    let checked = check_method(client, &presented).and_then(|()| check_secret(client, &presented, fits, sample::now()));
    checked.err().map_or("ok", |refusal| {
        assert_eq!(refusal.code, OauthCode::InvalidClient);
        refusal.reason
    })
}

#[test]
fn only_the_registered_method_and_a_live_secret_authenticate() {
    use AuthMethod::{ClientSecretBasic as Basic, ClientSecretPost as Post, None as Public};
    let mut client = sample::client();
    client.secrets = vec![secret(1, None), secret(2, Some(sample::later(1))), secret(3, Some(sample::now()))];
    let cases = [
        (Basic, Some("1"), "ok"),
        (Basic, Some("2"), "ok"),
        (Basic, Some("3"), "client_secret_wrong"),
        (Basic, Some("4"), "client_secret_wrong"),
        (Basic, Some(""), "client_secret_missing"),
        (Post, Some("1"), "client_method_wrong"),
        (Public, None, "client_method_wrong"),
    ];
    for (method, given, want) in cases {
        assert_eq!(outcome(&client, method, given), want, "{method:?} {given:?}");
    }
}

#[test]
fn a_confidential_client_without_a_secret_cannot_authenticate() {
    let client = sample::client();
    for given in [Some("1"), Some("0")] {
        assert_eq!(outcome(&client, AuthMethod::ClientSecretBasic, given), "client_has_no_secret");
    }
    assert_eq!(outcome(&client, AuthMethod::ClientSecretBasic, Some("")), "client_secret_missing");
    assert_eq!(outcome(&client, AuthMethod::ClientSecretBasic, None), "client_secret_missing");
}

#[test]
fn a_public_client_brings_no_secret() {
    let mut client = sample::client();
    client.metadata.token_endpoint_auth_method = AuthMethod::None;
    client.secrets = vec![secret(1, None)];
    assert_eq!(outcome(&client, AuthMethod::None, None), "ok");
    assert_eq!(outcome(&client, AuthMethod::ClientSecretBasic, Some("1")), "client_method_wrong");
    assert_eq!(outcome(&client, AuthMethod::ClientSecretPost, Some("1")), "client_method_wrong");
}

#[test]
fn a_disabled_or_mixed_up_client_is_refused() {
    let mut client = sample::client();
    client.secrets = vec![secret(1, None)];
    client.enabled = false;
    assert_eq!(outcome(&client, AuthMethod::ClientSecretBasic, Some("1")), "client_disabled");
    assert_eq!(outcome(&client, AuthMethod::ClientSecretBasic, Some("9")), "client_secret_wrong");
    client.client_id = "other".to_owned();
    assert_eq!(outcome(&client, AuthMethod::ClientSecretBasic, Some("1")), "client_mixed_identities");
}

#[test]
fn a_stranger_cannot_tell_an_unknown_client_from_a_wrong_secret() {
    let presented = Presented {
        client_id: "web".to_owned(),
        method: AuthMethod::ClientSecretBasic,
        secret: Some(Secret::from("9")),
        assertion: None,
    };
    let wrong = check_secret(&sample::client(), &presented, fits, sample::now()).unwrap_err();
    assert_eq!(
        (wrong.code, wrong.description),
        (presented.unknown_client().code, presented.unknown_client().description)
    );
}

/// An assertion of this client, as far as it is read here.
fn assertion_of(client: &str, alg: &str) -> String {
    let part = |text: String| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(text);
    let claims = format!(r#"{{"iss":"{client}","sub":"{client}","aud":"x","exp":1,"jti":"j"}}"#);
    format!("{}.{}.c2ln", part(format!(r#"{{"alg":"{alg}"}}"#)), part(claims))
}

#[test]
fn an_assertion_names_its_client_and_its_method() {
    let (key, secret) = (assertion_of("A", "ES256"), assertion_of("A", "HS256"));
    let body = |id, text, kind| BodyCredentials {
        client_id: id,
        client_secret: None,
        client_assertion: text,
        client_assertion_type: kind,
    };
    let kind = Some(ASSERTION_TYPE);
    for (text, method) in [(&key, AuthMethod::PrivateKeyJwt), (&secret, AuthMethod::ClientSecretJwt)] {
        for id in [None, Some(""), Some("A")] {
            assert_eq!(read(&[], &body(id, Some(text), kind)), Ok(("A".to_owned(), method, String::new())));
        }
    }
    assert_eq!(read(&[], &body(Some("B"), Some(&key), kind)), Err("client_mixed_identities"));
    assert_eq!(read(&[], &body(None, Some(&key), None)), Err("assertion_type"));
    let saml = Some("urn:ietf:params:oauth:client-assertion-type:saml2-bearer");
    assert_eq!(read(&[], &body(None, Some(&key), saml)), Err("assertion_type"));
    assert_eq!(read(&[], &body(Some("A"), None, kind)), Err("assertion_missing"));
    assert_eq!(read(&[], &body(Some("A"), Some("eyJ"), kind)), Err("assertion_unreadable"));
}

#[test]
fn the_registered_method_alone_counts_for_assertions_too() {
    let mut client = sample::client();
    let text = assertion_of("web", "ES256");
    let kind = Some(ASSERTION_TYPE);
    let body = BodyCredentials { client_assertion: Some(&text), client_assertion_type: kind, ..NONE };
    let presented = present(&[], &body).unwrap();
    assert_eq!(presented.unknown_client().reason, "client_unknown");
    for method in AuthMethod::ALL {
        client.metadata.token_endpoint_auth_method = method;
        let want = (method != AuthMethod::PrivateKeyJwt).then_some("client_method_wrong");
        let refusal = check_method(&client, &presented).err();
        assert_eq!(refusal.as_ref().map(|refusal| refusal.reason), want, "{method:?}");
        assert!(
            refusal.is_none_or(|refusal| method == AuthMethod::None || refusal.description.ends_with(method.as_str()))
        );
    }
}

proptest! {
    #[test]
    fn any_header_is_read_or_refused(header in ".{0,120}") {
        let _ = present(&[&header], &NONE);
    }

    #[test]
    fn any_decoded_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
        let _ = present(&[&format!("Basic {}", PLAIN.encode(bytes))], &NONE);
    }

    #[test]
    fn an_encoding_client_is_read_back(id in "[ -~]{1,40}", secret in "\\PC{0,40}") {
        let encode = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        let header = basic_of(&format!("{}:{}", encode(&id), encode(&secret)));
        prop_assert_eq!(read(&[&header], &NONE), Ok((id, AuthMethod::ClientSecretBasic, secret)));
    }
}
