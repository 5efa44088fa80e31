//! What ended is refused at once where it ended, and elsewhere after one look at the feed, or as soon as
//! the feed is too old to be believed; and nothing that befalls a node makes it forget (rule 3).

use std::time::Duration;

use crate::kit::db::on_postgres;
use crate::kit::flow::{ASKER, Client, OPAQUE, WEB, code, introspect, redeem, refresh, userinfo};
use crate::kit::op::Op;

use super::{Held, end_all, is_signed_in, set_password, switch};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Disable,
    NewPassword,
    EndSessions,
    RevokeGrant,
}

/// How the other node comes to know.
#[derive(Debug, Clone, Copy)]
enum Learns {
    ByTheFeed,
    ByItsAge,
}

async fn ends(end: End, learns: Learns, client: Client, scope: &str) {
    let why = format!("{end:?}, {learns:?}, {} {scope}", client.id);
    let one = Op::start().await;
    let two = Op::builder().beside(&one).start().await;
    let mut browser = one.browser();
    let held = Held::get(&one, &mut browser, client, scope).await;
    let unspent = code(&mut browser, client, scope).await;
    let mut elsewhere = two.browser();
    elsewhere.steal(&browser, "");
    two.poll().await;
    // The other node knows everything by heart before it ends.
    assert!(held.is_live(&two).await && is_signed_in(&mut elsewhere).await, "{why}");

    match end {
        End::Disable => switch(&one, false).await,
        End::NewPassword => set_password(&one, "another good password").await,
        End::EndSessions => end_all(&one).await,
        End::RevokeGrant => held.revoke_refresh(&one).await,
    }
    held.assert_dead(&one, &why).await;
    // What is decided by the database is refused everywhere without any delay.
    let answer = refresh(&two, client, &held.refresh).await;
    assert_eq!(answer.status, 400, "{why}: {}", answer.body);
    if end != End::RevokeGrant {
        assert_eq!(redeem(&two, client, &unspent).await.status, 400, "{why}: a code from before");
    }
    match learns {
        Learns::ByTheFeed => two.poll().await,
        Learns::ByItsAge => two.advance_only(Duration::from_secs(2)),
    }
    held.assert_dead(&two, &why).await;
    let stays = end == End::RevokeGrant;
    assert_eq!(is_signed_in(&mut browser).await, stays, "{why}");
    assert_eq!(is_signed_in(&mut elsewhere).await, stays, "{why}");
}

#[tokio::test]
async fn a_disabled_person_has_nothing_any_more() {
    ends(End::Disable, Learns::ByTheFeed, WEB, "openid").await;
    ends(End::Disable, Learns::ByItsAge, WEB, "openid offline_access").await;
    ends(End::Disable, Learns::ByTheFeed, OPAQUE, "openid").await;
}

#[tokio::test]
async fn a_new_password_ends_what_the_old_one_opened() {
    ends(End::NewPassword, Learns::ByTheFeed, WEB, "openid offline_access").await;
    ends(End::NewPassword, Learns::ByItsAge, ASKER, "openid").await;
}

#[tokio::test]
async fn an_ended_session_takes_its_grants_with_it() {
    ends(End::EndSessions, Learns::ByTheFeed, WEB, "openid").await;
    ends(End::EndSessions, Learns::ByItsAge, OPAQUE, "openid").await;
}

#[tokio::test]
async fn a_grant_given_back_takes_its_access_tokens_with_it() {
    ends(End::RevokeGrant, Learns::ByTheFeed, WEB, "openid").await;
    ends(End::RevokeGrant, Learns::ByItsAge, OPAQUE, "openid").await;
}

/// Is it still inactive, whatever befell the node?
async fn stays_revoked(client: Client, whole_grant: bool) {
    let op = Op::start().await;
    let mut browser = op.browser();
    let held = Held::get(&op, &mut browser, client, "openid").await;
    let other = Held::get(&op, &mut browser, client, "openid").await;
    drop(browser);
    if whole_grant {
        held.revoke_refresh(&op).await
    } else {
        held.revoke_access(&op).await
    }
    let check = async |op: &Op, when: &str| {
        let active = introspect(op, client, &held.access).await["active"] == true;
        assert!(!active, "{} {whole_grant}: {when}", client.id);
        assert_eq!(userinfo(op, &held.access).await.status, 401, "{when}");
        assert!(other.is_live(op).await, "{when}: others are not concerned");
    };
    check(&op, "at once").await;
    op.app.store.models().clear();
    check(&op, "all that was known is forgotten").await;
    op.advance_only(Duration::from_secs(2));
    check(&op, "the feed stands still").await;
    op.poll().await;
    check(&op, "it goes on").await;
    let op = op.restart().await;
    check(&op, "after a crash").await;
    op.app.store.models().clear();
    op.advance_only(Duration::from_secs(2));
    check(&op, "after a crash, forgotten, and the feed stands still").await;
}

#[tokio::test]
async fn revocation_never_fails_open() {
    for client in [WEB, OPAQUE] {
        stays_revoked(client, false).await;
        stays_revoked(client, true).await;
    }
}

#[tokio::test]
async fn revocation_holds_when_more_is_revoked_than_a_node_remembers() {
    let op = Op::start().await;
    let mut browser = op.browser();
    let held = Held::get(&op, &mut browser, WEB, "openid").await;
    let other = Held::get(&op, &mut browser, WEB, "openid").await;
    held.revoke_access(&op).await;
    drop(browser);
    let until = 4_000_000_000_000_000_i64;
    op.db
        .run(&if on_postgres() {
            format!("insert into revoked_token select id, gen_random_uuid(), {until} from realm, generate_series(1, 200001) where name = 'main'")
        } else {
            format!(
                "insert into revoked_token with recursive n(x) as (select 1 union all select x + 1 from n where x < 200001) \
                 select id, randomblob(16), {until} from realm, n where name = 'main'"
            )
        })
        .await;
    let op = op.restart().await;
    assert_eq!(introspect(&op, WEB, &held.access).await["active"], false);
    assert!(other.is_live(&op).await, "the database is asked, and knows it");
    other.revoke_access(&op).await;
    assert_eq!(introspect(&op, WEB, &other.access).await["active"], false);
}
