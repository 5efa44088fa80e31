//! Facts about the whole database.

use sea_orm::EntityTrait;
use sea_orm::sea_query::OnConflict;

use super::row::{Unique as _, whole};
use crate::store::entity::meta::{ActiveModel, Column, Entity, Model};
use crate::store::sealed::Connected;
use crate::store::{Error, Source, Tx};

/// The latest moment that a server on this database has shown, in microseconds.
pub const TIME_SEEN: &str = "time_seen";

/// What is written under the name.
pub async fn get(source: &impl Source, name: &str) -> Result<Option<String>, Error> {
    let found = Entity::find_by_id(name.to_owned()).unique(source.connection()).await?;
    Ok(found.map(|row| row.value))
}

/// Writes under the name, over what was there.
pub async fn set(tx: &mut Tx, name: &str, value: &str) -> Result<(), Error> {
    let row: ActiveModel = whole(Model { name: name.to_owned(), value: value.to_owned() });
    let same = OnConflict::column(Column::Name).update_column(Column::Value).to_owned();
    Entity::insert(row).on_conflict(same).exec_without_returning(tx.connection()).await?;
    Ok(())
}
