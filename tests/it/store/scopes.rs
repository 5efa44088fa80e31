//! Scopes of a realm's own, and the key of its pairwise subs, on every database.

use std::collections::BTreeMap;

use doorward::domain::model::ids::ScopeId;
use doorward::domain::model::scope::{Scope, ScopeTerms};
use doorward::store::repo;

use super::db::stores;
use super::people::{Scene, uuid};

#[tokio::test]
async fn scopes_come_back_change_and_go() {
    for db in stores().await {
        let (scene, store) = (Scene::new(&db.store).await, &db.store);
        let realm = scene.realm.id;
        let mut scope = Scope {
            realm,
            id: ScopeId::from_uuid(uuid()),
            name: "orders:read".to_owned(),
            terms: ScopeTerms {
                consent: BTreeMap::from([("de".to_owned(), "Ihre \"Bestellungen\" sehen \u{2713}".to_owned())]),
                ..ScopeTerms::default()
            },
        };
        let mut tx = store.begin().await.unwrap();
        repo::scope::insert(&mut tx, &scope).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(repo::scope::list(&store.read(), realm).await.unwrap(), [scope.clone()]);
        let mut tx = store.begin().await.unwrap();
        let again = Scope { id: ScopeId::from_uuid(uuid()), ..scope.clone() };
        assert!(repo::scope::insert(&mut tx, &again).await.is_err(), "one of each name");
        drop(tx);
        scope.terms.listed = false;
        let mut tx = store.begin().await.unwrap();
        repo::scope::update(&mut tx, &scope).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(*store.models().scopes(realm).await.unwrap(), [scope.clone()]);
        let mut tx = store.begin().await.unwrap();
        repo::scope::delete(&mut tx, realm, scope.id).await.unwrap();
        tx.commit().await.unwrap();
        assert!(store.models().scopes(realm).await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn the_first_key_of_pairwise_subs_counts_and_no_change_of_the_realm_touches_it() {
    for db in stores().await {
        let (scene, store) = (Scene::new(&db.store).await, &db.store);
        let id = scene.realm.id;
        for key in [b"first", b"other"] {
            let mut tx = store.begin().await.unwrap();
            let kept = repo::realm::keep_pairwise_key(&mut tx, id, key).await.unwrap();
            tx.commit().await.unwrap();
            assert_eq!(kept.as_deref(), Some(&b"first"[..]));
        }
        // The row at hand is older than the key.
        assert!(scene.realm.pairwise_key.is_none());
        let mut tx = store.begin().await.unwrap();
        repo::realm::update(&mut tx, &scene.realm).await.unwrap();
        tx.commit().await.unwrap();
        let realm = repo::realm::find(&store.read(), id).await.unwrap().unwrap();
        assert_eq!(realm.pairwise_key.as_deref(), Some(&b"first"[..]));
        let mut tx = store.begin().await.unwrap();
        let nowhere = doorward::domain::model::ids::RealmId::from_uuid(uuid());
        assert_eq!(repo::realm::keep_pairwise_key(&mut tx, nowhere, b"x").await.unwrap(), None);
    }
}
