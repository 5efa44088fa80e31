//! Schema, files, pools, errors: the database itself.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use doorward::domain::model::client::ClientMetadata;
use doorward::store::{Error, repo};

use super::db::{self, START, stores};
use super::people::{Scene, client, realm, user};

#[tokio::test]
async fn migrations_are_applied_once_and_listed() {
    for db in stores().await {
        let status = db.store.migration_status().await.unwrap();
        assert!(status.len() >= 13 && status.iter().all(|(_, applied)| *applied), "{status:?}");
        assert_eq!(db.store.migrate().await.unwrap(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn an_unmigrated_database_lists_everything_as_pending() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let url = format!("sqlite://{}/fresh.db", folder.path().display());
    let (store, _) = db::open(&db::settings(&url)).await.unwrap();
    let status = store.migration_status().await.unwrap();
    assert!(!status.is_empty() && status.iter().all(|(_, applied)| !applied));
    assert_eq!(store.migrate().await.unwrap().len(), status.len());
}

#[tokio::test]
async fn a_schema_of_a_newer_release_is_left_as_it_is() {
    for db in stores().await {
        db.run("insert into migration (version, applied_at) values ('m9999_future', 0)").await;
        assert_eq!(db.store.migrate().await.unwrap(), Vec::<String>::new());
        assert!(db.store.migration_status().await.unwrap().iter().all(|(_, applied)| *applied));
    }
}

#[tokio::test]
async fn the_database_file_is_only_its_owners() {
    let db = db::sqlite().await;
    let path = db.url.strip_prefix("sqlite://").unwrap();
    for file in [path.to_owned(), format!("{path}-wal"), format!("{path}-shm")] {
        let mode = std::fs::metadata(&file).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{file}");
    }
}

#[tokio::test]
async fn a_missing_folder_is_named_with_the_remedy() {
    let error = db::open(&db::settings("sqlite:///dev/shm/no/such/folder/doorward.db")).await.unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, Error::Unavailable(_)) && text.contains("/dev/shm/no/such") && text.contains("create it"));
}

#[tokio::test]
async fn other_databases_and_memory_are_refused() {
    for url in ["mysql://localhost/x", "sqlite::memory:", "sqlite://:memory:", "x"] {
        let error = db::open(&db::settings(url)).await.unwrap_err();
        assert!(error.to_string().contains("database.url"), "{url}: {error}");
    }
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_unavailable() {
    let mut settings = db::settings("postgres://nobody@127.0.0.1:1/none");
    settings.acquire_timeout = Duration::from_millis(500);
    assert!(matches!(db::open(&settings).await.unwrap_err(), Error::Unavailable(_)));
}

#[tokio::test]
async fn pools_larger_than_the_server_are_refused_with_the_numbers() {
    let Some(admin) = db::postgres_url() else { return };
    let mut settings = db::settings(&admin);
    settings.pool_max = 5000;
    let text = db::open(&settings).await.unwrap_err().to_string();
    assert!(text.contains("5003") && text.contains("max_connections") && text.contains("lower"), "{text}");
}

#[tokio::test]
async fn writers_wait_for_each_other_and_are_never_told_that_it_is_locked() {
    for db in stores().await {
        let scene = Scene::new(&db.store).await;
        let writers = (0..40).map(|number| {
            let (store, realm) = (db.store.clone(), scene.realm.id);
            tokio::spawn(async move {
                let mut tx = store.begin().await.unwrap();
                // A transaction that reads before it writes is the one that SQLite would refuse.
                repo::realm::list(&tx).await.unwrap();
                repo::user::insert(&mut tx, &user(realm, &format!("user{number}"))).await.unwrap();
                tx.commit().await.unwrap();
            })
        });
        for writer in writers.collect::<Vec<_>>() {
            writer.await.unwrap();
        }
        assert_eq!(db.number("select count(*) from user_account").await, 41);
    }
}

#[tokio::test]
async fn a_dropped_transaction_leaves_nothing() {
    for db in stores().await {
        let scene = Scene::new(&db.store).await;
        let mut tx = db.store.begin().await.unwrap();
        repo::client::insert(&mut tx, &client(scene.realm.id, "gone")).await.unwrap();
        assert!(repo::client::find_by_client_id(&tx, scene.realm.id, "gone").await.unwrap().is_some());
        drop(tx);
        let read = db.store.read();
        assert!(repo::client::find_by_client_id(&read, scene.realm.id, "gone").await.unwrap().is_none());
    }
}

#[tokio::test]
async fn what_is_taken_is_a_conflict_with_its_table() {
    for db in stores().await {
        let scene = Scene::new(&db.store).await;
        let mut tx = db.store.begin().await.unwrap();
        let error = repo::realm::insert(&mut tx, &realm("main")).await.unwrap_err();
        assert_eq!(error, Error::Conflict("realm"));
        drop(tx);
        let mut tx = db.store.begin().await.unwrap();
        let error = repo::client::insert(&mut tx, &client(scene.realm.id, "app")).await.unwrap_err();
        assert_eq!(error, Error::Conflict("client"));
    }
}

#[tokio::test]
async fn a_row_that_cannot_be_read_is_reported_and_not_guessed() {
    for db in stores().await {
        let scene = Scene::new(&db.store).await;
        db.run("update client set metadata = '{\"grant_types\": [\"password\"]}'").await;
        let error = repo::client::find(&db.store.read(), scene.realm.id, scene.client.key).await.unwrap_err();
        let id = scene.client.key.as_uuid().to_string();
        assert_eq!(error, Error::Corrupt { table: "client", id });
    }
}

#[tokio::test]
async fn a_commit_writes_each_change_once() {
    for db in stores().await {
        let scene = Scene::new(&db.store).await;
        let before = db.number("select count(*) from change").await;
        let of_clients = db.number("select count(*) from change where kind = 'client'").await;
        let mut tx = db.store.begin().await.unwrap();
        let mut changed = scene.client.clone();
        changed.metadata = ClientMetadata { client_name: Some("New".to_owned()), ..ClientMetadata::default() };
        repo::client::update(&mut tx, &changed, START).await.unwrap();
        repo::client::update(&mut tx, &changed, START).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(db.number("select count(*) from change").await, before + 1);
        assert_eq!(db.number("select count(*) from change where kind = 'client'").await, of_clients + 1);
    }
}

#[tokio::test]
async fn the_clock_of_the_database_decides() {
    for db in stores().await {
        let hour = Duration::from_secs(3600);
        db.clock.advance(hour);
        let now = db.store.now().await.unwrap();
        if db.url.starts_with("postgres") {
            assert!(now.as_secs() > 1_600_000_000 && now != START.plus(hour));
        } else {
            assert_eq!(now, START.plus(hour));
        }
    }
}
