//! Administrative powers (`security-design` rule 27). Never in a read model.

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};

use super::meta;
use super::row::{Row, whole};
use crate::domain::model::ids::{PowerId, RealmId, UserId};
use crate::domain::model::power::{AdministrativePower, Power};
use crate::domain::model::timestamp::Timestamp;
use crate::store::entity::administrative_power::{ActiveModel, Column, Entity, Model};
use crate::store::sealed::Connected;
use crate::store::{Error, Source, Tx};

/// The mark that there was an administrator. It stays when the last one goes: a set-up link never opens an
/// instance that somebody has owned (`security-design` rule 30).
const MARK: &str = "had_administrator";

fn read(model: Model) -> Result<AdministrativePower, Error> {
    let row = Row { table: "administrative_power", id: model.id };
    Ok(AdministrativePower {
        realm: RealmId::from_uuid(model.realm_id),
        id: PowerId::from_uuid(model.id),
        user: UserId::from_uuid(model.user_id),
        power: row.some(Power::from_name(&model.power))?,
        created_at: Timestamp::from_micros(model.created_at),
    })
}

/// Every power that people of this realm hold, oldest first.
pub async fn list(source: &impl Source, realm: RealmId) -> Result<Vec<AdministrativePower>, Error> {
    let rows = Entity::find()
        .filter(Column::RealmId.eq(realm.as_uuid()))
        .order_by_asc(Column::Id)
        .all(source.connection())
        .await?;
    rows.into_iter().map(read).collect()
}

/// Gives a power.
pub async fn insert(tx: &mut Tx, power: &AdministrativePower) -> Result<(), Error> {
    let row: ActiveModel = whole(Model {
        realm_id: power.realm.as_uuid(),
        id: power.id.as_uuid(),
        user_id: power.user.as_uuid(),
        power: power.power.as_str().to_owned(),
        created_at: power.created_at.as_micros(),
    });
    Entity::insert(row).exec_without_returning(tx.connection()).await?;
    meta::set(tx, MARK, "true").await
}

/// Takes a power away.
pub async fn delete(tx: &mut Tx, realm: RealmId, user: UserId, power: Power) -> Result<(), Error> {
    Entity::delete_many()
        .filter(Column::RealmId.eq(realm.as_uuid()))
        .filter(Column::UserId.eq(user.as_uuid()))
        .filter(Column::Power.eq(power.as_str()))
        .exec(tx.connection())
        .await?;
    Ok(())
}

/// Whether this database ever had an administrator.
pub async fn had_administrator(source: &impl Source) -> Result<bool, Error> {
    Ok(meta::get(source, MARK).await?.is_some())
}
