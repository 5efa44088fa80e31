//! Initial access tokens.

use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::row::{Row, Unique as _, whole};
use crate::domain::model::ids::{InitialAccessTokenId, RealmId};
use crate::domain::model::initial_access_token::InitialAccessToken;
use crate::domain::model::secret::SecretHash;
use crate::domain::model::timestamp::Timestamp;
use crate::store::entity::initial_access_token::{ActiveModel, Column, Entity, Model};
use crate::store::sealed::Connected;
use crate::store::{Error, Source, Tx};

fn read(model: Model) -> Result<InitialAccessToken, Error> {
    let row = Row { table: "initial_access_token", id: model.id };
    Ok(InitialAccessToken {
        realm: RealmId::from_uuid(model.realm_id),
        id: InitialAccessTokenId::from_uuid(model.id),
        label: model.label,
        created_at: Timestamp::from_micros(model.created_at),
        expires_at: Timestamp::from_micros(model.expires_at),
        uses_left: row.some(u32::try_from(model.uses_left).ok())?,
    })
}

/// Makes one.
pub async fn insert(tx: &mut Tx, token: &InitialAccessToken, hash: SecretHash) -> Result<(), Error> {
    let row: ActiveModel = whole(Model {
        realm_id: token.realm.as_uuid(),
        id: token.id.as_uuid(),
        hash: hash.0.to_vec(),
        label: token.label.clone(),
        created_at: token.created_at.as_micros(),
        expires_at: token.expires_at.as_micros(),
        uses_left: i64::from(token.uses_left),
    });
    Entity::insert(row).exec_without_returning(tx.connection()).await?;
    Ok(())
}

/// The token with this hash. A hash of 256 random bits: what an index betrays of it helps nobody.
pub async fn find(source: &impl Source, realm: RealmId, hash: SecretHash) -> Result<Option<InitialAccessToken>, Error> {
    let found = Entity::find()
        .filter(Column::RealmId.eq(realm.as_uuid()))
        .filter(Column::Hash.eq(hash.0.to_vec()))
        .unique(source.connection())
        .await?;
    found.map(read).transpose()
}

/// All of a realm, oldest first, at most `limit`.
pub async fn list(source: &impl Source, realm: RealmId, limit: u64) -> Result<Vec<InitialAccessToken>, Error> {
    let found = Entity::find()
        .filter(Column::RealmId.eq(realm.as_uuid()))
        .order_by_asc(Column::Id)
        .limit(limit)
        .all(source.connection())
        .await?;
    found.into_iter().map(read).collect()
}

/// Takes one use, if there is one left. `false`: it has run out, or is gone.
pub async fn spend(tx: &mut Tx, realm: RealmId, token: InitialAccessTokenId, now: Timestamp) -> Result<bool, Error> {
    let is_live = Condition::all()
        .add(Column::RealmId.eq(realm.as_uuid()))
        .add(Column::Id.eq(token.as_uuid()))
        .add(Column::UsesLeft.gt(0))
        .add(Column::ExpiresAt.gt(now.as_micros()));
    let done = Entity::update_many()
        .col_expr(Column::UsesLeft, Expr::col(Column::UsesLeft).sub(1))
        .filter(is_live)
        .exec(tx.connection())
        .await?;
    Ok(done.rows_affected == 1)
}

/// Deletes one. `false`: there is none.
pub async fn delete(tx: &mut Tx, realm: RealmId, token: InitialAccessTokenId) -> Result<bool, Error> {
    let done = Entity::delete_by_id((realm.as_uuid(), token.as_uuid())).exec(tx.connection()).await?;
    Ok(done.rows_affected > 0)
}
