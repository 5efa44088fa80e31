//! A client that is disabled or deleted: what it was given has ended, on every node and for good. Who
//! later gets its name begins with nothing.

use std::time::Duration;

use doorward::clock::Clock;
use doorward::domain::model::session::{EndReason, Ended};

use crate::kit::flow::{
    API, Client, OPAQUE, STRANGER, WEB, code, introspect, post_as, redeem, refresh, text, userinfo,
};
use crate::kit::op::{Op, REALM};
use crate::kit::token::db_grant;

use super::{Held, is_signed_in};

async fn switch(op: &Op, client: Client, enabled: bool) {
    op.apply(&format!("realm: main\nclients:\n  - {{ client_id: {}, enabled: {enabled} }}\n", client.id)).await;
}

/// Deletes the client of this name.
async fn delete(op: &Op, client: Client) {
    op.apply_whole(&REALM.replace(&format!("client_id: {}\n", client.id), "client_id: somebody-else\n")).await;
}

/// Whether the API may be called with it.
async fn is_active(op: &Op, token: &str) -> bool {
    introspect(op, API, token).await["active"] == true
}

#[tokio::test]
async fn a_disabled_client_loses_what_it_was_given_and_does_not_get_it_back() {
    for client in [WEB, OPAQUE] {
        let one = Op::start().await;
        let two = Op::builder().beside(&one).start().await;
        let mut browser = one.browser();
        let scope = if client.id == "web" { "openid offline_access" } else { "openid" };
        let held = Held::get(&one, &mut browser, client, scope).await;
        two.poll().await;
        assert!(held.is_live(&two).await);
        one.advance(Duration::from_secs(7)).await;
        switch(&one, client, false).await;
        assert!(!is_active(&one, &held.access).await);
        assert_eq!(userinfo(&one, &held.access).await.status, 401);
        assert_eq!(refresh(&one, client, &held.refresh).await.status, 401, "the client itself is refused");
        let ended = Ended { at: one.clock.now(), reason: EndReason::ClientRemoved };
        assert_eq!(db_grant(&one, &held.refresh).await.ended, Some(ended));

        switch(&one, client, true).await;
        held.assert_dead(&one, "enabled again").await;
        two.poll().await;
        held.assert_dead(&two, "on the other node").await;
        assert!(is_signed_in(&mut browser).await, "the person's session is her own");
        assert!(Held::get(&one, &mut browser, client, "openid").await.is_live(&one).await, "and it begins anew");
        drop(browser);
        held.assert_dead(&one.restart().await, "after a crash").await;
    }
}

#[tokio::test]
async fn nothing_is_given_to_a_client_by_a_node_that_has_not_heard_of_its_end() {
    let one = Op::start().await;
    let two = Op::builder().beside(&one).start().await;
    let mut browser = one.browser();
    Held::get(&two, &mut two.browser(), WEB, "openid").await;
    let unspent = code(&mut browser, WEB, "openid").await;
    switch(&one, WEB, false).await;
    let answer = redeem(&two, WEB, &unspent).await;
    assert_eq!((answer.status.as_u16(), &answer.json()["error"]), (400, &"invalid_grant".into()));
    switch(&one, WEB, true).await;
    two.poll().await;
    assert_eq!(redeem(&two, WEB, &unspent).await.status, 400, "it is burnt");
}

#[tokio::test]
async fn a_deleted_client_leaves_nothing_to_the_next_of_its_name() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let held = Held::get(&op, &mut browser, WEB, "openid offline_access").await;
    let fields = [("grant_type", "client_credentials"), ("scope", "read"), ("resource", "https://api.example")];
    let own = async |op: &Op| {
        let answer = post_as(op, WEB, "/token", &fields).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        text(&answer.json(), "access_token").to_owned()
    };
    let before = own(&op).await;
    assert!(is_active(&op, &before).await);
    delete(&op, WEB).await;
    assert!(!is_active(&op, &before).await);
    assert!(!is_active(&op, &held.access).await);
    let ended = Ended { at: op.clock.now(), reason: EndReason::ClientRemoved };
    assert_eq!(db_grant(&op, &held.refresh).await.ended, Some(ended));

    op.apply_whole(REALM).await;
    assert!(!is_active(&op, &before).await, "the client of this name is another");
    held.assert_dead(&op, "the client of this name is another").await;
    let after = own(&op).await;
    assert!(is_active(&op, &after).await);
    assert_eq!(introspect(&op, STRANGER, &after).await["active"], false);
}

#[tokio::test]
async fn the_same_holds_for_opaque_tokens_of_a_client_for_itself() {
    let opaque =
        |yaml: &str| yaml.replace("client_id: stranger\n", "client_id: stranger\n    access_token_format: opaque\n");
    let op = Op::builder().realm(&opaque(REALM)).start().await;
    let answer = post_as(&op, STRANGER, "/token", &[("grant_type", "client_credentials")]).await.json();
    let token = text(&answer, "access_token");
    assert!(token.starts_with("dwa_"));
    assert_eq!(introspect(&op, STRANGER, token).await["active"], true);
    delete(&op, STRANGER).await;
    op.apply_whole(&opaque(REALM)).await;
    assert_eq!(introspect(&op, STRANGER, token).await["active"], false);
}
