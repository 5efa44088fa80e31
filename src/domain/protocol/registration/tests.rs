//! Registrations good and bad, member by member.

use serde_json::json;

use super::super::sample;
use super::*;
use crate::model::client::{ApplicationType, AuthMethod, Client, ClientOrigin};
use crate::model::secret::Secret;

fn realm() -> Realm {
    let mut realm = sample::realm();
    realm.settings.client_registration.enabled = true;
    realm
}

fn read_in(realm: &Realm, document: &Value) -> Result<ClientMetadata, Refusal> {
    let Value::Object(members) = document else { panic!("{document}") };
    read(members, realm)
}

/// A good registration with other members; `null` takes one out.
fn with(members: &Value) -> Value {
    let mut document = json!({ "redirect_uris": ["https://app.example/cb"] });
    for (name, value) in members.as_object().unwrap() {
        document[name] = value.clone();
    }
    document
}

#[test]
fn one_redirect_uri_is_enough() {
    let metadata = read_in(&realm(), &with(&json!({}))).unwrap();
    assert_eq!(metadata.token_endpoint_auth_method, AuthMethod::ClientSecretBasic);
    assert_eq!(metadata.grant_types, [GrantType::AuthorizationCode]);
    assert_eq!(metadata.response_types, [ResponseType::Code]);
    assert_eq!(metadata.scope, "openid profile email address phone offline_access");
    assert_eq!((metadata.consent, metadata.require_pkce), (ConsentMode::Ask, None));
    assert_eq!((metadata.resources.len(), metadata.service_account_roles.len()), (0, 0));
}

#[test]
fn everything_listed_is_kept_and_everything_else_ignored() {
    let document = with(&json!({
        "application_type": "web", "client_name": "App", "client_name#de": "Anwendung",
        "contacts": ["dev@app.example"], "client_uri": "https://app.example", "logo_uri": "https://app.example/l.png",
        "policy_uri": "https://app.example/p", "tos_uri": "https://app.example/t",
        "initiate_login_uri": "https://app.example/login", "software_id": "id-1", "software_version": "2.0",
        "post_logout_redirect_uris": ["https://app.example/out"],
        "backchannel_logout_uri": "https://app.example/bye", "backchannel_logout_session_required": true,
        "grant_types": ["authorization_code", "refresh_token", "client_credentials", "urn:x"],
        "response_types": ["code"], "scope": "openid email admin", "default_max_age": 60, "require_auth_time": true,
        "token_endpoint_auth_method": "client_secret_post", "userinfo_signed_response_alg": "RS256",
        "jwks": { "keys": [{ "kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" }] },
        // No power comes this way.
        "consent": "skip", "require_pkce": false, "service_account_roles": ["admin"], "resources": ["https://api"],
        "access_token_format": "opaque", "web_origins": ["https://evil.example"], "client_id": "chosen",
        "client_secret": "chosen-0123456789", "enabled": false, "secret_ref": "env:X", "realm": "other",
        "software_statement": "eyJ.eyJ.x", "tls_client_certificate_bound_access_tokens": true, "tos_uri#fr": 7,
        "policy_uri#de": null,
    }));
    let kept = read_in(&realm(), &document).unwrap();
    assert_eq!(kept.grant_types, GRANTS);
    assert_eq!(kept.scope, "openid email");
    assert_eq!((kept.consent, kept.require_pkce), (ConsentMode::Ask, None));
    assert!(kept.service_account_roles.is_empty() && kept.resources.is_empty() && kept.web_origins.is_empty());
    assert_eq!(kept.access_token_format, ClientMetadata::default().access_token_format);
    assert_eq!(kept.application_type, Some(ApplicationType::Web));
    let told = told(kept);
    for name in MEMBERS.iter().filter(|name| !name.starts_with("default_acr") && document.get(**name).is_some()) {
        assert!(told.get(*name).is_some(), "{name} in {told}");
    }
    assert!(["consent", "client_name#de", "software_statement", "resources"].iter().all(|n| told.get(*n).is_none()));
}

#[test]
fn each_bad_member_is_named() {
    use OauthCode::{InvalidClientMetadata as Metadata, InvalidRedirectUri as Redirect};
    let many = vec!["https://app.example/cb"; 101];
    let private = json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "x": "AA", "d": "AA" }] });
    for (members, code, told) in [
        (json!({ "redirect_uris": null }), Redirect, "redirect_uris: authorization_code needs at least one"),
        (json!({ "redirect_uris": [] }), Redirect, "redirect_uris: authorization_code needs at least one"),
        (json!({ "redirect_uris": "https://app.example/cb" }), Redirect, "redirect_uris: must be an array of strings"),
        (json!({ "redirect_uris": [7] }), Redirect, "redirect_uris: must be an array of strings"),
        (json!({ "redirect_uris": many }), Redirect, "redirect_uris: 101 entries; at most 100"),
        (json!({ "redirect_uris": ["https://a.example/#x"] }), Redirect, "must not have a fragment"),
        (json!({ "redirect_uris": ["http://a.example/"] }), Redirect, "must use https"),
        (json!({ "redirect_uris": ["javascript:alert(1)"] }), Redirect, "must not use the scheme javascript"),
        (json!({ "redirect_uris": ["https://a.example/?code=1"] }), Redirect, "which answers use"),
        (json!({ "redirect_uris": ["com.example.app:/cb"] }), Redirect, "is for public clients"),
        (
            json!({
                "application_type": "web", "redirect_uris": ["com.example.app:/cb"], "token_endpoint_auth_method": "none"
            }),
            Redirect,
            "com.example.app:/cb has a scheme of its own, which is for application_type native",
        ),
        (json!({ "application_type": "desktop" }), Metadata, "application_type: desktop is not allowed"),
        (json!({ "request_uris": ["http://localhost/r"] }), Metadata, "request_uris: each must begin with https://"),
        (json!({ "request_uris": ["https://app.example/r#x"] }), Metadata, "request_uris: https://app.example/r#x has"),
        (json!({ "request_object_signing_alg": "HS256" }), Metadata, "request_object_signing_alg: HS256 is not"),
        (json!({ "request_object_signing_alg": "ES256" }), Metadata, "request_object_signing_alg: ES256 needs"),
        (json!({ "client_name": 7 }), Metadata, "client_name: must be a string"),
        (json!({ "client_name": "" }), Metadata, "client_name: empty"),
        (json!({ "client_name": "a\nb" }), Metadata, "client_name: control characters"),
        (json!({ "client_name": "a".repeat(101) }), Metadata, "client_name: 101 characters"),
        (json!({ "logo_uri": "http://app.example/l.png" }), Metadata, "logo_uri: must begin with https://"),
        (json!({ "logo_uri": "javascript:alert(1)" }), Metadata, "logo_uri: must begin with https://"),
        (json!({ "client_uri": "http://localhost/" }), Metadata, "client_uri: must begin with https://"),
        (json!({ "policy_uri": "https://u:p@app.example" }), Metadata, "policy_uri: an address must not carry"),
        (json!({ "tos_uri": "https://" }), Metadata, "tos_uri: https:// is not an absolute address"),
        (json!({ "initiate_login_uri": "http://localhost/login" }), Metadata, "initiate_login_uri:"),
        (json!({ "initiate_login_uri": "https://a.example/#x" }), Metadata, "initiate_login_uri:"),
        (json!({ "backchannel_logout_uri": "http://127.0.0.1/" }), Metadata, "backchannel_logout_uri: must begin"),
        (json!({ "jwks_uri": "http://app.example/jwks" }), Metadata, "jwks_uri:"),
        (json!({ "jwks": private }), Metadata, "jwks: holds a private key"),
        (json!({ "jwks": { "keys": [] } }), Metadata, "jwks: holds no key"),
        (json!({ "jwks": [] }), Metadata, "jwks: must be an object"),
        (json!({ "token_endpoint_auth_method": "private_key_jwt" }), Metadata, "needs the client's public keys"),
        (json!({ "token_endpoint_auth_method": "tls_client_auth" }), Metadata, "token_endpoint_auth_method:"),
        (json!({ "grant_types": ["client_credentials"] }), Metadata, "grant_types:"),
        (json!({ "grant_types": ["implicit"] }), Metadata, "grant_types: a client that registers itself has"),
        (json!({ "grant_types": ["refresh_token"] }), Metadata, "grant_types: refresh_token needs authorization_code"),
        (json!({ "grant_types": [] }), Metadata, "grant_types: empty"),
        (json!({ "grant_types": ["authorization_code", 7] }), Metadata, "grant_types: must be an array of strings"),
        (json!({ "response_types": ["id_token"] }), Metadata, "response_types: a client that registers itself"),
        (json!({ "response_types": ["code", "id_token"] }), Metadata, "response_types: a client that registers itself"),
        (json!({ "response_types": [] }), Metadata, "response_types: a client that registers itself"),
        (json!({ "scope": "admin" }), Metadata, "scope: none of it is to be had here"),
        (json!({ "scope": ["openid"] }), Metadata, "scope: must be a string"),
        (json!({ "contacts": ["nobody"] }), Metadata, "contacts: nobody is not an e-mail address"),
        (json!({ "default_max_age": -1 }), Metadata, "default_max_age: must be a whole number"),
        (json!({ "require_auth_time": "true" }), Metadata, "require_auth_time: must be true or false"),
        (json!({ "id_token_signed_response_alg": "none" }), Metadata, "id_token_signed_response_alg:"),
    ] {
        let refusal = read_in(&realm(), &with(&members)).expect_err(&members.to_string());
        assert_eq!(refusal.code, code, "{members}: {}", refusal.description);
        assert!(refusal.description.contains(told), "{members}: {}", refusal.description);
    }
}

#[test]
fn an_own_scheme_needs_a_public_client_and_loopback_a_port_of_its_own() {
    let public = json!({
        "redirect_uris": ["com.example.app:/cb", "http://127.0.0.1:51004/cb", "https://app.example/claimed"],
        "token_endpoint_auth_method": "none", "application_type": "native",
    });
    assert!(read_in(&realm(), &public).is_ok());
    let loopback = json!({ "redirect_uris": ["http://127.0.0.1:51004/callback"] });
    let told = told(read_in(&realm(), &loopback).unwrap());
    assert_eq!(told["application_type"], "native", "what it really is");
    assert_eq!(told["token_endpoint_auth_method"], "client_secret_basic");
}

#[test]
fn a_realm_narrows_hosts_scopes_algorithms_and_gives_resources() {
    let mut realm = realm();
    let policy = &mut realm.settings.client_registration;
    policy.allowed_redirect_hosts = vec!["app.example".to_owned(), "localhost".to_owned()];
    policy.scope = "openid read".to_owned();
    policy.resources = vec!["https://api.example".to_owned()];
    realm.settings.keys.algorithms = vec![crate::model::key::Algorithm::RS256];
    let metadata = read_in(&realm, &with(&json!({}))).unwrap();
    assert_eq!(
        (metadata.scope.as_str(), metadata.resources.as_slice()),
        ("openid read", &["https://api.example".to_owned()][..])
    );
    for uri in ["https://app.example:8443/x", "http://localhost:3000/cb"] {
        assert!(read_in(&realm, &json!({ "redirect_uris": [uri] })).is_ok(), "{uri}");
    }
    for uri in ["https://x.app.example/cb", "https://app.example.evil.example/", "http://127.0.0.1/cb", "com.app:/cb"] {
        let document =
            json!({ "redirect_uris": ["https://app.example/cb", uri], "token_endpoint_auth_method": "none" });
        let refusal = read_in(&realm, &document).expect_err(uri);
        assert_eq!(refusal.code, OauthCode::InvalidRedirectUri, "{uri}");
    }
    let refusal = read_in(&realm, &with(&json!({ "userinfo_signed_response_alg": "ES256" }))).unwrap_err();
    assert!(refusal.description.contains("does not sign with ES256"), "{}", refusal.description);
}

fn told(metadata: ClientMetadata) -> Value {
    let client = Client { origin: ClientOrigin::SelfRegistered, metadata, ..sample::client() };
    let (secret, token) = (Secret::from("dwc_x"), Secret::from("dwg_x"));
    let uri = "https://id.example/register/web".to_owned();
    answer(&client, &Issued { client_secret: Some(&secret), access_token: &token, uri })
}

#[test]
fn the_answer_says_what_the_client_is_and_what_it_got() {
    let full = told(read_in(&realm(), &with(&json!({}))).unwrap());
    assert_eq!(
        full,
        json!({
            "client_id": "web", "client_id_issued_at": sample::client().created_at.as_secs(),
            "client_secret": "dwc_x", "client_secret_expires_at": 0,
            "registration_access_token": "dwg_x", "registration_client_uri": "https://id.example/register/web",
            "redirect_uris": ["https://app.example/cb"], "application_type": "web",
            "token_endpoint_auth_method": "client_secret_basic", "grant_types": ["authorization_code"],
            "response_types": ["code"], "scope": "openid profile email address phone offline_access",
        })
    );
    let client = Client { metadata: ClientMetadata::default(), ..sample::client() };
    let token = Secret::from("dwg_x");
    let later = answer(&client, &Issued { client_secret: None, access_token: &token, uri: String::new() });
    assert!(later.get("client_secret").is_none() && later.get("client_secret_expires_at").is_none());
}
