//! The deny list of single access tokens; a row is as good as the token's rest of life.

use sea_orm::EntityTrait;
use sea_orm::sea_query::OnConflict;

use super::row::whole;
use crate::domain::model::ids::{RealmId, TokenId};
use crate::domain::model::timestamp::Timestamp;
use crate::store::entity::revoked_token::{ActiveModel, Column, Entity, Model};
use crate::store::sealed::Connected;
use crate::store::{ChangeKind, Error, Tx};

/// Puts a token on the deny list until it has ended anyway. Twice is once.
pub async fn revoke(tx: &mut Tx, realm: RealmId, token: TokenId, expires_at: Timestamp) -> Result<(), Error> {
    let row: ActiveModel =
        whole(Model { realm_id: realm.as_uuid(), token_id: token.as_uuid(), expires_at: expires_at.as_micros() });
    let known = OnConflict::columns([Column::RealmId, Column::TokenId]).do_nothing().to_owned();
    Entity::insert(row).on_conflict(known).exec_without_returning(tx.connection()).await?;
    tx.changed(realm, ChangeKind::TokenRevoked, token.as_uuid());
    Ok(())
}
