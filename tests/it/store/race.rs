//! Races of births against the end of their parents, and of commits against a connection that is cut.
//! Tests of `security-design` rules 1 and 18.

use std::time::Duration;

use doorward::domain::model::ids::{CodeId, SessionId};
use doorward::domain::model::session::EndReason;
use doorward::store::batch::Redeemed;
use doorward::store::repo;
use tokio::task::JoinSet;

use super::db::START;
use super::node::{Node, on_each};
use super::signed_in::{Place, uuid};

on_each! {
    power_is_never_born_after_its_end,
    a_cut_connection_costs_no_outcome,
}

/// What ends a parent in the race below.
#[derive(Debug, Clone, Copy)]
enum End {
    Logout,
    Disable,
    ChangePassword,
}

async fn power_is_never_born_after_its_end(node: Node) {
    let other = node.another().await;
    let place = Place::new(&node.store).await;
    for round in 0..120 {
        let end = [End::Logout, End::Disable, End::ChangePassword][round % 3];
        race(&node, &other, place, end).await;
    }
}

/// One round: births and a rotation on one node against the end on the other.
async fn race(node: &Node, other: &Node, place: Place, end: End) {
    let person = place.person(&node.store).await;
    let grant = person.grant(&node.store).await;
    let mut births = JoinSet::new();
    for _ in 0..3 {
        let (store, redemption) = (node.store.clone(), person.redemption(CodeId::from_uuid(uuid())));
        births.spawn(async move { store.batch().redeem_code(redemption).await.map(drop) });
        let (store, opening) = (node.store.clone(), place.opening(person.user));
        births.spawn(async move { store.batch().open_session(opening).await.map(drop) });
    }
    let (store, step_up) = (node.store.clone(), person.step_up(START.plus(Duration::from_secs(1))));
    births.spawn(async move { store.batch().step_up_session(step_up).await.map(drop) });
    let (store, rotation) = (node.store.clone(), person.rotation(grant, 0, START.plus(Duration::from_secs(1))));
    births.spawn(async move { store.batch().rotate_grant(rotation).await.map(drop) });
    let (ender, ending) = (other.store.clone(), person.clone());
    births.spawn(async move {
        match end {
            End::Logout => ender.batch().end_session(ending.end(EndReason::Logout)).await.map(drop),
            End::Disable => {
                ending.disable(&ender).await;
                Ok(())
            }
            End::ChangePassword => {
                ending.change_password(&ender).await;
                Ok(())
            }
        }
    });
    for born in births.join_all().await {
        born.unwrap();
    }
    let read = node.store.read();
    let sessions = repo::session::list_for_user(&read, place.realm, person.user, 100).await.unwrap();
    let dead = |session: &SessionId| match end {
        End::Logout => *session == person.session,
        End::Disable | End::ChangePassword => true,
    };
    for session in &sessions {
        assert!(!dead(&session.id) || session.ended.is_some(), "{end:?}: a session outlived its parent");
    }
    let dead_sessions: Vec<SessionId> = sessions.iter().map(|session| session.id).filter(dead).collect();
    assert_eq!(live_grants(node, &dead_sessions).await, 0, "{end:?}: a grant outlived its parent");
}

async fn live_grants(node: &Node, sessions: &[SessionId]) -> u64 {
    let mut live = 0;
    for session in sessions {
        let id = session.as_uuid().simple().to_string();
        let text = if node.is_postgres() {
            format!("select count(*) from grant_record where session_id = '{id}' and ended_at is null")
        } else {
            format!("select count(*) from grant_record where session_id = x'{id}' and ended_at is null")
        };
        live += u64::try_from(node.db.number(&text).await).unwrap();
    }
    live
}

async fn a_cut_connection_costs_no_outcome(node: Node) {
    if !node.is_postgres() {
        return;
    }
    let store = &node.store;
    let person = Place::new(store).await.person(store).await;
    for _ in 0..20 {
        let mut redemptions = JoinSet::new();
        for _ in 0..40 {
            let (store, redemption) = (store.clone(), person.redemption(CodeId::from_uuid(uuid())));
            redemptions.spawn(async move { store.batch().redeem_code(redemption).await });
        }
        node.cut_connections().await;
        for outcome in redemptions.join_all().await {
            // An own commit whose answer was lost is no replay.
            assert_eq!(outcome.unwrap(), Redeemed::Redeemed);
        }
    }
}
