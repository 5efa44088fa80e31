//! Names to sign in with: user names and verified e-mail addresses, unique together in a realm.

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};

use super::row::{Unique as _, whole};
use crate::domain::model::identifier::{Canonical, Identifier, IdentifierKind};
use crate::domain::model::ids::{RealmId, UserId};
use crate::store::entity::identifier::{ActiveModel, Column, Entity, Model};
use crate::store::sealed::Connected;
use crate::store::{Error, Source, Tx};

pub(super) const fn word(kind: IdentifierKind) -> &'static str {
    match kind {
        IdentifierKind::Username => "username",
        IdentifierKind::Email => "email",
    }
}

fn read(model: Model) -> Result<Identifier, Error> {
    let kinds = [IdentifierKind::Username, IdentifierKind::Email];
    let kind = kinds.into_iter().find(|kind| word(*kind) == model.kind);
    // Its key is personal: the owner's id tells the row.
    let corrupt = || Error::Corrupt { table: "identifier", id: model.user_id.to_string() };
    Ok(Identifier {
        realm: RealmId::from_uuid(model.realm_id),
        kind: kind.ok_or_else(corrupt)?,
        user: UserId::from_uuid(model.user_id),
        canonical: Canonical::from_stored(model.canonical),
    })
}

/// Whose name this is.
pub async fn find(source: &impl Source, realm: RealmId, name: &Canonical) -> Result<Option<Identifier>, Error> {
    let key = (realm.as_uuid(), name.as_str().to_owned());
    let found = Entity::find_by_id(key).unique(source.connection()).await?;
    found.map(read).transpose()
}

/// Every name of an account.
pub async fn list_for(source: &impl Source, realm: RealmId, user: UserId) -> Result<Vec<Identifier>, Error> {
    let rows = Entity::find()
        .filter(Column::RealmId.eq(realm.as_uuid()))
        .filter(Column::UserId.eq(user.as_uuid()))
        .order_by_asc(Column::Canonical)
        .all(source.connection())
        .await?;
    rows.into_iter().map(read).collect()
}

/// Gives an account these names and no others. `Conflict("identifier")` when one is somebody else's; the
/// transaction is then of no more use.
pub async fn replace_for(tx: &mut Tx, realm: RealmId, user: UserId, names: &[Identifier]) -> Result<(), Error> {
    Entity::delete_many()
        .filter(Column::RealmId.eq(realm.as_uuid()))
        .filter(Column::UserId.eq(user.as_uuid()))
        .exec(tx.connection())
        .await?;
    let rows: Vec<ActiveModel> = names
        .iter()
        .map(|name| {
            whole(Model {
                realm_id: realm.as_uuid(),
                canonical: name.canonical.as_str().to_owned(),
                kind: word(name.kind).to_owned(),
                user_id: user.as_uuid(),
            })
        })
        .collect();
    if !rows.is_empty() {
        Entity::insert_many(rows).exec_without_returning(tx.connection()).await?;
    }
    Ok(())
}
