//! Clients, consents, resources, keys and single tokens on every database.

use std::time::Duration;

use doorward::domain::model::client::AuthMethod;
use doorward::domain::model::ids::{KeyId, ResourceId, TokenId};
use doorward::domain::model::key::{Algorithm, SigningKey};
use doorward::domain::model::resource::Resource;
use doorward::domain::model::secret::SecretHash;
use doorward::domain::model::session::EndReason;
use doorward::store::repo;
use doorward::store::repo::logo::Logo;

use super::db::{START, stores};
use super::people::{Scene, client, consent, secret, uuid};

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);

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
        repo::client::update(&mut tx, &second, START).await.unwrap();
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
