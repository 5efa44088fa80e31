//! Sessions and grants, and how they end, on every database.

use std::time::Duration;

use doorward::domain::model::secret::SecretHash;
use doorward::domain::model::session::EndReason;
use doorward::store::repo;

use super::db::{START, stores};
use super::people::{Scene, ended};

const HOUR: Duration = Duration::from_secs(3600);

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
