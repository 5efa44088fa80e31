//! A realm with a client and people, made through the store's own doors.

use doorward::domain::model::audit::{Actor, AuditEvent, AuditKind};
use doorward::domain::model::client::{Client, ClientMetadata, ClientOrigin, ClientSecret, GrantType};
use doorward::domain::model::consent::Consent;
use doorward::domain::model::credential::{Credential, CredentialSecret};
use doorward::domain::model::device::Device;
use doorward::domain::model::event::{EventKind, OutboxEvent};
use doorward::domain::model::grant::{Grant, GrantTerms};
use doorward::domain::model::identifier::{Canonical, Identifier, IdentifierKind};
use doorward::domain::model::ids::{
    ClientKey, ClientSecretId, CodeId, ConsentId, CredentialId, DeviceId, EventId, GrantId, RealmId, RoleId, SessionId,
    UserId,
};
use doorward::domain::model::realm::{Realm, RealmSettings};
use doorward::domain::model::role::Role;
use doorward::domain::model::secret::SecretHash;
use doorward::domain::model::session::{Acr, Amr, EndReason, Ended, Session};
use doorward::domain::model::span::Span;
use doorward::domain::model::timestamp::Timestamp;
use doorward::domain::model::user::{StandardClaims, User};
use doorward::entropy::{Entropy, SystemEntropy};
use doorward::store::batch::{OpenSession, Opened, RedeemCode, Redeemed};
use doorward::store::{Store, repo};
use uuid::Uuid;

use super::db::START;

pub(crate) fn uuid() -> Uuid {
    SystemEntropy.uuid("test", START)
}

pub(crate) fn name(text: &str) -> Canonical {
    Canonical::from_stored(text.to_owned())
}

pub(crate) fn ended(reason: EndReason) -> Ended {
    Ended { at: START, reason }
}

pub(crate) fn realm(name: &str) -> Realm {
    Realm {
        id: RealmId::from_uuid(uuid()),
        name: name.to_owned(),
        display_name: Some("A realm".to_owned()),
        enabled: true,
        issuer: None,
        restore_epoch: 0,
        pairwise_key: None,
        settings: RealmSettings::default(),
    }
}

pub(crate) fn client(realm: RealmId, client_id: &str) -> Client {
    Client {
        realm,
        key: ClientKey::from_uuid(uuid()),
        client_id: client_id.to_owned(),
        enabled: true,
        created_at: START,
        origin: ClientOrigin::Operator,
        metadata: ClientMetadata::default(),
        secrets: Vec::new(),
    }
}

pub(crate) fn secret(byte: u8, created_at: Timestamp) -> ClientSecret {
    ClientSecret {
        id: ClientSecretId::from_uuid(uuid()),
        hash: SecretHash([byte; 32]),
        sealed: None,
        created_at,
        expires_at: None,
    }
}

pub(crate) fn role(realm: RealmId, client: Option<ClientKey>, name: &str, composites: &[RoleId]) -> Role {
    Role {
        realm,
        id: RoleId::from_uuid(uuid()),
        client,
        name: name.to_owned(),
        description: None,
        composites: composites.to_vec(),
    }
}

pub(crate) fn user(realm: RealmId, username: &str) -> User {
    User {
        realm,
        id: UserId::from_uuid(uuid()),
        sub: format!("sub-{username}"),
        username: username.to_owned(),
        enabled: true,
        credential_epoch: 0,
        created_at: START,
        updated_at: START,
        claims: StandardClaims { email: Some(format!("{username}@example.com")), ..StandardClaims::default() },
    }
}

pub(crate) fn password(user: &User, phc: &str) -> Credential {
    Credential {
        realm: user.realm,
        id: CredentialId::from_uuid(uuid()),
        user: user.id,
        secret: CredentialSecret::Password { phc: phc.to_owned() },
        created_at: START,
    }
}

pub(crate) fn identifier(user: &User, canonical: &str, kind: IdentifierKind) -> Identifier {
    Identifier { realm: user.realm, canonical: name(canonical), kind, user: user.id }
}

pub(crate) fn audit(realm: RealmId, kind: AuditKind) -> AuditEvent {
    AuditEvent {
        id: EventId::from_uuid(uuid()),
        realm,
        at: START,
        kind,
        user: None,
        client: None,
        session: None,
        grant: None,
        reason: None,
        actor: Actor::System,
        address: None,
        request: None,
    }
}

/// A realm, a client, a person with a user name.
pub(crate) struct Scene {
    pub(crate) realm: Realm,
    pub(crate) client: Client,
    pub(crate) user: User,
}

impl Scene {
    pub(crate) async fn new(store: &Store) -> Self {
        let realm = realm("main");
        let client = client(realm.id, "app");
        let user = user(realm.id, "alice");
        let mut tx = store.begin().await.unwrap();
        repo::realm::insert(&mut tx, &realm).await.unwrap();
        repo::client::insert(&mut tx, &client).await.unwrap();
        repo::user::insert(&mut tx, &user).await.unwrap();
        let names = [identifier(&user, "alice", IdentifierKind::Username)];
        repo::identifier::replace_for(&mut tx, realm.id, user.id, &names).await.unwrap();
        tx.commit().await.unwrap();
        Self { realm, client, user }
    }

    pub(crate) async fn epoch(&self, store: &Store) -> i64 {
        repo::user::find(&store.read(), self.realm.id, self.user.id).await.unwrap().unwrap().credential_epoch
    }

    pub(crate) fn session(&self) -> Session {
        Session {
            realm: self.realm.id,
            id: SessionId::from_uuid(uuid()),
            user: self.user.id,
            device: DeviceId::from_uuid(uuid()),
            secret_hash: SecretHash([1; 32]),
            previous_secret_hash: None,
            secret_rotated_at: START,
            auth_time: START,
            acr: Acr::Aal1,
            amr: vec![Amr::Pwd],
            credential_epoch: 0,
            remembered: false,
            created_at: START,
            last_seen_at: START,
            idle: Span::mins(30),
            expires_at: START.plus(Span::hours(12).get()),
            ended: None,
        }
    }

    pub(crate) async fn open_session(&self, store: &Store) -> Session {
        let mut session = self.session();
        session.credential_epoch = self.epoch(store).await;
        let device = Device {
            realm: self.realm.id,
            id: session.device,
            secret_hash: SecretHash([2; 32]),
            browser: "Firefox".to_owned(),
            system: "Linux".to_owned(),
            first_seen_at: START,
            last_seen_at: START,
        };
        let mut audit = audit(self.realm.id, AuditKind::SignedIn);
        audit.user = Some(self.user.id);
        audit.address = Some("192.0.2.1".to_owned());
        let user_epoch = session.credential_epoch;
        let opening = OpenSession { session: session.clone(), device, user_epoch, replaces: None, audit };
        assert_eq!(store.batch().open_session(opening).await.unwrap(), Opened::Opened);
        session
    }

    pub(crate) async fn grant(&self, store: &Store, session: &Session, offline: bool) -> Grant {
        let code = CodeId::from_uuid(uuid());
        let grant = Grant {
            realm: self.realm.id,
            id: GrantId::from_uuid(uuid()),
            client: self.client.key,
            user: self.user.id,
            session: session.id,
            code: Some(code),
            grant_type: GrantType::AuthorizationCode,
            terms: GrantTerms {
                scope: vec!["openid".to_owned(), "profile".to_owned()],
                offline,
                auth_time: START,
                acr: Acr::Aal1,
                amr: vec![Amr::Pwd],
                nonce: Some("n".to_owned()),
                claims: None,
                resources: Vec::new(),
                cnf: None,
                actor: None,
                authorization_details: None,
                key_version: 1,
            },
            refresh_secret_hash: Some(SecretHash([9; 32])),
            generation: 0,
            rotated_at: START,
            presenter: Some([3; 16]),
            grace_streak: 0,
            grace_generation: 0,
            created_at: START,
            last_used_at: START,
            expires_at: START.plus(Span::days(90).get()),
            ended: None,
        };
        let redemption = RedeemCode {
            realm: self.realm.id,
            code,
            code_expires_at: START.plus(Span::mins(1).get()),
            grant: grant.clone(),
            credential_epoch: self.epoch(store).await,
            audit: audit(self.realm.id, AuditKind::GrantMade),
        };
        assert_eq!(store.batch().redeem_code(redemption).await.unwrap(), Redeemed::Redeemed);
        grant
    }
}

pub(crate) fn consent(scene: &Scene, scope: &[&str]) -> Consent {
    Consent {
        realm: scene.realm.id,
        id: ConsentId::from_uuid(uuid()),
        user: scene.user.id,
        client: scene.client.key,
        scope: scope.iter().map(|&word| word.to_owned()).collect(),
        resources: Vec::new(),
        created_at: START,
        updated_at: START,
    }
}

pub(crate) fn event(scene: &Scene, kind: EventKind) -> OutboxEvent {
    OutboxEvent {
        id: EventId::from_uuid(uuid()),
        realm: scene.realm.id,
        user: scene.user.id,
        sub: scene.user.sub.clone(),
        kind,
        at: START,
        data: "{}".to_owned(),
    }
}
