//! Disks that are full or take no writes: a message that names them, no half work, and everything goes
//! on when there is room again.

use std::path::{Path, PathBuf};
use std::process::Command;

use sea_orm::{ConnectionTrait, Database, DbBackend, Statement};

use crate::kit::flow::{self, API, WEB};
use crate::kit::process::{Doorward, pause};
use crate::kit::visitor::{Visitor, get, post_as, redeem, refresh};

/// A small file system in memory, taken away again at the end. Only root may mount one.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: &Path, options: &str) -> Option<Self> {
        std::fs::create_dir_all(at).expect("a folder");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(at).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(at.to_owned()));
        }
        eprintln!("skipped: no file system can be mounted here (root and CAP_SYS_ADMIN are needed)");
        None
    }

    /// Takes all the room that is left.
    fn fill(&self) -> PathBuf {
        let path = self.0.join("filler");
        let mut file = std::fs::File::create(&path).expect("a file");
        for block in [65_536, 4096, 512] {
            while std::io::Write::write_all(&mut file, &vec![0; block]).is_ok() {}
        }
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[tokio::test]
async fn a_full_disk_is_named_costs_nothing_and_is_over_when_there_is_room_again() {
    let mut server = Doorward::embedded().await;
    let Some(disk) = SmallDisk::mount(&server.data_dir(), "size=24m,mode=700") else { return };
    server.apply(crate::kit::op::REALM);
    server.start().await;
    let issuer = server.issuer();
    let mut visitor = Visitor::new(&issuer);
    let code = visitor.code(WEB, "openid offline_access").await;
    let tokens = redeem(&issuer, WEB, &code).await.json();
    let token = tokens["refresh_token"].as_str().expect("a refresh token").to_owned();

    let filler = disk.fill();
    // What room the journal already has is used up first.
    let mut page = None;
    for _ in 0..2000 {
        let answer = Visitor::new(&issuer).open(&flow::authorize(WEB, "openid", &[])).await;
        if answer.status != 200 {
            page = Some(answer);
            break;
        }
    }
    let page = page.expect("the disk is full");
    assert_eq!(page.status, 503, "{}", page.body);
    assert!(page.header("retry-after").is_some());
    assert!(page.page().has_id("reference") || page.body.contains(page.header("x-request-id").expect("an id")));
    let refused = refresh(&issuer, WEB, &token).await;
    assert_eq!(
        (refused.status.as_u16(), &refused.json()["error"]),
        (503, &"temporarily_unavailable".into()),
        "{}",
        refused.body
    );
    for private in ["SQL", "disk", "database"] {
        assert!(!refused.body.contains(private) && !page.page().text.contains(private), "{private} is for the log");
    }
    assert!(server.log().contains("the disk is full: free some space"), "{}", server.log());
    let mut health = get(&format!("{}/health/ready", server.management()), &[]).await;
    for _ in 0..100 {
        if health.status == 503 {
            break;
        }
        pause(std::time::Duration::from_millis(100)).await;
        health = get(&format!("{}/health/ready", server.management()), &[]).await;
    }
    assert_eq!((health.status.as_u16(), health.body.trim()), (503, "not ready: database takes no writes"));
    // What needs no write goes on.
    assert_eq!(get(&format!("{issuer}/.well-known/openid-configuration"), &[]).await.status, 200);
    assert_eq!(post_as(&issuer, API, "/token", &[("grant_type", "client_credentials")]).await.status, 200);

    std::fs::remove_file(filler).expect("there is room again");
    let mut again = 503;
    for _ in 0..50 {
        again = refresh(&issuer, WEB, &token).await.status.as_u16();
        if again == 200 {
            break;
        }
        pause(std::time::Duration::from_millis(100)).await;
    }
    assert_eq!(again, 200, "it goes on by itself, and the family was not touched: {}", server.log());
    for _ in 0..100 {
        health = get(&format!("{}/health/ready", server.management()), &[]).await;
        if health.status == 200 {
            break;
        }
        pause(std::time::Duration::from_millis(100)).await;
    }
    assert_eq!(health.status, 200, "{}", health.body);
    let answer = visitor.open(&flow::authorize(WEB, "openid", &[("prompt", "none")])).await;
    assert!(answer.location_param("code").is_some(), "{}", answer.location());
    let fresh = Visitor::new(&issuer).code(WEB, "openid").await;
    assert_eq!(redeem(&issuer, WEB, &fresh).await.status, 200);

    assert!(server.terminate().await.success());
    let url = format!("sqlite://{}/doorward.db", server.data_dir().display());
    let database = Database::connect(&url).await.expect("it opens");
    let check = Statement::from_string(DbBackend::Sqlite, "pragma integrity_check");
    let row = database.query_one_raw(check).await.expect("checked").expect("a verdict");
    assert_eq!(row.try_get_by_index::<String>(0).expect("text"), "ok");
    database.close().await.expect("closed");
}

#[tokio::test]
async fn a_disk_that_is_full_at_the_start_is_named_and_nothing_is_half_made() {
    let mut server = Doorward::embedded().await;
    let Some(disk) = SmallDisk::mount(&server.data_dir(), "size=1m,mode=700") else { return };
    let filler = disk.fill();
    let refused = server.refused(&[]);
    assert!(matches!(refused.status, Some(69 | 78)), "{refused:?}");
    assert!(refused.said.contains("full") || refused.said.contains("No space left"), "{}", refused.said);
    std::fs::remove_file(filler).expect("there is room again");
    drop(disk);
    server.start().await;
}

#[tokio::test]
async fn a_data_folder_that_takes_no_writes_is_named() {
    let mut server = Doorward::embedded().await;
    let parent = server.folder().join("fixed");
    let Some(_disk) = SmallDisk::mount(&parent, "ro,mode=700") else { return };
    server.set("DOORWARD_DATA_DIR", &parent.to_string_lossy());
    server.refused(&[]).says(78, &["data_dir", "fixed", "writable"]);
    server.set("DOORWARD_DATA_DIR", &parent.join("new").to_string_lossy());
    server.refused(&[]).says(78, &["data_dir", "fixed/new", "writable"]);
    let refused = crate::kit::process::Refused::read(&server.command(&["user", "list"]));
    refused.says(78, &["data_dir", "fixed/new"]);
}

#[tokio::test]
async fn a_data_folder_without_a_right_to_write_is_named() {
    // A folder in the place of which a file stands: no user, not even root, can write into it.
    let mut server = Doorward::embedded().await;
    let path = server.folder().join("file");
    std::fs::write(&path, "").expect("written");
    server.set("DOORWARD_DATA_DIR", &path.to_string_lossy());
    server.refused(&[]).says(78, &["data_dir", "file"]);
}
