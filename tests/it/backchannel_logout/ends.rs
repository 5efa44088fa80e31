//! Which ends of a session clients are told of, and which clients.

use std::time::Duration;

use doorward::domain::model::audit::AuditKind;
use doorward::domain::model::backchannel_logout::NoticeOutcome;
use doorward::domain::model::session::{EndReason, Ended, Session};
use doorward::domain::protocol::backchannel_logout::is_told;
use doorward::service::admin::{self, Scribe};
use doorward::service::overdue::Walk;
use doorward::store::batch::EndSession;
use doorward::store::repo;
use doorward::tasks;

use super::{db_notices, db_states, send, sign_in, sign_out};
use crate::kit::flow::{ASKER, NATIVE, OPAQUE, WEB, authorize, crowd, post_as, text, tokens};
use crate::kit::op::{Op, PASSWORD};
use crate::kit::receiver::Receiver;
use crate::kit::rows::db_sessions;
use crate::kit::token::{db_delete_client, db_delete_user, db_disable, db_realm, db_set_password, db_user};

async fn start() -> (Op, Receiver) {
    let (op, receiver) = (Receiver::op().start().await, Receiver::start().await);
    op.apply(&receiver.realm(&["web"])).await;
    (op, receiver)
}

async fn end_one(op: &Op) {
    let (realm, alice) = (db_realm(op).await, db_user(op, "alice").await);
    let sessions = admin::session::list(&op.app, &alice, 1).await.expect("sessions");
    assert!(admin::session::end(&op.app, &realm, sessions[0].id).await.expect("ended"));
}

async fn end_all(op: &Op) -> usize {
    let alice = db_user(op, "alice").await;
    admin::session::end_all(&op.app, &alice, admin::session::Offline::End).await.expect("ended")
}

#[tokio::test]
async fn whoever_ends_a_session_the_client_is_told_once() {
    for way in ["logout", "one", "all", "replaced", "password", "disabled", "deleted"] {
        let (op, receiver) = start().await;
        let mut browser = op.browser();
        let id = sign_in(&op, &mut browser, WEB).await;
        match way {
            "logout" => sign_out(&mut browser).await,
            "one" => end_one(&op).await,
            "all" => assert_eq!(end_all(&op).await, 1),
            "replaced" => crowd(&op, &mut browser).await,
            "password" => db_set_password(&op, "another horse battery").await,
            "disabled" => db_disable(&op).await,
            _ => db_delete_user(&op).await,
        }
        assert_eq!(send(&op).await, 1, "{way}");
        let [notice] = receiver.came("/web").try_into().unwrap_or_else(|came| panic!("{way}: {came:?}"));
        let claims = notice.claims(&op).await;
        assert_eq!((&claims["sid"], &claims["sub"]), (&id["sid"], &id["sub"]), "{way}");
        // Nothing that could name her stays behind.
        assert!(db_notices(&op).await.iter().all(|notice| notice.sub.is_none()), "{way}");
    }
}

async fn live(op: &Op) -> Session {
    db_sessions(op, "alice").await.into_iter().find(|session| session.ended.is_none()).expect("a session")
}

/// Whatever ends sessions one day, and with whichever of the two ways of writing it down.
#[tokio::test]
async fn of_each_reason_that_a_session_can_end_for_clients_are_told_or_not_as_the_rule_says() {
    let (op, _receiver) = start().await;
    let mut expected = 0;
    for reason in EndReason::ALL {
        sign_in(&op, &mut op.browser(), WEB).await;
        let session = live(&op).await;
        let mut tx = op.app.store.begin().await.expect("a transaction");
        let ended = Ended { at: op.app.clock.now(), reason };
        assert!(repo::session::end(&mut tx, session.realm, session.id, ended).await.expect("ended"), "{reason:?}");
        tx.commit().await.expect("committed");
        expected += usize::from(is_told(reason));
        assert_eq!(db_notices(&op).await.len(), expected, "{reason:?}");
    }
    let told: Vec<_> = EndReason::ALL.into_iter().filter(|reason| is_told(*reason)).collect();
    for reason in &told {
        sign_in(&op, &mut op.browser(), WEB).await;
        let session = live(&op).await;
        let operation = EndSession {
            realm: session.realm,
            session: session.id,
            ended: Ended { at: op.app.clock.now(), reason: *reason },
            audit: Scribe::operator(&op.app, session.realm, op.app.clock.now()).audit(AuditKind::SessionEnded),
            outbox: None,
        };
        assert!(op.app.store.batch().end_session(operation).await.expect("ended"), "{reason:?}");
        expected += 1;
        assert_eq!(db_notices(&op).await.len(), expected, "{reason:?}");
    }
    assert_eq!(send(&op).await, expected);
}

#[tokio::test]
async fn signing_in_again_is_told_to_nobody() {
    let (op, receiver) = start().await;
    let mut browser = op.browser();
    sign_in(&op, &mut browser, WEB).await;
    for extra in [&[("prompt", "login")][..], &[("max_age", "0")]] {
        op.advance(Duration::from_secs(5)).await;
        browser.get(&authorize(ASKER, "openid", extra)).await;
        browser.sign_in("alice", PASSWORD).await;
    }
    assert_eq!((send(&op).await, receiver.count()), (0, 0));
    assert!(db_notices(&op).await.is_empty());
}

#[tokio::test]
async fn a_limit_of_time_is_told_to_nobody() {
    let (op, receiver) = start().await;
    sign_in(&op, &mut op.browser(), WEB).await;
    op.advance(Duration::from_hours(13)).await;
    let ended = tasks::end_overdue::run_once(&op.app, op.app.clock.now(), &mut Walk::default()).await.expect("ended");
    assert_eq!(ended, 1);
    assert_eq!((send(&op).await, receiver.count()), (0, 0));
}

#[tokio::test]
async fn the_clients_of_the_session_are_told_and_no_others() {
    let (op, receiver) = (Receiver::op().start().await, Receiver::start().await);
    // The public client has its endpoint under TLS, where nobody is.
    op.apply(&receiver.realm(&["web", "asker", "opaque"])).await;
    op.apply("realm: main\nclients:\n  - { client_id: native, backchannel_logout_uri: \"https://127.0.0.1:1/\" }\n")
        .await;
    let (mut here, mut there) = (op.browser(), op.browser());
    // An ended grant: its client had an ID token all the same.
    let given_back = tokens(&op, &mut here, WEB, "openid").await;
    let fields = [("token", text(&given_back, "refresh_token"))];
    assert_eq!(post_as(&op, WEB, "/revoke", &fields).await.status, 200);
    // A grant that outlives the session.
    tokens(&op, &mut here, ASKER, "openid offline_access").await;
    tokens(&op, &mut here, NATIVE, "openid").await;
    // Another session of the same person.
    tokens(&op, &mut there, OPAQUE, "openid").await;
    sign_out(&mut here).await;
    send(&op).await;
    let told: Vec<_> = db_states(&op).await.into_iter().map(|(client, ..)| client).collect();
    assert_eq!(told, ["asker", "native", "web"]);
    assert_eq!((receiver.came("/web").len(), receiver.came("/asker").len(), receiver.count()), (1, 1, 2));
}

#[tokio::test]
async fn a_client_without_an_address_costs_nothing() {
    let op = Op::start().await;
    let mut browser = op.browser();
    sign_in(&op, &mut browser, WEB).await;
    sign_out(&mut browser).await;
    assert!(db_notices(&op).await.is_empty());
}

#[tokio::test]
async fn a_client_that_was_disabled_deleted_or_lost_its_address_is_not_told() {
    for (way, why) in [
        ("disabled", "the client is disabled or gone"),
        ("deleted", "the client is disabled or gone"),
        ("without", "the client has no address for it any more"),
    ] {
        let (op, receiver) = start().await;
        let mut browser = op.browser();
        sign_in(&op, &mut browser, WEB).await;
        sign_out(&mut browser).await;
        match way {
            "disabled" => op.apply("realm: main\nclients:\n  - { client_id: web, enabled: false }\n").await,
            "deleted" => db_delete_client(&op, "web").await,
            _ => op.apply("realm: main\nclients:\n  - { client_id: web, backchannel_logout_uri: null }\n").await,
        }
        assert_eq!(send(&op).await, 1, "{way}");
        assert_eq!(receiver.count(), 0, "{way}");
        let [notice] = db_notices(&op).await.try_into().expect("one notice");
        assert_eq!(notice.done.map(|done| done.outcome), Some(NoticeOutcome::GivenUp), "{way}");
        assert_eq!(notice.failure.as_deref(), Some(why), "{way}");
    }
}
