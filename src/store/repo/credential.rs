//! Credentials. Never in a read model (`security-design` rule 19).

use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

use super::row::{Row, Unique as _, whole};
use super::user;
use crate::domain::model::credential::{Credential, CredentialSecret};
use crate::domain::model::ids::{CredentialId, RealmId, UserId};
use crate::domain::model::timestamp::Timestamp;
use crate::store::entity::credential::{ActiveModel, Column, Entity, Model};
use crate::store::sealed::Connected;
use crate::store::{Error, Source, Tx};

pub(super) const PASSWORD: &str = "password";

pub(super) fn read(model: Model) -> Result<Credential, Error> {
    let row = Row { table: "credential", id: model.id };
    let secret = match model.kind.as_str() {
        PASSWORD => CredentialSecret::Password { phc: model.secret },
        _ => return Err(row.corrupt()),
    };
    Ok(Credential {
        realm: RealmId::from_uuid(model.realm_id),
        id: CredentialId::from_uuid(model.id),
        user: UserId::from_uuid(model.user_id),
        secret,
        created_at: Timestamp::from_micros(model.created_at),
    })
}

/// The password of an account.
pub async fn find_password(source: &impl Source, realm: RealmId, user: UserId) -> Result<Option<Credential>, Error> {
    let found = Entity::find()
        .filter(Column::RealmId.eq(realm.as_uuid()))
        .filter(Column::UserId.eq(user.as_uuid()))
        .filter(Column::Kind.eq(PASSWORD))
        .unique(source.connection())
        .await?;
    found.map(read).transpose()
}

/// Sets the password, in place of one that was there. The account's epoch is raised first: what began with
/// the old password is void.
pub async fn set_password(tx: &mut Tx, credential: &Credential) -> Result<(), Error> {
    delete_password(tx, credential.realm, credential.user).await?;
    let CredentialSecret::Password { phc } = &credential.secret;
    let row: ActiveModel = whole(Model {
        realm_id: credential.realm.as_uuid(),
        id: credential.id.as_uuid(),
        user_id: credential.user.as_uuid(),
        kind: PASSWORD.to_owned(),
        secret: phc.clone(),
        created_at: credential.created_at.as_micros(),
    });
    Entity::insert(row).exec_without_returning(tx.connection()).await?;
    Ok(())
}

/// Stores the same password under new parameters, if it is still the one that was verified. The epoch stays:
/// the sign-in that brought the password here goes on.
pub async fn rehash_password(
    tx: &mut Tx,
    realm: RealmId,
    user: UserId,
    verified: &str,
    phc: &str,
) -> Result<bool, Error> {
    let result = Entity::update_many()
        .col_expr(Column::Secret, Expr::value(phc))
        .filter(Column::RealmId.eq(realm.as_uuid()))
        .filter(Column::UserId.eq(user.as_uuid()))
        .filter(Column::Kind.eq(PASSWORD))
        .filter(Column::Secret.eq(verified))
        .exec(tx.connection())
        .await?;
    Ok(result.rows_affected == 1)
}

/// Takes the password away; raises the account's epoch first.
pub async fn delete_password(tx: &mut Tx, realm: RealmId, user: UserId) -> Result<(), Error> {
    let now = tx.now();
    user::raise_epoch(tx, realm, user, now).await?;
    Entity::delete_many()
        .filter(Column::RealmId.eq(realm.as_uuid()))
        .filter(Column::UserId.eq(user.as_uuid()))
        .filter(Column::Kind.eq(PASSWORD))
        .exec(tx.connection())
        .await?;
    Ok(())
}
