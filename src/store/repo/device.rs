//! Browsers. A sign-in notes its browser in the batch; here it is read, and written where no sign-in is.

use sea_orm::EntityTrait;
use sea_orm::sea_query::OnConflict;

use super::row::{Row, Unique as _, whole};
use crate::domain::model::device::Device;
use crate::domain::model::ids::{DeviceId, RealmId};
use crate::domain::model::timestamp::Timestamp;
use crate::store::entity::device::{ActiveModel, Column, Entity, Model};
use crate::store::sealed::Connected;
use crate::store::{Error, Source, Tx};

/// The browser of this id.
pub async fn find(source: &impl Source, realm: RealmId, device: DeviceId) -> Result<Option<Device>, Error> {
    let found = Entity::find_by_id((realm.as_uuid(), device.as_uuid())).unique(source.connection()).await?;
    let Some(model) = found else { return Ok(None) };
    let row = Row { table: "device", id: model.id };
    Ok(Some(Device {
        realm,
        id: device,
        secret_hash: row.hash(&model.secret_hash)?,
        browser: model.browser,
        system: model.system,
        first_seen_at: Timestamp::from_micros(model.first_seen_at),
        last_seen_at: Timestamp::from_micros(model.last_seen_at),
    }))
}

/// Notes a browser, or what is new about it.
pub async fn upsert(tx: &mut Tx, device: &Device) -> Result<(), Error> {
    let row: ActiveModel = whole(Model {
        realm_id: device.realm.as_uuid(),
        id: device.id.as_uuid(),
        secret_hash: device.secret_hash.0.to_vec(),
        browser: device.browser.clone(),
        system: device.system.clone(),
        first_seen_at: device.first_seen_at.as_micros(),
        last_seen_at: device.last_seen_at.as_micros(),
    });
    let same = OnConflict::columns([Column::RealmId, Column::Id])
        .update_columns([Column::SecretHash, Column::Browser, Column::System, Column::LastSeenAt])
        .to_owned();
    Entity::insert(row).on_conflict(same).exec_without_returning(tx.connection()).await?;
    Ok(())
}
