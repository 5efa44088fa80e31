//! Grants of acts that spend nothing (`security-design` rules 1 and 18).

use doorward::domain::model::client::GrantType;
use doorward::domain::model::ids::CodeId;
use doorward::domain::model::session::EndReason;
use doorward::store::batch::{Made, MakeGrant, RedeemCode};
use doorward::store::repo;

use super::node::{Node, on_each};
use super::signed_in::{Place, uuid};

on_each! {
    a_grant_without_a_code_is_born_under_the_same_guard,
}

async fn a_grant_without_a_code_is_born_under_the_same_guard(node: Node) {
    let person = Place::new(&node.store).await.person(&node.store).await;
    let made = |epoch: i64| {
        let RedeemCode { mut grant, audit, .. } = person.redemption(CodeId::from_uuid(uuid()));
        (grant.code, grant.grant_type, grant.refresh_secret_hash) = (None, GrantType::Implicit, None);
        MakeGrant { grant, credential_epoch: epoch, audit }
    };
    let find = async |grant| repo::grant::find(&node.store.read(), person.place.realm, grant).await.unwrap();
    // Twice by itself, as when the answer was lost; and several beside each other.
    let (one, two) = (made(0), made(0));
    for op in [&one, &one, &two] {
        assert_eq!(node.store.batch().make_grant(op.clone()).await.unwrap(), Made::Made);
    }
    assert_eq!(find(one.grant.id).await, Some(one.grant.clone()));
    assert_eq!(find(two.grant.id).await, Some(two.grant.clone()));
    // Other credentials, a session that has ended, a person who is disabled.
    let other = made(1);
    assert_eq!(node.store.batch().make_grant(other.clone()).await.unwrap(), Made::Ended);
    assert!(node.store.batch().end_session(person.end(EndReason::Logout)).await.unwrap());
    let late = made(0);
    assert_eq!(node.store.batch().make_grant(late.clone()).await.unwrap(), Made::Ended);
    assert_eq!(find(one.grant.id).await.unwrap().ended.map(|ended| ended.reason), Some(EndReason::SessionEnded));
    let again = person.place.sign_in(&node.store, person.user).await;
    again.disable(&node.store).await;
    let mut of_disabled = made(0);
    of_disabled.grant.session = again.session;
    assert_eq!(node.store.batch().make_grant(of_disabled.clone()).await.unwrap(), Made::Ended);
    for grant in [other.grant.id, late.grant.id, of_disabled.grant.id] {
        assert_eq!(find(grant).await, None);
    }
}
