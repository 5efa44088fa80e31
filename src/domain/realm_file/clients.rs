//! `clients:` of a realm file: client metadata by its registered names (RFC 7591 section 2, OpenID
//! Connect Dynamic Client Registration 2). What needs several fields at once stands in [`crossed`],
//! which the plan asks once the stored fields lie under the declared ones.

use std::collections::BTreeMap;

use serde_json::Value;

use super::declared::{DeclaredClient, DeclaredClientSecret};
use super::fault::{Faults, shown};
use super::fields::{Check, Field, Form, boolean, entries, overlay, text};
use super::node::{Entry, Node};
use super::roles::{objects, required};
use super::text as check;
use super::users::{encrypted, secret_ref};
use crate::model::client::{ApplicationType, AuthMethod, ClientMetadata, GrantType};
use crate::model::key::RequestObjectAlgorithm;
use crate::model::response_type::ResponseType;
use crate::model::secret::Secret;
use crate::protocol::{foreign_jwks, frontchannel_logout, redirect_uri, request_uri, subject};

const AUTH_METHODS: &[&str] =
    &["client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt", "none"];
const ALGORITHMS: &[&str] = &["RS256", "PS256", "ES256", "EdDSA"];
const ASSERTION_ALGORITHMS: &[&str] = &["RS256", "PS256", "ES256", "EdDSA", "HS256"];

const REQUEST_OBJECT_ALGORITHMS: &[&str] = &["RS256", "PS256", "ES256", "EdDSA", "none"];

pub(super) const TABLE: &[Field] = &[
    Field::new("client_id", Form::Own),
    Field::new("client_secret", Form::Own),
    Field::new("secret_ref", Form::Own),
    Field::new("client_secret_encrypted", Form::Own),
    Field::new("enabled", Form::Own),
    Field::new("client_name", Form::Text(100)),
    Field::new("client_uri", Form::Checked(check::https)),
    Field::new("logo_uri", Form::Checked(check::https)),
    Field::new("application_type", Form::Word(&["web", "native"])),
    Field::new("initiate_login_uri", Form::Checked(fetched)),
    Field::new("software_id", Form::Text(255)),
    Field::new("software_version", Form::Text(255)),
    Field::new("policy_uri", Form::Checked(check::https)),
    Field::new("tos_uri", Form::Checked(check::https)),
    Field::new("contacts", Form::Each(check::email, 20)),
    // Whether an address may be registered depends on the client being public: see `crossed`.
    Field::new("redirect_uris", Form::Each(uri, 100)),
    Field::new("post_logout_redirect_uris", Form::Each(uri, 100)),
    Field::new("backchannel_logout_uri", Form::Checked(uri)),
    Field::new("backchannel_logout_session_required", Form::Bool),
    Field::new("frontchannel_logout_uri", Form::Checked(uri)),
    Field::new("frontchannel_logout_session_required", Form::Bool),
    Field::new("web_origins", Form::Each(check::origin, 100)),
    Field::new("token_endpoint_auth_method", Form::Word(AUTH_METHODS)),
    Field::new("token_endpoint_auth_signing_alg", Form::Word(ASSERTION_ALGORITHMS)),
    Field::new("jwks", Form::Json(jwks)),
    Field::new("jwks_uri", Form::Checked(fetched)),
    Field::new("request_uris", Form::Each(request_uri, 20)),
    Field::new("request_object_signing_alg", Form::Word(REQUEST_OBJECT_ALGORITHMS)),
    Field::new("grant_types", Form::Each(grant_type, 10)),
    Field::new("response_types", Form::Each(response_type, 7)),
    Field::new("scope", Form::Checked(check::scope)),
    Field::new("subject_type", Form::Word(&["public", "pairwise"])),
    Field::new("sector_identifier_uri", Form::Checked(fetched)),
    Field::new("consent", Form::Word(&["ask", "skip"])),
    Field::new("access_token_format", Form::Word(&["jwt", "opaque"])),
    Field::new("require_pkce", Form::Bool),
    Field::new("id_token_signed_response_alg", Form::Word(ALGORITHMS)),
    Field::new("userinfo_signed_response_alg", Form::Word(ALGORITHMS)),
    Field::new("default_max_age", Form::Whole(0, 31_536_000)),
    Field::new("default_acr_values", Form::Each(acr, 4)),
    Field::new("require_auth_time", Form::Bool),
    Field::new("resources", Form::Each(check::resource, 100)),
    Field::new("service_account_roles", Form::Each(check::name, 1_000)),
];

fn uri(text: &str) -> Result<String, String> {
    if text.is_empty() || text.len() > 2048 {
        return Err("an address of 1 to 2048 characters".to_owned());
    }
    Ok(text.to_owned())
}

/// Public keys, kept in one form. A private key that came along is told, never kept.
fn jwks(value: &Value) -> Result<Value, String> {
    let set = foreign_jwks::read(value).map_err(|fault| fault.to_string())?;
    if set.has_private {
        return Err("holds a private key; register the public members only, and replace this key".to_owned());
    }
    if set.keys.is_empty() {
        return Err("holds no key for signatures: RSA of 2048 bits or more, EC P-256 or OKP Ed25519".to_owned());
    }
    Ok(set.to_value())
}

/// Where keys and sector documents are fetched and where sign-ins begin: https alone, since whoever answers there
/// speaks for the client (OpenID Connect Dynamic Registration 2).
fn fetched(text: &str) -> Result<String, String> {
    if !text.starts_with("https://") || text.contains('#') {
        return Err(format!("{} must begin with https:// and have no fragment", shown(text)));
    }
    check::https(text)
}

fn request_uri(text: &str) -> Result<String, String> {
    request_uri::check_registrable(text).map_err(|fault| format!("{} {fault}", shown(text)))?;
    Ok(text.to_owned())
}

fn grant_type(text: &str) -> Result<String, String> {
    one_of(text, &GrantType::ALL.map(GrantType::as_str))
}

/// Kept with its words in the order of the registry.
fn response_type(text: &str) -> Result<String, String> {
    match ResponseType::from_words(text) {
        Some(known) => Ok(known.as_str().to_owned()),
        None => one_of(text, &ResponseType::ALL.map(ResponseType::as_str)),
    }
}

fn acr(text: &str) -> Result<String, String> {
    one_of(text, &crate::model::session::Acr::ALL.map(crate::model::session::Acr::as_str))
}

fn one_of(text: &str, words: &[&str]) -> Result<String, String> {
    if words.contains(&text) {
        Ok(text.to_owned())
    } else {
        Err(format!("{} is not supported; allowed are {}", shown(text), words.join(", ")))
    }
}

/// Reads `clients:`.
pub(super) fn read(node: &Node, faults: &mut Faults) -> Vec<DeclaredClient> {
    let mut clients = Vec::new();
    let mut seen = BTreeMap::new();
    for node in objects(node, "clients", faults) {
        faults.object("client", node.text_of("client_id"));
        let Some(found) = entries(node, TABLE, "", faults) else { continue };
        let Some(client_id) = required(&found, node.line, "client_id", check::client_id, faults) else { continue };
        faults.object("client", &client_id);
        if let Some(first) = seen.insert(client_id.clone(), node.line) {
            faults.add(node.line, "client_id", format!("declared twice, first on line {first}"));
        }
        let metadata = overlay(&found, TABLE, "", faults);
        // With the fields that are declared now; the plan asks again with the stored ones.
        if let Some(wanted) = metadata.over(&ClientMetadata::default()) {
            for crossed in crossed(&wanted) {
                if crossed.fields.iter().all(|field| metadata.has(field)) {
                    crossed.report(&metadata, node.line, faults);
                }
            }
        }
        clients.push(DeclaredClient {
            line: node.line,
            client_id,
            enabled: found.get("enabled").and_then(|entry| boolean(&entry.value, "enabled", faults)),
            metadata,
            secret: secret(&found, faults),
        });
    }
    clients
}

fn secret(found: &BTreeMap<&str, &Entry>, faults: &mut Faults) -> Option<DeclaredClientSecret> {
    let ways: Vec<_> =
        ["client_secret", "secret_ref", "client_secret_encrypted"].iter().filter_map(|name| found.get(name)).collect();
    if let [first, second, ..] = ways.as_slice() {
        faults.add(second.line, &second.key, format!("write {} or {}, not both", first.key, second.key));
        return None;
    }
    let entry = ways.first()?;
    let read = |check: Check, faults: &mut Faults| text(&entry.value, check, &entry.key, faults);
    match entry.key.as_str() {
        "client_secret" => {
            read(check::client_secret, faults).map(|text| DeclaredClientSecret::Value(Secret::new(text)))
        }
        "client_secret_encrypted" => read(encrypted, faults).map(DeclaredClientSecret::Encrypted),
        _ => secret_ref(&entry.value, "secret_ref", faults).map(DeclaredClientSecret::Ref),
    }
}

/// A fault that several fields make together; the first one gives the line.
pub(super) struct Crossed {
    pub(super) fields: &'static [&'static str],
    pub(super) message: String,
}

impl Crossed {
    pub(super) fn new(fields: &'static [&'static str], message: impl Into<String>) -> Self {
        Self { fields, message: message.into() }
    }

    /// Adds it to the faults, at the first of its fields that the file has.
    pub(super) fn report(self, overlay: &super::declared::Overlay, line: usize, faults: &mut Faults) {
        let field = self.fields.iter().find(|field| overlay.has(field)).or(self.fields.first()).copied().unwrap_or("");
        faults.add(overlay.line(field).unwrap_or(line), field, self.message);
    }
}

/// Back-Channel Logout 1.0 section 2.2: plain http is for confidential clients.
fn logout_endpoint(client: &ClientMetadata, public: bool) -> Option<Crossed> {
    let uri = client.backchannel_logout_uri.as_deref()?;
    if let Err(fault) = redirect_uri::check_logout_endpoint(uri) {
        return Some(Crossed::new(&["backchannel_logout_uri"], format!("{} {fault}", shown(uri))));
    }
    let plain = public && uri.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http:"));
    plain.then(|| {
        let fields = &["backchannel_logout_uri", "token_endpoint_auth_method"];
        Crossed::new(fields, "http is for confidential clients (Back-Channel Logout 1.0 section 2.2); use https")
    })
}

/// OpenID Connect Dynamic Registration 2: what runs on a server has no scheme of its own. That an app on a device is
/// called back by https too is newer than that text (RFC 8252 section 7.2).
fn wrong_kind(kind: ApplicationType, uri: &str) -> Option<Crossed> {
    let scheme = uri.split(':').next().unwrap_or_default().to_ascii_lowercase();
    if kind == ApplicationType::Native || ["https", "http"].contains(&scheme.as_str()) {
        return None;
    }
    let message = format!("{} has a scheme of its own, which is for application_type native", shown(uri));
    Some(Crossed::new(&["redirect_uris", "application_type"], message))
}

/// Front-Channel Logout 1.0 section 2.
fn logout_frame(client: &ClientMetadata) -> Option<Crossed> {
    let uri = client.frontchannel_logout_uri.as_deref()?;
    let fault = frontchannel_logout::check_registrable(uri, &client.redirect_uris).err()?;
    Some(Crossed::new(&["frontchannel_logout_uri", "redirect_uris"], format!("{} {fault}", shown(uri))))
}

/// What is wrong with a client's fields taken together.
pub(super) fn crossed(client: &ClientMetadata) -> Vec<Crossed> {
    let mut list = Vec::new();
    let public = client.token_endpoint_auth_method == AuthMethod::None;
    let code = client.grant_types.contains(&GrantType::AuthorizationCode);
    let told = |uri: &str, fault: &dyn std::fmt::Display| format!("{} {fault}", shown(uri));
    list.extend(client.redirect_uris.iter().filter_map(|uri| {
        let fault = redirect_uri::check_registrable(uri, public).err()?;
        Some(Crossed::new(&["redirect_uris"], told(uri, &fault)))
    }));
    list.extend(client.post_logout_redirect_uris.iter().filter_map(|uri| {
        let fault = redirect_uri::check_post_logout(uri, public).err()?;
        Some(Crossed::new(&["post_logout_redirect_uris"], told(uri, &fault)))
    }));
    list.extend(client.redirect_uris.iter().filter_map(|uri| wrong_kind(client.application_type?, uri)));
    list.extend(logout_endpoint(client, public));
    list.extend(crossed_responses(client));
    list.extend(logout_frame(client));
    if public && client.grant_types.contains(&GrantType::ClientCredentials) {
        list.push(Crossed::new(
            &["grant_types", "token_endpoint_auth_method"],
            "client_credentials needs a client that proves itself: token_endpoint_auth_method must not be none",
        ));
    }
    if client.grant_types.contains(&GrantType::RefreshToken) && !code {
        list.push(Crossed::new(&["grant_types"], "refresh_token needs authorization_code beside it"));
    }
    if client.grant_types.is_empty() {
        list.push(Crossed::new(&["grant_types"], "empty: a client without a grant can do nothing"));
    }
    list.extend(
        subject::check_sector(client)
            .err()
            .map(|fault| Crossed::new(&["subject_type", "sector_identifier_uri", "redirect_uris"], fault.to_string())),
    );
    list.extend(crossed_keys(client));
    if public && client.require_pkce == Some(false) {
        list.push(Crossed::new(
            &["require_pkce", "token_endpoint_auth_method"],
            "a public client always needs PKCE (RFC 9700 section 2.1.1)",
        ));
    }
    if !client.service_account_roles.is_empty() && !client.grant_types.contains(&GrantType::ClientCredentials) {
        list.push(Crossed::new(
            &["service_account_roles", "grant_types"],
            "service_account_roles need the grant client_credentials",
        ));
    }
    list
}

/// What is wrong with what a client may ask the authorization endpoint for (RFC 7591 section 2.1).
fn crossed_responses(client: &ClientMetadata) -> Vec<Crossed> {
    const FIELDS: &[&str] = &["response_types", "grant_types"];
    let mut list = Vec::new();
    let grants = [
        (GrantType::AuthorizationCode, ResponseType::has_code as fn(ResponseType) -> bool, "code"),
        (GrantType::Implicit, ResponseType::is_front_channel, "id_token or code id_token"),
    ];
    for (grant, is_of, example) in grants {
        let has_grant = client.grant_types.contains(&grant);
        let asking = |each: &&ResponseType| is_of(**each);
        // Plain code is the default, which a client of another kind leaves as it is.
        let lacking =
            client.response_types.iter().filter(asking).find(|each| !has_grant && **each != ResponseType::Code);
        if has_grant && client.redirect_uris.is_empty() {
            let message = format!("{} needs at least one redirect URI", grant.as_str());
            list.push(Crossed::new(&["redirect_uris", "grant_types"], message));
        }
        if has_grant && !client.response_types.iter().any(|each| is_of(*each)) {
            let message = format!("{} needs a response type such as {example}", grant.as_str());
            list.push(Crossed::new(FIELDS, message));
        }
        if let Some(lacking) = lacking {
            let message = format!("the response type {} needs {} in grant_types", lacking.as_str(), grant.as_str());
            list.push(Crossed::new(FIELDS, message));
        }
    }
    list
}

/// A signed request object needs a key to verify it with.
fn request_object_keys(client: &ClientMetadata) -> Option<Crossed> {
    let RequestObjectAlgorithm::Signed(alg) = client.request_object_signing_alg? else { return None };
    let message = match (&client.jwks, &client.jwks_uri) {
        (None, None) => format!("{} needs the client's public keys: jwks or jwks_uri", alg.as_str()),
        (Some(jwks), _) if foreign_jwks::read(jwks).is_ok_and(|set| set.candidates(alg, None).is_empty()) => {
            format!("none of the keys is for {}", alg.as_str())
        }
        _ => return None,
    };
    Some(Crossed::new(&["request_object_signing_alg", "jwks", "jwks_uri"], message))
}

/// What is wrong with a client's ways to sign (OpenID Connect Dynamic Registration 2).
fn crossed_keys(client: &ClientMetadata) -> Vec<Crossed> {
    let mut list = Vec::new();
    let method = client.token_endpoint_auth_method;
    if client.jwks.is_some() && client.jwks_uri.is_some() {
        list.push(Crossed::new(&["jwks_uri", "jwks"], "write jwks or jwks_uri, not both (RFC 7591 section 2)"));
    }
    if method == AuthMethod::PrivateKeyJwt && client.jwks.is_none() && client.jwks_uri.is_none() {
        list.push(Crossed::new(
            &["token_endpoint_auth_method", "jwks", "jwks_uri"],
            "private_key_jwt needs the client's public keys: jwks or jwks_uri",
        ));
    }
    list.extend(request_object_keys(client));
    let Some(alg) = client.token_endpoint_auth_signing_alg else { return list };
    let fits = match method {
        AuthMethod::PrivateKeyJwt => alg.key().is_some(),
        AuthMethod::ClientSecretJwt => alg.key().is_none(),
        AuthMethod::None | AuthMethod::ClientSecretBasic | AuthMethod::ClientSecretPost => false,
    };
    if !fits {
        list.push(Crossed::new(
            &["token_endpoint_auth_signing_alg", "token_endpoint_auth_method"],
            format!("{} does not go with {}", alg.as_str(), method.as_str()),
        ));
    }
    if let (true, Some(key), Some(jwks)) = (fits, alg.key(), &client.jwks)
        && foreign_jwks::read(jwks).is_ok_and(|set| set.candidates(key, None).is_empty())
    {
        list.push(Crossed::new(
            &["jwks", "token_endpoint_auth_signing_alg"],
            format!("none of the keys is for {}", alg.as_str()),
        ));
    }
    list
}
