//! Consents, one per person and client. Never in a read model (`security-design` rule 19).

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect, Select};

use super::row::{Row, Unique as _, json, whole};
use crate::domain::model::consent::Consent;
use crate::domain::model::ids::{ClientKey, ConsentId, RealmId, UserId};
use crate::domain::model::timestamp::Timestamp;
use crate::store::entity::consent::{ActiveModel, Column, Entity, Model};
use crate::store::sealed::Connected;
use crate::store::{Error, Source, Tx};

fn read(model: Model) -> Result<Consent, Error> {
    let row = Row { table: "consent", id: model.id };
    Ok(Consent {
        realm: RealmId::from_uuid(model.realm_id),
        id: ConsentId::from_uuid(model.id),
        user: UserId::from_uuid(model.user_id),
        client: ClientKey::from_uuid(model.client_key),
        scope: row.json(&model.scope)?,
        resources: row.json(&model.resources)?,
        created_at: Timestamp::from_micros(model.created_at),
        updated_at: Timestamp::from_micros(model.updated_at),
    })
}

fn of(realm: RealmId, user: UserId, client: ClientKey) -> Select<Entity> {
    Entity::find()
        .filter(Column::RealmId.eq(realm.as_uuid()))
        .filter(Column::UserId.eq(user.as_uuid()))
        .filter(Column::ClientKey.eq(client.as_uuid()))
}

/// What a person allowed a client so far.
pub async fn find(
    source: &impl Source,
    realm: RealmId,
    user: UserId,
    client: ClientKey,
) -> Result<Option<Consent>, Error> {
    let found = of(realm, user, client).unique(source.connection()).await?;
    found.map(read).transpose()
}

/// Remembers a consent. One that is there is widened: what was allowed before stays allowed.
pub async fn upsert(tx: &mut Tx, consent: &Consent) -> Result<(), Error> {
    let row: ActiveModel = whole(Model {
        realm_id: consent.realm.as_uuid(),
        id: consent.id.as_uuid(),
        user_id: consent.user.as_uuid(),
        client_key: consent.client.as_uuid(),
        scope: json(&consent.scope)?,
        resources: json(&consent.resources)?,
        created_at: consent.created_at.as_micros(),
        updated_at: consent.updated_at.as_micros(),
    });
    let taken = OnConflict::columns([Column::RealmId, Column::UserId, Column::ClientKey]).do_nothing().to_owned();
    let connection = tx.connection();
    // Two tabs may answer at once: the second waits for the first here and widens what it wrote.
    if Entity::insert(row).on_conflict(taken).exec_without_returning(connection).await? == 1 {
        return Ok(());
    }
    let found = of(consent.realm, consent.user, consent.client).lock_exclusive().unique(connection).await?;
    let Some(known) = found.map(read).transpose()? else { return Err(Error::Busy) };
    let row = ActiveModel {
        scope: Set(json(&widened(&known.scope, &consent.scope))?),
        resources: Set(json(&widened(&known.resources, &consent.resources))?),
        updated_at: Set(consent.updated_at.as_micros()),
        ..ActiveModel::default()
    };
    Entity::update_many()
        .set(row)
        .filter(Column::RealmId.eq(consent.realm.as_uuid()))
        .filter(Column::Id.eq(known.id.as_uuid()))
        .exec(connection)
        .await?;
    Ok(())
}

fn widened(known: &[String], more: &[String]) -> Vec<String> {
    let mut all = known.to_vec();
    all.extend(more.iter().filter(|word| !known.contains(word)).cloned());
    all
}

/// Forgets a consent. The grants made by it are the caller's to end.
pub async fn delete(tx: &mut Tx, realm: RealmId, user: UserId, client: ClientKey) -> Result<(), Error> {
    Entity::delete_many()
        .filter(Column::RealmId.eq(realm.as_uuid()))
        .filter(Column::UserId.eq(user.as_uuid()))
        .filter(Column::ClientKey.eq(client.as_uuid()))
        .exec(tx.connection())
        .await?;
    Ok(())
}

/// Forgets what anybody consented to for a client: it is not the one any more that they saw.
pub async fn delete_for_client(tx: &mut Tx, realm: RealmId, client: ClientKey) -> Result<(), Error> {
    Entity::delete_many()
        .filter(Column::RealmId.eq(realm.as_uuid()))
        .filter(Column::ClientKey.eq(client.as_uuid()))
        .exec(tx.connection())
        .await?;
    Ok(())
}
