//! What a client may say about itself (RFC 7591 section 2, OpenID Connect Dynamic Registration 2) and what it is
//! told (RFC 7591 section 3.2.1, RFC 7592 section 3).
//!
//! The list of members is closed (`security-design` rule 31): what is not in it is ignored, as section 2 asks,
//! and so are localized members (`client_name#de`) and software statements, which vouch for nothing here
//! (section 2.3 lets us). Nothing in it gives power: the code flow alone, people always asked, scopes and
//! resources as far as the realm lets, no roles, PKCE as the realm says.

mod answer;
mod limits;

use serde_json::{Map, Value};
use url::Url;

use super::refusal::{OauthCode, Refusal};
use super::subject::sector;
use crate::model::client::{ClientMetadata, ConsentMode, GrantType, SubjectType};
use crate::model::realm::{ClientRegistration, Realm};
use crate::model::response_type::ResponseType;
use crate::realm_file;

pub use answer::{Issued, answer};
pub use limits::{Allowance, MARK_EVERY, Overdue, allowance, overdue};

/// The members that a client may register. Each has its row, with its form and rules, in the table of `clients:`
/// of the realm file; one more is one more line here.
const MEMBERS: &[&str] = &[
    "application_type",
    "backchannel_logout_session_required",
    "backchannel_logout_uri",
    "client_name",
    "client_uri",
    "contacts",
    "default_acr_values",
    "default_max_age",
    "frontchannel_logout_session_required",
    "frontchannel_logout_uri",
    "grant_types",
    "id_token_signed_response_alg",
    "initiate_login_uri",
    "jwks",
    "jwks_uri",
    "logo_uri",
    "policy_uri",
    "post_logout_redirect_uris",
    "redirect_uris",
    "request_object_signing_alg",
    "request_uris",
    "require_auth_time",
    "response_types",
    "scope",
    "sector_identifier_uri",
    "software_id",
    "software_version",
    "subject_type",
    "token_endpoint_auth_method",
    "token_endpoint_auth_signing_alg",
    "tos_uri",
    "userinfo_signed_response_alg",
];

/// Members that hold addresses which people are sent to or which we call: https, and nothing on this machine.
const SECURE: [&str; 6] =
    ["backchannel_logout_uri", "client_uri", "frontchannel_logout_uri", "logo_uri", "policy_uri", "tos_uri"];

/// Keys of one client.
const KEYS_MAX: usize = 20;

/// The grants that a client may register; others are left out, and the answer says so (RFC 7591 section 3.2.1).
const GRANTS: [GrantType; 2] = [GrantType::AuthorizationCode, GrantType::RefreshToken];

/// Reads a registration, or an update that replaces one (RFC 7592 section 2.2): a member left out has its default.
pub fn read(document: &Map<String, Value>, realm: &Realm) -> Result<ClientMetadata, Refusal> {
    let policy = &realm.settings.client_registration;
    let mut members: Map<String, Value> = document
        .iter()
        .filter(|(name, value)| MEMBERS.contains(&name.as_str()) && !value.is_null())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let mut faults = Vec::new();
    narrow_grants(&mut members, &mut faults);
    narrow_scope(&mut members, policy, &mut faults);
    check_response_types(&members, &mut faults);
    for name in SECURE {
        let text = members.get(name).and_then(Value::as_str);
        if text.is_some_and(|text| !is_https(text)) {
            faults.push((name.to_owned(), "must begin with https://".to_owned()));
        }
    }
    let places = members.get("request_uris").and_then(Value::as_array).into_iter().flatten();
    if places.filter_map(Value::as_str).any(|place| !is_https(place)) {
        faults.push(("request_uris".to_owned(), "each must begin with https://".to_owned()));
    }
    let base = ClientMetadata {
        scope: policy.scope.clone(),
        consent: ConsentMode::Ask,
        resources: policy.resources.clone(),
        ..ClientMetadata::default()
    };
    let metadata = match realm_file::client_metadata(&members, &base) {
        Ok(metadata) => metadata,
        Err(more) => {
            faults.extend(more);
            return Err(refused(&faults));
        }
    };
    check_hosts(&metadata, policy, &mut faults);
    check_keys(&metadata, realm, &mut faults);
    if faults.is_empty() { Ok(metadata) } else { Err(refused(&faults)) }
}

/// Whether an update leaves every person the `sub` that the client knows (OpenID Connect Core 8.1). One that does
/// not could take what was given in one sector and learn from it who people are in another.
pub fn check_update(before: &ClientMetadata, after: &ClientMetadata) -> Result<(), Refusal> {
    let knows_by = |client: &ClientMetadata| (client.subject_type == SubjectType::Pairwise).then(|| sector(client));
    if knows_by(before) == knows_by(after) {
        return Ok(());
    }
    let message = "subject_type: the sub of every person would change; register a client of its own for that";
    Err(Refusal::new(OauthCode::InvalidClientMetadata, "registration_sector", message))
}

fn is_https(text: &str) -> bool {
    text.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("https://"))
}

type Faults = Vec<(String, String)>;

fn refused(faults: &[(String, String)]) -> Refusal {
    let is_redirect = |(name, _): &&(String, String)| name == "redirect_uris";
    let (code, reason) = match faults.iter().find(is_redirect) {
        Some(_) => (OauthCode::InvalidRedirectUri, "registration_redirect_uri"),
        None => (OauthCode::InvalidClientMetadata, "registration_metadata"),
    };
    // The one that gave the code comes first: the text is cut at its end.
    let ordered = faults.iter().filter(is_redirect).chain(faults.iter().filter(|fault| !is_redirect(fault)));
    let told: Vec<String> = ordered.map(|(name, message)| format!("{name}: {message}")).collect();
    Refusal::with(code, reason, &told.join("; "))
}

/// Leaves out what a client cannot have by itself, as long as something is left: many name every grant they know.
fn narrow_grants(members: &mut Map<String, Value>, faults: &mut Faults) {
    let Some(Value::Array(list)) = members.get_mut("grant_types") else { return };
    let may_have = |value: &Value| value.as_str().is_some_and(|name| GRANTS.iter().any(|grant| grant.as_str() == name));
    if list.iter().any(may_have) {
        list.retain(|value| may_have(value) || !value.is_string());
    } else if !list.is_empty() {
        let message = "a client that registers itself has authorization_code and, beside it, refresh_token";
        faults.push(("grant_types".to_owned(), message.to_owned()));
    }
}

/// The scopes that are asked for, as far as the realm lets (RFC 7591 section 2: the server may register others).
fn narrow_scope(members: &mut Map<String, Value>, policy: &ClientRegistration, faults: &mut Faults) {
    let Some(Value::String(asked)) = members.get("scope") else { return };
    if asked.is_empty() {
        members.remove("scope");
        return;
    }
    let allowed: Vec<&str> = policy.scope.split(' ').collect();
    let kept: Vec<&str> = asked.split(' ').filter(|scope| !scope.is_empty() && allowed.contains(scope)).collect();
    if kept.is_empty() {
        faults.push(("scope".to_owned(), format!("none of it is to be had here; there are {}", policy.scope)));
    }
    let kept = kept.join(" ");
    members.insert("scope".to_owned(), kept.into());
}

/// What does not come through the token endpoint would come to whoever registered an address.
fn check_response_types(members: &Map<String, Value>, faults: &mut Faults) {
    let Some(list) = members.get("response_types").and_then(Value::as_array) else { return };
    let code = serde_json::to_value(ResponseType::Code).unwrap_or_default();
    if list.as_slice() != [code] {
        let message = "a client that registers itself uses the code flow: [code] and nothing else";
        faults.push(("response_types".to_owned(), message.to_owned()));
    }
}

fn check_hosts(metadata: &ClientMetadata, policy: &ClientRegistration, faults: &mut Faults) {
    let allowed = &policy.allowed_redirect_hosts;
    let is_allowed = |uri: &String| {
        let host = Url::parse(uri).ok().filter(|url| ["https", "http"].contains(&url.scheme()));
        let host = host.and_then(|url| url.host_str().map(str::to_owned));
        host.is_some_and(|host| allowed.contains(&host))
    };
    if let Some(uri) = metadata.redirect_uris.iter().find(|uri| !allowed.is_empty() && !is_allowed(uri)) {
        let message = format!("{uri} has a host that this realm does not let register itself");
        faults.push(("redirect_uris".to_owned(), message));
    }
}

fn check_keys(metadata: &ClientMetadata, realm: &Realm, faults: &mut Faults) {
    let keys = metadata.jwks.as_ref().and_then(|set| set.get("keys")).and_then(Value::as_array);
    if keys.is_some_and(|keys| keys.len() > KEYS_MAX) {
        faults.push(("jwks".to_owned(), format!("more than {KEYS_MAX} keys")));
    }
    for (name, alg) in [
        ("id_token_signed_response_alg", metadata.id_token_signed_response_alg),
        ("userinfo_signed_response_alg", metadata.userinfo_signed_response_alg),
    ] {
        if let Some(alg) = alg.filter(|alg| !realm.settings.keys.algorithms.contains(alg)) {
            faults.push((name.to_owned(), format!("this realm does not sign with {}", alg.as_str())));
        }
    }
}

#[cfg(test)]
mod tests;
