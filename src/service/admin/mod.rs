//! What administrators do, one resource per file. Each act is one transaction that carries its audit
//! event and, where other services must know, its outbox event. The functions that take a transaction
//! are also what `apply` is made of.

pub mod client;
pub mod doctor;
pub mod hashing;
pub mod initial_access_token;
pub mod key;
pub mod realm;
pub mod session;
pub mod user;

use serde_json::Value;
use uuid::Uuid;

use crate::context::Ctx;
use crate::domain::model::audit::{Actor, AuditEvent, AuditKind};
use crate::domain::model::event::{EventKind, OutboxEvent};
use crate::domain::model::ids::{EventId, RealmId};
use crate::domain::model::timestamp::Timestamp;
use crate::domain::model::user::User;
use crate::entropy::Entropy;
use crate::service::App;

/// Who acts where and when: writes the events of one act.
#[derive(Debug, Clone, Copy)]
pub struct Scribe<'a> {
    entropy: &'a dyn Entropy,
    /// The one "now" of the act.
    pub now: Timestamp,
    /// Where.
    pub realm: RealmId,
    /// Who.
    pub actor: Actor,
    /// The request it came with.
    pub asked: Option<&'a Ctx>,
}

impl<'a> Scribe<'a> {
    /// The command line on the host acts in a realm.
    #[must_use]
    pub fn operator(app: &'a App, realm: RealmId, now: Timestamp) -> Self {
        Self { entropy: &*app.entropy, now, realm, actor: Actor::Operator, asked: None }
    }

    /// The operator acts through a page.
    #[must_use]
    pub fn by_request(app: &'a App, ctx: &'a Ctx) -> Self {
        Self { asked: Some(ctx), ..Self::operator(app, ctx.realm.id, ctx.now) }
    }

    /// A fresh id.
    #[must_use]
    pub fn id(&self, purpose: &'static str) -> Uuid {
        self.entropy.uuid(purpose, self.now)
    }

    /// Fresh random bytes.
    #[must_use]
    pub fn bytes<const N: usize>(&self, purpose: &'static str) -> [u8; N] {
        crate::entropy::bytes(self.entropy, purpose)
    }

    /// An audit event of this act.
    #[must_use]
    pub fn audit(&self, kind: AuditKind) -> AuditEvent {
        AuditEvent {
            id: EventId::from_uuid(self.id("event")),
            realm: self.realm,
            at: self.now,
            kind,
            user: None,
            client: None,
            session: None,
            grant: None,
            reason: None,
            actor: self.actor,
            address: self.asked.and_then(|ctx| ctx.address).map(|address| address.to_string()),
            request: self.asked.map(|ctx| ctx.request_id.to_string()),
        }
    }

    /// An event for other services about a person: ids and field names only.
    #[must_use]
    pub fn tell(&self, kind: EventKind, user: &User, data: &Value) -> OutboxEvent {
        OutboxEvent {
            id: EventId::from_uuid(self.id("event")),
            realm: self.realm,
            user: user.id,
            sub: user.sub.clone(),
            kind,
            at: self.now,
            data: data.to_string(),
        }
    }
}
