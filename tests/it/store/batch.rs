//! Group commit: single use, births under live parents only, one's own repeats, and what a caller is told.
//! Tests of `security-design` rules 1, 4, 8, 12 and 18.

use std::time::Duration;

use doorward::domain::model::audit::AuditKind;
use doorward::domain::model::event::{EventKind, OutboxEvent};
use doorward::domain::model::ids::{CodeId, EventId, GrantId, SessionId};
use doorward::domain::model::secret::SecretHash;
use doorward::domain::model::session::{EndReason, Ended};
use doorward::domain::model::timestamp::Timestamp;
use doorward::store::batch::{Opened, Redeemed, RotateGrant, Rotated};
use doorward::store::{Error, Store, repo};
use tokio::task::JoinSet;

use super::db::START;
use super::node::{Node, on_each};
use super::signed_in::{IDLE, Person, Place, uuid};

on_each! {
    a_code_is_redeemed_once,
    a_code_is_redeemed_once_on_two_nodes,
    what_was_stored_is_what_was_given,
    a_repeat_with_its_own_id_is_a_success,
    a_code_under_an_ended_session_is_burnt,
    nothing_is_born_of_another_epoch_or_a_disabled_user,
    a_rotation_moves_the_generation_once,
    many_families_rotate_at_once,
    each_guard_of_a_rotation_holds,
    a_streak_of_foreign_repeats_ends_with_a_generation_without_one,
    ending_a_session_ends_its_online_grants_only,
    a_new_session_replaces_the_old_one_in_one_step,
    a_step_up_keeps_the_session_and_kills_its_old_secret,
    the_newest_mark_is_written_and_revives_nothing,
    events_are_appended_with_what_they_tell_of,
    a_closed_batch_has_written_everything_and_takes_no_more,
    callers_may_be_on_another_runtime,
}

fn after(secs: u64) -> Timestamp {
    START.plus(Duration::from_secs(secs))
}

async fn generation(store: &Store, person: &Person, grant: GrantId) -> i64 {
    repo::grant::find(&store.read(), person.place.realm, grant).await.unwrap().unwrap().generation
}

async fn a_code_is_redeemed_once(node: Node) {
    let person = Place::new(&node.store).await.person(&node.store).await;
    let code = CodeId::from_uuid(uuid());
    let mut redemptions = JoinSet::new();
    for _ in 0..200 {
        let (store, redemption) = (node.store.clone(), person.redemption(code));
        redemptions.spawn(async move {
            let grant = redemption.grant.id;
            (grant, store.batch().redeem_code(redemption).await.unwrap())
        });
    }
    let outcomes = redemptions.join_all().await;
    let winners: Vec<GrantId> =
        outcomes.iter().filter(|(_, outcome)| *outcome == Redeemed::Redeemed).map(|(grant, _)| *grant).collect();
    assert_eq!(winners.len(), 1);
    let replayed = outcomes.iter().filter(|(_, outcome)| *outcome == Redeemed::Replayed { grant: Some(winners[0]) });
    assert_eq!(replayed.count(), 199);
    let made = repo::grant::find_by_code(&node.store.read(), person.place.realm, code).await.unwrap().unwrap();
    assert_eq!(made.id, winners[0]);
}

async fn a_code_is_redeemed_once_on_two_nodes(node: Node) {
    let other = node.another().await;
    let person = Place::new(&node.store).await.person(&node.store).await;
    for _ in 0..30 {
        let code = CodeId::from_uuid(uuid());
        let (here, there) = tokio::join!(
            node.store.batch().redeem_code(person.redemption(code)),
            other.store.batch().redeem_code(person.redemption(code))
        );
        let outcomes = [here.unwrap(), there.unwrap()];
        assert_eq!(outcomes.iter().filter(|outcome| **outcome == Redeemed::Redeemed).count(), 1, "{outcomes:?}");
    }
}

async fn what_was_stored_is_what_was_given(node: Node) {
    let place = Place::new(&node.store).await;
    let user = place.user(&node.store).await;
    let opening = place.opening(user);
    assert_eq!(node.store.batch().open_session(opening.clone()).await.unwrap(), Opened::Opened);
    let read = node.store.read();
    let session = repo::session::find(&read, place.realm, opening.session.id).await.unwrap().unwrap();
    assert_eq!(session, opening.session);
    let device = repo::device::find(&read, place.realm, opening.device.id).await.unwrap().unwrap();
    assert_eq!(device, opening.device);
    let person = Person { place, user, session: session.id };
    let mut redemption = person.redemption(CodeId::from_uuid(uuid()));
    redemption.grant.presenter = Some([3; 16]);
    redemption.grant.terms.nonce = Some("n".to_owned());
    assert_eq!(node.store.batch().redeem_code(redemption.clone()).await.unwrap(), Redeemed::Redeemed);
    let grant = repo::grant::find(&read, place.realm, redemption.grant.id).await.unwrap().unwrap();
    assert_eq!(grant, redemption.grant);
}

async fn a_repeat_with_its_own_id_is_a_success(node: Node) {
    let batch = node.store.batch();
    let place = Place::new(&node.store).await;
    let opening = place.opening(place.user(&node.store).await);
    for _ in 0..2 {
        assert_eq!(batch.open_session(opening.clone()).await.unwrap(), Opened::Opened);
    }
    let person = Person { place, user: opening.session.user, session: opening.session.id };
    let redemption = person.redemption(CodeId::from_uuid(uuid()));
    for _ in 0..2 {
        assert_eq!(batch.redeem_code(redemption.clone()).await.unwrap(), Redeemed::Redeemed);
    }
    let end = person.end(EndReason::Logout);
    for _ in 0..2 {
        assert!(batch.end_session(end.clone()).await.unwrap());
    }
    assert!(!batch.end_session(person.end(EndReason::Logout)).await.unwrap(), "another's end is not one's own");
    assert_eq!(batch.redeem_code(redemption).await.unwrap(), Redeemed::Redeemed, "its answer stays what it was");
}

async fn a_code_under_an_ended_session_is_burnt(node: Node) {
    let batch = node.store.batch();
    let person = Place::new(&node.store).await.person(&node.store).await;
    assert!(batch.end_session(person.end(EndReason::Logout)).await.unwrap());
    let code = CodeId::from_uuid(uuid());
    let redemption = person.redemption(code);
    for _ in 0..2 {
        assert_eq!(batch.redeem_code(redemption.clone()).await.unwrap(), Redeemed::Ended);
    }
    let again = batch.redeem_code(person.redemption(code)).await.unwrap();
    assert_eq!(again, Redeemed::Replayed { grant: None });
}

async fn nothing_is_born_of_another_epoch_or_a_disabled_user(node: Node) {
    let batch = node.store.batch();
    let place = Place::new(&node.store).await;
    let person = place.person(&node.store).await;
    let mut tx = node.store.begin().await.unwrap();
    repo::user::raise_epoch(&mut tx, place.realm, person.user, START).await.unwrap();
    tx.commit().await.unwrap();
    let code = CodeId::from_uuid(uuid());
    assert_eq!(batch.redeem_code(person.redemption(code)).await.unwrap(), Redeemed::Ended);
    assert_eq!(batch.open_session(place.opening(person.user)).await.unwrap(), Opened::Ended);
    assert_eq!(batch.step_up_session(person.step_up(after(1))).await.unwrap(), Opened::Ended);
    let opening = place.opening(person.user);
    let device = opening.device.id;
    assert_eq!(batch.open_session(opening).await.unwrap(), Opened::Ended);
    let left = repo::device::find(&node.store.read(), place.realm, device).await.unwrap();
    assert_eq!(left, None, "a refused sign-in leaves no browser behind");

    let person = place.person(&node.store).await;
    person.disable(&node.store).await;
    let code = CodeId::from_uuid(uuid());
    assert_eq!(batch.redeem_code(person.redemption(code)).await.unwrap(), Redeemed::Ended);
    let mut opening = place.opening(person.user);
    opening.user_epoch = 1;
    assert_eq!(batch.open_session(opening).await.unwrap(), Opened::Ended);
    // A session belongs to its user: nobody else's code is redeemed under it.
    let (one, two) = (place.person(&node.store).await, place.person(&node.store).await);
    let mixed = Person { session: two.session, ..one };
    assert_eq!(batch.redeem_code(mixed.redemption(CodeId::from_uuid(uuid()))).await.unwrap(), Redeemed::Ended);
}

async fn a_rotation_moves_the_generation_once(node: Node) {
    let person = Place::new(&node.store).await.person(&node.store).await;
    let grant = person.grant(&node.store).await;
    let mut rotations = JoinSet::new();
    for _ in 0..50 {
        let (store, rotation) = (node.store.clone(), person.rotation(grant, 0, after(60)));
        rotations.spawn(async move { store.batch().rotate_grant(rotation).await.unwrap() });
    }
    let outcomes = rotations.join_all().await;
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == Rotated::Rotated).count(), 1);
    let row = repo::grant::find(&node.store.read(), person.place.realm, grant).await.unwrap().unwrap();
    assert_eq!((row.generation, row.rotated_at, row.last_used_at), (1, after(60), after(60)));
    assert_eq!(row.presenter, Some([5; 16]));
}

async fn many_families_rotate_at_once(node: Node) {
    let person = Place::new(&node.store).await.person(&node.store).await;
    let mut grants = Vec::new();
    for _ in 0..40 {
        grants.push(person.grant(&node.store).await);
    }
    for generation in 0..5 {
        let mut rotations = JoinSet::new();
        for grant in &grants {
            let (store, rotation) = (node.store.clone(), person.rotation(*grant, generation, after(1)));
            rotations.spawn(async move { store.batch().rotate_grant(rotation).await.unwrap() });
        }
        assert!(rotations.join_all().await.iter().all(|outcome| *outcome == Rotated::Rotated));
    }
}

async fn each_guard_of_a_rotation_holds(node: Node) {
    let (store, batch) = (&node.store, node.store.batch());
    let place = Place::new(store).await;
    let person = place.person(store).await;
    let grant = person.grant(store).await;
    let good = person.rotation(grant, 0, after(60));
    let idle = after(1).plus(IDLE);
    let wrong = [
        ("a generation ahead", RotateGrant { generation: 1, ..good.clone() }),
        ("a generation behind", RotateGrant { generation: -1, ..good.clone() }),
        ("another secret", RotateGrant { secret_hash: SecretHash([1; 32]), ..good.clone() }),
        ("another realm", RotateGrant { realm: Place::new(store).await.realm, ..good.clone() }),
        ("another grant", RotateGrant { grant: GrantId::from_uuid(uuid()), ..good.clone() }),
        ("idle for too long", RotateGrant { now: idle, ..good.clone() }),
        ("past the end", RotateGrant { now: after(90 * 86_400), idle: IDLE * 10, ..good.clone() }),
        ("past the session's end", RotateGrant { now: after(12 * 3600), ..good.clone() }),
    ];
    for (fault, rotation) in wrong {
        assert_eq!(batch.rotate_grant(rotation).await.unwrap(), Rotated::Lost, "{fault}");
    }
    assert_eq!(generation(store, &person, grant).await, 0);
    assert_eq!(batch.rotate_grant(good).await.unwrap(), Rotated::Rotated);

    let offline = person.grant_of(store, true).await;
    assert!(batch.end_session(person.end(EndReason::Logout)).await.unwrap());
    assert_eq!(batch.rotate_grant(person.rotation(grant, 1, after(61))).await.unwrap(), Rotated::Lost);
    let late = person.rotation(offline, 0, after(13 * 3600));
    assert_eq!(batch.rotate_grant(late).await.unwrap(), Rotated::Rotated, "an offline grant survives its session");
    person.end_grant(store, offline).await;
    assert_eq!(batch.rotate_grant(person.rotation(offline, 1, after(61))).await.unwrap(), Rotated::Lost);

    let person = place.person(store).await;
    let offline = person.grant_of(store, true).await;
    let mut tx = store.begin().await.unwrap();
    repo::user::set_enabled(&mut tx, place.realm, person.user, false, START).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(batch.rotate_grant(person.rotation(offline, 0, after(1))).await.unwrap(), Rotated::Lost);
}

async fn a_streak_of_foreign_repeats_ends_with_a_generation_without_one(node: Node) {
    let (store, batch) = (&node.store, node.store.batch());
    let person = Place::new(store).await.person(store).await;
    let grant = person.grant(store).await;
    let repeat = async |generation: i64| {
        let mut tx = store.begin().await.unwrap();
        let streak = repo::grant::count_foreign_repeat(&mut tx, person.place.realm, grant, generation).await.unwrap();
        tx.commit().await.unwrap();
        streak
    };
    let rotate = async |generation: i64| {
        let rotated = batch.rotate_grant(person.rotation(grant, generation, after(1))).await.unwrap();
        assert_eq!(rotated, Rotated::Rotated);
    };
    rotate(0).await;
    assert_eq!(repeat(1).await, 1);
    assert_eq!(repeat(1).await, 1, "a generation counts once");
    rotate(1).await;
    assert_eq!(repeat(2).await, 2);
    rotate(2).await;
    rotate(3).await;
    assert_eq!(repeat(4).await, 1);
}

async fn ending_a_session_ends_its_online_grants_only(node: Node) {
    let store = &node.store;
    let person = Place::new(store).await.person(store).await;
    let (online, offline) = (person.grant(store).await, person.grant_of(store, true).await);
    let mut end = person.end(EndReason::EndedByAdmin);
    end.outbox = Some(OutboxEvent {
        id: EventId::from_uuid(uuid()),
        realm: person.place.realm,
        user: person.user,
        sub: "sub".to_owned(),
        kind: EventKind::SessionRevoked,
        at: START,
        data: "{}".to_owned(),
    });
    let event = end.outbox.clone().unwrap();
    for _ in 0..2 {
        assert!(store.batch().end_session(end.clone()).await.unwrap());
    }
    let read = store.read();
    let realm = person.place.realm;
    let session = repo::session::find(&read, realm, person.session).await.unwrap().unwrap();
    assert_eq!(session.ended, Some(Ended { at: START, reason: EndReason::EndedByAdmin }));
    let online = repo::grant::find(&read, realm, online).await.unwrap().unwrap();
    assert_eq!(online.ended, Some(Ended { at: START, reason: EndReason::SessionEnded }));
    let offline = repo::grant::find(&read, realm, offline).await.unwrap().unwrap();
    assert_eq!(offline.ended, None);
    let unsent = repo::outbox::list_unsent(&read, realm, 10).await.unwrap();
    assert_eq!(unsent.len(), 1, "told once");
    assert!(format!("{unsent:?}").contains(&event.id.to_string()));
}

async fn a_new_session_replaces_the_old_one_in_one_step(node: Node) {
    let store = &node.store;
    let place = Place::new(store).await;
    let old = place.person(store).await;
    let grant = old.grant(store).await;
    let mut opening = place.opening(place.user(store).await);
    opening.replaces = Some(old.session);
    assert_eq!(store.batch().open_session(opening).await.unwrap(), Opened::Opened);
    let read = store.read();
    let session = repo::session::find(&read, place.realm, old.session).await.unwrap().unwrap();
    assert_eq!(session.ended.unwrap().reason, EndReason::Replaced);
    let grant = repo::grant::find(&read, place.realm, grant).await.unwrap().unwrap();
    assert_eq!(grant.ended.unwrap().reason, EndReason::SessionEnded);
}

async fn a_step_up_keeps_the_session_and_kills_its_old_secret(node: Node) {
    let store = &node.store;
    let person = Place::new(store).await.person(store).await;
    assert_eq!(store.batch().step_up_session(person.step_up(after(60))).await.unwrap(), Opened::Opened);
    let session = repo::session::find(&store.read(), person.place.realm, person.session).await.unwrap().unwrap();
    assert_eq!(session.secret_hash, SecretHash([10; 32]));
    assert_eq!(session.previous_secret_hash, None);
    assert_eq!((session.auth_time, session.created_at), (after(60), START));
    assert!(store.batch().end_session(person.end(EndReason::Logout)).await.unwrap());
    assert_eq!(store.batch().step_up_session(person.step_up(after(61))).await.unwrap(), Opened::Ended);
}

async fn the_newest_mark_is_written_and_revives_nothing(node: Node) {
    let store = &node.store;
    let place = Place::new(store).await;
    let (person, gone) = (place.person(store).await, place.person(store).await);
    for secs in [5, 9, 7] {
        store.batch().seen(place.realm, person.session, after(secs));
    }
    assert!(store.batch().end_session(gone.end(EndReason::Logout)).await.unwrap());
    store.batch().seen(place.realm, gone.session, after(9));
    store.batch().seen(place.realm, SessionId::from_uuid(uuid()), after(9));
    store.batch().flush().await.unwrap();
    let read = store.read();
    let session = repo::session::find(&read, place.realm, person.session).await.unwrap().unwrap();
    assert_eq!(session.last_seen_at, after(9));
    let ended = repo::session::find(&read, place.realm, gone.session).await.unwrap().unwrap();
    assert_eq!(ended.last_seen_at, START);
    assert!(ended.ended.is_some());
}

async fn events_are_appended_with_what_they_tell_of(node: Node) {
    let store = &node.store;
    let person = Place::new(store).await.person(store).await;
    let event = person.place.event(AuditKind::SignInRefused, person.user);
    for _ in 0..2 {
        store.batch().audit(event.clone()).await.unwrap();
    }
    store.batch().flush().await.unwrap();
    let filter = repo::audit::AuditFilter { user: Some(person.user), ..repo::audit::AuditFilter::default() };
    let stored = repo::audit::list(&store.read(), person.place.realm, filter, 10).await.unwrap();
    assert_eq!(stored.len(), 2, "the sign-in and the refusal, each once: {stored:?}");
}

async fn a_closed_batch_has_written_everything_and_takes_no_more(node: Node) {
    let store = node.store.clone();
    let person = Place::new(&store).await.person(&store).await;
    let grant = person.grant(&store).await;
    let mut rotations = JoinSet::new();
    for generation in 0..20 {
        let (store, rotation) = (store.clone(), person.rotation(grant, generation, after(1)));
        rotations.spawn(async move { store.batch().rotate_grant(rotation).await });
    }
    store.batch().seen(person.place.realm, person.session, after(9));
    store.batch().close().await;
    for outcome in rotations.join_all().await {
        // Whoever was queued has an outcome; whoever came later was told so.
        assert!(matches!(outcome, Ok(_) | Err(Error::Unavailable(_))), "{outcome:?}");
    }
    let session = repo::session::find(&store.read(), person.place.realm, person.session).await.unwrap().unwrap();
    assert_eq!(session.last_seen_at, after(9));
    let refused = store.batch().rotate_grant(person.rotation(grant, 0, after(1))).await;
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
}

async fn callers_may_be_on_another_runtime(node: Node) {
    let person = Place::new(&node.store).await.person(&node.store).await;
    let grant = person.grant(&node.store).await;
    let store = node.store.clone();
    let rotation = person.rotation(grant, 0, after(1));
    let elsewhere = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(store.batch().rotate_grant(rotation))
    });
    let outcome = tokio::task::spawn_blocking(move || elsewhere.join().unwrap()).await.unwrap();
    assert_eq!(outcome.unwrap(), Rotated::Rotated);
}
