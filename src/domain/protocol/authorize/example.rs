//! Facts that the tests of several rules share.

use super::request::AuthorizeRequest;
use super::table::{Facts, HintFact, Outcome, check};
use crate::model::client::{AuthMethod, Client, ClientMetadata, ClientOrigin, GrantType};
use crate::model::ids::{ClientKey, RealmId, ResourceId};
use crate::model::realm::{Realm, RealmSettings};
use crate::model::resource::Resource;
use crate::model::response_type::ResponseType;
use crate::model::timestamp::Timestamp;
use crate::protocol::params::Params;
use crate::protocol::refusal::OauthCode;

const REALM: RealmId = RealmId::from_uuid(uuid::Uuid::from_u128(1));

/// A realm with the settings of an empty realm file.
pub(crate) fn realm() -> Realm {
    Realm {
        id: REALM,
        name: "main".to_owned(),
        display_name: None,
        enabled: true,
        issuer: None,
        restore_epoch: 0,
        pairwise_key: None,
        settings: RealmSettings::default(),
    }
}

/// A public client with a web and a loopback redirect URI.
pub(crate) fn client() -> Client {
    Client {
        realm: REALM,
        key: ClientKey::from_bytes([2; 16]),
        client_id: "app".to_owned(),
        enabled: true,
        created_at: Timestamp::from_secs(0),
        origin: ClientOrigin::Operator,
        metadata: ClientMetadata {
            redirect_uris: vec!["https://app.example/cb".to_owned(), "http://localhost/cb".to_owned()],
            token_endpoint_auth_method: AuthMethod::None,
            grant_types: vec![GrantType::AuthorizationCode, GrantType::RefreshToken],
            scope: "openid profile email offline_access orders:read stock:read".to_owned(),
            resources: vec!["https://orders.example".to_owned()],
            ..ClientMetadata::default()
        },
        secrets: Vec::new(),
    }
}

/// A client that has registered every response type.
pub(crate) fn legacy_client() -> Client {
    let mut client = client();
    client.metadata.grant_types.push(GrantType::Implicit);
    client.metadata.response_types = ResponseType::ALL.to_vec();
    client
}

/// Two resources; the client may ask for the first only.
pub(crate) fn resources() -> Vec<Resource> {
    let resource = |number: u8, identifier: &str, scope: &str| Resource {
        realm: REALM,
        id: ResourceId::from_bytes([number; 16]),
        identifier: identifier.to_owned(),
        display_name: None,
        scopes: vec![scope.to_owned()],
        introspection_clients: Vec::new(),
    };
    vec![resource(3, "https://orders.example/", "orders:read"), resource(4, "https://stock.example/", "stock:read")]
}

/// A request that passes every check.
pub(crate) const GOOD: [(&str, &str); 7] = [
    ("response_type", "code"),
    ("client_id", "app"),
    ("redirect_uri", "https://app.example/cb"),
    ("scope", "openid email"),
    ("state", "s1"),
    ("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"),
    ("code_challenge_method", "S256"),
];

/// The good request with some parameters set otherwise; an empty value takes one out.
pub(crate) fn with(changes: &[(&str, &str)]) -> Params {
    let kept = GOOD.iter().filter(|(name, _)| !changes.iter().any(|(other, _)| other == name));
    Params::from_pairs(kept.chain(changes.iter().filter(|(_, value)| !value.is_empty())).copied())
}

/// What the table says to a changed request of a changed client.
pub(crate) fn outcome_for(client: &Client, changes: &[(&str, &str)]) -> Outcome {
    outcome_in(&realm(), client, changes)
}

/// As [`outcome_for`], in a changed realm.
pub(crate) fn outcome_in(realm: &Realm, client: &Client, changes: &[(&str, &str)]) -> Outcome {
    let resources = resources();
    let facts =
        Facts { realm, client: Some(client), resources: &resources, scopes: &[], id_token_hint: HintFact::Absent };
    check(&with(changes), &facts)
}

/// The request that comes out of a change that is fine.
pub(crate) fn request(changes: &[(&str, &str)]) -> AuthorizeRequest {
    match outcome_for(&client(), changes) {
        Outcome::Request(request) => *request,
        other => panic!("{changes:?}: {other:?}"),
    }
}

/// Code and reason of a change that is refused by redirect.
pub(crate) fn refused(changes: &[(&str, &str)]) -> (OauthCode, &'static str) {
    match outcome_for(&client(), changes) {
        Outcome::Redirect(error) => (error.refusal.code, error.refusal.reason),
        other => panic!("{changes:?}: {other:?}"),
    }
}
