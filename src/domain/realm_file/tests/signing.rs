//! Clients that sign: their keys, their secret, what goes with what.

use super::*;
use crate::model::client::AuthMethod;

const KEY: &str = "{ kty: OKP, crv: Ed25519, x: 11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo, kid: a, use: sig }";
const EC: &str = "{ kty: EC, crv: P-256, x: 11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo, y: 11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo }";
const LONG: &str = "a-secret-that-is-long-enough-to-sign";

/// A client with these lines.
fn client(lines: &str) -> String {
    format!(
        "realm: main\nclients:\n  - client_id: svc\n    grant_types: [client_credentials]\n    response_types: []\n{lines}"
    )
}

/// What is wrong with a file, whether it shows when it is read or when it is planned.
fn told(text: &str) -> String {
    match parse("f.yaml", text) {
        Err(faults) => lines(&faults),
        Ok(_) => planned(&StoredRealm::default(), text, false).expect_err("no fault was found"),
    }
}

fn key_client(lines: &str) -> String {
    client(&format!("    token_endpoint_auth_method: private_key_jwt\n{lines}"))
}

#[test]
fn keys_are_kept_in_one_form_and_exported() {
    let mut toy = Toy::new();
    let text = key_client(&format!(
        "    jwks: {{ keys: [{}, {EC}] }}\n    token_endpoint_auth_signing_alg: EdDSA\n    userinfo_signed_response_alg: PS256\n",
        KEY.replace(" }", ", x5c: [MII], ext: true }")
    ));
    assert_eq!(toy.apply(&text, false), ["create realm main", "create client svc"]);
    assert_eq!(toy.apply(&text, false), Vec::<String>::new());
    let stored = &toy.stored.clients[0].metadata;
    assert_eq!(stored.token_endpoint_auth_method, AuthMethod::PrivateKeyJwt);
    let jwks = stored.jwks.as_ref().unwrap().to_string();
    assert!(!jwks.contains("x5c") && !jwks.contains("ext") && jwks.contains("P-256"), "{jwks}");
    let exported = export(&toy.stored, None);
    assert_eq!(planned(&toy.stored, &exported, true), Ok(Vec::new()), "{exported}");
    let mut copy = Toy::new();
    copy.apply(&exported, false);
    assert_eq!(copy.stored.clients[0].metadata, toy.stored.clients[0].metadata);
    // A new list takes the place of the old one, and an address that of the list.
    toy.apply(&key_client(&format!("    jwks: {{ keys: [{KEY}] }}\n")), false);
    assert!(!toy.stored.clients[0].metadata.jwks.as_ref().unwrap().to_string().contains("P-256"));
    toy.apply(&key_client("    jwks: null\n    jwks_uri: \"https://svc.example/jwks\"\n"), false);
    assert_eq!(toy.stored.clients[0].metadata.jwks, None);
}

#[test]
fn what_does_not_go_together_is_told() {
    let private = KEY.replace(" }", ", d: AAAA }");
    for (lines, want) in [
        ("token_endpoint_auth_method: private_key_jwt", "needs the client's public keys: jwks or jwks_uri"),
        ("jwks_uri: \"http://svc.example/jwks\"", "must begin with https://"),
        ("jwks_uri: \"http://localhost/jwks\"", "must begin with https://"),
        ("jwks_uri: \"https://svc.example/jwks#a\"", "and have no fragment"),
        ("jwks: \"https://svc.example/jwks\"", "expected a mapping of fields"),
        ("jwks: { keys: [] }", "holds no key for signatures"),
        ("jwks: { keys: [{ kty: oct, k: AAAA }] }", "holds no key for signatures"),
        (&format!("jwks: {{ keys: [{private}] }}"), "holds a private key"),
        ("jwks: { key: 1 }", "expected a JWK set"),
        (&format!("jwks: {{ keys: [{KEY}] }}\n    jwks_uri: \"https://svc.example/jwks\""), "not both"),
        ("token_endpoint_auth_signing_alg: RS256", "RS256 does not go with client_secret_basic"),
        (
            "token_endpoint_auth_method: client_secret_jwt\n    token_endpoint_auth_signing_alg: ES256",
            "ES256 does not go with",
        ),
        (
            &format!(
                "token_endpoint_auth_method: private_key_jwt\n    jwks: {{ keys: [{KEY}] }}\n    token_endpoint_auth_signing_alg: ES256"
            ),
            "none of the keys is for ES256",
        ),
        ("token_endpoint_auth_signing_alg: RS512", "RS512 is not allowed; one of RS256"),
    ] {
        let told = told(&client(&format!("    {lines}\n")));
        assert!(told.contains(want), "{lines}: {told}");
        assert!(!told.contains("AAAA"), "{told}");
    }
}

#[test]
fn a_secret_that_signs_is_long_and_given_in_full() {
    let secret = |method: &str, secret: &str| {
        client(&format!("    token_endpoint_auth_method: {method}\n    client_secret: {secret}\n"))
    };
    let mut toy = Toy::new();
    let told = planned(&toy.stored, &secret("client_secret_jwt", "a-short-secret"), false).unwrap_err();
    assert!(told.contains("at least 32 characters"), "{told}");
    toy.apply(&secret("client_secret_basic", LONG), false);
    assert_eq!(toy.stored.clients[0].secrets[0].sealed, None);
    // The stored hash fits, but only a hash is stored: the secret has to be kept now.
    let acts = planned(&toy.stored, &secret("client_secret_jwt", LONG), false).unwrap();
    assert!(acts[0].fields.iter().any(|field| field.field == "client_secret"), "{acts:?}");
    toy.apply(&secret("client_secret_jwt", LONG), false);
    assert!(toy.stored.clients[0].secrets[0].sealed.is_some());
    assert_eq!(planned(&toy.stored, &secret("client_secret_jwt", LONG), false), Ok(Vec::new()));
    let told = planned(
        &toy.stored,
        &key_client(&format!("    jwks: {{ keys: [{KEY}] }}\n    client_secret: {LONG}\n")),
        false,
    );
    assert!(told.unwrap_err().contains("a client that signs with its own key"));
}

#[test]
fn a_realm_signs_only_by_its_own_algorithms() {
    for field in ["id_token_signed_response_alg", "userinfo_signed_response_alg"] {
        let text = |alg: &str| {
            format!(
                "realm: main\nsettings: {{ keys: {{ algorithms: [RS256, ES256] }} }}\nclients:\n  - {{ client_id: w, redirect_uris: [\"https://a.example/\"], {field}: {alg} }}"
            )
        };
        assert!(planned(&StoredRealm::default(), &text("ES256"), false).is_ok());
        let told = planned(&StoredRealm::default(), &text("PS256"), false).unwrap_err();
        assert!(told.contains(&format!("{field}: PS256 is not among settings.keys.algorithms")), "{told}");
    }
}
