//! Audit events, appended unnumbered; a sealer chains them later (`security-design` rule 33). The personal
//! part and its salt stand aside: without them the event's hash tells nothing.

use aws_lc_rs::digest;
use sea_orm::{ColumnTrait, EntityTrait, JoinType, QueryFilter, QueryOrder, QuerySelect, RelationDef};

use super::row::{Row, whole};
use crate::domain::model::audit::{AuditEvent, AuditKind};
use crate::domain::model::ids::{ClientKey, EventId, GrantId, RealmId, SessionId, UserId};
use crate::domain::model::timestamp::Timestamp;
use crate::entropy::{self, Entropy};
use crate::store::entity::audit_event::{ActiveModel, Column, Entity, Model};
use crate::store::entity::audit_personal;
use crate::store::sealed::Connected;
use crate::store::{Error, Source, Tx};

/// The personal part of an event.
pub(in crate::store) struct Personal {
    /// Sixteen random bytes.
    pub(in crate::store) salt: Vec<u8>,
    /// SHA-256 of salt and address; kept in the event.
    pub(in crate::store) hash: Vec<u8>,
    /// The client's address.
    pub(in crate::store) address: String,
}

/// Parts the personal from the rest.
pub(in crate::store) fn personal(entropy: &dyn Entropy, event: &AuditEvent) -> Option<Personal> {
    let address = event.address.clone()?;
    let salt: [u8; 16] = entropy::bytes(entropy, "audit salt");
    let mut context = digest::Context::new(&digest::SHA256);
    context.update(&salt);
    context.update(address.as_bytes());
    Some(Personal { salt: salt.to_vec(), hash: context.finish().as_ref().to_vec(), address })
}

/// Appends an event.
pub async fn append(tx: &mut Tx, event: &AuditEvent) -> Result<(), Error> {
    let personal = personal(tx.entropy(), event);
    let row: ActiveModel = whole(Model {
        realm_id: event.realm.as_uuid(),
        id: event.id.as_uuid(),
        occurred_at: event.at.as_micros(),
        kind: event.kind.as_str().to_owned(),
        user_id: event.user.map(UserId::as_uuid),
        client_key: event.client.map(ClientKey::as_uuid),
        session_id: event.session.map(SessionId::as_uuid),
        grant_id: event.grant.map(GrantId::as_uuid),
        reason: event.reason.map(str::to_owned),
        actor: event.actor.as_str().to_owned(),
        request: event.request.clone(),
        personal_hash: personal.as_ref().map(|personal| personal.hash.clone()),
    });
    Entity::insert(row).exec_without_returning(tx.connection()).await?;
    if let Some(personal) = personal {
        let row: audit_personal::ActiveModel = whole(audit_personal::Model {
            realm_id: event.realm.as_uuid(),
            event_id: event.id.as_uuid(),
            salt: personal.salt,
            address: personal.address,
        });
        audit_personal::Entity::insert(row).exec_without_returning(tx.connection()).await?;
    }
    Ok(())
}

/// Which events to list; what is `None` does not narrow.
#[derive(Debug, Clone, Copy, Default)]
pub struct AuditFilter {
    /// About this person.
    pub user: Option<UserId>,
    /// About this client.
    pub client: Option<ClientKey>,
    /// About this session.
    pub session: Option<SessionId>,
    /// Of this kind.
    pub kind: Option<AuditKind>,
}

/// An event as it rests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAudit {
    /// Its id.
    pub id: EventId,
    /// Where.
    pub realm: RealmId,
    /// When.
    pub at: Timestamp,
    /// What.
    pub kind: AuditKind,
    /// The person concerned.
    pub user: Option<UserId>,
    /// The client concerned.
    pub client: Option<ClientKey>,
    /// The session concerned.
    pub session: Option<SessionId>,
    /// The grant concerned.
    pub grant: Option<GrantId>,
    /// A word of a closed list, as it was written.
    pub reason: Option<String>,
    /// Who acted, as it was written.
    pub actor: String,
    /// The client's address, while it is kept.
    pub address: Option<String>,
    /// Finds the log line.
    pub request: Option<String>,
}

fn read(model: Model, personal: Option<audit_personal::Model>) -> Result<StoredAudit, Error> {
    let row = Row { table: "audit_event", id: model.id };
    Ok(StoredAudit {
        id: EventId::from_uuid(model.id),
        realm: RealmId::from_uuid(model.realm_id),
        at: Timestamp::from_micros(model.occurred_at),
        kind: row.some(AuditKind::from_name(&model.kind))?,
        user: model.user_id.map(UserId::from_uuid),
        client: model.client_key.map(ClientKey::from_uuid),
        session: model.session_id.map(SessionId::from_uuid),
        grant: model.grant_id.map(GrantId::from_uuid),
        reason: model.reason,
        actor: model.actor,
        address: personal.map(|personal| personal.address),
        request: model.request,
    })
}

fn personal_parts() -> RelationDef {
    Entity::belongs_to(audit_personal::Entity)
        .from((Column::RealmId, Column::Id))
        .to((audit_personal::Column::RealmId, audit_personal::Column::EventId))
        .into()
}

/// Events, newest first.
pub async fn list(
    source: &impl Source,
    realm: RealmId,
    filter: AuditFilter,
    limit: u64,
) -> Result<Vec<StoredAudit>, Error> {
    let mut query = Entity::find()
        .join(JoinType::LeftJoin, personal_parts())
        .select_also(audit_personal::Entity)
        .filter(Column::RealmId.eq(realm.as_uuid()));
    if let Some(user) = filter.user {
        query = query.filter(Column::UserId.eq(user.as_uuid()));
    }
    if let Some(client) = filter.client {
        query = query.filter(Column::ClientKey.eq(client.as_uuid()));
    }
    if let Some(session) = filter.session {
        query = query.filter(Column::SessionId.eq(session.as_uuid()));
    }
    if let Some(kind) = filter.kind {
        query = query.filter(Column::Kind.eq(kind.as_str()));
    }
    let rows = query.order_by_desc(Column::Id).limit(limit).all(source.connection()).await?;
    rows.into_iter().map(|(event, personal)| read(event, personal)).collect()
}
