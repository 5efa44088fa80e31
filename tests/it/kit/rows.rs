//! What was written down, read past the public addresses: audit, sessions, the outbox.

use doorward::domain::model::audit::AuditKind;
use doorward::domain::model::event::OutboxEvent;
use doorward::domain::model::ids::RealmId;
use doorward::domain::model::realm::MAIN_REALM;
use doorward::domain::model::secret::Secret;
use doorward::domain::model::session::Session;
use doorward::domain::model::user::User;
use doorward::domain::signin::identifier::canonical_typed;
use doorward::service::admin;
use doorward::store::repo;
use doorward::store::repo::audit::{AuditFilter, StoredAudit};

use super::op::Op;

/// The main realm's id.
pub async fn db_realm(op: &Op) -> RealmId {
    let realm = repo::realm::find_by_name(&op.app.store.read(), MAIN_REALM).await.expect("the store answers");
    realm.expect("the main realm").id
}

/// Audit events of a kind, or of all.
pub async fn db_audit(op: &Op, kind: Option<AuditKind>) -> Vec<StoredAudit> {
    op.app.store.batch().flush().await.expect("flushed");
    let filter = AuditFilter { kind, ..AuditFilter::default() };
    repo::audit::list(&op.app.store.read(), db_realm(op).await, filter, 10_000).await.expect("the store answers")
}

/// A person.
pub async fn db_user(op: &Op, username: &str) -> User {
    let name = canonical_typed(username).expect("a name");
    let realm = db_realm(op).await;
    let user = repo::user::find_by_username(&op.app.store.read(), realm, &name).await.expect("the store answers");
    user.expect("the person")
}

/// A person's sessions, ended ones too.
pub async fn db_sessions(op: &Op, username: &str) -> Vec<Session> {
    op.app.store.batch().flush().await.expect("flushed");
    let user = db_user(op, username).await;
    repo::session::list_for_user(&op.app.store.read(), user.realm, user.id, 1_000).await.expect("the store answers")
}

/// An operator sets a person's password, as `doorward user password` does.
pub async fn db_set_password(op: &Op, username: &str, password: &str) {
    let realm = repo::realm::find_by_name(&op.app.store.read(), MAIN_REALM).await.expect("the store answers");
    let (realm, user) = (realm.expect("the main realm"), db_user(op, username).await);
    admin::user::set_password(&op.app, &realm, &user, &Secret::from(password)).await.expect("the password is set");
    op.poll().await;
}

/// What waits to be told to others.
pub async fn db_outbox(op: &Op) -> Vec<OutboxEvent> {
    op.app.store.batch().flush().await.expect("flushed");
    repo::outbox::list_unsent(&op.app.store.read(), db_realm(op).await, 1_000).await.expect("the store answers")
}
