//! Read models are exact: own changes at once, others' after one poll, and nothing while the feed is behind.
//! Tests of `security-design` rules 3, 17 and 19.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use doorward::clock::{Clock, FollowingClock, Machine, SystemClock};
use doorward::domain::clock::Trust;
use doorward::domain::model::ids::RoleId;
use doorward::domain::model::ids::{GrantId, TokenId};
use doorward::domain::model::role::Role;
use doorward::domain::model::session::EndReason;
use doorward::domain::model::timestamp::Timestamp;
use doorward::entropy::SystemEntropy;
use doorward::store::{Store, repo};

use super::node::{Node, on_each};
use super::signed_in::{Person, Place, uuid};

on_each! {
    a_change_is_seen_at_once_here_and_after_one_poll_there,
    a_feed_that_is_behind_sends_reads_to_the_database,
    an_entry_lives_a_minute,
    what_ended_is_known_on_every_node,
    a_set_that_is_over_its_bound_asks_the_database,
    a_logout_ends_session_and_grants_in_the_models,
    a_step_up_is_seen_by_its_own_answer,
    realms_and_clients_are_found_by_both_their_names,
    a_change_of_roles_clears_the_realms_users,
    a_transaction_that_commits_late_is_not_missed,
    a_load_that_began_before_a_change_never_outlives_it,
    a_poll_leads_the_clock_of_a_machine_that_is_wrong,
}

impl Node {
    async fn poll(&self) {
        self.store.models().poll(self.clock.now()).await.unwrap();
    }
}

async fn rename(store: &Store, person: &Person, name: &str) {
    let mut user = repo::user::find(&store.read(), person.place.realm, person.user).await.unwrap().unwrap();
    user.claims.name = Some(name.to_owned());
    let mut tx = store.begin().await.unwrap();
    repo::user::update(&mut tx, &user).await.unwrap();
    tx.commit().await.unwrap();
}

async fn name(store: &Store, person: &Person) -> Option<String> {
    store.models().user(person.place.realm, person.user).await.unwrap().unwrap().user.claims.name.clone()
}

async fn a_change_is_seen_at_once_here_and_after_one_poll_there(here: Node) {
    let there = here.another().await;
    let person = Place::new(&here.store).await.person(&here.store).await;
    here.poll().await;
    there.poll().await;
    for round in 0..5 {
        let new = format!("name {round}");
        let before = name(&there.store, &person).await;
        rename(&here.store, &person, &new).await;
        assert_eq!(name(&here.store, &person).await.as_ref(), Some(&new));
        assert_eq!(name(&there.store, &person).await, before, "it is served from memory");
        there.poll().await;
        assert_eq!(name(&there.store, &person).await.as_ref(), Some(&new));
    }
}

async fn a_feed_that_is_behind_sends_reads_to_the_database(here: Node) {
    let there = here.another().await;
    let person = Place::new(&here.store).await.person(&here.store).await;
    there.poll().await;
    assert_eq!(name(&there.store, &person).await, None);
    rename(&here.store, &person, "new").await;
    assert_eq!(name(&there.store, &person).await, None);
    there.advance(Duration::from_millis(1001));
    assert_eq!(name(&there.store, &person).await.as_deref(), Some("new"));
    rename(&here.store, &person, "newer").await;
    assert_eq!(name(&there.store, &person).await.as_deref(), Some("newer"), "nothing is used while it is behind");
    there.poll().await;
    assert_eq!(name(&there.store, &person).await.as_deref(), Some("newer"));
}

async fn an_entry_lives_a_minute(node: Node) {
    let person = Place::new(&node.store).await.person(&node.store).await;
    node.poll().await;
    assert_eq!(name(&node.store, &person).await, None);
    node.db.run("update user_account set claims = '{\"name\":\"behind the back\"}'").await;
    node.advance(Duration::from_secs(59));
    node.poll().await;
    assert_eq!(name(&node.store, &person).await, None, "a change without its row is not noticed");
    node.advance(Duration::from_secs(2));
    node.poll().await;
    assert_eq!(name(&node.store, &person).await.as_deref(), Some("behind the back"));
}

async fn what_ended_is_known_on_every_node(here: Node) {
    let there = here.another().await;
    let person = Place::new(&here.store).await.person(&here.store).await;
    let realm = person.place.realm;
    let (grant, live) = (person.grant(&here.store).await, person.grant(&here.store).await);
    let token = TokenId::from_uuid(uuid());
    assert!(!there.store.models().ready(), "not before the sets are whole");
    here.poll().await;
    there.poll().await;
    assert!(there.store.models().ready());
    person.end_grant(&here.store, grant).await;
    person.revoke_token(&here.store, token).await;
    let ended = async |node: &Node| {
        let models = node.store.models();
        (models.is_grant_ended(realm, grant).await.unwrap(), models.is_token_revoked(realm, token).await.unwrap())
    };
    assert_eq!(ended(&here).await, (true, true), "at once here");
    there.poll().await;
    assert_eq!(ended(&there).await, (true, true), "after a poll there");
    let restarted = here.another().await;
    assert_eq!(ended(&restarted).await, (true, true), "before it is ready the database is asked");
    restarted.poll().await;
    assert_eq!(ended(&restarted).await, (true, true), "the sets are loaded whole");
    for node in [&here, &there, &restarted] {
        assert!(!node.store.models().is_grant_ended(realm, live).await.unwrap());
        assert!(!node.store.models().is_token_revoked(realm, TokenId::from_uuid(uuid())).await.unwrap());
        node.store.models().clear();
        assert_eq!(ended(node).await, (true, true), "after a clear the database is asked");
        assert!(!node.store.models().is_grant_ended(realm, live).await.unwrap());
        assert!(!node.store.models().ready());
    }
    there.poll().await;
    there.advance(Duration::from_millis(1001));
    person.end_grant(&here.store, live).await;
    assert!(there.store.models().is_grant_ended(realm, live).await.unwrap(), "a set that is behind is not believed");
    let unknown = GrantId::from_uuid(uuid());
    assert!(there.store.models().is_grant_ended(realm, unknown).await.unwrap(), "what is not there gives nothing");
}

async fn a_set_that_is_over_its_bound_asks_the_database(here: Node) {
    let there = here.another().await;
    let person = Place::new(&here.store).await.person(&here.store).await;
    let realm = person.place.realm;
    here.poll().await;
    let (first, last, good) = (TokenId::from_uuid(uuid()), TokenId::from_uuid(uuid()), TokenId::from_uuid(uuid()));
    person.revoke_token(&here.store, first).await;
    let far = super::db::START.plus(Duration::from_secs(3_000)).as_micros();
    let many = if here.is_postgres() {
        format!("insert into revoked_token select id, gen_random_uuid(), {far} from realm, generate_series(1, 200000)")
    } else {
        format!(
            "insert into revoked_token with recursive n (i) as (select 1 union all select i + 1 from n where i < 200000) \
             select realm.id, randomblob(16), {far} from realm, n"
        )
    };
    here.db.run(&many).await;
    // A node that starts now cannot hold them all, one that held few gets more than it can hold.
    there.poll().await;
    here.store.models().clear();
    here.poll().await;
    person.revoke_token(&here.store, last).await;
    there.poll().await;
    for node in [&here, &there] {
        let models = node.store.models();
        assert!(models.ready());
        for (token, want) in [(first, true), (last, true), (good, false)] {
            assert_eq!(models.is_token_revoked(realm, token).await.unwrap(), want);
        }
    }
    // The database is asked indeed: what it does not know any more counts no longer.
    here.db.run("delete from revoked_token").await;
    assert!(!there.store.models().is_token_revoked(realm, first).await.unwrap());
    // Once they have run out the set is whole again, and answers by itself.
    for _ in 0..2 {
        there.advance(Duration::from_secs(3 * 3_600));
        there.poll().await;
    }
    person.revoke_token(&here.store, good).await;
    there.poll().await;
    here.db.run("delete from revoked_token").await;
    assert!(there.store.models().is_token_revoked(realm, good).await.unwrap());
}

async fn a_logout_ends_session_and_grants_in_the_models(here: Node) {
    let there = here.another().await;
    let person = Place::new(&here.store).await.person(&here.store).await;
    let realm = person.place.realm;
    let grant = person.grant(&here.store).await;
    for node in [&here, &there] {
        node.poll().await;
        let session = node.store.models().session(realm, person.session).await.unwrap().unwrap();
        assert_eq!(session.ended, None);
    }
    assert!(here.store.batch().end_session(person.end(EndReason::Logout)).await.unwrap());
    there.poll().await;
    for node in [&here, &there] {
        let session = node.store.models().session(realm, person.session).await.unwrap().unwrap();
        assert_eq!(session.ended.unwrap().reason, EndReason::Logout);
        assert!(node.store.models().is_grant_ended(realm, grant).await.unwrap());
    }
}

async fn a_step_up_is_seen_by_its_own_answer(node: Node) {
    let person = Place::new(&node.store).await.person(&node.store).await;
    let realm = person.place.realm;
    node.poll().await;
    node.store.models().session(realm, person.session).await.unwrap();
    let later = super::db::START.plus(Duration::from_secs(60));
    node.store.batch().step_up_session(person.step_up(later)).await.unwrap();
    assert_eq!(node.store.models().session(realm, person.session).await.unwrap().unwrap().auth_time, later);
}

async fn realms_and_clients_are_found_by_both_their_names(here: Node) {
    let there = here.another().await;
    let place = Place::new(&here.store).await;
    let name = place.realm_row().name;
    for node in [&here, &there] {
        node.poll().await;
        for _ in 0..2 {
            let models = node.store.models();
            assert_eq!(models.realm_by_name(&name).await.unwrap().unwrap().id, place.realm);
            assert_eq!(models.realm(place.realm).await.unwrap().unwrap().name, name);
            assert_eq!(models.client(place.realm, "app").await.unwrap().unwrap().key, place.client);
            assert!(models.client(place.realm, "other").await.unwrap().is_none());
            assert!(models.realm_by_name("other").await.unwrap().is_none());
            assert!(models.resources(place.realm).await.unwrap().is_empty());
            assert!(models.keys(place.realm).await.unwrap().is_empty());
        }
    }
    let mut client = place.client_row();
    client.enabled = false;
    let mut realm = place.realm_row();
    realm.display_name = Some("Title".to_owned());
    let mut tx = here.store.begin().await.unwrap();
    repo::client::update(&mut tx, &client, here.clock.now()).await.unwrap();
    repo::realm::update(&mut tx, &realm).await.unwrap();
    tx.commit().await.unwrap();
    there.poll().await;
    for node in [&here, &there] {
        let models = node.store.models();
        assert!(!models.client(place.realm, "app").await.unwrap().unwrap().enabled);
        assert!(!models.client_by_key(place.realm, place.client).await.unwrap().unwrap().enabled);
        assert_eq!(models.realm_by_name(&name).await.unwrap().unwrap().title(), "Title");
        assert_eq!(models.realm(place.realm).await.unwrap().unwrap().title(), "Title");
    }
    let mut tx = here.store.begin().await.unwrap();
    repo::client::delete(&mut tx, place.realm, place.client, super::db::START).await.unwrap();
    tx.commit().await.unwrap();
    let mut tx = here.store.begin().await.unwrap();
    let new = Place { client: doorward::domain::model::ids::ClientKey::from_uuid(uuid()), ..place };
    repo::client::insert(&mut tx, &new.client_row()).await.unwrap();
    tx.commit().await.unwrap();
    there.poll().await;
    for node in [&here, &there] {
        let models = node.store.models();
        assert_eq!(models.client(place.realm, "app").await.unwrap().unwrap().key, new.client, "the name has moved");
        assert!(models.client_by_key(place.realm, place.client).await.unwrap().is_none());
    }
}

async fn a_change_of_roles_clears_the_realms_users(here: Node) {
    let there = here.another().await;
    let person = Place::new(&here.store).await.person(&here.store).await;
    let realm = person.place.realm;
    let role = Role {
        realm,
        id: RoleId::from_uuid(uuid()),
        client: None,
        name: "editor".to_owned(),
        description: None,
        composites: Vec::new(),
    };
    let mut tx = here.store.begin().await.unwrap();
    repo::role::upsert(&mut tx, &role).await.unwrap();
    repo::role::replace_for_user(&mut tx, realm, person.user, &[role.id]).await.unwrap();
    tx.commit().await.unwrap();
    there.poll().await;
    let roles = async |node: &Node| {
        node.store.models().user(realm, person.user).await.unwrap().unwrap().effective.roles.clone()
    };
    assert_eq!(roles(&there).await, ["editor"]);
    let mut tx = here.store.begin().await.unwrap();
    repo::role::upsert(&mut tx, &Role { name: "author".to_owned(), ..role }).await.unwrap();
    tx.commit().await.unwrap();
    there.poll().await;
    assert_eq!(roles(&there).await, ["author"]);
}

async fn a_transaction_that_commits_late_is_not_missed(here: Node) {
    if !here.is_postgres() {
        return;
    }
    let person = Place::new(&here.store).await.person(&here.store).await;
    here.poll().await;
    assert_eq!(name(&here.store, &person).await, None);
    // Its number and its transaction are older than what commits and is read meanwhile.
    let there = here.another().await;
    let mut user = repo::user::find(&there.store.read(), person.place.realm, person.user).await.unwrap().unwrap();
    user.claims.name = Some("late".to_owned());
    // On a node of its own: the other's writing connection stays free.
    let slow = here.another().await;
    let mut late = slow.store.begin().await.unwrap();
    repo::user::update(&mut late, &user).await.unwrap();
    for round in 0..5 {
        let other = person.place.person(&there.store).await;
        rename(&there.store, &other, &format!("quick {round}")).await;
        here.poll().await;
        assert_eq!(name(&here.store, &other).await, Some(format!("quick {round}")));
    }
    assert_eq!(name(&here.store, &person).await, None);
    late.commit().await.unwrap();
    here.poll().await;
    assert_eq!(name(&here.store, &person).await.as_deref(), Some("late"));
}

async fn a_load_that_began_before_a_change_never_outlives_it(node: Node) {
    let person = Place::new(&node.store).await.person(&node.store).await;
    node.poll().await;
    let done = Arc::new(AtomicBool::new(false));
    let mut readers = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let (store, person, done) = (node.store.clone(), person.clone(), Arc::clone(&done));
        readers.spawn(async move {
            while !done.load(Ordering::Relaxed) {
                name(&store, &person).await;
                tokio::task::yield_now().await;
            }
        });
    }
    for round in 0..100 {
        let new = format!("name {round}");
        rename(&node.store, &person, &new).await;
        assert_eq!(name(&node.store, &person).await, Some(new));
    }
    done.store(true, Ordering::Relaxed);
    readers.join_all().await;
}

async fn a_poll_leads_the_clock_of_a_machine_that_is_wrong(node: Node) {
    for wrong in [-3_600, -5, 5, 3_600] {
        let real = SystemClock::new().now();
        let wall = Timestamp::from_secs(real.as_secs() + wrong);
        let clock = Arc::new(FollowingClock::starting_at(wall, Machine));
        let settings = super::db::settings(&node.db.url);
        let store = Store::open(&settings, clock.clone(), Arc::new(SystemEntropy)).await.unwrap();
        assert_eq!(clock.trust(), Trust::Unsure, "nobody has asked the database yet");
        store.models().poll(clock.now()).await.unwrap();
        let (now, real) = (clock.now(), SystemClock::new().now());
        // The database runs on this machine, and shows its time; the answer may have been long on its way.
        assert!(now.since(real).max(real.since(now)) < Duration::from_secs(4), "{wrong}: {now} and {real}");
        store.close().await;
    }
}
