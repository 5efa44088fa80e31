//! Realms, accounts, names, credentials, roles and groups on every database.

use std::time::Duration;

use doorward::domain::model::credential::{Credential, CredentialSecret};
use doorward::domain::model::event::EventKind;
use doorward::domain::model::group::Group;
use doorward::domain::model::identifier::IdentifierKind;
use doorward::domain::model::ids::{GroupId, RealmId, RoleId, UserId};
use doorward::domain::model::session::EndReason;
use doorward::domain::model::user::{Address, StandardClaims};
use doorward::store::{Error, repo};

use super::db::{START, stores};
use super::people::{Scene, consent, event, identifier, name, password, realm, role, user, uuid};

const HOUR: Duration = Duration::from_secs(3600);

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
