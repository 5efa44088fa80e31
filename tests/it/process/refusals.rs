//! A start that is refused says what is wrong, where, and what to do, with the exit status of the
//! contract, and leaves nothing half done.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use crate::kit::db::on_postgres;
use crate::kit::process::{Doorward, MASTER_KEY, free_ports};

#[tokio::test]
async fn a_second_server_on_the_same_data_is_refused() {
    let server = Doorward::running().await;
    let folder = server.data_dir();
    server.refused(&[]).says(78, &["another server runs on", &folder.to_string_lossy(), "data_dir"]);
}

#[tokio::test]
async fn a_port_that_somebody_holds_is_named() {
    let server = Doorward::prepare().await;
    let held = TcpListener::bind(("127.0.0.1", server.port())).expect("the port is free");
    server.refused(&[]).says(78, &[&format!("listen 127.0.0.1:{}", server.port()), "in use", "free address"]);
    drop(held);
    let port = server.management().rsplit(':').next().expect("a port").parse::<u16>().expect("a port");
    let _held = TcpListener::bind(("127.0.0.1", port)).expect("the port is free");
    server.refused(&[]).says(78, &[&format!("management.listen 127.0.0.1:{port}"), "in use", "free address"]);
}

#[tokio::test]
async fn settings_that_are_wrong_are_all_named_with_what_is_allowed() {
    let mut server = Doorward::unmigrated("[database.pool]\nmax = \"many\"\nmaxx = 3\n[password]\nworkers = 0\n").await;
    server.set("DOORWARD_LISTEN", "localhost:80");
    server.set("DOORWARD_DATABSE__URL", "postgres://typo");
    let refused = server.refused(&[]);
    refused.says(
        78,
        &[
            "5 settings are wrong",
            "database.pool.max (",
            "doorward.toml line ",
            "is a text, not a whole number. Allowed: 2 to 500",
            "database.pool.maxx",
            "did you mean database.pool.max?",
            "password.workers",
            "Allowed: 1 to 256, or `auto`",
            "listen (DOORWARD_LISTEN)",
            "databse.url (DOORWARD_DATABSE__URL): is unknown; did you mean database.url?",
        ],
    );
    // Every command reads the same settings.
    for command in ["doctor", "migrate", "export"] {
        assert_eq!(server.command(&[command]).status.code(), Some(78), "{command}");
    }
    assert!(!server.data_dir().exists(), "nothing was made");
}

#[tokio::test]
async fn a_setting_whose_feature_is_not_built_is_refused_instead_of_ignored() {
    let mut server = Doorward::embedded().await;
    server.set("DOORWARD_REDIS__URL", "redis://:hidden@localhost");
    let refused = server.refused(&[]);
    refused.says(78, &["redis.url", "not built"]);
    assert!(!refused.said.contains("hidden"), "{}", refused.said);
}

#[tokio::test]
async fn a_configuration_file_that_is_not_there_or_not_toml_is_named() {
    let server = Doorward::embedded().await;
    std::fs::write(server.folder().join("doorward.toml"), "public_url = http://planted-secret\n").expect("written");
    let refused = server.refused(&[]);
    refused.says(78, &["doorward.toml line 1", "TOML"]);
    assert!(!refused.said.contains("planted-secret"), "a broken line may hold a secret: {}", refused.said);
    std::fs::remove_file(server.folder().join("doorward.toml")).expect("removed");
    server.refused(&[]).says(78, &["doorward.toml", "cannot be read"]);
}

#[tokio::test]
async fn a_database_that_does_not_answer_ends_the_start_as_a_missing_dependency() {
    let mut server = Doorward::embedded().await;
    let [closed] = free_ports();
    server.set("DOORWARD_DATABASE__URL", &format!("postgres://doorward:planted-secret@127.0.0.1:{closed}/doorward"));
    server.set("DOORWARD_MASTER_KEY", MASTER_KEY);
    for refused in [server.refused(&[]), crate::kit::process::Refused::read(&server.command(&["user", "list"]))] {
        refused.says(69, &[&format!("PostgreSQL at 127.0.0.1:{closed}"), "refused", "Start it, or mend database.url"]);
        assert!(!refused.said.contains("planted-secret"), "{}", refused.said);
    }
}

#[tokio::test]
async fn a_file_that_is_no_database_is_named_and_left_as_it_is() {
    let server = Doorward::embedded().await;
    std::fs::create_dir_all(server.data_dir()).expect("a folder");
    let file = server.data_dir().join("doorward.db");
    let letters = b"These are the letters that somebody kept here. ".repeat(200);
    std::fs::write(&file, &letters).expect("written");
    for arguments in [&["serve"][..], &["user", "list"], &["migrate"]] {
        let refused = crate::kit::process::Refused::read(&server.command(arguments));
        refused.says(69, &[&file.to_string_lossy(), "not a database", "restore it from a backup", "database.url"]);
    }
    assert_eq!(std::fs::read(&file).expect("it is there"), letters);
    assert!(!server.data_dir().join("master.key").exists(), "no key for a database that is none");
}

#[tokio::test]
async fn a_place_that_cannot_be_had_is_named_with_its_own_remedy() {
    let mut server = Doorward::embedded().await;
    let file = server.folder().join("a-file");
    std::fs::write(&file, "").expect("written");
    server.set("DOORWARD_DATA_DIR", &file.to_string_lossy());
    server.refused(&[]).says(78, &[&format!("data_dir {}", file.display()), "Set data_dir to a folder"]);
    server.set("DOORWARD_DATA_DIR", &server.folder().join("data").to_string_lossy());
    let socket = server.folder().join("nowhere/http.sock");
    server.set("DOORWARD_LISTEN", &format!("unix:{}", socket.display()));
    server.refused(&[]).says(78, &[&format!("listen {}", socket.display()), "Make the folder for the socket"]);
    // An address of documentation, which no machine has.
    server.set("DOORWARD_LISTEN", "192.0.2.1:8080");
    server.refused(&[]).says(78, &["listen 192.0.2.1:8080", "address of this machine"]);
}

#[tokio::test]
async fn postgres_needs_its_master_key_given() {
    let mut server = Doorward::embedded().await;
    server.set("DOORWARD_DATABASE__URL", "postgres://doorward@127.0.0.1:1/doorward");
    server.refused(&[]).says(78, &["master_key", "PostgreSQL", "openssl rand -base64 32"]);
}

#[tokio::test]
async fn a_master_key_that_others_can_read_is_refused() {
    let mut server = Doorward::embedded().await;
    server.start().await;
    server.kill();
    let file = server.data_dir().join("master.key");
    let mode = |path: &std::path::Path| path.metadata().expect("it is there").permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(&server.data_dir())), (0o600, 0o700), "made for one user only");
    assert_eq!(mode(&server.data_dir().join("doorward.db")), 0o600);

    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).expect("changed");
    server.refused(&[]).says(78, &["master.key", "644", "chmod 600"]);
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).expect("changed");

    // Not a file at all: cannot be read, whoever asks.
    let kept = server.data_dir().join("kept");
    std::fs::rename(&file, &kept).expect("moved");
    std::fs::create_dir(&file).expect("a folder");
    server.refused(&[]).says(78, &["master.key", "plain file"]);
    std::fs::remove_dir(&file).expect("removed");
    // Lost: a new one is never made beside data that only the old one opens (`security-design` rule 16).
    server.refused(&[]).says(78, &["master.key", "missing", "put the file back"]);
    assert!(!file.exists(), "no new key was made");
    std::fs::write(&file, "not a key\n").expect("written");
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).expect("changed");
    let refused = server.refused(&[]);
    refused.says(78, &["master.key", "is not a key", "openssl rand -base64 32"]);
    assert!(!refused.said.contains("not a key\n  "), "{}", refused.said);
    std::fs::rename(&kept, &file).expect("put back");
    server.start().await;
}

#[tokio::test]
async fn a_master_key_of_another_database_is_refused() {
    let mut server = Doorward::prepare().await;
    server.apply(crate::kit::op::REALM);
    let other = "YW5vdGhlciBrZXkgb2YgdGhpcnR5LXR3byBieXRlcyE=";
    server.set("DOORWARD_MASTER_KEY", other);
    for arguments in [&["serve"][..], &["export"], &["user", "list"]] {
        let refused = crate::kit::process::Refused::read(&server.command(arguments));
        refused.says(78, &["master_key", "not the one that this database was made with"]);
        assert!(!refused.said.contains(other), "{}", refused.said);
    }
    server.set("DOORWARD_MASTER_KEY", "");
    // A file that is not there is named with its variable.
    if !on_postgres() {
        server.set("DOORWARD_MASTER_KEY_FILE", "/nowhere/master");
        server.refused(&[]).says(78, &["master_key", "/nowhere/master", "DOORWARD_MASTER_KEY_FILE"]);
        server.set("DOORWARD_MASTER_KEY_FILE", "");
    }
    server.start().await;
}
