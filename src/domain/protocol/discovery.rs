//! Metadata: OpenID Connect Discovery section 3, RFC 8414 section 2, RFC 9207 section 3.
//!
//! One document answers both addresses. Only what is switched on is listed, under registered names
//! only; what is not built is stated as `false` where leaving it out would mean `true`.

use serde::Serialize;

use super::claims::SUPPORTED;
use super::scope::STANDARD;
use crate::model::client::{AuthMethod, GrantType, SubjectType};
use crate::model::key::{Algorithm, ClientAlgorithm, RequestObjectAlgorithm};
use crate::model::realm::Realm;
use crate::model::response_type::ResponseType;
use crate::model::scope::Scope;
use crate::model::session::Acr;
use crate::protocol::authorize::ResponseMode;

/// The address of a realm's OpenID Connect metadata.
#[must_use]
pub fn openid_configuration_url(issuer: &str) -> String {
    format!("{}/.well-known/openid-configuration", bare(issuer))
}

/// The address of a realm's RFC 8414 metadata: the well-known part goes before the issuer's path.
#[must_use]
pub fn authorization_server_url(issuer: &str) -> String {
    let issuer = bare(issuer);
    let start = issuer.find("://").map_or(0, |at| at + 3);
    let (origin, path) = match issuer.get(start..).and_then(|rest| rest.find('/')) {
        Some(slash) => issuer.split_at(start + slash),
        None => (issuer, ""),
    };
    format!("{origin}/.well-known/oauth-authorization-server{path}")
}

fn bare(issuer: &str) -> &str {
    issuer.strip_suffix('/').unwrap_or(issuer)
}

/// The metadata document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Metadata {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    userinfo_endpoint: String,
    jwks_uri: String,
    introspection_endpoint: String,
    revocation_endpoint: String,
    end_session_endpoint: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    registration_endpoint: Option<String>,
    scopes_supported: Vec<String>,
    response_types_supported: Vec<&'static str>,
    response_modes_supported: [&'static str; 3],
    grant_types_supported: Vec<&'static str>,
    acr_values_supported: [&'static str; Acr::REACHABLE.len()],
    subject_types_supported: Vec<&'static str>,
    id_token_signing_alg_values_supported: Vec<&'static str>,
    userinfo_signing_alg_values_supported: Vec<&'static str>,
    token_endpoint_auth_methods_supported: Vec<&'static str>,
    token_endpoint_auth_signing_alg_values_supported: Vec<&'static str>,
    introspection_endpoint_auth_methods_supported: Vec<&'static str>,
    introspection_endpoint_auth_signing_alg_values_supported: Vec<&'static str>,
    revocation_endpoint_auth_methods_supported: Vec<&'static str>,
    revocation_endpoint_auth_signing_alg_values_supported: Vec<&'static str>,
    code_challenge_methods_supported: [&'static str; 1],
    display_values_supported: [&'static str; 1],
    prompt_values_supported: [&'static str; 4],
    claim_types_supported: [&'static str; 1],
    claims_supported: Vec<&'static str>,
    ui_locales_supported: Vec<String>,
    claims_parameter_supported: bool,
    request_parameter_supported: bool,
    request_uri_parameter_supported: bool,
    require_request_uri_registration: bool,
    request_object_signing_alg_values_supported: [&'static str; RequestObjectAlgorithm::ALL.len()],
    authorization_response_iss_parameter_supported: bool,
    backchannel_logout_supported: bool,
    backchannel_logout_session_supported: bool,
    /// Both by default false, and then left out (Front-Channel Logout 1.0 section 3).
    #[serde(skip_serializing_if = "is_false")]
    frontchannel_logout_supported: bool,
    #[serde(skip_serializing_if = "is_false")]
    frontchannel_logout_session_supported: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    check_session_iframe: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// What a client of the realm may register and use.
fn response_types(realm: &Realm) -> Vec<&'static str> {
    let tokens = realm.settings.clients.front_channel_tokens;
    ResponseType::ALL.into_iter().filter(|known| tokens || !known.has_token()).map(ResponseType::as_str).collect()
}

impl Metadata {
    /// The document of a realm whose keys sign with `algorithms`, with the scopes of its own that it lists.
    #[must_use]
    pub fn new(issuer: &str, realm: &Realm, algorithms: &[Algorithm], scopes: &[Scope]) -> Self {
        let at = |path: &str| format!("{}{path}", bare(issuer));
        let methods = |all: &[AuthMethod]| all.iter().map(|method| method.as_str()).collect::<Vec<_>>();
        let assertions = || ClientAlgorithm::ALL.iter().map(|alg| alg.as_str()).collect::<Vec<_>>();
        let confidential: Vec<AuthMethod> =
            AuthMethod::ALL.into_iter().filter(|method| *method != AuthMethod::None).collect();
        Self {
            issuer: issuer.to_owned(),
            authorization_endpoint: at("/authorize"),
            token_endpoint: at("/token"),
            userinfo_endpoint: at("/userinfo"),
            jwks_uri: at("/.well-known/jwks.json"),
            introspection_endpoint: at("/introspect"),
            revocation_endpoint: at("/revoke"),
            end_session_endpoint: at("/logout"),
            registration_endpoint: realm.settings.client_registration.enabled.then(|| at("/register")),
            scopes_supported: STANDARD
                .into_iter()
                .chain(scopes.iter().filter(|scope| scope.terms.listed).map(|scope| scope.name.as_str()))
                .map(str::to_owned)
                .collect(),
            response_types_supported: response_types(realm),
            response_modes_supported: ResponseMode::ALL.map(ResponseMode::as_str),
            grant_types_supported: GrantType::ALL.iter().map(|grant| grant.as_str()).collect(),
            acr_values_supported: Acr::REACHABLE.map(Acr::as_str),
            subject_types_supported: SubjectType::ALL.iter().map(|subject| subject.as_str()).collect(),
            id_token_signing_alg_values_supported: algorithms.iter().map(|alg| alg.as_str()).collect(),
            userinfo_signing_alg_values_supported: algorithms.iter().map(|alg| alg.as_str()).collect(),
            token_endpoint_auth_methods_supported: methods(&AuthMethod::ALL),
            token_endpoint_auth_signing_alg_values_supported: assertions(),
            introspection_endpoint_auth_methods_supported: methods(&confidential),
            introspection_endpoint_auth_signing_alg_values_supported: assertions(),
            revocation_endpoint_auth_methods_supported: methods(&AuthMethod::ALL),
            revocation_endpoint_auth_signing_alg_values_supported: assertions(),
            code_challenge_methods_supported: ["S256"],
            display_values_supported: ["page"],
            prompt_values_supported: ["none", "login", "consent", "select_account"],
            claim_types_supported: ["normal"],
            claims_supported: SUPPORTED.to_vec(),
            ui_locales_supported: realm.settings.locales.supported.clone(),
            claims_parameter_supported: true,
            request_parameter_supported: true,
            request_uri_parameter_supported: true,
            require_request_uri_registration: true,
            request_object_signing_alg_values_supported: RequestObjectAlgorithm::ALL
                .map(RequestObjectAlgorithm::as_str),
            authorization_response_iss_parameter_supported: true,
            backchannel_logout_supported: true,
            backchannel_logout_session_supported: true,
            frontchannel_logout_supported: realm.settings.logout.front_channel,
            frontchannel_logout_session_supported: realm.settings.logout.front_channel,
            check_session_iframe: realm.settings.logout.session_management.then(|| at("/session/check")),
        }
    }

    /// The body.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::sample;
    use super::*;
    use crate::model::realm::LogoutSettings;

    fn document(issuer: &str) -> Value {
        document_with(issuer, &[])
    }

    fn document_with(issuer: &str, scopes: &[Scope]) -> Value {
        let metadata = Metadata::new(issuer, &sample::realm(), &[Algorithm::RS256, Algorithm::EdDSA], scopes);
        serde_json::from_slice(&metadata.to_bytes()).unwrap()
    }

    #[test]
    fn the_realms_own_scopes_are_listed_unless_it_says_no() {
        let own = |name: &str, listed: bool| Scope {
            realm: sample::REALM,
            id: crate::model::ids::ScopeId::from_bytes([1; 16]),
            name: name.to_owned(),
            terms: crate::model::scope::ScopeTerms { listed, ..Default::default() },
        };
        let document = document_with(sample::ISSUER, &[own("orders:read", true), own("inner", false)]);
        let listed: Vec<&str> =
            document["scopes_supported"].as_array().unwrap().iter().map(|scope| scope.as_str().unwrap()).collect();
        assert_eq!(listed, [&STANDARD[..], &["orders:read"]].concat());
    }

    #[test]
    fn the_issuer_stands_byte_for_byte_and_all_paths_hang_under_it() {
        let realm = document("https://login.example.com/realms/shop");
        assert_eq!(realm["issuer"], "https://login.example.com/realms/shop");
        assert_eq!(realm["jwks_uri"], "https://login.example.com/realms/shop/.well-known/jwks.json");
        let slash = document("https://login.example.com/");
        assert_eq!(slash["issuer"], "https://login.example.com/");
        assert_eq!(slash["token_endpoint"], "https://login.example.com/token");
        for (member, value) in realm.as_object().unwrap() {
            if member.ends_with("_endpoint") || member == "jwks_uri" {
                assert!(value.as_str().unwrap().starts_with("https://login.example.com/realms/shop/"), "{member}");
            }
        }
    }

    #[test]
    fn only_what_is_switched_on_is_listed() {
        let got = document("https://login.example.com");
        let want = [
            ("response_types_supported", json!(["code", "id_token", "code id_token"])),
            ("response_modes_supported", json!(["query", "fragment", "form_post"])),
            ("grant_types_supported", json!(["authorization_code", "implicit", "refresh_token", "client_credentials"])),
            ("subject_types_supported", json!(["public", "pairwise"])),
            ("id_token_signing_alg_values_supported", json!(["RS256", "EdDSA"])),
            ("code_challenge_methods_supported", json!(["S256"])),
            ("acr_values_supported", json!(["aal1"])),
            ("prompt_values_supported", json!(["none", "login", "consent", "select_account"])),
            ("ui_locales_supported", json!(["en", "de"])),
            ("userinfo_signing_alg_values_supported", json!(["RS256", "EdDSA"])),
            (
                "token_endpoint_auth_methods_supported",
                json!(["client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt", "none"]),
            ),
            (
                "introspection_endpoint_auth_methods_supported",
                json!(["client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt"]),
            ),
            ("token_endpoint_auth_signing_alg_values_supported", json!(["RS256", "PS256", "ES256", "EdDSA", "HS256"])),
            ("authorization_response_iss_parameter_supported", json!(true)),
            ("backchannel_logout_supported", json!(true)),
            ("backchannel_logout_session_supported", json!(true)),
            ("request_parameter_supported", json!(true)),
            ("request_uri_parameter_supported", json!(true)),
            ("require_request_uri_registration", json!(true)),
            ("request_object_signing_alg_values_supported", json!(["RS256", "PS256", "ES256", "EdDSA", "none"])),
            ("claims_parameter_supported", json!(true)),
        ];
        for (member, value) in want {
            assert_eq!(got[member], value, "{member}");
        }
        for absent in [
            "registration_endpoint",
            "pushed_authorization_request_endpoint",
            "check_session_iframe",
            "frontchannel_logout_supported",
            "frontchannel_logout_session_supported",
        ] {
            assert!(got.get(absent).is_none(), "{absent}");
        }
        assert!(got["scopes_supported"].as_array().unwrap().contains(&json!("roles")));
    }

    #[test]
    fn access_tokens_through_the_browser_are_listed_where_the_realm_gives_them() {
        let mut realm = sample::realm();
        realm.settings.clients.front_channel_tokens = true;
        let metadata = Metadata::new("https://login.example.com", &realm, &[Algorithm::RS256], &[]);
        let got: Value = serde_json::from_slice(&metadata.to_bytes()).unwrap();
        let all = ResponseType::ALL.map(ResponseType::as_str);
        assert_eq!(got["response_types_supported"], json!(all));
    }

    #[test]
    fn the_ways_of_logout_through_the_browser_are_listed_where_the_realm_offers_them() {
        let mut realm = sample::realm();
        for (front_channel, session_management) in [(true, false), (false, true)] {
            realm.settings.logout = LogoutSettings { front_channel, session_management };
            let metadata = Metadata::new("https://op.example/realms/shop", &realm, &[Algorithm::RS256], &[]);
            let got: Value = serde_json::from_slice(&metadata.to_bytes()).unwrap();
            let offered = front_channel.then_some(&Value::Bool(true));
            assert_eq!(got.get("frontchannel_logout_supported"), offered);
            assert_eq!(got.get("frontchannel_logout_session_supported"), offered);
            let frame = json!("https://op.example/realms/shop/session/check");
            assert_eq!(got.get("check_session_iframe"), session_management.then_some(&frame));
        }
    }

    #[test]
    fn both_documents_have_their_address() {
        let cases = [
            (
                "https://a.example",
                "https://a.example/.well-known/openid-configuration",
                "https://a.example/.well-known/oauth-authorization-server",
            ),
            (
                "http://localhost:8080/realms/r",
                "http://localhost:8080/realms/r/.well-known/openid-configuration",
                "http://localhost:8080/.well-known/oauth-authorization-server/realms/r",
            ),
        ];
        for (issuer, openid, oauth) in cases {
            assert_eq!(openid_configuration_url(issuer), openid);
            assert_eq!(authorization_server_url(issuer), oauth);
        }
    }
}
