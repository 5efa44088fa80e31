//! The one-time link that makes the first administrator (`security-design` rule 30). Only its hash rests.

use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};

use super::row::whole;
use crate::domain::model::secret::SecretHash;
use crate::domain::model::timestamp::Timestamp;
use crate::store::entity::setup_link::{ActiveModel, Column, Entity, Model};
use crate::store::sealed::Connected;
use crate::store::{Error, Source, Tx};

/// Stores a link in place of all before.
pub async fn insert(tx: &mut Tx, hash: SecretHash, expires_at: Timestamp) -> Result<(), Error> {
    Entity::delete_many().exec(tx.connection()).await?;
    let row: ActiveModel = whole(Model { hash: hash.0.to_vec(), expires_at: expires_at.as_micros() });
    Entity::insert(row).exec_without_returning(tx.connection()).await?;
    Ok(())
}

/// Whether the link would be taken now. Only [`consume`] decides.
pub async fn is_open(source: &impl Source, hash: SecretHash, now: Timestamp) -> Result<bool, Error> {
    let found = Entity::find()
        .filter(Column::Hash.eq(hash.0.to_vec()))
        .filter(Column::ExpiresAt.gt(now.as_micros()))
        .count(source.connection())
        .await?;
    Ok(found == 1)
}

/// Takes the link, once.
pub async fn consume(tx: &mut Tx, hash: SecretHash, now: Timestamp) -> Result<bool, Error> {
    let taken = Entity::delete_many()
        .filter(Column::Hash.eq(hash.0.to_vec()))
        .filter(Column::ExpiresAt.gt(now.as_micros()))
        .exec(tx.connection())
        .await?;
    Ok(taken.rows_affected == 1)
}
