//! Audit, outbox, set-up, purge: the records, on every database.

use std::time::Duration;

use doorward::domain::model::audit::AuditKind;
use doorward::domain::model::event::EventKind;
use doorward::domain::model::ids::{PowerId, TokenId};
use doorward::domain::model::power::{AdministrativePower, Power};
use doorward::domain::model::secret::SecretHash;
use doorward::store::repo;
use doorward::store::repo::audit::AuditFilter;

use super::db::{START, stores};
use super::people::{Scene, audit, event, uuid};

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);

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
