//! Values that the tables of the rules start from.

use std::time::Duration;

use crate::model::client::{AuthMethod, Client, ClientMetadata, ClientOrigin, GrantType};
use crate::model::grant::{Grant, GrantTerms};
use crate::model::ids::{ClientKey, CodeId, DeviceId, GrantId, RealmId, SessionId, UserId};
use crate::model::realm::{Realm, RealmSettings};
use crate::model::resource::Resource;
use crate::model::secret::SecretHash;
use crate::model::session::{Acr, Amr, Session};
use crate::model::span::Span;
use crate::model::timestamp::Timestamp;
use crate::model::user::{StandardClaims, User};

pub(super) const ISSUER: &str = "https://login.example.com";
pub(super) const API: &str = "https://api.example.com";
pub(super) const FILES: &str = "https://files.example.com/v1";
pub(super) const REALM: RealmId = RealmId::from_bytes([1; 16]);
pub(super) const CLIENT: ClientKey = ClientKey::from_bytes([2; 16]);
pub(super) const USER: UserId = UserId::from_bytes([3; 16]);
pub(super) const SESSION: SessionId = SessionId::from_bytes([4; 16]);
pub(super) const GRANT: GrantId = GrantId::from_bytes([5; 16]);
pub(super) const CODE: CodeId = CodeId::from_bytes([6; 16]);
pub(super) const SECRET: SecretHash = SecretHash([7; 32]);

/// The moment at which every sample is in order.
pub(super) fn now() -> Timestamp {
    Timestamp::from_secs(1_800_000_000)
}

pub(super) fn ago(secs: u64) -> Timestamp {
    now().minus(Duration::from_secs(secs))
}

pub(super) fn later(secs: u64) -> Timestamp {
    now().plus(Duration::from_secs(secs))
}

pub(super) fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

pub(super) fn realm() -> Realm {
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

pub(super) fn client() -> Client {
    Client {
        realm: REALM,
        key: CLIENT,
        client_id: "web".to_owned(),
        enabled: true,
        created_at: ago(9_000),
        origin: ClientOrigin::Operator,
        metadata: ClientMetadata {
            token_endpoint_auth_method: AuthMethod::ClientSecretBasic,
            grant_types: GrantType::ALL.to_vec(),
            scope: "openid profile email offline_access read write".to_owned(),
            resources: vec![API.to_owned(), FILES.to_owned()],
            post_logout_redirect_uris: vec!["https://app.example.com/".to_owned()],
            ..ClientMetadata::default()
        },
        secrets: Vec::new(),
    }
}

pub(super) fn user() -> User {
    User {
        realm: REALM,
        id: USER,
        sub: "sub-alice".to_owned(),
        username: "alice".to_owned(),
        enabled: true,
        credential_epoch: 3,
        created_at: ago(9_000),
        updated_at: ago(5_000),
        claims: StandardClaims::default(),
    }
}

pub(super) fn session() -> Session {
    Session {
        realm: REALM,
        id: SESSION,
        user: USER,
        device: DeviceId::from_bytes([9; 16]),
        secret_hash: SECRET,
        previous_secret_hash: None,
        secret_rotated_at: ago(600),
        auth_time: ago(600),
        acr: Acr::Aal1,
        amr: vec![Amr::Pwd],
        credential_epoch: 3,
        remembered: false,
        created_at: ago(600),
        last_seen_at: ago(60),
        idle: Span::mins(30),
        expires_at: later(36_000),
        ended: None,
    }
}

pub(super) fn terms() -> GrantTerms {
    GrantTerms {
        scope: words("openid profile read"),
        offline: false,
        auth_time: ago(600),
        acr: Acr::Aal1,
        amr: vec![Amr::Pwd],
        nonce: Some("n-1".to_owned()),
        claims: None,
        resources: Vec::new(),
        cnf: None,
        actor: None,
        authorization_details: None,
        key_version: 1,
    }
}

pub(super) fn grant() -> Grant {
    Grant {
        realm: REALM,
        id: GRANT,
        client: CLIENT,
        user: USER,
        session: SESSION,
        code: Some(CODE),
        grant_type: GrantType::AuthorizationCode,
        terms: terms(),
        refresh_secret_hash: Some(SECRET),
        generation: 5,
        rotated_at: ago(100),
        presenter: Some([8; 16]),
        grace_streak: 0,
        grace_generation: 0,
        created_at: ago(600),
        last_used_at: ago(100),
        expires_at: later(86_400),
        ended: None,
    }
}

pub(super) fn resources() -> Vec<Resource> {
    let resource = |number: u8, identifier: &str, scope: &str| Resource {
        realm: REALM,
        id: crate::model::ids::ResourceId::from_bytes([number; 16]),
        identifier: identifier.to_owned(),
        display_name: None,
        scopes: words(scope),
        introspection_clients: vec![format!("rs{number}")],
    };
    vec![resource(1, API, "read write"), resource(2, FILES, "list")]
}
