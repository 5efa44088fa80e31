//! Clients that registered themselves, in the database: who is overdue, and that nobody goes who was just used.

use std::time::Duration;

use doorward::domain::model::client::{Client, ClientOrigin};
use doorward::domain::model::secret::SecretHash;
use doorward::domain::protocol::registration::Overdue;
use doorward::store::{Store, repo};

use super::db::{START, stores};
use super::people::{Scene, client};

async fn insert(store: &Store, client: &Client) {
    let mut tx = store.begin().await.unwrap();
    repo::client::insert(&mut tx, client).await.unwrap();
    repo::registration::set_token(&mut tx, client.realm, client.key, SecretHash([7; 32])).await.unwrap();
    tx.commit().await.unwrap();
}

#[tokio::test]
async fn who_was_used_or_adopted_since_it_was_looked_at_is_not_retired() {
    for db in stores().await {
        let scene = Scene::new(&db.store).await;
        let realm = scene.realm.id;
        let itself = |id: &str| Client { origin: ClientOrigin::SelfRegistered, ..client(realm, id) };
        let (used, adopted, gone) = (itself("used"), itself("adopted"), itself("gone"));
        for client in [&used, &adopted, &gone, &client(realm, "operators")] {
            insert(&db.store, client).await;
        }
        let later = START.plus(Duration::from_secs(10));
        let overdue = Overdue { unused_before: later, idle_before: START };
        let found = repo::registration::list_overdue(&db.store.read(), realm, overdue, 10).await.unwrap();
        assert_eq!(found.len(), 3, "an operator's is not among them");

        let mut tx = db.store.begin().await.unwrap();
        assert_eq!(repo::registration::count_alone(&mut tx, realm).await.unwrap(), 3);
        repo::registration::note_use(&mut tx, realm, used.key, later).await.unwrap();
        let own = Client { origin: ClientOrigin::Operator, ..adopted.clone() };
        repo::client::update(&mut tx, &own, later).await.unwrap();
        tx.commit().await.unwrap();
        for (client, goes) in [(&used, false), (&adopted, false), (&gone, true)] {
            let mut tx = db.store.begin().await.unwrap();
            let went = repo::registration::retire(&mut tx, realm, client.key, overdue).await.unwrap();
            assert_eq!(went, goes, "{}", client.client_id);
            tx.commit().await.unwrap();
        }
        // Whoever became an operator's has no token of its own any more; a mark never turns back.
        let token =
            async |client: &Client| repo::registration::find_token(&db.store.read(), realm, client.key).await.unwrap();
        assert_eq!((token(&used).await, token(&adopted).await), (Some(SecretHash([7; 32])), None));
        let mut tx = db.store.begin().await.unwrap();
        repo::registration::note_use(&mut tx, realm, used.key, START).await.unwrap();
        assert!(repo::registration::hold(&mut tx, realm, used.key, SecretHash([7; 32])).await.unwrap());
        assert!(!repo::registration::hold(&mut tx, realm, used.key, SecretHash([8; 32])).await.unwrap());
        assert!(!repo::registration::hold(&mut tx, realm, adopted.key, SecretHash([7; 32])).await.unwrap());
        tx.commit().await.unwrap();
        let overdue = Overdue { idle_before: later, ..overdue };
        let found = repo::registration::list_overdue(&db.store.read(), realm, overdue, 10).await.unwrap();
        assert_eq!(found, [gone.key], "{}", db.url);
    }
}
