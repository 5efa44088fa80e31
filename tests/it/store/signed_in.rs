//! A realm with a client, and people with sessions and grants, for tests of hot rows and read models.

use std::time::Duration;

use doorward::domain::model::audit::{Actor, AuditEvent, AuditKind};
use doorward::domain::model::client::{Client, ClientMetadata, ClientOrigin, GrantType};
use doorward::domain::model::device::Device;
use doorward::domain::model::grant::{Grant, GrantTerms};
use doorward::domain::model::ids::{
    ClientKey, CodeId, DeviceId, EventId, GrantId, RealmId, SessionId, TokenId, UserId,
};
use doorward::domain::model::realm::{Realm, RealmSettings};
use doorward::domain::model::secret::SecretHash;
use doorward::domain::model::session::{Acr, Amr, EndReason, Ended, Session};
use doorward::domain::model::span::Span;
use doorward::domain::model::timestamp::Timestamp;
use doorward::domain::model::user::{StandardClaims, User};
use doorward::entropy::{Entropy, SystemEntropy};
use doorward::store::batch::{EndSession, OpenSession, Opened, RedeemCode, Redeemed, RotateGrant, StepUp};
use doorward::store::{Store, repo};
use uuid::Uuid;

use super::db::START;

pub(crate) const IDLE: Duration = Duration::from_secs(14 * 86_400);

pub(crate) fn uuid() -> Uuid {
    SystemEntropy.uuid("test", START)
}

/// A realm with one client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) realm: RealmId,
    pub(crate) client: ClientKey,
}

/// Somebody who is signed in.
#[derive(Debug, Clone)]
pub(crate) struct Person {
    pub(crate) place: Place,
    pub(crate) user: UserId,
    pub(crate) session: SessionId,
}

impl Place {
    pub(crate) async fn new(store: &Store) -> Self {
        let place = Self { realm: RealmId::from_uuid(uuid()), client: ClientKey::from_uuid(uuid()) };
        let mut tx = store.begin().await.unwrap();
        repo::realm::insert(&mut tx, &place.realm_row()).await.unwrap();
        repo::client::insert(&mut tx, &place.client_row()).await.unwrap();
        tx.commit().await.unwrap();
        place
    }

    pub(crate) fn realm_row(self) -> Realm {
        Realm {
            id: self.realm,
            name: format!("r{}", &self.realm.as_uuid().simple().to_string()[16..]),
            display_name: None,
            enabled: true,
            issuer: None,
            restore_epoch: 0,
            pairwise_key: None,
            settings: RealmSettings::default(),
        }
    }

    pub(crate) fn client_row(self) -> Client {
        Client {
            realm: self.realm,
            key: self.client,
            client_id: "app".to_owned(),
            enabled: true,
            created_at: START,
            origin: ClientOrigin::Operator,
            metadata: ClientMetadata::default(),
            secrets: Vec::new(),
        }
    }

    /// An account that is not signed in.
    pub(crate) async fn user(self, store: &Store) -> UserId {
        self.users(store, 1).await[0]
    }

    /// So many of them, made in one transaction.
    pub(crate) async fn users(self, store: &Store, count: usize) -> Vec<UserId> {
        let users: Vec<UserId> = (0..count).map(|_| UserId::from_uuid(uuid())).collect();
        let mut tx = store.begin().await.unwrap();
        for user in &users {
            let row = User {
                realm: self.realm,
                id: *user,
                sub: user.as_uuid().simple().to_string(),
                username: user.as_uuid().simple().to_string(),
                enabled: true,
                credential_epoch: 0,
                created_at: START,
                updated_at: START,
                claims: StandardClaims::default(),
            };
            repo::user::insert(&mut tx, &row).await.unwrap();
        }
        tx.commit().await.unwrap();
        users
    }

    /// An account that is signed in.
    pub(crate) async fn person(self, store: &Store) -> Person {
        let user = self.user(store).await;
        self.sign_in(store, user).await
    }

    /// Signs an account in.
    pub(crate) async fn sign_in(self, store: &Store, user: UserId) -> Person {
        let opening = self.opening(user);
        let session = opening.session.id;
        assert_eq!(store.batch().open_session(opening).await.unwrap(), Opened::Opened);
        Person { place: self, user, session }
    }

    pub(crate) fn opening(self, user: UserId) -> OpenSession {
        let (session, device) = (SessionId::from_uuid(uuid()), DeviceId::from_uuid(uuid()));
        OpenSession {
            session: Session {
                realm: self.realm,
                id: session,
                user,
                device,
                secret_hash: SecretHash([7; 32]),
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
                expires_at: START.plus(Duration::from_secs(12 * 3600)),
                ended: None,
            },
            device: Device {
                realm: self.realm,
                id: device,
                secret_hash: SecretHash([8; 32]),
                browser: "Firefox".to_owned(),
                system: "Linux".to_owned(),
                first_seen_at: START,
                last_seen_at: START,
            },
            user_epoch: 0,
            replaces: None,
            audit: self.event(AuditKind::SignedIn, user),
        }
    }

    pub(crate) fn event(self, kind: AuditKind, user: UserId) -> AuditEvent {
        AuditEvent {
            id: EventId::from_uuid(uuid()),
            realm: self.realm,
            at: START,
            kind,
            user: Some(user),
            client: None,
            session: None,
            grant: None,
            reason: None,
            actor: Actor::Subject,
            address: Some("192.0.2.7".to_owned()),
            request: None,
        }
    }
}

impl Person {
    pub(crate) fn redemption(&self, code: CodeId) -> RedeemCode {
        RedeemCode {
            realm: self.place.realm,
            code,
            code_expires_at: START.plus(Duration::from_secs(60)),
            grant: self.grant_row(code),
            credential_epoch: 0,
            audit: self.place.event(AuditKind::GrantMade, self.user),
        }
    }

    fn grant_row(&self, code: CodeId) -> Grant {
        Grant {
            realm: self.place.realm,
            id: GrantId::from_uuid(uuid()),
            client: self.place.client,
            user: self.user,
            session: self.session,
            code: Some(code),
            grant_type: GrantType::AuthorizationCode,
            terms: GrantTerms {
                scope: vec!["openid".to_owned()],
                offline: false,
                auth_time: START,
                acr: Acr::Aal1,
                amr: vec![Amr::Pwd],
                nonce: None,
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
            presenter: None,
            grace_streak: 0,
            grace_generation: 0,
            created_at: START,
            last_used_at: START,
            expires_at: START.plus(Duration::from_secs(90 * 86_400)),
            ended: None,
        }
    }

    /// A live grant.
    pub(crate) async fn grant(&self, store: &Store) -> GrantId {
        self.grant_of(store, false).await
    }

    /// A live grant, online or offline.
    pub(crate) async fn grant_of(&self, store: &Store, offline: bool) -> GrantId {
        let mut redemption = self.redemption(CodeId::from_uuid(uuid()));
        redemption.grant.terms.offline = offline;
        let grant = redemption.grant.id;
        assert_eq!(store.batch().redeem_code(redemption).await.unwrap(), Redeemed::Redeemed);
        grant
    }

    pub(crate) fn rotation(&self, grant: GrantId, generation: i64, now: Timestamp) -> RotateGrant {
        RotateGrant {
            realm: self.place.realm,
            grant,
            generation,
            secret_hash: SecretHash([9; 32]),
            presenter: [5; 16],
            now,
            idle: IDLE,
        }
    }

    pub(crate) fn end(&self, reason: EndReason) -> EndSession {
        EndSession {
            realm: self.place.realm,
            session: self.session,
            ended: Ended { at: START, reason },
            audit: self.place.event(AuditKind::SessionEnded, self.user),
            outbox: None,
        }
    }

    pub(crate) fn step_up(&self, auth_time: Timestamp) -> StepUp {
        StepUp {
            realm: self.place.realm,
            session: self.session,
            new_secret: SecretHash([10; 32]),
            auth_time,
            acr: Acr::Aal1,
            amr: vec![Amr::Pwd],
            credential_epoch: 0,
            remembered: None,
            now: auth_time,
            audit: self.place.event(AuditKind::SignedIn, self.user),
        }
    }

    /// Disables the account as an administrator does: the parent first, its children in later statements.
    pub(crate) async fn disable(&self, store: &Store) {
        let ended = Ended { at: START, reason: EndReason::UserDisabled };
        let realm = self.place.realm;
        let mut tx = store.begin().await.unwrap();
        repo::user::set_enabled(&mut tx, realm, self.user, false, START).await.unwrap();
        repo::session::end_all_for_user(&mut tx, realm, self.user, ended, repo::session::Extent::ALL).await.unwrap();
        repo::grant::end_for_user(&mut tx, realm, self.user, ended).await.unwrap();
        tx.commit().await.unwrap();
    }

    /// Ends everything as a change of the password does.
    pub(crate) async fn change_password(&self, store: &Store) {
        let ended = Ended { at: START, reason: EndReason::CredentialChanged };
        let realm = self.place.realm;
        let mut tx = store.begin().await.unwrap();
        repo::user::raise_epoch(&mut tx, realm, self.user, START).await.unwrap();
        repo::session::end_all_for_user(&mut tx, realm, self.user, ended, repo::session::Extent::ALL).await.unwrap();
        repo::grant::end_for_user(&mut tx, realm, self.user, ended).await.unwrap();
        tx.commit().await.unwrap();
    }

    /// Deletes the account.
    pub(crate) async fn delete(&self, store: &Store) {
        let mut tx = store.begin().await.unwrap();
        repo::user::delete(&mut tx, self.place.realm, self.user).await.unwrap();
        tx.commit().await.unwrap();
    }

    /// Ends one grant, as a revocation does.
    pub(crate) async fn end_grant(&self, store: &Store, grant: GrantId) {
        let ended = Ended { at: START, reason: EndReason::RevokedByClient };
        let mut tx = store.begin().await.unwrap();
        assert!(repo::grant::end(&mut tx, self.place.realm, grant, ended).await.unwrap());
        tx.commit().await.unwrap();
    }

    /// Revokes an access token by itself.
    pub(crate) async fn revoke_token(&self, store: &Store, token: TokenId) {
        let mut tx = store.begin().await.unwrap();
        repo::token::revoke(&mut tx, self.place.realm, token, START.plus(Duration::from_secs(300))).await.unwrap();
        tx.commit().await.unwrap();
    }
}
