//! Facts that the tests of several rules share.

use crate::model::client::{AuthMethod, Client, ClientMetadata, GrantType};
use crate::model::ids::{ClientKey, RealmId, ResourceId};
use crate::model::realm::{Realm, RealmSettings};
use crate::model::resource::Resource;
use crate::model::timestamp::Timestamp;

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
