//! Logos of clients, fetched once by the guarded client and served by us.

use sea_orm::EntityTrait;
use sea_orm::sea_query::OnConflict;

use super::row::{Unique as _, whole};
use crate::domain::model::ids::{ClientKey, RealmId};
use crate::domain::model::timestamp::Timestamp;
use crate::store::entity::logo::{ActiveModel, Column, Entity, Model};
use crate::store::sealed::Connected;
use crate::store::{Error, Source, Tx};

/// A fetched logo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logo {
    /// Where it was fetched; another address in the metadata asks for another fetch.
    pub uri: String,
    /// A raster type that was checked.
    pub media_type: String,
    /// The image.
    pub bytes: Vec<u8>,
    /// When it was fetched.
    pub fetched_at: Timestamp,
}

/// The logo of a client.
pub async fn find(source: &impl Source, realm: RealmId, client: ClientKey) -> Result<Option<Logo>, Error> {
    let found = Entity::find_by_id((realm.as_uuid(), client.as_uuid())).unique(source.connection()).await?;
    Ok(found.map(|row| Logo {
        uri: row.uri,
        media_type: row.media_type,
        bytes: row.bytes,
        fetched_at: Timestamp::from_micros(row.fetched_at),
    }))
}

/// Keeps a logo, in place of the one before.
pub async fn put(tx: &mut Tx, realm: RealmId, client: ClientKey, logo: &Logo) -> Result<(), Error> {
    let row: ActiveModel = whole(Model {
        realm_id: realm.as_uuid(),
        client_key: client.as_uuid(),
        uri: logo.uri.clone(),
        media_type: logo.media_type.clone(),
        bytes: logo.bytes.clone(),
        fetched_at: logo.fetched_at.as_micros(),
    });
    let same = OnConflict::columns([Column::RealmId, Column::ClientKey])
        .update_columns([Column::Uri, Column::MediaType, Column::Bytes, Column::FetchedAt])
        .to_owned();
    Entity::insert(row).on_conflict(same).exec_without_returning(tx.connection()).await?;
    Ok(())
}

/// Forgets a client's logo, so that it is looked for again.
pub async fn delete(tx: &mut Tx, realm: RealmId, client: ClientKey) -> Result<(), Error> {
    Entity::delete_by_id((realm.as_uuid(), client.as_uuid())).exec(tx.connection()).await?;
    Ok(())
}
