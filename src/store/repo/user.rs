//! Accounts. Whoever ends power raises the account's epoch first and touches what hangs on it in a later
//! statement of the same transaction (`security-design` rule 1).

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, IntoCondition, Query};
use sea_orm::{ColumnTrait, EntityTrait, JoinType, QueryFilter, QueryOrder, QuerySelect, RelationDef};

use super::row::{Row, Unique as _, json, whole};
use super::{credential, grant, session};
use crate::domain::model::credential::Credential;
use crate::domain::model::identifier::{Canonical, IdentifierKind};
use crate::domain::model::ids::{RealmId, UserId};
use crate::domain::model::session::{EndReason, Ended};
use crate::domain::model::timestamp::Timestamp;
use crate::domain::model::user::User;
use crate::store::entity::user_account::{ActiveModel, Column, Entity, Model};
use crate::store::entity::{audit_event, audit_personal, credential as credentials, identifier};
use crate::store::sealed::Connected;
use crate::store::{ChangeKind, Error, Source, Tx};

fn read(model: Model) -> Result<User, Error> {
    let row = Row { table: "user_account", id: model.id };
    Ok(User {
        realm: RealmId::from_uuid(model.realm_id),
        id: UserId::from_uuid(model.id),
        claims: row.json(&model.claims)?,
        sub: model.sub,
        username: model.username,
        enabled: model.enabled,
        credential_epoch: model.credential_epoch,
        created_at: Timestamp::from_micros(model.created_at),
        updated_at: Timestamp::from_micros(model.updated_at),
    })
}

/// The account of this id.
pub async fn find(source: &impl Source, realm: RealmId, user: UserId) -> Result<Option<User>, Error> {
    let found = Entity::find_by_id((realm.as_uuid(), user.as_uuid())).unique(source.connection()).await?;
    found.map(read).transpose()
}

/// The account that relying parties know by this `sub`.
pub async fn find_by_sub(source: &impl Source, realm: RealmId, sub: &str) -> Result<Option<User>, Error> {
    let found = Entity::find()
        .filter(Column::RealmId.eq(realm.as_uuid()))
        .filter(Column::Sub.eq(sub))
        .unique(source.connection())
        .await?;
    found.map(read).transpose()
}

/// The account of this user name; an e-mail address does not count.
pub async fn find_by_username(source: &impl Source, realm: RealmId, name: &Canonical) -> Result<Option<User>, Error> {
    let found = Entity::find()
        .join(JoinType::InnerJoin, names())
        .filter(identifier::Column::RealmId.eq(realm.as_uuid()))
        .filter(identifier::Column::Canonical.eq(name.as_str()))
        .filter(identifier::Column::Kind.eq(super::identifier::word(IdentifierKind::Username)))
        .unique(source.connection())
        .await?;
    found.map(read).transpose()
}

/// The account that this name signs in to, with its password if it has one: one query, known or not.
pub async fn find_for_signin(
    source: &impl Source,
    realm: RealmId,
    name: &Canonical,
) -> Result<Option<(User, Option<Credential>)>, Error> {
    let found = Entity::find()
        .join(JoinType::InnerJoin, names())
        .join(JoinType::LeftJoin, passwords())
        .filter(identifier::Column::RealmId.eq(realm.as_uuid()))
        .filter(identifier::Column::Canonical.eq(name.as_str()))
        .select_also(credentials::Entity)
        .unique(source.connection())
        .await?;
    let Some((user, password)) = found else { return Ok(None) };
    Ok(Some((read(user)?, password.map(credential::read).transpose()?)))
}

fn names() -> RelationDef {
    Entity::belongs_to(identifier::Entity)
        .from((Column::RealmId, Column::Id))
        .to((identifier::Column::RealmId, identifier::Column::UserId))
        .into()
}

fn passwords() -> RelationDef {
    Entity::belongs_to(credentials::Entity)
        .from((Column::RealmId, Column::Id))
        .to((credentials::Column::RealmId, credentials::Column::UserId))
        .on_condition(|_, right| {
            Expr::col((right, credentials::Column::Kind)).eq(credential::PASSWORD).into_condition()
        })
        .into()
}

/// Accounts in the order of their birth, after a known one.
pub async fn list(source: &impl Source, realm: RealmId, after: Option<UserId>, limit: u64) -> Result<Vec<User>, Error> {
    let mut query = Entity::find().filter(Column::RealmId.eq(realm.as_uuid()));
    if let Some(after) = after {
        query = query.filter(Column::Id.gt(after.as_uuid()));
    }
    let rows = query.order_by_asc(Column::Id).limit(limit).all(source.connection()).await?;
    rows.into_iter().map(read).collect()
}

/// Makes an account, without names, credentials, roles.
pub async fn insert(tx: &mut Tx, user: &User) -> Result<(), Error> {
    let row: ActiveModel = whole(Model {
        realm_id: user.realm.as_uuid(),
        id: user.id.as_uuid(),
        sub: user.sub.clone(),
        username: user.username.clone(),
        enabled: user.enabled,
        credential_epoch: user.credential_epoch,
        event_seq: 0,
        created_at: user.created_at.as_micros(),
        updated_at: user.updated_at.as_micros(),
        claims: json(&user.claims)?,
    });
    Entity::insert(row).exec_without_returning(tx.connection()).await?;
    Ok(())
}

/// Changes `sub`, user name, claims and `updated_at`; never whether the account is enabled, nor its epoch.
pub async fn update(tx: &mut Tx, user: &User) -> Result<(), Error> {
    let row = ActiveModel {
        sub: Set(user.sub.clone()),
        username: Set(user.username.clone()),
        claims: Set(json(&user.claims)?),
        updated_at: Set(user.updated_at.as_micros()),
        ..ActiveModel::default()
    };
    write(tx, user.realm, user.id, row).await
}

async fn write(tx: &mut Tx, realm: RealmId, user: UserId, row: ActiveModel) -> Result<(), Error> {
    Entity::update_many()
        .set(row)
        .filter(Column::RealmId.eq(realm.as_uuid()))
        .filter(Column::Id.eq(user.as_uuid()))
        .exec(tx.connection())
        .await?;
    tx.changed(realm, ChangeKind::User, user.as_uuid());
    Ok(())
}

/// Enables or disables. Disabling raises the epoch, so that nothing is born any more; what lives is the
/// caller's to end, in the same transaction.
pub async fn set_enabled(
    tx: &mut Tx,
    realm: RealmId,
    user: UserId,
    enabled: bool,
    now: Timestamp,
) -> Result<(), Error> {
    if !enabled {
        raise_epoch(tx, realm, user, now).await?;
    }
    write(tx, realm, user, ActiveModel { enabled: Set(enabled), ..ActiveModel::default() }).await
}

/// Voids what was begun under the present epoch, and gives the new one (0 when there is no such account).
/// `updated_at` stays: no claim changed.
pub async fn raise_epoch(tx: &mut Tx, realm: RealmId, user: UserId, _now: Timestamp) -> Result<i64, Error> {
    let raised = Entity::update_many()
        .col_expr(Column::CredentialEpoch, Expr::col(Column::CredentialEpoch).add(1))
        .filter(Column::RealmId.eq(realm.as_uuid()))
        .filter(Column::Id.eq(user.as_uuid()))
        .exec_with_returning(tx.connection())
        .await?;
    tx.changed(realm, ChangeKind::User, user.as_uuid());
    Ok(raised.first().map_or(0, |row| row.credential_epoch))
}

/// Deletes an account with what is only its own. Its sessions and grants end and stay, under an id that
/// leads to nobody; so do its audit events, without their personal part. Events about it must have been
/// appended before.
pub async fn delete(tx: &mut Tx, realm: RealmId, user: UserId) -> Result<(), Error> {
    let now = tx.now();
    set_enabled(tx, realm, user, false, now).await?;
    let ended = Ended { at: now, reason: EndReason::UserDeleted };
    session::end_all_for_user(tx, realm, user, ended, session::Extent::ALL).await?;
    grant::end_for_user(tx, realm, user, ended).await?;
    let events = Query::select()
        .column(audit_event::Column::Id)
        .from(audit_event::Entity)
        .and_where(audit_event::Column::RealmId.eq(realm.as_uuid()))
        .and_where(audit_event::Column::UserId.eq(user.as_uuid()))
        .to_owned();
    audit_personal::Entity::delete_many()
        .filter(audit_personal::Column::RealmId.eq(realm.as_uuid()))
        .filter(audit_personal::Column::EventId.in_subquery(events))
        .exec(tx.connection())
        .await?;
    Entity::delete_by_id((realm.as_uuid(), user.as_uuid())).exec(tx.connection()).await?;
    Ok(())
}
