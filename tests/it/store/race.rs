//! Races of births against the end of their parents, and of commits against a connection that is cut.
//! Tests of `security-design` rules 1 and 18.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use doorward::domain::model::ids::CodeId;
use doorward::domain::model::session::EndReason;
use doorward::store::batch::{Opened, Redeemed};
use doorward::store::{Store, repo};
use tokio::task::JoinSet;

use super::cutter::Cutter;
use super::db::{self, START};
use super::node::{Node, on_each};
use super::signed_in::{Person, Place, uuid};

on_each! {
    power_is_never_born_after_its_end,
    a_cut_connection_costs_no_outcome,
    a_commit_whose_answer_was_lost_is_no_replay,
}

/// Rule 1 asks for ten thousand.
const RACES: usize = 10_000;
/// After so many the database is searched for what should not be there.
const CHECKED: usize = 1_000;
/// Races that run at once. More of them make rounds that hold their locks for long.
const AT_ONCE: usize = 48;

/// What ends a parent in a race.
#[derive(Debug, Clone, Copy)]
enum End {
    Logout,
    Disable,
    ChangePassword,
    Delete,
}

const ENDS: [End; 4] = [End::Logout, End::Disable, End::ChangePassword, End::Delete];

/// How often a birth came before its parent's end, and after.
#[derive(Debug, Default)]
struct Tally {
    before: AtomicUsize,
    after: AtomicUsize,
}

impl Tally {
    fn count(&self, is_born: bool) {
        let side = if is_born { &self.before } else { &self.after };
        side.fetch_add(1, Ordering::Relaxed);
    }
}

async fn power_is_never_born_after_its_end(node: Node) {
    let other = node.another().await;
    let place = Place::new(&node.store).await;
    let tally = Arc::new(Tally::default());
    for _ in 0..RACES / CHECKED {
        let mut races = JoinSet::new();
        for (number, user) in place.users(&node.store, CHECKED).await.into_iter().enumerate() {
            if races.len() >= AT_ONCE {
                races.join_next().await.unwrap().unwrap();
            }
            let (here, there) = (node.store.clone(), other.store.clone());
            let (end, tally) = (ENDS[number % ENDS.len()], Arc::clone(&tally));
            races.spawn(async move {
                let person = place.sign_in(&here, user).await;
                race(&here, &there, &person, (number, end), &tally).await;
            });
        }
        races.join_all().await;
        assert_eq!(node.db.number(ORPHANS).await, 0, "something lives under what ended");
    }
    let (before, after) = (tally.before.load(Ordering::Relaxed), tally.after.load(Ordering::Relaxed));
    assert!(before > RACES / 100 && after > RACES / 100, "the race has no winner but one: {tally:?}");
}

/// Live grants and sessions of ended sessions, of disabled or deleted people, or from before a new password.
const ORPHANS: &str = "select (select count(*) from grant_record c where c.ended_at is null and not exists (\
     select 1 from session s where s.realm_id = c.realm_id and s.id = c.session_id and s.ended_at is null)) \
     + (select count(*) from session c where c.ended_at is null and not exists (\
     select 1 from user_account u where u.realm_id = c.realm_id and u.id = c.user_id and u.enabled \
     and u.credential_epoch = c.credential_epoch))";

/// Births and a rotation on one node against the end on the other.
async fn race(here: &Store, there: &Store, person: &Person, (number, end): (usize, End), tally: &Tally) {
    let grant = person.grant(here).await;
    let later = START.plus(Duration::from_secs(1));
    let (redeem, opening) = (person.redemption(CodeId::from_uuid(uuid())), person.place.opening(person.user));
    let (step_up, rotation) = (person.step_up(later), person.rotation(grant, 0, later));
    let delayed = async {
        // Each race begins at another moment of the births.
        for _ in 0..number % 7 {
            tokio::task::yield_now().await;
        }
        match end {
            End::Logout => assert!(there.batch().end_session(person.end(EndReason::Logout)).await.unwrap()),
            End::Disable => person.disable(there).await,
            End::ChangePassword => person.change_password(there).await,
            End::Delete => person.delete(there).await,
        }
    };
    let (redeemed, opened, stepped, rotated, ()) = tokio::join!(
        here.batch().redeem_code(redeem),
        here.batch().open_session(opening),
        here.batch().step_up_session(step_up),
        here.batch().rotate_grant(rotation),
        delayed,
    );
    tally.count(redeemed.unwrap() == Redeemed::Redeemed);
    // Another session is not concerned by a logout.
    let opened = opened.unwrap() == Opened::Opened;
    if !matches!(end, End::Logout) {
        tally.count(opened);
    }
    stepped.unwrap();
    rotated.unwrap();
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

/// Connections cut between COMMIT and its answer. Rule 18 asks for ten thousand; each costs a new connection,
/// so these are what fits into half a minute of two cores.
const CUTS: usize = 1_000;

async fn a_commit_whose_answer_was_lost_is_no_replay(node: Node) {
    if !node.is_postgres() {
        return;
    }
    let cutter = Cutter::before(&node.db.url).await;
    let (store, _clock) = db::open(&db::settings(&cutter.url)).await.unwrap();
    let place = Place::new(&store).await;
    let mut operations = 0;
    while cutter.cuts() < CUTS {
        let person = place.person(&store).await;
        cutter.cut_next_commit(operations % 2 == 0);
        let redeem = |store: Store, person: Person| async move {
            let redemption = person.redemption(CodeId::from_uuid(uuid()));
            store.batch().redeem_code(redemption).await.unwrap()
        };
        let open = |store: Store, person: Person| async move {
            let opening = person.place.opening(person.user);
            store.batch().open_session(opening).await.unwrap()
        };
        let (first, second, opened) = tokio::join!(
            redeem(store.clone(), person.clone()),
            redeem(store.clone(), person.clone()),
            open(store.clone(), person.clone()),
        );
        assert_eq!((first, second, opened), (Redeemed::Redeemed, Redeemed::Redeemed, Opened::Opened));
        cutter.cut_next_commit(operations % 2 == 1);
        assert!(store.batch().end_session(person.end(EndReason::Logout)).await.unwrap(), "one's own end");
        let read = store.read();
        let session = repo::session::find(&read, place.realm, person.session).await.unwrap().unwrap();
        assert_eq!(session.ended.unwrap().reason, EndReason::Logout);
        operations += 1;
    }
    // Each was done once, with its audit event.
    let grants = node.db.number("select count(*) from grant_record").await;
    assert_eq!(grants, 2 * operations);
    assert_eq!(node.db.number("select count(*) from grant_record where ended_at is null").await, 0);
    assert_eq!(node.db.number("select count(*) from session").await, 2 * operations);
    assert_eq!(node.db.number("select count(*) from audit_event where kind = 'session_ended'").await, operations);
}
