//! Every repo on every database.

use std::time::Duration;

use doorward::domain::model::audit::AuditKind;
use doorward::domain::model::client::AuthMethod;
use doorward::domain::model::consent::Consent;
use doorward::domain::model::credential::{Credential, CredentialSecret};
use doorward::domain::model::event::{EventKind, OutboxEvent};
use doorward::domain::model::group::Group;
use doorward::domain::model::identifier::IdentifierKind;
use doorward::domain::model::ids::{
    ConsentId, EventId, GroupId, KeyId, PowerId, RealmId, ResourceId, RoleId, TokenId, UserId,
};
use doorward::domain::model::key::{Algorithm, SigningKey};
use doorward::domain::model::power::{AdministrativePower, Power};
use doorward::domain::model::resource::Resource;
use doorward::domain::model::secret::SecretHash;
use doorward::domain::model::session::EndReason;
use doorward::domain::model::user::{Address, StandardClaims};
use doorward::store::repo::audit::AuditFilter;
use doorward::store::repo::logo::Logo;
use doorward::store::{Error, repo};

use super::db::{START, stores};
use super::people::{Scene, audit, client, ended, identifier, name, password, realm, role, secret, user, uuid};

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);

fn phc(credential: &Credential) -> &str {
    let CredentialSecret::Password { phc } = &credential.secret;
    phc
}

#[tokio::test]
async fn a_realm_comes_back_as_it_was() {
    for db in stores().await {
        let (store, mut known) = (&db.store, realm("second"));
        let mut tx = store.begin().await.unwrap();
        repo::realm::insert(&mut tx, &realm("main")).await.unwrap();
        repo::realm::insert(&mut tx, &known).await.unwrap();
        tx.commit().await.unwrap();
        known.settings.password_policy.min_length = 20;
        known.issuer = Some("https://login.example.com".to_owned());
        let mut tx = store.begin().await.unwrap();
        repo::realm::update(&mut tx, &known).await.unwrap();
        tx.commit().await.unwrap();
        let read = store.read();
        assert_eq!(repo::realm::find_by_name(&read, "second").await.unwrap(), Some(known.clone()));
        assert_eq!(repo::realm::find(&read, known.id).await.unwrap(), Some(known));
        assert_eq!(repo::realm::find_by_name(&read, "third").await.unwrap(), None);
        assert_eq!(repo::realm::list(&read).await.unwrap().len(), 2);
    }
}

#[tokio::test]
async fn an_account_comes_back_with_every_claim() {
    for db in stores().await {
        let scene = Scene::new(&db.store).await;
        let mut known = scene.user.clone();
        known.claims = StandardClaims {
            name: Some("Änne O'Neil".to_owned()),
            email_verified: true,
            birthdate: Some("0000-03-01".to_owned()),
            address: Some(Address { country: Some("IE".to_owned()), ..Address::default() }),
            ..known.claims
        };
        known.updated_at = START.plus(HOUR);
        // Only their own functions touch these two.
        let pretended = doorward::domain::model::user::User { enabled: false, credential_epoch: 7, ..known.clone() };
        let mut tx = db.store.begin().await.unwrap();
        repo::user::update(&mut tx, &pretended).await.unwrap();
        tx.commit().await.unwrap();
        let (read, realm) = (db.store.read(), scene.realm.id);
        assert_eq!(repo::user::find(&read, realm, known.id).await.unwrap(), Some(known.clone()));
        assert_eq!(repo::user::find_by_sub(&read, realm, "sub-alice").await.unwrap(), Some(known.clone()));
        assert_eq!(repo::user::find_by_username(&read, realm, &name("alice")).await.unwrap(), Some(known.clone()));
        let other = RealmId::from_uuid(uuid());
        assert_eq!(repo::user::find(&read, other, known.id).await.unwrap(), None);
        assert_eq!(repo::user::find_by_sub(&read, other, "sub-alice").await.unwrap(), None);
        assert!(repo::user::find_for_signin(&read, other, &name("alice")).await.unwrap().is_none());
    }
}

#[tokio::test]
async fn accounts_are_listed_in_pages() {
    for db in stores().await {
        let scene = Scene::new(&db.store).await;
        let mut ids = vec![scene.user.id];
        let mut tx = db.store.begin().await.unwrap();
        for number in 0..4 {
            let user = user(scene.realm.id, &format!("u{number}"));
            repo::user::insert(&mut tx, &user).await.unwrap();
            ids.push(user.id);
        }
        tx.commit().await.unwrap();
        ids.sort();
        let mut seen: Vec<UserId> = Vec::new();
        loop {
            let page = repo::user::list(&db.store.read(), scene.realm.id, seen.last().copied(), 2).await.unwrap();
            if page.is_empty() {
                break;
            }
            seen.extend(page.iter().map(|user| user.id));
        }
        assert_eq!(seen, ids);
    }
}

#[tokio::test]
async fn a_sign_in_finds_account_and_password_by_any_name() {
    for db in stores().await {
        let (scene, read) = (Scene::new(&db.store).await, db.store.read());
        let realm = scene.realm.id;
        let (found, none) = repo::user::find_for_signin(&read, realm, &name("alice")).await.unwrap().unwrap();
        assert!(found.id == scene.user.id && none.is_none());
        let mut tx = db.store.begin().await.unwrap();
        let names = [
            identifier(&scene.user, "alice", IdentifierKind::Username),
            identifier(&scene.user, "alice@example.com", IdentifierKind::Email),
        ];
        repo::identifier::replace_for(&mut tx, realm, scene.user.id, &names).await.unwrap();
        repo::credential::set_password(&mut tx, &password(&scene.user, "$argon2id$1")).await.unwrap();
        repo::credential::set_password(&mut tx, &password(&scene.user, "$argon2id$2")).await.unwrap();
        tx.commit().await.unwrap();
        let email = name("alice@example.com");
        let (found, stored) = repo::user::find_for_signin(&read, realm, &email).await.unwrap().unwrap();
        assert_eq!((found.id, phc(&stored.unwrap())), (scene.user.id, "$argon2id$2"));
        assert_eq!(repo::identifier::list_for(&read, realm, scene.user.id).await.unwrap(), names);
        assert!(repo::user::find_by_username(&read, realm, &email).await.unwrap().is_none());
        assert!(repo::user::find_for_signin(&read, realm, &name("bob")).await.unwrap().is_none());
    }
}

#[tokio::test]
async fn a_name_never_means_two_people() {
    for db in stores().await {
        let scene = Scene::new(&db.store).await;
        let bob = user(scene.realm.id, "bob");
        let mut tx = db.store.begin().await.unwrap();
        repo::user::insert(&mut tx, &bob).await.unwrap();
        let taken = [identifier(&bob, "alice", IdentifierKind::Email)];
        let error = repo::identifier::replace_for(&mut tx, scene.realm.id, bob.id, &taken).await.unwrap_err();
        assert_eq!(error, Error::Conflict("identifier"));
        drop(tx);
        let owner = repo::identifier::find(&db.store.read(), scene.realm.id, &name("alice")).await.unwrap().unwrap();
        assert_eq!(owner.user, scene.user.id);
    }
}

#[tokio::test]
async fn the_epoch_rises_with_every_change_of_a_credential() {
    for db in stores().await {
        let (scene, store) = (Scene::new(&db.store).await, &db.store);
        let (realm, id) = (scene.realm.id, scene.user.id);
        let mut tx = store.begin().await.unwrap();
        repo::credential::set_password(&mut tx, &password(&scene.user, "$argon2id$1")).await.unwrap();
        assert_eq!(repo::user::raise_epoch(&mut tx, realm, id, START).await.unwrap(), 2);
        tx.commit().await.unwrap();
        let mut tx = store.begin().await.unwrap();
        assert!(!repo::credential::rehash_password(&mut tx, realm, id, "$argon2id$0", "$x").await.unwrap());
        assert!(repo::credential::rehash_password(&mut tx, realm, id, "$argon2id$1", "$argon2id$n").await.unwrap());
        repo::user::set_enabled(&mut tx, realm, id, true, START).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(scene.epoch(store).await, 2);
        let mut tx = store.begin().await.unwrap();
        repo::user::set_enabled(&mut tx, realm, id, false, START).await.unwrap();
        repo::credential::delete_password(&mut tx, realm, id).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(scene.epoch(store).await, 4);
        assert!(!repo::user::find(&store.read(), realm, id).await.unwrap().unwrap().enabled);
        assert!(repo::credential::find_password(&store.read(), realm, id).await.unwrap().is_none());
    }
}

#[tokio::test]
async fn roles_come_from_the_person_her_groups_those_above_and_composites() {
    for db in stores().await {
        let (scene, store) = (Scene::new(&db.store).await, &db.store);
        let (realm, id) = (scene.realm.id, scene.user.id);
        let mut reader = role(realm, None, "reader", &[]);
        let editor = role(realm, None, "editor", &[reader.id]);
        let api = role(realm, Some(scene.client.key), "api", &[]);
        let staff = role(realm, None, "staff", &[api.id]);
        // A circle must end.
        reader.composites.push(editor.id);
        let other = role(realm, None, "other", &[]);
        let group = |parent: Option<GroupId>, path: &str, roles: &[RoleId]| Group {
            realm,
            id: GroupId::from_uuid(uuid()),
            parent,
            name: path.rsplit('/').next().unwrap().to_owned(),
            path: path.to_owned(),
            roles: roles.to_vec(),
        };
        let top = group(None, "/staff", &[staff.id]);
        let below = group(Some(top.id), "/staff/desk", &[]);
        let mut tx = store.begin().await.unwrap();
        // In any order: what is named may come later.
        repo::group::upsert(&mut tx, &below).await.unwrap();
        repo::group::upsert(&mut tx, &top).await.unwrap();
        for role in [&editor, &staff, &api, &reader, &other] {
            repo::role::upsert(&mut tx, role).await.unwrap();
        }
        repo::role::replace_for_user(&mut tx, realm, id, &[editor.id, editor.id]).await.unwrap();
        repo::group::replace_for_user(&mut tx, realm, id, &[below.id]).await.unwrap();
        tx.commit().await.unwrap();
        let read = store.read();
        let effective = repo::role::effective(&read, realm, id).await.unwrap();
        assert_eq!(effective.roles, ["editor", "reader", "staff"]);
        assert_eq!(
            effective.client_roles.into_iter().collect::<Vec<_>>(),
            [("app".to_owned(), vec!["api".to_owned()])]
        );
        assert_eq!(effective.groups, ["/staff/desk"]);
        assert_eq!(repo::group::list(&read, realm).await.unwrap(), [top.clone(), below.clone()]);
        let listed = repo::role::list(&read, realm).await.unwrap();
        assert_eq!(listed, [api.clone(), editor.clone(), other, reader.clone(), staff]);
        assert_eq!(repo::role::list_for_user(&read, realm, id).await.unwrap(), [editor.id]);
        assert_eq!(repo::group::list_for_user(&read, realm, id).await.unwrap(), [below.id]);

        let mut tx = store.begin().await.unwrap();
        repo::group::delete(&mut tx, realm, top.id).await.unwrap();
        repo::role::delete(&mut tx, realm, reader.id).await.unwrap();
        tx.commit().await.unwrap();
        let effective = repo::role::effective(&read, realm, id).await.unwrap();
        assert_eq!((effective.roles, effective.groups), (vec!["editor".to_owned()], vec![]));
        assert!(effective.client_roles.is_empty());
    }
}

#[tokio::test]
async fn a_composite_of_nothing_is_refused_at_commit_and_the_store_goes_on() {
    for db in stores().await {
        let scene = Scene::new(&db.store).await;
        let mut tx = db.store.begin().await.unwrap();
        let lost = role(scene.realm.id, None, "lost", &[RoleId::from_uuid(uuid())]);
        repo::role::upsert(&mut tx, &lost).await.unwrap();
        assert_eq!(tx.commit().await.unwrap_err(), Error::Conflict("reference"));
        let mut tx = db.store.begin().await.unwrap();
        repo::role::upsert(&mut tx, &role(scene.realm.id, None, "lost", &[])).await.unwrap();
        repo::role::upsert(&mut tx, &role(scene.realm.id, Some(scene.client.key), "lost", &[])).await.unwrap();
        tx.commit().await.unwrap();
        let mut tx = db.store.begin().await.unwrap();
        let again = repo::role::upsert(&mut tx, &role(scene.realm.id, None, "lost", &[])).await;
        assert_eq!(again.unwrap_err(), Error::Conflict("role"));
    }
}

#[tokio::test]
async fn a_client_has_at_most_two_live_secrets() {
    for db in stores().await {
        let (scene, store) = (Scene::new(&db.store).await, &db.store);
        let (realm, key) = (scene.realm.id, scene.client.key);
        let until = Some(START.plus(HOUR));
        for byte in 1..=3 {
            let mut tx = store.begin().await.unwrap();
            let new = secret(byte, START.plus(Duration::from_secs(byte.into())));
            repo::client::add_secret(&mut tx, realm, key, &new, until).await.unwrap();
            tx.commit().await.unwrap();
        }
        let found = repo::client::find(&store.read(), realm, key).await.unwrap().unwrap();
        let seen: Vec<_> = found.secrets.iter().map(|secret| (secret.hash, secret.expires_at)).collect();
        assert_eq!(seen, [(SecretHash([3; 32]), None), (SecretHash([2; 32]), until)]);
        let mut tx = store.begin().await.unwrap();
        repo::client::add_secret(&mut tx, realm, key, &secret(4, START.plus(HOUR)), None).await.unwrap();
        tx.commit().await.unwrap();
        let found = repo::client::find_by_client_id(&store.read(), realm, "app").await.unwrap().unwrap();
        assert_eq!(found.secrets.iter().map(|secret| secret.hash).collect::<Vec<_>>(), [SecretHash([4; 32])]);
    }
}

#[tokio::test]
async fn clients_are_changed_and_listed_with_their_own_secrets() {
    for db in stores().await {
        let (scene, store) = (Scene::new(&db.store).await, &db.store);
        let realm = scene.realm.id;
        let mut second = client(realm, "second");
        let mut tx = store.begin().await.unwrap();
        repo::client::insert(&mut tx, &second).await.unwrap();
        let of_second = secret(5, START);
        repo::client::add_secret(&mut tx, realm, second.key, &of_second, None).await.unwrap();
        second.enabled = false;
        second.metadata.token_endpoint_auth_method = AuthMethod::None;
        repo::client::update(&mut tx, &second).await.unwrap();
        tx.commit().await.unwrap();
        second.secrets.push(of_second);
        let mut wanted = vec![scene.client.clone(), second];
        wanted.sort_by_key(|client| client.key);
        assert_eq!(repo::client::list(&store.read(), realm, None, 10).await.unwrap(), wanted);
        assert_eq!(repo::client::list(&store.read(), realm, Some(wanted[0].key), 10).await.unwrap(), wanted[1..]);
    }
}

#[tokio::test]
async fn a_deleted_client_leaves_its_grants_ended_and_its_codes_spent() {
    for db in stores().await {
        let (scene, store) = (Scene::new(&db.store).await, &db.store);
        let session = scene.open_session(store).await;
        let grant = scene.grant(store, &session, true).await;
        let mut tx = store.begin().await.unwrap();
        repo::consent::upsert(&mut tx, &consent(&scene, &["openid"])).await.unwrap();
        repo::client::delete(&mut tx, scene.realm.id, scene.client.key, START).await.unwrap();
        tx.commit().await.unwrap();
        let read = store.read();
        assert!(repo::client::find(&read, scene.realm.id, scene.client.key).await.unwrap().is_none());
        let left = repo::grant::find_by_code(&read, scene.realm.id, grant.code.unwrap()).await.unwrap().unwrap();
        assert_eq!(left.ended.unwrap().reason, EndReason::ClientRemoved);
        assert_eq!(db.number("select count(*) from redemption").await, 1);
        assert_eq!(db.number("select count(*) from consent").await, 0);
        assert_eq!(db.number("select count(*) from change where kind = 'grant_ended'").await, 1);
        // The name is free again, for another client.
        let mut tx = store.begin().await.unwrap();
        repo::client::insert(&mut tx, &client(scene.realm.id, "app")).await.unwrap();
        tx.commit().await.unwrap();
    }
}

fn consent(scene: &Scene, scope: &[&str]) -> Consent {
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

#[tokio::test]
async fn a_consent_is_widened_and_never_doubled() {
    for db in stores().await {
        let (scene, store) = (Scene::new(&db.store).await, &db.store);
        let (realm, id, key) = (scene.realm.id, scene.user.id, scene.client.key);
        let first = consent(&scene, &["openid", "profile"]);
        let mut tx = store.begin().await.unwrap();
        repo::consent::upsert(&mut tx, &first).await.unwrap();
        tx.commit().await.unwrap();
        let mut second = consent(&scene, &["email", "openid"]);
        second.updated_at = START.plus(HOUR);
        let mut tx = store.begin().await.unwrap();
        repo::consent::upsert(&mut tx, &second).await.unwrap();
        tx.commit().await.unwrap();
        let found = repo::consent::find(&store.read(), realm, id, key).await.unwrap().unwrap();
        assert_eq!(found.scope, ["openid", "profile", "email"]);
        assert_eq!((found.id, found.updated_at), (first.id, second.updated_at));
        let mut tx = store.begin().await.unwrap();
        repo::consent::delete(&mut tx, realm, id, key).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(repo::consent::find(&store.read(), realm, id, key).await.unwrap(), None);
    }
}

#[tokio::test]
async fn a_session_comes_back_and_ends_once_with_its_online_grants() {
    for db in stores().await {
        let (scene, store) = (Scene::new(&db.store).await, &db.store);
        let (realm, read) = (scene.realm.id, store.read());
        let session = scene.open_session(store).await;
        assert_eq!(repo::session::find(&read, realm, session.id).await.unwrap(), Some(session.clone()));
        let device = repo::device::find(&read, realm, session.device).await.unwrap().unwrap();
        assert_eq!(device.browser, "Firefox");
        let online = scene.grant(store, &session, false).await;
        let offline = scene.grant(store, &session, true).await;
        assert_eq!(repo::grant::find(&read, realm, online.id).await.unwrap(), Some(online.clone()));
        let mut tx = store.begin().await.unwrap();
        assert!(repo::session::end(&mut tx, realm, session.id, ended(EndReason::Logout)).await.unwrap());
        assert!(!repo::session::end(&mut tx, realm, session.id, ended(EndReason::Idle)).await.unwrap());
        assert!(!repo::session::rotate_secret(&mut tx, realm, session.id, SecretHash([7; 32]), START).await.unwrap());
        tx.commit().await.unwrap();
        let left = repo::session::find(&read, realm, session.id).await.unwrap().unwrap();
        assert_eq!(left.ended, Some(ended(EndReason::Logout)));
        let online = repo::grant::find(&read, realm, online.id).await.unwrap().unwrap();
        assert_eq!(online.ended, Some(ended(EndReason::SessionEnded)));
        assert_eq!(repo::grant::find(&read, realm, offline.id).await.unwrap().unwrap().ended, None);
    }
}

#[tokio::test]
async fn signing_out_everywhere_spares_one_session_and_voids_what_is_under_way() {
    for db in stores().await {
        let (scene, store) = (Scene::new(&db.store).await, &db.store);
        let (realm, id) = (scene.realm.id, scene.user.id);
        let kept = scene.open_session(store).await;
        let gone = scene.open_session(store).await;
        let online = scene.grant(store, &gone, false).await;
        let offline = scene.grant(store, &gone, true).await;
        let mut tx = store.begin().await.unwrap();
        let reason = ended(EndReason::EndedByUser);
        let list = repo::session::end_all_for_user(
            &mut tx,
            realm,
            id,
            reason,
            repo::session::Extent { except: Some(kept.id), offline: false },
        )
        .await
        .unwrap();
        tx.commit().await.unwrap();
        assert_eq!(list, [gone.id]);
        let read = store.read();
        let epoch = scene.epoch(store).await;
        let left = repo::session::find(&read, realm, kept.id).await.unwrap().unwrap();
        assert_eq!((left.ended, left.credential_epoch), (None, epoch));
        assert!(epoch > kept.credential_epoch);
        assert!(repo::grant::find(&read, realm, online.id).await.unwrap().unwrap().ended.is_some());
        assert!(repo::grant::find(&read, realm, offline.id).await.unwrap().unwrap().ended.is_none());
        let mut listed = repo::session::list_for_user(&read, realm, id, 10).await.unwrap();
        assert!(listed[0].id > listed[1].id);
        listed.retain(|session| session.ended.is_none());
        assert_eq!(listed.len(), 1);
        let mut tx = store.begin().await.unwrap();
        repo::session::end_all_for_user(&mut tx, realm, id, reason, repo::session::Extent::ALL).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(db.number("select count(*) from session where ended_at is null").await, 0);
        assert_eq!(db.number("select count(*) from grant_record where ended_at is null").await, 0);
    }
}

#[tokio::test]
async fn a_new_cookie_secret_keeps_the_one_before() {
    for db in stores().await {
        let (scene, store) = (Scene::new(&db.store).await, &db.store);
        let session = scene.open_session(store).await;
        let mut tx = store.begin().await.unwrap();
        let (new, at) = (SecretHash([7; 32]), START.plus(HOUR));
        assert!(repo::session::rotate_secret(&mut tx, scene.realm.id, session.id, new, at).await.unwrap());
        tx.commit().await.unwrap();
        let found = repo::session::find(&store.read(), scene.realm.id, session.id).await.unwrap().unwrap();
        assert_eq!((found.secret_hash, found.previous_secret_hash), (new, Some(session.secret_hash)));
        assert_eq!(found.secret_rotated_at, at);
    }
}

#[tokio::test]
async fn grants_end_by_person_and_client_once() {
    for db in stores().await {
        let (scene, store) = (Scene::new(&db.store).await, &db.store);
        let (realm, id, key) = (scene.realm.id, scene.user.id, scene.client.key);
        let session = scene.open_session(store).await;
        let first = scene.grant(store, &session, true).await;
        scene.grant(store, &session, false).await;
        let reason = ended(EndReason::ConsentWithdrawn);
        let mut tx = store.begin().await.unwrap();
        assert!(repo::grant::end(&mut tx, realm, first.id, ended(EndReason::RefreshReused)).await.unwrap());
        assert!(!repo::grant::end(&mut tx, realm, first.id, reason).await.unwrap());
        assert_eq!(repo::grant::end_for_user_and_client(&mut tx, realm, id, key, reason).await.unwrap(), 1);
        assert_eq!(repo::grant::end_for_user(&mut tx, realm, id, reason).await.unwrap(), 0);
        tx.commit().await.unwrap();
        let found = repo::grant::find(&store.read(), realm, first.id).await.unwrap().unwrap();
        assert_eq!(found.ended, Some(ended(EndReason::RefreshReused)));
    }
}

#[tokio::test]
async fn a_foreign_repeat_counts_once_per_generation() {
    for db in stores().await {
        let (scene, store) = (Scene::new(&db.store).await, &db.store);
        let session = scene.open_session(store).await;
        let grant = scene.grant(store, &session, false).await;
        let mut streaks = Vec::new();
        for generation in [1, 1, 2, 2, 4, 5, 6] {
            let mut tx = store.begin().await.unwrap();
            let streak = repo::grant::count_foreign_repeat(&mut tx, scene.realm.id, grant.id, generation).await;
            streaks.push(streak.unwrap());
            tx.commit().await.unwrap();
        }
        assert_eq!(streaks, [1, 1, 2, 2, 1, 2, 3]);
    }
}

#[tokio::test]
async fn a_deleted_person_leaves_only_what_ended_and_what_is_told() {
    for db in stores().await {
        let (scene, store) = (Scene::new(&db.store).await, &db.store);
        let (realm, id) = (scene.realm.id, scene.user.id);
        let session = scene.open_session(store).await;
        let grant = scene.grant(store, &session, true).await;
        let mut tx = store.begin().await.unwrap();
        repo::credential::set_password(&mut tx, &password(&scene.user, "$argon2id$1")).await.unwrap();
        repo::consent::upsert(&mut tx, &consent(&scene, &["openid"])).await.unwrap();
        repo::outbox::append(&mut tx, &event(&scene, EventKind::UserDeleted)).await.unwrap();
        repo::user::delete(&mut tx, realm, id).await.unwrap();
        repo::outbox::append(&mut tx, &event(&scene, EventKind::SessionRevoked)).await.unwrap();
        tx.commit().await.unwrap();
        for table in ["user_account", "identifier", "credential", "consent", "user_device", "audit_personal"] {
            assert_eq!(db.number(&format!("select count(*) from {table}")).await, 0, "{table}");
        }
        let read = store.read();
        let found = repo::session::find(&read, realm, session.id).await.unwrap().unwrap();
        assert_eq!(found.ended.unwrap().reason, EndReason::UserDeleted);
        assert!(repo::grant::find(&read, realm, grant.id).await.unwrap().unwrap().ended.is_some());
        assert_eq!(db.number("select max(event_seq) from outbox").await, 2);
        let kinds: Vec<_> =
            repo::outbox::list_unsent(&read, realm, 10).await.unwrap().iter().map(|event| event.kind).collect();
        assert_eq!(kinds, [EventKind::UserDeleted, EventKind::SessionRevoked]);
    }
}

fn event(scene: &Scene, kind: EventKind) -> OutboxEvent {
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

#[tokio::test]
async fn events_of_one_person_are_numbered_in_order() {
    for db in stores().await {
        let (scene, store) = (Scene::new(&db.store).await, &db.store);
        let kinds = [EventKind::UserCreated, EventKind::UserUpdated, EventKind::PasswordChanged];
        for kind in kinds {
            let mut tx = store.begin().await.unwrap();
            repo::outbox::append(&mut tx, &event(&scene, kind)).await.unwrap();
            tx.commit().await.unwrap();
        }
        let unsent = repo::outbox::list_unsent(&store.read(), scene.realm.id, 2).await.unwrap();
        assert_eq!(unsent.iter().map(|event| event.kind).collect::<Vec<_>>(), kinds[..2]);
        assert_eq!(db.number("select event_seq from user_account").await, 3);
    }
}

#[tokio::test]
async fn audit_events_are_listed_newest_first_with_their_personal_part() {
    for db in stores().await {
        let (scene, store) = (Scene::new(&db.store).await, &db.store);
        let realm = scene.realm.id;
        let mut first = audit(realm, AuditKind::ClientCreated);
        first.client = Some(scene.client.key);
        first.request = Some("req-1".to_owned());
        let mut second = audit(realm, AuditKind::SignInRefused);
        second.user = Some(scene.user.id);
        second.reason = Some("wrong_password");
        second.address = Some("2001:db8::1".to_owned());
        let mut tx = store.begin().await.unwrap();
        repo::audit::append(&mut tx, &first).await.unwrap();
        repo::audit::append(&mut tx, &second).await.unwrap();
        tx.commit().await.unwrap();
        let read = store.read();
        let all = repo::audit::list(&read, realm, AuditFilter::default(), 10).await.unwrap();
        assert!(all.len() == 2 && all[0].id > all[1].id);
        let filter = AuditFilter { user: Some(scene.user.id), ..AuditFilter::default() };
        let found = repo::audit::list(&read, realm, filter, 10).await.unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].address, second.address);
        assert_eq!(found[0].reason.as_deref(), second.reason);
        let filter = AuditFilter { client: Some(scene.client.key), ..AuditFilter::default() };
        let found = repo::audit::list(&read, realm, filter, 10).await.unwrap();
        assert_eq!((found[0].kind, found[0].request.clone()), (first.kind, first.request));
        let filter = AuditFilter { kind: Some(AuditKind::PowerGiven), ..AuditFilter::default() };
        assert!(repo::audit::list(&read, realm, filter, 10).await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_set_up_link_is_taken_once_and_the_first_administrator_is_remembered() {
    for db in stores().await {
        let (scene, store) = (Scene::new(&db.store).await, &db.store);
        let (old, new) = (SecretHash([1; 32]), SecretHash([2; 32]));
        let mut tx = store.begin().await.unwrap();
        repo::setup::insert(&mut tx, old, START.plus(HOUR)).await.unwrap();
        repo::setup::insert(&mut tx, new, START.plus(HOUR)).await.unwrap();
        tx.commit().await.unwrap();
        let read = store.read();
        assert!(!repo::setup::is_open(&read, old, START).await.unwrap());
        assert!(repo::setup::is_open(&read, new, START).await.unwrap());
        assert!(!repo::setup::is_open(&read, new, START.plus(HOUR)).await.unwrap());
        let mut tx = store.begin().await.unwrap();
        assert!(!repo::setup::consume(&mut tx, new, START.plus(HOUR)).await.unwrap());
        assert!(repo::setup::consume(&mut tx, new, START).await.unwrap());
        assert!(!repo::setup::consume(&mut tx, new, START).await.unwrap());
        assert!(!repo::power::had_administrator(&tx).await.unwrap());
        let power = AdministrativePower {
            realm: scene.realm.id,
            id: PowerId::from_uuid(uuid()),
            user: scene.user.id,
            power: Power::Instance,
            created_at: START,
        };
        repo::power::insert(&mut tx, &power).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(repo::power::list(&read, scene.realm.id).await.unwrap(), [power]);
        let mut tx = store.begin().await.unwrap();
        repo::power::delete(&mut tx, scene.realm.id, scene.user.id, Power::Instance).await.unwrap();
        tx.commit().await.unwrap();
        assert!(repo::power::list(&read, scene.realm.id).await.unwrap().is_empty());
        assert!(repo::power::had_administrator(&read).await.unwrap());
    }
}

#[tokio::test]
async fn keys_resources_logos_and_facts_come_back() {
    for db in stores().await {
        let (scene, store) = (Scene::new(&db.store).await, &db.store);
        let realm = scene.realm.id;
        let mut key = SigningKey {
            realm,
            id: KeyId::from_uuid(uuid()),
            kid: "kid".to_owned(),
            alg: Algorithm::EdDSA,
            public_jwk: "{}".to_owned(),
            sealed_private: vec![0, 255, 1],
            announced_at: START,
            active_at: START.plus(DAY),
            retired_at: None,
            gone_at: None,
        };
        let mut resource = Resource {
            realm,
            id: ResourceId::from_uuid(uuid()),
            identifier: "https://api.example.com".to_owned(),
            display_name: None,
            scopes: vec!["read".to_owned()],
            introspection_clients: Vec::new(),
        };
        let logo = |bytes: &[u8]| Logo {
            uri: "https://example.com/logo.png".to_owned(),
            media_type: "image/png".to_owned(),
            bytes: bytes.to_vec(),
            fetched_at: START,
        };
        let mut tx = store.begin().await.unwrap();
        repo::key::insert(&mut tx, &key).await.unwrap();
        repo::resource::insert(&mut tx, &resource).await.unwrap();
        repo::logo::put(&mut tx, realm, scene.client.key, &logo(b"old")).await.unwrap();
        repo::meta::set(&mut tx, "mode", "development").await.unwrap();
        tx.commit().await.unwrap();
        (key.retired_at, key.gone_at) = (Some(START.plus(DAY)), Some(START.plus(DAY * 2)));
        resource.introspection_clients.push("app".to_owned());
        let mut tx = store.begin().await.unwrap();
        repo::key::set_phases(&mut tx, &key).await.unwrap();
        repo::resource::update(&mut tx, &resource).await.unwrap();
        repo::logo::put(&mut tx, realm, scene.client.key, &logo(b"new")).await.unwrap();
        repo::meta::set(&mut tx, "mode", "production").await.unwrap();
        tx.commit().await.unwrap();
        let read = store.read();
        let keys = repo::key::list(&read, realm).await.unwrap();
        assert_eq!((keys.len(), keys[0].gone_at, keys[0].alg), (1, key.gone_at, key.alg));
        assert_eq!(keys[0].sealed_private, key.sealed_private);
        assert_eq!(repo::resource::list(&read, realm).await.unwrap(), [resource.clone()]);
        assert_eq!(repo::logo::find(&read, realm, scene.client.key).await.unwrap(), Some(logo(b"new")));
        assert_eq!(repo::meta::get(&read, "mode").await.unwrap().as_deref(), Some("production"));
        assert_eq!(repo::meta::get(&read, "other").await.unwrap(), None);
        let mut tx = store.begin().await.unwrap();
        repo::resource::delete(&mut tx, realm, resource.id).await.unwrap();
        tx.commit().await.unwrap();
        assert!(repo::resource::list(&read, realm).await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_token_is_revoked_once_however_often_it_is_asked() {
    for db in stores().await {
        let (scene, store) = (Scene::new(&db.store).await, &db.store);
        let token = TokenId::from_uuid(uuid());
        for _ in 0..2 {
            let mut tx = store.begin().await.unwrap();
            repo::token::revoke(&mut tx, scene.realm.id, token, START.plus(HOUR)).await.unwrap();
            tx.commit().await.unwrap();
        }
        assert_eq!(db.number("select count(*) from revoked_token").await, 1);
    }
}

#[tokio::test]
async fn what_has_served_its_time_is_purged_and_nothing_before() {
    for db in stores().await {
        let (scene, store) = (Scene::new(&db.store).await, &db.store);
        let session = scene.open_session(store).await;
        let grant = scene.grant(store, &session, false).await;
        let mut tx = store.begin().await.unwrap();
        let token = TokenId::from_uuid(uuid());
        repo::token::revoke(&mut tx, scene.realm.id, token, START.plus(HOUR)).await.unwrap();
        tx.commit().await.unwrap();
        let purge = |span: Duration| async move {
            let mut tx = store.begin().await.unwrap();
            let rows = repo::purge::all(&mut tx, START.plus(span)).await.unwrap();
            tx.commit().await.unwrap();
            rows
        };
        let count = |table: &'static str| {
            let db = &db;
            async move { db.number(&format!("select count(*) from {table}")).await }
        };
        purge(HOUR).await;
        assert_eq!((count("redemption").await, count("revoked_token").await), (1, 1));
        purge(DAY + HOUR).await;
        assert_eq!((count("redemption").await, count("revoked_token").await, count("change").await), (0, 0, 0));
        purge(DAY * 90).await;
        assert_eq!((count("session").await, count("grant_record").await), (1, 1));
        purge(DAY * 91).await;
        assert_eq!((count("session").await, count("grant_record").await), (0, 1));
        // Its own ninety days end later, and ninety days after that it goes.
        purge(grant.expires_at.since(START) + DAY * 91).await;
        assert_eq!(count("grant_record").await, 0);
    }
}
