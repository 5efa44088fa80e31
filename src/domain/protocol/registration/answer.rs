//! The client information response (RFC 7591 section 3.2.1, RFC 7592 section 3).

use serde_json::{Map, Value, json};

use super::MEMBERS;
use crate::model::client::{ApplicationType, Client, ClientMetadata};
use crate::model::secret::Secret;

/// Members that are told even where they are the defaults: what the client really is.
const ALWAYS: [&str; 5] = ["redirect_uris", "token_endpoint_auth_method", "grant_types", "response_types", "scope"];

/// What goes with a registration besides what was registered.
#[derive(Debug)]
pub struct Issued<'a> {
    /// The secret, where one was just made: it is not kept in a form that could be told again.
    pub client_secret: Option<&'a Secret>,
    /// The token for this registration.
    pub access_token: &'a Secret,
    /// Where this registration is looked after.
    pub uri: String,
}

/// The body. It holds what really was registered, which may be less than was asked for.
#[must_use]
pub fn answer(client: &Client, issued: &Issued<'_>) -> Value {
    let mut body = registered(&client.metadata);
    body.insert("client_id".to_owned(), json!(client.client_id));
    body.insert("client_id_issued_at".to_owned(), json!(client.created_at.as_secs()));
    if let Some(secret) = issued.client_secret {
        body.insert("client_secret".to_owned(), json!(secret.expose()));
        // It counts until it is replaced.
        body.insert("client_secret_expires_at".to_owned(), json!(0));
    }
    body.insert("registration_access_token".to_owned(), json!(issued.access_token.expose()));
    body.insert("registration_client_uri".to_owned(), json!(issued.uri));
    Value::Object(body)
}

fn registered(metadata: &ClientMetadata) -> Map<String, Value> {
    let defaults = object(&ClientMetadata::default());
    let mut body = object(metadata);
    body.retain(|name, value| {
        let name = name.as_str();
        MEMBERS.contains(&name)
            && !value.is_null()
            && (ALWAYS.contains(&name) || defaults.get(name).is_none_or(|default| default != value))
    });
    let kind = metadata.application_type.unwrap_or_else(|| kind(metadata));
    body.insert("application_type".to_owned(), json!(kind));
    body
}

fn object(metadata: &ClientMetadata) -> Map<String, Value> {
    match serde_json::to_value(metadata) {
        Ok(Value::Object(members)) => members,
        _ => Map::new(),
    }
}

/// Where nothing is said, the redirect URIs tell: `web` would be wrong of a client that is called back on a
/// device, whatever the standard's default is.
fn kind(metadata: &ClientMetadata) -> ApplicationType {
    let on_device = |uri: &String| !uri.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"));
    let is_native = !metadata.redirect_uris.is_empty() && metadata.redirect_uris.iter().all(on_device);
    if is_native { ApplicationType::Native } else { ApplicationType::Web }
}
