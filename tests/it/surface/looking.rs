//! Looking changes nothing (`security` row 10).

use std::collections::BTreeMap;

use doorward::clock::Clock;
use doorward::service::setup;
use http::Method;
use sea_orm::{ConnectionTrait, Database, Statement};

use super::{Look, ROWS};
use crate::kit::flow::{ASKER, WEB, authorize, refresh, text, tokens};
use crate::kit::op::Op;

/// Every table that rests; what is short-lived stands aside.
const TABLES: [&str; 25] = [
    "administrative_power",
    "audit_event",
    "client",
    "client_secret",
    "consent",
    "credential",
    "device",
    "grant_record",
    "identifier",
    "initial_access_token",
    "logo",
    "meta",
    "outbox",
    "realm",
    "redemption",
    "resource",
    "revoked_token",
    "role",
    "session",
    "setup_link",
    "signing_key",
    "user_account",
    "user_group",
    "user_group_member",
    "user_role",
];

async fn db_counts(op: &Op) -> BTreeMap<&'static str, i64> {
    op.app.store.batch().flush().await.expect("flushed");
    let connection = Database::connect(&op.db.url).await.expect("the database");
    let mut counts = BTreeMap::new();
    for table in TABLES {
        let sql = format!("SELECT COUNT(*) AS n FROM {table}");
        let statement = Statement::from_string(connection.get_database_backend(), sql);
        let row = connection.query_one_raw(statement).await.expect("a count").expect("a row");
        counts.insert(table, row.try_get("", "n").expect("a number"));
    }
    connection.close().await.expect("closed");
    counts
}

#[tokio::test]
async fn looking_changes_nothing() {
    let op = super::switched_on(Op::builder().dev().start().await, &["main"]).await;
    let link = setup::make_link(&op.app, op.clock.now()).await.expect("the store").expect("a link");
    let mut browser = op.browser();
    let got = tokens(&op, &mut browser, WEB, "openid profile").await;
    let asking = browser.get(&authorize(ASKER, "openid profile", &[])).await;
    let flow = asking.url.split_once('?').expect("a flow").1.to_owned();
    let before = db_counts(&op).await;
    for (_, path, sample, _, _, look) in ROWS.iter().filter(|row| row.0 == "GET") {
        assert_ne!(*look, Look::Acts, "{path}");
        let mut urls = vec![
            (*sample).to_owned(),
            format!("{sample}?{flow}"),
            format!("{sample}?{flow}&action=allow&username=alice&password=x"),
        ];
        match *path {
            "/setup/{token}" => urls.push(format!("/setup/{}", link.expose())),
            "/logout" => {
                urls.push("/logout?client_id=web&post_logout_redirect_uri=https%3A%2F%2Fapp.example%2Fout".to_owned())
            }
            "/authorize" => urls.push(authorize(ASKER, "openid", &[("prompt", "login")])),
            _ => {}
        }
        for url in urls {
            for method in [Method::GET, Method::HEAD] {
                let answer = browser.send(method, &url, None, &[("sec-fetch-site", "none")]).await;
                assert!(answer.status.as_u16() < 500, "{url}: {}", answer.status);
            }
        }
    }
    assert_eq!(db_counts(&op).await, before);
    let silent = browser.get(&authorize(WEB, "openid", &[("prompt", "none")])).await;
    assert!(silent.location_param("code").is_some(), "still signed in");
    assert_eq!(refresh(&op, WEB, text(&got, "refresh_token")).await.status, 200);
    let form = browser.get(&format!("/setup/{}", link.expose())).await;
    assert!(form.page().has_id("setup-submit"), "the link is not spent");
    let consent = browser.get(&format!("/consent?{flow}")).await;
    assert!(consent.page().has_id("consent-allow"), "still asked: {}", consent.body);
}
